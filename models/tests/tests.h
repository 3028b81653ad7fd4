/* What a test program holds beside the one main() of all of them (main.c). */
#ifndef SHARDSIM_TESTS_TESTS_H
#define SHARDSIM_TESTS_TESTS_H

#include <check.h>

/* Returns the program's suite; main() runs and frees it. */
Suite *tests(void);

#endif
