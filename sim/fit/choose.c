#include "fit/choose.h"

#include "collective/nccl.h"
#include "collective/nccl_data.h"

#include <string.h>

/* What the rows of a family show. */
struct shown {
	bool inside, across, gathers, sends, torus, process, single, graph;
	int rows;
	int32_t most_sends; /* ranks of an all-to-all inside a node */
	const char *fabric; /* nvlink, xgmi, ici */
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
		else if (!nccl_is_network(m, 0))
			s.fabric = m->fabric[0].name;
		across = across && !s.torus;
		s.inside = s.inside || !across;
		s.across = s.across || across;
		s.sends = s.sends ||
		          (across && (!strcmp(p->row->collective, "all-to-all") ||
		                      !strcmp(p->row->collective, "permute")));
		s.gathers = s.gathers ||
		            (across && (!strcmp(p->row->collective, "all-gather") ||
		                        !strcmp(p->row->collective, "reduce-scatter")));
		s.rows++;
		if (!across && !strcmp(p->row->collective, "all-to-all") &&
		    g->size > s.most_sends)
			s.most_sends = g->size;
		s.process = s.process || m->launch == LAUNCH_PROCESS;
		s.single = s.single || nccl_callers[m->launch].one_process;
		s.graph = s.graph || m->launch == LAUNCH_GRAPH;
	}
	return s;
}

/* Returns the reason where there is one. */
static const char *if_not(bool fits, const char *why)
{
	return fits ? NULL : why;
}

static bool has_figure(const char *family, const char *figure, struct arena *a)
{
	struct error e = {0};
	double value;

	return family_figure(&value, a, family, figure, &e) == OK && value > 0;
}

/*
 * Copies the choices that name a figure and returns their number. Of a family, not of a log of
 * one machine, figures are closed too that are another family's or that too few timings tell.
 */
static int keep_choices(struct fit_choice *out,
                        const struct fit_choice choice[FIT_CHOICES_MAX],
                        const char *family, int64_t rows, struct arena *a)
{
	int n = 0;

	for (int i = 0; i < FIT_CHOICES_MAX; i++)
		if (choice[i].figure)
			out[n++] = choice[i];
	for (int i = 0; i < n && family; i++) {
		if (!out[i].why && family_borrows(family, out[i].figure, a))
			out[i].why = "it is another family's";
		if (!out[i].why && rows < FIT_ROWS_LEAST)
			out[i].why = "there are too few timings";
	}
	return n;
}

int fit_choices(struct fit_choice *out, const struct validation *v, const char *family,
                bool log, struct arena *a)
{
	struct shown s = rows_show(v, family);
	bool steps = s.inside || s.gathers || s.torus, node = s.inside && !s.torus;
	const char *inside =
		*s.fabric ? arena_printf(a, "%s.bandwidth", s.fabric) : NULL;
	const char *documented = "it is documented";
	const char *one = "no timing crosses the network between nodes";
	const char *several = "timings over several nodes do not tell what is inside";
	const char *none = s.inside ? "the links of a torus have none" : several;
	const char *sends = "there is no all-to-all or permute over several nodes";
	const struct fit_choice choice[] = {
		{"launch_s",
	         !s.process ? "no timing was launched by a process per device"
	                    : if_not(steps, "all-reduces over several nodes do not "
	                                    "tell it from net_step")},
		{"launch_each_s",
	         if_not(s.single, "no timing was launched by one process for all")},
		{"launch_graph_s",
	         if_not(s.graph, "no timing was launched in a graph")},
		{"fill_s", if_not(node, none)},
		{inside,
	         !s.inside && !s.torus && !log
	                 ? several
	                 : if_not(log || !inside || family_open(family, inside, a),
	                          documented)},
		{"step", if_not(node, none)},
		{"net_post_s",
	         !s.across ? one
	                   : if_not(s.gathers && !s.inside,
	                            "there is no all-gather or reduce-scatter over "
	                            "several nodes, or there are timings inside one")},
		{"nic.bandwidth",
	         !s.across ? one
	                   : if_not(log || family_open(family, "nic.bandwidth", a),
	                            documented)},
		{"net_step", if_not(s.across, one)},
		{"net_latency_s",
	         !s.across ? one
	                   : if_not(has_figure(family, "net_latency_s", a),
	                            "its network's software is not known to add one")},
		{"net_fill_s", if_not(s.across, one)},
		{"net_send_share", !s.across ? one : if_not(s.sends, sends)},
		{"net_send_s", !s.across ? one : if_not(s.sends, sends)},
		{"send_wait_s",
	         if_not(s.most_sends >= 32,
	                "there is no all-to-all of 32 devices or more inside a node")},
		{"net_rendezvous_s",
	         !s.across ? one
	                   : if_not(has_figure(family, "net_rendezvous_s", a),
	                            "its network is not known to have one")},
	};

	_Static_assert(sizeof(choice) / sizeof(*choice) == FIT_CHOICES_MAX, "all fit");
	return keep_choices(out, choice, log ? NULL : family, s.rows, a);
}

const char **fit_constants(const struct validation *v, const char *family,
                           struct arena *a)
{
	struct fit_choice choice[FIT_CHOICES_MAX];
	const char **out = arena_alloc(a, FIT_CHOICES_MAX + 1, sizeof(*out));
	int n = 0, choices = fit_choices(choice, v, family, false, a);

	for (int i = 0; i < choices && n < FIT_FIGURES_MAX; i++)
		if (!choice[i].why)
			out[n++] = choice[i].figure;
	out[n] = NULL;
	return out;
}
