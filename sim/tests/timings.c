#include "timings.h"

#include <check.h>

struct validation *timings_run(struct arena *a, const char *const *file, int n)
{
	struct validation *v = NULL;
	struct error e = {0};

	ck_assert_msg(validation_load(&v, a, file, n, NULL, &e) == OK, "%s", e.text);
	validation_run(v);
	return v;
}
