/* What a study says of the systems, in numbers and in words. */
#include "place/study.h"

#include "text/csv.h"
#include "text/words.h"

#include <math.h>
#include <string.h>

static bool faster(double a_s, double b_s)
{
	return a_s < b_s * (1 - 1e-9);
}

/* Returns whether all groups lie within one instance of the last level. */
static bool is_inside(const struct matrix *m, uint32_t reduce)
{
	for (int i = 0; i < m->naxes; i++)
		for (int j = 0; j + 1 < m->nlevels; j++)
			if (reduce & 1u << i && m->x[i][j] > 1)
				return false;
	return true;
}

static bool has_ops(const struct program *p, enum op a, enum op b, enum op c)
{
	return p->n == 3 && p->step[0].op == a && p->step[1].op == b &&
	       p->step[2].op == c;
}

static void add_study_matrix(struct study_sums *sums, const struct placed *p,
                             const struct placement_case *c)
{
	double speedup = p->allreduce_s / p->best_s;
	double level = p->order_s[ORDER_ROW] / p->order_s[ORDER_LEVEL];
	bool improves = faster(p->best_s, p->allreduce_s);

	sums->matrices++;
	if (improves) {
		sums->improved++;
		sums->speedup += speedup;
		sums->most_speedup = fmax(sums->most_speedup, speedup);
		sums->scattered += has_ops(&p->best, OP_REDUCE_SCATTER, OP_ALL_REDUCE,
		                           OP_ALL_GATHER);
		sums->reduced +=
			has_ops(&p->best, OP_REDUCE, OP_ALL_REDUCE, OP_BROADCAST);
	}
	if (is_inside(&p->matrix, c->reduce)) {
		sums->inside++;
		sums->inside_single += !improves;
	}
	if (!(c->reduce & (c->reduce - 1)))
		return;
	sums->several++;
	sums->row += p->row_taken;
	if (faster(p->order_s[ORDER_LEVEL], p->order_s[ORDER_ROW])) {
		sums->level++;
		sums->level_speedup += level;
		sums->most_level = fmax(sums->most_level, level);
	}
}

/*
 * Finds the slowest over the fastest matrix, by all-reduces [0] and best programs [1].
 */
static void spreads(double out[2], const struct study_case *of)
{
	double least[2] = {INFINITY, INFINITY}, most[2] = {0};

	for (int64_t i = 0; i < of->n; i++) {
		const double s[2] = {of->placed[i].allreduce_s, of->placed[i].best_s};

		for (int k = 0; k < 2; k++) {
			least[k] = fmin(least[k], s[k]);
			most[k] = fmax(most[k], s[k]);
		}
	}
	for (int k = 0; k < 2; k++)
		out[k] = least[k] > 0 ? most[k] / least[k] : NAN;
}

static int64_t programs_of(const struct study_case *of)
{
	int64_t programs = 0;

	for (int64_t i = 0; i < of->n; i++)
		programs += of->placed[i].programs;
	return programs;
}

static void count_case(struct study_sums *sums, const struct study_case *of)
{
	int64_t programs = programs_of(of);
	double spread[2];

	if (!sums->cases++ || programs < sums->programs[0])
		sums->programs[0] = programs;
	if (programs > sums->programs[1])
		sums->programs[1] = programs;
	spreads(spread, of);
	if (!sums->widest || spread[0] > sums->spread[0]) {
		sums->widest = of;
		sums->spread[0] = spread[0];
	}
	sums->spread[1] = fmax(sums->spread[1], spread[1]);
	for (int64_t i = 0; i < of->n; i++)
		add_study_matrix(sums, &of->placed[i], &of->c);
}

struct study_sums study_sums_of(const struct study *s, const char *family)
{
	struct study_sums sums = {0};

	for (int i = 0; i < s->n; i++)
		if (!family || !strncmp(family, s->of[i].family, strlen(family)))
			count_case(&sums, &s->of[i]);
	sums.speedup = sums.improved ? sums.speedup / (double)sums.improved : NAN;
	sums.level_speedup = sums.level ? sums.level_speedup / (double)sums.level : NAN;
	if (!sums.improved)
		sums.most_speedup = NAN;
	if (!sums.level)
		sums.most_level = NAN;
	return sums;
}

/* --- words --------------------------------------------------------------------------- */

static const char *count_systems(struct arena *a, int64_t n)
{
	return arena_printf(a, "%lld", (long long)n);
}

static const char *percent(struct arena *a, int64_t part, int64_t n)
{
	return n ? words_percent(a, (double)part / (double)n) : "-";
}

static const char *ratio(struct arena *a, double x)
{
	return isnan(x) ? "-" : arena_printf(a, "%.2f", x);
}

/* Lists families in order of appearance, those that are no other's beginning. */
static const char **study_families(size_t *n, const struct study *s, struct arena *a)
{
	const char **list = arena_alloc(a, (size_t)s->n, sizeof(*list));

	*n = 0;
	for (int i = 0; i < s->n; i++) {
		size_t k = 0;

		while (k < *n && strcmp(list[k], s->of[i].family) != 0)
			k++;
		if (k == *n)
			list[(*n)++] = s->of[i].family;
	}
	return list;
}

static void study_systems_table(const struct pen *pen, const struct study *s)
{
	static const char *const head[] = {
		"system",      "cases",  "matrices",  "programs", "spread AR",
		"spread best", "better", "mean",      "most",     "level < row",
		"mean",        "most",   "row taken",
	};
	struct arena *a = pen->arena;
	size_t n;
	const char **family = study_families(&n, s, a);
	struct pen_table t =
		words_table(a, "Placements and programs", "lrrrrrrrrrrrr", head, n);

	for (size_t i = 0; i < n; i++) {
		struct study_sums sums = study_sums_of(s, family[i]);
		const char **cell = words_row(&t);

		cell[0] = family[i];
		cell[1] = count_systems(a, sums.cases);
		cell[2] = count_systems(a, sums.matrices);
		cell[3] = arena_printf(a, "%lld-%lld", (long long)sums.programs[0],
		                       (long long)sums.programs[1]);
		cell[4] = ratio(a, sums.spread[0]);
		cell[5] = ratio(a, sums.spread[1]);
		cell[6] = percent(a, sums.improved, sums.matrices);
		cell[7] = ratio(a, sums.speedup);
		cell[8] = ratio(a, sums.most_speedup);
		cell[9] = percent(a, sums.level, sums.several);
		cell[10] = ratio(a, sums.level_speedup);
		cell[11] = ratio(a, sums.most_level);
		cell[12] = percent(a, sums.row, sums.several);
	}
	pen->table(pen, &t);
}

static const char *system_name(const struct study_case *of, struct arena *a)
{
	return arena_printf(a, "%s, axes %s, reduce %s", of->family, of->axes,
	                    of->reduce);
}

/* The published findings beside what the published systems do here. */
static void findings_table(const struct pen *pen, const struct study_sums *p2)
{
	static const char *const head[] = {"finding", "published", "here"};
	struct arena *a = pen->arena;
	int64_t across = p2->matrices - p2->inside;
	const char *const cell[][3] = {
		{"matrices where a program beats one all-reduce", "69 %",
	         percent(a, p2->improved, p2->matrices)},
		{"mean speedup of those", "1.27", ratio(a, p2->speedup)},
		{"largest speedup", "2.04", ratio(a, p2->most_speedup)},
		{"R1: spread of all-reduces over placements, up to",
	         "448 (tree, A100 4x16, axes 4,16)",
	         arena_printf(a, "%.1f (ring, %s)", p2->spread[0],
	                      system_name(p2->widest, a))},
		{"R3: within a node one all-reduce is best", "holds",
	         arena_printf(a, "%lld of %lld", (long long)p2->inside_single,
	                      (long long)p2->inside)},
		{"R5: across nodes programs win", "holds",
	         arena_printf(
			 a, "%lld of %lld",
			 (long long)(p2->improved - (p2->inside - p2->inside_single)),
			 (long long)across)},
		{"winners that are ReduceScatter, AllReduce, AllGather", "most",
	         arena_printf(a, "%lld of %lld", (long long)p2->scattered,
	                      (long long)p2->improved)},
		{"winners that are Reduce, AllReduce, Broadcast", "fewer",
	         arena_printf(a, "%lld of %lld", (long long)p2->reduced,
	                      (long long)p2->improved)},
	};
	struct pen_table t = words_table(a, "Published findings", "lll", head,
	                                 sizeof(cell) / sizeof(*cell));

	for (size_t i = 0; i < sizeof(cell) / sizeof(*cell); i++)
		memcpy(words_row(&t), cell[i], sizeof(cell[i]));
	pen->table(pen, &t);
}

void study_words(const struct pen *pen, const struct study *s)
{
	struct study_sums p2 = study_sums_of(s, "p2-");

	pen->heading(pen, 1, "Placements and reductions");
	pen->paragraph(
		pen,
		"Every parallelism matrix of every case, by the clock model. A spread "
		"is "
		"the largest over cases of the slowest over the fastest matrix, by one "
		"all-reduce (AR) and by the best program. Better are matrices in which "
		"a "
		"program is faster than one all-reduce, with the mean and largest "
		"speedup. The last four columns are of reductions over several axes: "
		"how "
		"often level order is faster than row order, by how much, and how "
		"often "
		"it would be slower, so that row order is taken.");
	study_systems_table(pen, s);
	if (!p2.cases)
		return;
	pen->heading(pen, 2, "Beside the published findings");
	pen->paragraph(pen, "Published are measurements (Xie et al. 2022), rings and "
	                    "trees together; here all matrices of the families p2-*, "
	                    "simulated with rings.");
	findings_table(pen, &p2);
}

void study_csv(FILE *out, const struct study *s)
{
	fprintf(out, "family,platform,axes,reduce,matrices,programs,allreduce_s_least,"
	             "allreduce_s_most,best_s_least,best_s_most,better,mean_speedup,"
	             "most_speedup,level_faster,row_taken,best_matrix,best_order\n");
	for (int i = 0; i < s->n; i++) {
		const struct study_case *of = &s->of[i];
		struct study_sums sums = {0};
		double least[2] = {INFINITY, INFINITY}, most[2] = {0};
		struct text matrix = {0};

		for (int64_t k = 0; k < of->n; k++) {
			const struct placed *p = &of->placed[k];

			add_study_matrix(&sums, p, &of->c);
			least[0] = fmin(least[0], p->allreduce_s);
			most[0] = fmax(most[0], p->allreduce_s);
			least[1] = fmin(least[1], p->best_s);
			most[1] = fmax(most[1], p->best_s);
		}
		matrix_print(&matrix, &of->placed[0].matrix);
		csv_put(out, of->family, true);
		csv_put(out, of->platform, false);
		csv_put(out, of->axes, false);
		csv_put(out, of->reduce, false);
		fprintf(out, ",%lld,%lld,%.9g,%.9g,%.9g,%.9g,%lld,", (long long)of->n,
		        (long long)programs_of(of), least[0], most[0], least[1],
		        most[1], (long long)sums.improved);
		if (sums.improved)
			fprintf(out, "%.6g,%.6g", sums.speedup / (double)sums.improved,
			        sums.most_speedup);
		else
			fprintf(out, ",");
		fprintf(out, ",%lld,%lld", (long long)sums.level, (long long)sums.row);
		csv_put(out, matrix.s, false);
		csv_put(out, order_name(of->placed[0].order), false);
		fprintf(out, "\n");
		text_free(&matrix);
	}
}
