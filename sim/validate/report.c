#include "validate/report.h"

#include "measure/held.h"
#include "stat/summary.h"
#include "text/words.h"
#include "validate/ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows with a prediction that agree in some way, and the errors of those. */
struct group {
	const char *system, *collective, *family; /* NULL: any */
	int first_class, last_class;
	bool outliers; /* these as well */
};

struct errors {
	size_t n;
	double *error, *simulated_s, *measured_s;
	double geomean, median, spearman;
	const struct prediction *worst; /* NULL if n is 0 */
};

static bool in_group(const struct group *g, const struct prediction *p)
{
	int k = validation_class(p->row->bytes);

	return !isnan(p->time_s) && (!p->outlier || g->outliers) &&
	       k >= g->first_class && k <= g->last_class &&
	       (!g->system || !strcmp(g->system, p->row->system)) &&
	       (!g->family || !strcmp(g->family, p->family)) &&
	       (!g->collective || !strcmp(g->collective, p->row->collective));
}

static struct errors errors_of(const struct validation *v, const struct group *g,
                               struct arena *a)
{
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);
	struct errors e = {0};

	e.error = arena_alloc(a, (size_t)n, sizeof(double));
	e.simulated_s = arena_alloc(a, (size_t)n, sizeof(double));
	e.measured_s = arena_alloc(a, (size_t)n, sizeof(double));
	for (int64_t i = 0; i < n; i++) {
		if (!in_group(g, &row[i]))
			continue;
		e.error[e.n] = prediction_error(&row[i]);
		e.simulated_s[e.n] = row[i].time_s;
		e.measured_s[e.n] = row[i].row->time_s;
		if (!e.worst || e.error[e.n] > prediction_error(e.worst))
			e.worst = &row[i];
		e.n++;
	}
	e.geomean = stat_geomean(e.error, e.n);
	e.median = stat_quantile(e.error, e.n, 0.5);
	e.spearman = stat_spearman(e.simulated_s, e.measured_s, e.n);
	return e;
}

/* Lists the names among rows that have a prediction, in order of first appearance. */
static const char **names(size_t *out, const struct validation *v, struct arena *a,
                          const char *(*name)(const struct prediction *))
{
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);
	const char **list = arena_alloc(a, (size_t)n, sizeof(*list));
	size_t count = 0;

	for (int64_t i = 0; i < n; i++) {
		size_t k = 0;

		if (isnan(row[i].time_s))
			continue;
		while (k < count && strcmp(list[k], name(&row[i])) != 0)
			k++;
		if (k == count)
			list[count++] = name(&row[i]);
	}
	*out = count;
	return list;
}

static const char *system_of(const struct prediction *p)
{
	return p->row->system;
}

static const char *collective_of(const struct prediction *p)
{
	return p->row->collective;
}

/* Returns how many rows with a prediction are outliers. */
static int64_t outliers_count(const struct validation *v)
{
	int64_t n, count = 0;
	const struct prediction *row = validation_rows(v, &n);

	for (int64_t i = 0; i < n; i++)
		count += row[i].outlier && !isnan(row[i].time_s);
	return count;
}

static const char *factor(struct arena *a, double x)
{
	return isnan(x) ? "-" : arena_printf(a, "%.3f", x);
}

/* --- totals and systems ----------------------------------------------------------- */

/* Adds a row of n and error for sizes from 1 MiB, from 64 KiB to 1 MiB, and below. */
static void ranges_row(struct pen_table *t, const struct validation *v, const char *name,
                       const char *families, struct group g, struct arena *a)
{
	static const int range[3][2] = {
		{VALIDATION_FROM_MIB, VALIDATION_CLASSES - 1}, {1, 1}, {0, 0}};
	const char **cell = words_row(t);

	cell[0] = name;
	cell[1] = families;
	for (int i = 0; i < 3; i++) {
		struct errors e;

		g.first_class = range[i][0];
		g.last_class = range[i][1];
		e = errors_of(v, &g, a);
		cell[2 + 2 * i] = words_count(a, e.n);
		cell[3 + 2 * i] = factor(a, e.geomean);
	}
}

/* Returns the families that a system's rows are mapped to. */
static const char *families_of(const struct validation *v, const char *system,
                               struct arena *a)
{
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);
	struct text out = {0};

	for (int64_t i = 0; i < n; i++) {
		if (isnan(row[i].time_s) || strcmp(row[i].row->system, system) != 0 ||
		    (out.s && strstr(out.s, row[i].family)))
			continue;
		text_printf(&out, "%s%s", out.length ? ", " : "", row[i].family);
	}
	return text_take(&out, a);
}

static void systems_table(const struct pen *pen, const struct validation *v)
{
	static const char *const head[] = {"system",     "family",      "n",
	                                   "from 1 MiB", "n",           "64 KiB-1 MiB",
	                                   "n",          "below 64 KiB"};
	struct arena *a = pen->arena;
	size_t n;
	const char **system = names(&n, v, a, system_of);
	struct pen_table t = words_table(a,
	                                 "Geometric-mean error factors of simulated "
	                                 "times, by size of the collective",
	                                 "llrrrrrr", head, n + 2);

	for (size_t i = 0; i < n; i++)
		ranges_row(&t, v, system[i], families_of(v, system[i], a),
		           (struct group){.system = system[i]}, a);
	ranges_row(&t, v, "all", "", (struct group){0}, a);
	if (outliers_count(v))
		ranges_row(&t, v, "all, outliers too", "",
		           (struct group){.outliers = true}, a);
	pen->heading(pen, 2, "Error by system");
	pen->table(pen, &t);
}

/* --- system, collective and size class -------------------------------------------- */

/* Returns whether the rows are of several files, so that a line alone names none. */
static bool of_several_files(const struct validation *v)
{
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);

	for (int64_t i = 1; i < n; i++)
		if (strcmp(row[i].row->at.file, row[0].row->at.file) != 0)
			return true;
	return false;
}

static const char *worst_text(const struct prediction *p, bool several, struct arena *a)
{
	const char *file = p->row->at.file, *slash = strrchr(file, '/');

	return arena_printf(a, "%.2f: line %u%s%s, %lld B, measured %s, simulated %s",
	                    prediction_error(p), p->row->at.line, several ? " of " : "",
	                    several ? slash ? slash + 1 : file : "",
	                    (long long)p->row->bytes, words_time(a, p->row->time_s),
	                    words_time(a, p->time_s));
}

static void class_row(struct pen_table *t, const struct validation *v,
                      const struct group *g, struct arena *a)
{
	struct errors e = errors_of(v, g, a);
	const char **cell;

	if (!e.n)
		return;
	cell = words_row(t);
	cell[0] = g->system;
	cell[1] = g->collective;
	cell[2] = validation_class_name(g->first_class);
	cell[3] = words_count(a, e.n);
	cell[4] = factor(a, e.geomean);
	cell[5] = factor(a, e.median);
	cell[6] = isnan(e.spearman) ? "-" : arena_printf(a, "%.3f", e.spearman);
	cell[7] = worst_text(e.worst, of_several_files(v), a);
}

static void classes_table(const struct pen *pen, const struct validation *v)
{
	static const char *const head[] = {"system", "collective", "size",     "n",
	                                   "error",  "median",     "Spearman", "worst"};
	struct arena *a = pen->arena;
	size_t nsystems, nkinds;
	const char **system = names(&nsystems, v, a, system_of);
	const char **kind = names(&nkinds, v, a, collective_of);
	struct pen_table t =
		words_table(a, "Error factors by system, collective and size",
	                    "lllrrrrp", head, nsystems * nkinds * VALIDATION_CLASSES);

	for (size_t i = 0; i < nsystems; i++)
		for (size_t k = 0; k < nkinds; k++)
			for (int c = 0; c < VALIDATION_CLASSES; c++)
				class_row(&t, v,
				          &(struct group){.system = system[i],
				                          .collective = kind[k],
				                          .first_class = c,
				                          .last_class = c},
				          a);
	pen->heading(pen, 2, "Error by system, collective and size");
	pen->table(pen, &t);
}

/* --- sizes of a log --------------------------------------------------------------- */

static void sizes_table(const struct pen *pen, const struct validation *v)
{
	static const char *const head[] = {"collective", "bytes", "measured",
	                                   "simulated",  "error", "algorithm",
	                                   "protocol"};
	struct arena *a = pen->arena;
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);
	struct pen_table t = words_table(a, "Simulated beside measured times",
	                                 "lrrrrll", head, (size_t)n);

	for (int64_t i = 0; i < n; i++) {
		const struct prediction *p = &row[i];
		const char **cell;

		if (isnan(p->time_s))
			continue;
		cell = words_row(&t);
		cell[0] = p->row->collective;
		cell[1] = arena_printf(a, "%lld", (long long)p->row->bytes);
		cell[2] = words_time(a, p->row->time_s);
		cell[3] = words_time(a, p->time_s);
		cell[4] = factor(a, prediction_error(p));
		cell[5] = p->algorithm;
		cell[6] = p->protocol ? p->protocol : "-";
	}
	pen->heading(pen, 2, "Sizes");
	pen->table(pen, &t);
}

/* --- how sure --------------------------------------------------------------------- */

/* Prints how many timings lie where four of five should. */
static void print_sure(const struct pen *pen, const struct validation *v)
{
	static const struct {
		const char *name;
		int first, last;
	} range[] = {{"from 1 MiB", VALIDATION_FROM_MIB, VALIDATION_CLASSES - 1},
	             {"below 1 MiB", 0, VALIDATION_FROM_MIB - 1}};
	struct arena *a = pen->arena;
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);
	struct held_time *time = arena_alloc(a, (size_t)n + 1, sizeof(*time));
	struct pen_table t = held_table(
		a, "Timings inside the intervals that should hold 80 %", "size", 2);

	for (int i = 0; i < 2; i++) {
		const struct group g = {.first_class = range[i].first,
		                        .last_class = range[i].last};
		size_t k = 0;

		for (int64_t j = 0; j < n; j++)
			if (in_group(&g, &row[j]))
				time[k++] = (struct held_time){row[j].row->set,
				                               row[j].row->time_s,
				                               row[j].likely_s};
		held_row(&t, a, range[i].name, time, k);
	}
	held_words(pen, &t);
}

/* --- what is missing -------------------------------------------------------------- */

static bool has_note(const struct prediction *p)
{
	return !isnan(p->time_s) && p->entry->note;
}

/* Prints each note once for each system that it is about. */
static void notes_table(const struct pen *pen, const struct validation *v)
{
	static const char *const head[] = {"system", "from 1 MiB", "what is missing"};
	struct arena *a = pen->arena;
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);
	struct pen_table t = words_table(a, "What the simulator lacks for a system",
	                                 "lrp", head, (size_t)n);

	for (int64_t i = 0; i < n; i++) {
		struct group g = {.system = row[i].row->system,
		                  .first_class = VALIDATION_FROM_MIB,
		                  .last_class = VALIDATION_CLASSES - 1};
		int64_t k = 0;
		const char **cell;

		if (!has_note(&row[i]))
			continue;
		while (!has_note(&row[k]) ||
		       strcmp(row[k].entry->note, row[i].entry->note) ||
		       strcmp(row[k].row->system, row[i].row->system))
			k++;
		if (k < i)
			continue;
		cell = words_row(&t);
		cell[0] = row[i].row->system;
		cell[1] = factor(a, errors_of(v, &g, a).geomean);
		cell[2] = row[i].entry->note;
	}
	if (!t.rows)
		return;
	pen->heading(pen, 2, "What is missing");
	pen->table(pen, &t);
}

/* --- left out --------------------------------------------------------------------- */

static void left_out_table(const struct pen *pen, const struct validation *v)
{
	static const char *const head[] = {"set", "rows", "reason"};
	struct arena *a = pen->arena;
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);
	struct pen_table t = words_table(a, "Rows left out", "lrp", head, (size_t)n);

	for (int64_t i = 0, count; i < n; i += count) {
		const char **cell;

		for (count = 1; i + count < n && row[i + count].left_out &&
		                row[i].left_out &&
		                !strcmp(row[i].left_out, row[i + count].left_out) &&
		                !strcmp(row[i].row->set, row[i + count].row->set);)
			count++;
		if (!row[i].left_out)
			continue;
		cell = words_row(&t);
		cell[0] = row[i].row->set;
		cell[1] = words_count(a, (size_t)count);
		cell[2] = row[i].left_out;
	}
	pen->heading(pen, 2, "Left out");
	if (t.rows)
		pen->table(pen, &t);
	else
		pen->paragraph(pen, "Nothing.");
}

void validate_words(const struct pen *pen, const struct validation *v)
{
	int64_t n, run = 0;
	const struct prediction *row = validation_rows(v, &n);

	for (int64_t i = 0; i < n; i++)
		run += !isnan(row[i].time_s);
	pen->heading(pen, 1, "Simulated against measured");
	pen->paragraph(pen, arena_printf(pen->arena,
	                                 "%lld %s, %lld of them run by the "
	                                 "clock model and compared, %lld left out. An "
	                                 "error is a factor, exp |log(simulated / "
	                                 "measured)|: 1.1 is 10 %% too much or as much "
	                                 "too little. Means are geometric.",
	                                 (long long)n, validation_what(v),
	                                 (long long)run, (long long)(n - run)));
	if (outliers_count(v))
		pen->paragraph(pen,
		               arena_printf(pen->arena,
		                            "%lld of those took more than %g times as "
		                            "long as a larger size of their series. "
		                            "These outliers are in the last row "
		                            "of the first table and nowhere else.",
		                            (long long)outliers_count(v),
		                            VALIDATION_OUTLIER));
	systems_table(pen, v);
	print_sure(pen, v);
	classes_table(pen, v);
	if (validation_of_one(v))
		sizes_table(pen, v);
	ways_words(pen, v);
	notes_table(pen, v);
	left_out_table(pen, v);
}
