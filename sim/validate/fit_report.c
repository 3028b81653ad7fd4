#include "validate/fit_report.h"

#include "collective/nccl.h"
#include "stat/summary.h"
#include "text/words.h"

#include <math.h>
#include <string.h>

/* What the rows of a family show. */
struct shown {
	bool inside, across, gathers, sends, torus, process, single, graph;
	int32_t fewest, most; /* nodes of those across */
	const char *fabric;   /* nvlink, xgmi, ici */
};

static struct shown rows_show(const struct validation *v, const char *family)
{
	struct shown s = {.fabric = ""};
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);

	for (int64_t i = 0; i < n; i++) {
		const struct prediction *p = &row[i];
		const struct machine *m;
		const struct groups *g;
		const struct fabric *fabric;
		bool across;

		if (!p->family || strcmp(p->family, family) != 0)
			continue;
		m = validation_machine(v, i, &g);
		fabric = &m->fabric[machine_fabric(m, g->ids[0], g->ids[g->size - 1])];
		across = nccl_is_network(m, (int)(fabric - m->fabric));
		s.torus = fabric->geometry == GEOMETRY_TORUS;
		if (!across || s.torus)
			s.fabric = fabric->name;
		across = across && !s.torus;
		s.inside = s.inside || !across;
		s.across = s.across || across;
		s.sends = s.sends ||
		          (across && (!strcmp(p->row->collective, "all-to-all") ||
		                      !strcmp(p->row->collective, "permute")));
		s.gathers = s.gathers ||
		            (across && (!strcmp(p->row->collective, "all-gather") ||
		                        !strcmp(p->row->collective, "reduce-scatter")));
		if (across && (!s.fewest || p->row->nodes < s.fewest))
			s.fewest = p->row->nodes;
		if (across && p->row->nodes > s.most)
			s.most = p->row->nodes;
		s.process = s.process || m->launch == LAUNCH_PROCESS;
		s.single = s.single || m->launch == LAUNCH_SINGLE;
		s.graph = s.graph || m->launch == LAUNCH_GRAPH;
	}
	return s;
}

const char **fit_constants(const struct validation *v, const char *family,
                           struct arena *a)
{
	struct shown s = rows_show(v, family);
	const char **out = arena_alloc(a, 12, sizeof(*out));
	const char *inside = arena_printf(a, "%s.bandwidth", s.fabric);
	bool steps = s.inside || s.gathers || s.torus;
	const struct {
		const char *figure;
		bool fit;
	} rule[] = {
		{"launch_s", s.process && steps},
		{"launch_each_s", s.single},
		{"launch_graph_s", s.graph},
		{"fill_s", s.inside && !s.torus},
		{inside, (s.inside || s.torus) && family_open(family, inside, a)},
		{"step", s.inside && !s.torus},
		{"net_post_s", s.gathers && !s.inside},
		{"nic.bandwidth", s.across && family_open(family, "nic.bandwidth", a)},
		{"net_step", s.across},
		{"net_fill_s", s.across},
		{"net_growth", s.gathers && s.most >= 4 * s.fewest},
		{"net_send_share", s.sends},
		{"net_send_s", s.sends},
	};
	int n = 0;

	for (size_t i = 0; i < sizeof(rule) / sizeof(*rule) && n < FIT_FIGURES_MAX; i++)
		if (rule[i].fit)
			out[n++] = rule[i].figure;
	out[n] = NULL;
	return out;
}

static const char *value_text(struct arena *a, const char *figure, double x)
{
	size_t n = strlen(figure);

	if (n > 2 && !strcmp(figure + n - 2, "_s"))
		return words_time(a, x);
	if (strchr(figure, '.') || (n > 4 && !strcmp(figure + n - 4, "_Bps")))
		return arena_printf(a, "%.4g GB/s", x * 1e-9);
	return arena_printf(a, "%.4g", x);
}

static void constants_table(const struct pen *pen, const struct family_fit *fit, int n)
{
	static const char *const head[] = {"family", "constant", "start", "fitted",
	                                   "standard error"};
	struct arena *a = pen->arena;
	struct pen_table t = words_table(a, "Fitted constants of families", "llrrr",
	                                 head, (size_t)n * FIT_FIGURES_MAX);

	for (int i = 0; i < n; i++)
		for (int k = 0; k < fit[i].nfigures; k++) {
			const struct fitted *g = &fit[i].figure[k];
			const char **cell = words_row(&t);

			cell[0] = fit[i].family;
			cell[1] = g->figure;
			cell[2] = value_text(a, g->figure, g->start);
			cell[3] = value_text(a, g->figure, g->value);
			cell[4] = isnan(g->se) ? "-"
			                       : arena_printf(a, "%.2g %%", 100 * g->se);
		}
	pen->heading(pen, 2, "Constants");
	pen->table(pen, &t);
}

static void errors_table(const struct pen *pen, const struct family_fit *fit, int n)
{
	static const char *const head[] = {"family", "timings", "constants", "before",
	                                   "after"};
	struct arena *a = pen->arena;
	struct pen_table t =
		words_table(a, "Geometric-mean error factors before and after", "lrrrr",
	                    head, (size_t)n);

	for (int i = 0; i < n; i++) {
		const char **cell = words_row(&t);

		cell[0] = fit[i].family;
		cell[1] = words_count(a, fit[i].n);
		cell[2] = words_count(a, (size_t)fit[i].nfigures);
		cell[3] = arena_printf(a, "%.3f", fit[i].before);
		cell[4] = arena_printf(a, "%.3f%s", fit[i].after,
		                       fit[i].converged ? "" : " (did not converge)");
	}
	pen->heading(pen, 2, "Errors");
	pen->table(pen, &t);
}

/* Prints every set as predicted from the others of its family; the mean counts rows. */
static void left_out_table(const struct pen *pen, const struct family_fit *fit, int n)
{
	static const char *const head[] = {"family", "set left out", "timings", "error"};
	struct arena *a = pen->arena;
	size_t sets = 0, rows = 0;
	double sum = 0;
	struct pen_table t;

	for (int i = 0; i < n; i++)
		sets += (size_t)fit[i].nsets;
	t = words_table(a, "Each set predicted from the other sets of its family",
	                "llrr", head, sets + 1);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < fit[i].nsets; k++) {
			const struct left_out_set *s = &fit[i].set[k];
			bool only = fit[i].nsets == 1;
			const char **cell = words_row(&t);

			cell[0] = fit[i].family;
			cell[1] = s->set;
			cell[2] = words_count(a, only ? fit[i].n : s->n);
			cell[3] = only ? "the only set"
			               : arena_printf(a, "%.3f", s->error);
			rows += only ? 0 : s->n;
			sum += only ? 0 : (double)s->n * log(s->error);
		}
	if (rows) {
		const char **cell = words_row(&t);

		cell[0] = "all";
		cell[1] = "";
		cell[2] = words_count(a, rows);
		cell[3] = arena_printf(a, "%.3f", exp(sum / (double)rows));
	}
	pen->heading(pen, 2, "Leave one set out");
	pen->table(pen, &t);
}

void fit_words(const struct pen *pen, const struct family_fit *fit, int n)
{
	pen->heading(pen, 1, "Constants fitted to published timings");
	errors_table(pen, fit, n);
	constants_table(pen, fit, n);
	left_out_table(pen, fit, n);
}
