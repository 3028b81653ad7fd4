#include "collective/nccl.h"
#include "collective/nccl_data.h"

#include <math.h>
#include <string.h>

extern const struct nccl_algorithm nccl_ring, nccl_tree, nccl_nvls, nccl_nvls_tree,
	nccl_pat, nccl_sends;

const struct nccl_algorithm *const nccl_algorithms[] = {
	&nccl_ring, &nccl_tree,  &nccl_nvls, &nccl_nvls_tree,
	&nccl_pat,  &nccl_sends, NULL,
};

/* The collective that is lowered. */
struct job {
	const struct machine *machine;
	enum op op;
	int32_t ngroups;
	const struct nccl_group *group; /* [ngroups] */
	double bytes;                   /* V or S */
	bool library;                   /* its own model ranks what may run */
	struct nccl_wire *wire;
	const struct nccl_load *load; /* per algorithm of the list, laid for one byte */
	double load_share;            /* net_send_share that was laid with */
	int32_t core_devices;         /* of a node that share one core; 0: none do */
};

/* What one algorithm and protocol would take; `score` is what it is ranked by. */
struct candidate {
	const struct nccl_algorithm *algorithm;
	int number; /* in the list */
	enum protocol protocol;
	double score, time_s;
	struct schedule schedule;       /* of the algorithm, with bytes of data */
	const int64_t *first;           /* [ngroups + 1] messages of each group */
	const double *wire_s, *route_s; /* [ngroups] of it */
};

/* Returns whether the network lets the protocol run: the group is of one node, or it does. */
static bool net_allows(const struct job *j, const struct nccl_group *g, enum protocol p)
{
	const double *tuning = j->machine->tuning.value;

	if (p == PROTOCOL_SIMPLE || g->nodes == 1)
		return true;
	return tuning[TUNING_NET_SIMPLE] == 0 &&
	       (p != PROTOCOL_LL128 || tuning[TUNING_NET_LL128] != 0);
}

static bool all_groups_apply(const struct job *j, const struct nccl_algorithm *a,
                             enum protocol p)
{
	for (int32_t i = 0; i < j->ngroups; i++)
		if (!a->applies(&j->group[i], j->op, p) ||
		    !net_allows(j, &j->group[i], p))
			return false;
	return true;
}

/* Returns whether it is what the user forces. The tuner is no algorithm. */
static bool is_wanted(const struct job *j, const struct nccl_algorithm *a,
                      enum protocol p)
{
	const struct forced *f = &j->machine->forced;

	return (!f->algorithm || nccl_asks_tuner(j->machine) ||
	        !strcmp(f->algorithm, a->name)) &&
	       (!f->protocol || !strcmp(f->protocol, protocol_name(p)));
}

static bool any_wanted(const struct job *j, const struct nccl_algorithm *a)
{
	for (int p = 0; p < PROTOCOLS; p++)
		if (is_wanted(j, a, p) && all_groups_apply(j, a, p))
			return true;
	return false;
}

/*
 * Prints "ring (ll, ll128, simple)" after `before`. Returns false if the algorithm does
 * not apply.
 */
static bool describe(struct text *why, const char *before, const struct job *j,
                     const struct nccl_algorithm *a)
{
	bool first = true;

	for (int p = 0; p < PROTOCOLS; p++) {
		if (!all_groups_apply(j, a, p))
			continue;
		if (first)
			text_printf(why, "%s%s (", before, a->name);
		text_printf(why, "%s%s", first ? "" : ", ", protocol_name(p));
		first = false;
	}
	if (!first)
		text_printf(why, ")");
	return !first;
}

/* Names what would apply where what is forced does not. */
static void explain_refusal(struct text *why, const struct job *j,
                            const struct nccl_algorithm *const *list)
{
	const struct forced *f = &j->machine->forced;
	const char *before = ", expected ";

	text_printf(why, "%s%s%s cannot run this %s on %s",
	            f->algorithm ? f->algorithm : "",
	            f->algorithm && f->protocol ? " with " : "",
	            f->protocol ? f->protocol : "", op_name(j->op), j->machine->name);
	for (int i = 0; list[i]; i++)
		if (describe(why, before, j, list[i]))
			before = ", ";
}

/*
 * Lays its messages and times them; returns false if they have no route that is known.
 */
static bool lay_messages(struct candidate *c, const struct job *j, struct arena *a)
{
	double *wire_s = arena_alloc(a, (size_t)j->ngroups, sizeof(*wire_s));
	double *route_s = arena_alloc(a, (size_t)j->ngroups, sizeof(*route_s));
	int64_t *first = arena_alloc(a, (size_t)j->ngroups + 1, sizeof(*first));
	bool joined = true;

	c->schedule = (struct schedule){.arena = a};
	schedule_round(&c->schedule);
	for (int32_t i = 0; i < j->ngroups; i++) {
		struct task all;

		schedule_task(&c->schedule, 1);
		c->algorithm->messages(&c->schedule, &j->group[i], j->op, j->bytes);
		first[i + 1] = c->schedule.nmessages;
		all = (struct task){.first = first[i],
		                    .nmessages = first[i + 1] - first[i]};
		joined &= nccl_wire_task(&wire_s[i], &route_s[i], j->wire, &c->schedule,
		                         &all);
	}
	schedule_end(&c->schedule);
	c->first = first;
	c->wire_s = wire_s;
	c->route_s = route_s;
	return joined;
}

/* Times them where messages are laid already. */
static bool messages_laid(struct candidate *c, const struct job *j, double *wire_s,
                          double *route_s)
{
	double share = j->op == OP_ALL_TO_ALL
	                       ? j->load_share /
	                                 j->machine->tuning.value[TUNING_NET_SEND_SHARE]
	                       : 1;

	c->wire_s = wire_s;
	c->route_s = route_s;
	return nccl_load_time(wire_s, route_s, &j->load[c->number], j->machine,
	                      j->bytes, share);
}

/* Returns whether every device passes parts on, if a ring runs. */
static bool passes_parts(const struct job *j)
{
	return j->op == OP_ALL_REDUCE || j->op == OP_ALL_GATHER ||
	       j->op == OP_REDUCE_SCATTER;
}

/* Returns whether a group passes parts on behind one switch, on Hopper or later. */
static bool behind_switch(const struct job *j, const struct nccl_group *g)
{
	return passes_parts(j) && g->nodes == 1 && nccl_switch(g, false) &&
	       nccl_generation(j->machine->tuning.value[TUNING_CC]) >= 2;
}

/*
 * Returns whether the library's own model ranks what may run, in place of the times that we reckon
 * with: if it is asked to, and where all groups are behind one switch from Hopper on. Its graphs
 * follow from the links there, and XLA's table for GB200 changes between LL, the switch, LL128 and
 * Simple where the model says so, to within a factor of two in size and in groups of 4 to 72
 * devices alike, though now and then another way would be faster.
 */
static bool library_ranks(const struct job *j)
{
	int32_t i = 0;

	while (i < j->ngroups && behind_switch(j, &j->group[i]))
		i++;
	return nccl_asks_tuner(j->machine) || i == j->ngroups;
}

/* Returns whether a ring over nodes runs, in which every device passes parts on. */
static bool far_ring(const struct candidate *c, const struct job *j,
                     const struct nccl_group *g)
{
	return c->algorithm->kind == NCCL_RING && g->nodes > 1 && passes_parts(j);
}

/*
 * A tree's pipeline has as many hops over the network as it has levels. Sends to many peers
 * fill each other's gaps on a network. A ring of one node passes on each line of LL and
 * LL128 as it comes, since its flag is in it, and only Simple has chunks: so it is from Hopper on,
 * by all logs of H100, H200 and B200, and on AMD's GPUs (primus-mi355x-*), while those of A100 and
 * V100 have the fill with LL128, too.
 * A ring between nodes whose messages wait for their receivers waits for nothing else, which the
 * library does not know when it chooses (`chooses`): on Polaris large gathers and all-reduces take
 * what wires and steps do.
 */
static double fill_s(const struct candidate *c, const struct job *j,
                     const struct nccl_group *g, bool chooses)
{
	const double *tuning = j->machine->tuning.value;
	int row = nccl_generation(tuning[TUNING_CC]);
	bool lines = c->algorithm->kind == NCCL_RING && c->protocol != PROTOCOL_SIMPLE;

	if (g->nodes == 1) {
		bool amd = tuning[TUNING_CC] == 0;
		bool direct = j->op == OP_ALL_TO_ALL && amd && !nccl_switch(g, false);

		return direct || (lines && (row >= 2 || amd)) ? 0
		                                              : tuning[TUNING_FILL_S];
	}
	if (!chooses && far_ring(c, j, g) && tuning[TUNING_NET_RENDEZVOUS_S] > 0)
		return 0;
	if (c->algorithm->kind == NCCL_TREE)
		return nccl_log2(g->nodes) * tuning[TUNING_NET_FILL_S];
	return j->op == OP_ALL_TO_ALL ? 0 : tuning[TUNING_NET_FILL_S];
}

/*
 * Returns how much of the steps of a ring over nodes, or over one switch from Hopper on, passes while
 * its wires, or the network's software, are busy. A step with Simple has two slices (collectives.h of
 * the library): one is on the wires while the other is on its way.
 */
static double hidden_s(const struct candidate *c, const struct job *j,
                       const struct nccl_group *g, double busy_s)
{
	bool slices = c->algorithm->kind == NCCL_RING &&
	              c->protocol == PROTOCOL_SIMPLE &&
	              (far_ring(c, j, g) || behind_switch(j, g) ||
	               (passes_parts(j) && nccl_few_channels(g)));

	return slices ? busy_s / 2 : 0;
}

/* Returns the seconds that the wires of group i, and what uses them in turn, take at least. */
static double least_s(const struct candidate *c, const struct job *j, int32_t i)
{
	return c->algorithm->least_s ? c->algorithm->least_s(&j->group[i], j->op,
	                                                     c->protocol, j->bytes)
	                             : 0;
}

static struct nccl_core core_of(const struct candidate *c, const struct job *j,
                                int32_t i)
{
	return nccl_core_of(&j->group[i], c->algorithm, c->protocol, j->op, j->bytes,
	                    j->core_devices);
}

/* Returns the seconds that the network's software takes at least for group i. */
static double meet_s(const struct candidate *c, const struct job *j, int32_t i)
{
	struct nccl_core core = core_of(c, j, i);
	double least_s = nccl_core_chunks_s(j->machine, &core);

	if (!c->algorithm->meet_s)
		return least_s;
	return fmax(least_s,
	            c->algorithm->meet_s(&j->group[i], j->op, c->protocol, j->bytes));
}

/*
 * Returns the seconds that its pipeline takes beside the wires: the fill, and as much for what each
 * chunk of the best size costs. Where calls overlap the fill passes during the call before. So
 * it is for broadcasts and reduces on one node of B200 (aicr-b200-1n-*) and H800
 * (nf5688m7-h800-1n-bcast), but not on those of A100 and V100 (superbench-a100-1n, dgx2-*), of
 * libraries of 2021 and 2019; over several nodes no timings tell.
 */
static double pipeline_s(const struct candidate *c, const struct job *j,
                         const struct nccl_group *g, double wire_s, bool in_a_row)
{
	bool filled = in_a_row && g->nodes == 1 && c->algorithm->overlaps &&
	              c->algorithm->overlaps(g, j->op) &&
	              nccl_generation(j->machine->tuning.value[TUNING_CC]) >= 2;

	return (filled ? 1 : 2) * sqrt(wire_s * fill_s(c, j, g, !in_a_row));
}

/*
 * Returns the seconds of group i before its bytes are out of the pipeline, beside w; if `in_a_row`,
 * as they are, less what passes while the devices are free for the next call, else as the library
 * reckons with when it chooses. What slows a ring slows each of its chunks.
 */
static double delay_s(const struct candidate *c, const struct job *j, int32_t i,
                      bool in_a_row)
{
	const struct nccl_group *g = &j->group[i];
	double wire_s = c->wire_s[i] * protocol_wire(c->protocol);
	double steps_s = c->algorithm->steps_s(g, j->op, c->protocol), chunks_s = -1;

	if (c->algorithm->kind == NCCL_RING)
		wire_s = fmax(wire_s, least_s(c, j, i));
	if (c->algorithm->large_s)
		steps_s += c->algorithm->large_s(g, j->bytes);
	if (g->nodes > 1)
		steps_s += 1e-6 * nccl_data.net_call_us;
	if (in_a_row && j->core_devices && c->algorithm->crossings) {
		struct nccl_core core = core_of(c, j, i);

		steps_s += nccl_core_wait_s(j->machine, &core,
		                            c->algorithm->crossings(g, j->op));
	}
	if (in_a_row && c->algorithm->saved_s)
		steps_s -= c->algorithm->saved_s(g, j->op, c->protocol, j->bytes);
	steps_s -= hidden_s(c, j, g, in_a_row ? fmax(wire_s, meet_s(c, j, i)) : wire_s);
	if (c->algorithm->chunks_s)
		chunks_s =
			c->algorithm->chunks_s(g, j->op, c->protocol, j->bytes, wire_s);
	return fmax(0, steps_s - c->route_s[i]) +
	       (chunks_s < 0 ? pipeline_s(c, j, g, wire_s, in_a_row) : chunks_s);
}

static void rank_candidate(struct candidate *c, const struct job *j)
{
	c->time_s = c->score = 0;
	for (int32_t i = 0; i < j->ngroups; i++) {
		double late_s = delay_s(c, j, i, true) + c->route_s[i];
		double alone_s = delay_s(c, j, i, false) + c->route_s[i];
		double wire_s = fmax(c->wire_s[i] * protocol_wire(c->protocol),
		                     least_s(c, j, i));

		c->score = fmax(c->score, alone_s + wire_s);
		c->time_s = fmax(c->time_s, late_s + fmax(wire_s, meet_s(c, j, i)));
	}
	if (j->library) {
		struct nccl_case of = nccl_case_of(&j->group[0], j->op, j->bytes);

		c->score = nccl_tuner_us(&of, c->algorithm->kind, c->protocol);
	}
}

/*
 * Settles the chosen candidate: its messages with what its protocol adds, and its
 * software. Every task of a group pays the latency of the group's longest route, as if
 * they were one.
 */
static void settle_candidate(struct lowered *out, struct candidate *c,
                             const struct job *j)
{
	struct schedule *s = &c->schedule;
	int32_t group = 0;

	for (int64_t i = 0; i < s->ntasks; i++) {
		struct task *t = &s->task[i];
		double wire_s, route_s;

		while (t->first >= c->first[group + 1])
			group++;
		t->delay_s = delay_s(c, j, group, true);
		t->least_s = fmax(least_s(c, j, group), meet_s(c, j, group));
		if (t->nmessages < c->first[group + 1] - c->first[group] &&
		    nccl_wire_task(&wire_s, &route_s, j->wire, s, t))
			t->delay_s += c->route_s[group] - route_s;
	}
	for (int64_t i = 0; i < s->nmessages; i++)
		s->message[i].bytes *= protocol_wire(c->protocol);
	out->schedule = *s;
	out->algorithm = c->algorithm->name;
	out->protocol = protocol_name(c->protocol);
}

static bool choose_candidate(struct candidate *out, const struct job *j,
                             struct arena *a, const struct nccl_algorithm *const *list)
{
	struct candidate best = {0};
	double wire_s, route_s;
	bool amd = list == rccl_algorithms && !j->machine->forced.algorithm;

	for (int i = 0; list[i]; i++) {
		struct candidate c = {.algorithm = list[i], .number = i};
		bool timed;

		if (!any_wanted(j, list[i]) ||
		    (amd && rccl_passes_over(list[i], &j->group[0], j->bytes)))
			continue;
		timed = j->load ? messages_laid(&c, j, &wire_s, &route_s)
		                : lay_messages(&c, j, a);
		for (int p = 0; p < PROTOCOLS; p++) {
			c.protocol = p;
			if (!is_wanted(j, list[i], p) ||
			    !all_groups_apply(j, list[i], p))
				continue;
			if (timed)
				rank_candidate(&c, j);
			if (!best.algorithm || c.score < best.score ||
			    (c.score == best.score && c.time_s < best.time_s))
				best = c;
		}
	}
	*out = best;
	return best.algorithm;
}

/* Tells the name of what would run if there were something to send. */
static bool name_only(struct lowered *out, const struct job *j,
                      const struct nccl_algorithm *const *list)
{
	for (int i = 0; list[i]; i++)
		for (int p = 0; p < PROTOCOLS; p++) {
			if (!is_wanted(j, list[i], p) ||
			    !all_groups_apply(j, list[i], p))
				continue;
			out->algorithm = list[i]->name;
			out->protocol = protocol_name(p);
			return true;
		}
	return false;
}

bool nccl_asks_tuner(const struct machine *m)
{
	return m->forced.algorithm && !strcmp(m->forced.algorithm, "tuner");
}

bool nccl_lower(struct lowered *out, const struct nccl_algorithm *const *list,
                const struct machine *m, enum op op, const struct groups *groups,
                double bytes, struct text *why)
{
	struct arena *a = out->schedule.arena;
	struct nccl_group *group =
		arena_alloc(a, (size_t)groups->ngroups, sizeof(*group));
	struct job j = {
		.machine = m, .op = op, .ngroups = groups->ngroups, .group = group};
	struct candidate best;
	bool done;

	for (int32_t i = 0; i < groups->ngroups; i++) {
		const int32_t *ids = groups->ids + (int64_t)i * groups->size;

		group[i] = nccl_group_make(a, m, ids, groups->size);
	}
	j.library = library_ranks(&j);
	j.core_devices = nccl_core_groups(m, groups);
	j.bytes = op == OP_ALL_GATHER ? bytes * groups->size : bytes;
	j.wire = nccl_wire_new(a, m);
	if (groups->size > 1 && groups->ngroups && bytes > 0) {
		done = choose_candidate(&best, &j, a, list);
		if (done)
			settle_candidate(out, &best, &j);
	} else {
		done = name_only(out, &j, list);
	}
	if (!done)
		explain_refusal(why, &j, list);
	return done;
}

struct nccl_prepared {
	const struct nccl_algorithm *const *list;
	struct nccl_group group;
	struct nccl_load *load;
	struct job job;
};

struct nccl_prepared *nccl_prepare(struct arena *a,
                                   const struct nccl_algorithm *const *list,
                                   const struct machine *m, enum op op,
                                   const int32_t *ids, int32_t n, const int32_t *kind,
                                   int32_t nkinds)
{
	struct nccl_prepared *p = arena_alloc(a, 1, sizeof(*p));
	struct arena *scratch = arena_new(); /* of what is laid, which loads sum up */
	const struct groups alone = {1, n, ids};
	int algorithms = 0;

	while (list[algorithms])
		algorithms++;
	*p = (struct nccl_prepared){
		.list = list,
		.group = nccl_group_make(a, m, ids, n),
		.load = arena_alloc(a, (size_t)algorithms, sizeof(*p->load)),
		.job = {.machine = m, .op = op, .ngroups = 1, .bytes = 1},
	};
	p->job.group = &p->group;
	p->job.library = library_ranks(&p->job);
	p->job.core_devices = nccl_core_groups(m, &alone);
	p->job.wire = nccl_wire_new(scratch, m);
	for (int i = 0; list[i]; i++) {
		struct candidate c = {.algorithm = list[i]};

		if (!any_wanted(&p->job, list[i]))
			continue;
		lay_messages(&c, &p->job, scratch);
		nccl_load_make(&p->load[i], p->job.wire, &c.schedule, kind, nkinds, a);
	}
	p->job.wire = NULL;
	arena_free(scratch);
	p->job.load = p->load;
	p->job.load_share = m->tuning.value[TUNING_NET_SEND_SHARE];
	return p;
}

double nccl_prepared_s(struct nccl_prepared *p, double bytes, const char **algorithm,
                       const char **protocol)
{
	struct candidate best;

	p->job.bytes = bytes;
	if (!choose_candidate(&best, &p->job, NULL, p->list))
		return -1;
	*algorithm = best.algorithm->name;
	*protocol = protocol_name(best.protocol);
	return best.time_s;
}
