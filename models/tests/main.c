/* The main() of every test program: runs its suite as the environment of Check says. */
#include "tests/tests.h"

#include <stdlib.h>

int main(void)
{
	SRunner *runner = srunner_create(tests());
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
