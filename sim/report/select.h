/* Which rows a report is about. Private to sim/report. */
#ifndef SHARDSIM_SIM_REPORT_SELECT_H
#define SHARDSIM_SIM_REPORT_SELECT_H

#include "report/report.h"

/*
 * What kind of problem a row is of, by its source (scenarios/README.md, Generate blocks).
 * Figures over problems of different kinds are never put into one.
 */
enum report_kind { KIND_REAL, KIND_RANDOM, KIND_LAYOUTS };
enum { REPORT_KINDS = KIND_LAYOUTS + 1 };
enum report_kind report_kind(const struct row *r);

/* "real", "random", "layouts". */
const char *report_kind_name(enum report_kind kind);

/* Returns "real scenarios", or "real scenario". */
const char *report_kind_noun(enum report_kind kind, bool several);

/* Returns the machine under which tables group the row: the platform if it has none. */
const char *row_machine(const struct row *r);

/*
 * Orders rows by the table they are in: by kind, machine and clock. Returns 0 for rows of
 * one table.
 */
int report_compare_places(const struct row *a, const struct row *b);

/*
 * Orders rows of one table by the case they are of: a scenario, on a platform if the machine
 * has several for it. Returns 0 for rows of one case.
 */
int report_compare_cases(const struct row *a, const struct row *b);

/* Does the row's family match the pattern: a glob as in a shell, also `@(a|b*)`? */
bool report_family(const struct report_options *o, const struct row *r);

/* Is the row's scenario the one asked for by name or pattern? */
bool report_scenario(const struct report_options *o, const struct row *r);

/* Is the row of a clock and a family asked for? */
bool report_wanted(const struct report_options *o, const struct row *r);

/* Has the row a time, or even one above zero? */
bool report_timed(const struct row *r);
bool report_moves(const struct row *r);

/*
 * Wins, ties and losses where times that intervals do not part are ties: of two plans the
 * one wins whose interval (measure/likely.h) ends before the other's begins. That is sure
 * also where the two are wrong in opposite ways; in most cases both are wrong alike.
 */
struct report_sure {
	size_t wins, ties, losses;
};

/* Counts one; rows whose intervals are not known are in none. */
void report_sure_count(struct report_sure *s, const struct row *ours,
                       const struct row *theirs);

/* Returns "wins/ties/losses", or "-" if there are none. */
const char *report_sure_text(const struct report_sure *s, struct arena *a);

/* Sorts n names as order_compare() does, keeps each once, and returns how many are left. */
size_t names_distinct(const char **name, size_t n);

/* Returns the number of a name among distinct ones, or n if it is not there. */
size_t names_find(const char *const *name, size_t n, const char *wanted);

#endif
