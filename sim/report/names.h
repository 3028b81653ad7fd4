/* Sets of names, such as the planners of a table. Private to sim/report. */
#ifndef SHARDSIM_SIM_REPORT_NAMES_H
#define SHARDSIM_SIM_REPORT_NAMES_H

#include <stddef.h>

/* Sorts n names as order_compare() does, keeps each once, and returns how many are left. */
size_t names_distinct(const char **name, size_t n);

/* Returns the number of a name among distinct ones, or n if it is not there. */
size_t names_find(const char *const *name, size_t n, const char *wanted);

#endif
