#include "program/collect.h"

#include "base/keys.h"
#include "collective/lower.h"
#include "cost/model.h"
#include "measure/likely.h"
#include "perf/perf.h"
#include "planner/planner.h"
#include "price/price.h"
#include "program/partition/partition.h"

#include <math.h>

/* What two collectives that take the same have in common. */
struct key {
	int64_t bytes;
	int32_t code, groups; /* of a scattered all-reduce that of a reduce-scatter */
	const int64_t *pairs;
	const struct plan *plan;
	int64_t step;
	double share;
};

struct collector {
	const struct program *p;
	const struct machine *m;
	const int32_t *devices;
	bool best;
	struct arena *arena, *scratch;
	struct model *model;
	struct keys keys;
	LIST(struct collected) known;
	LIST(const char *) refused; /* why, or NULL */
};

struct collector *collector_new(const struct program *p, const struct machine *m,
                                const int32_t *devices, bool best)
{
	struct arena *a = arena_new();
	struct collector *c = arena_alloc(a, 1, sizeof(*c));

	*c = (struct collector){.p = p,
	                        .m = m,
	                        .devices = devices,
	                        .best = best,
	                        .arena = a,
	                        .scratch = arena_new(),
	                        .model = model_new(m),
	                        .keys = {.arena = a, .table = {.arena = a}}};
	return c;
}

void collector_free(struct collector *c)
{
	model_free(c->model);
	arena_free(c->scratch);
	arena_free(c->arena);
}

/* The collective as `perf` has it; whether nccl-tests counts its result's bytes. */
static bool as_perf(struct perf *out, bool *result, enum opcode code)
{
	static const struct {
		enum opcode code;
		const char *name;
		bool result;
	} known[] = {
		{HLO_ALL_GATHER, "all-gather", true},
		{HLO_ALL_REDUCE, "all-reduce", true},
		{HLO_REDUCE_SCATTER, "reduce-scatter", false},
		{HLO_ALL_TO_ALL, "all-to-all", false},
		/* Of what it sends only the most is known, the whole operand. */
		{HLO_RAGGED_ALL_TO_ALL, "all-to-all", false},
		{HLO_COLLECTIVE_BROADCAST, "broadcast", false},
	};
	struct error e = {0};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (known[i].code != code)
			continue;
		out->collective = known[i].name;
		*result = known[i].result;
		return perf_op(&out->op, out->collective, (struct where){0}, &e);
	}
	return false;
}

static double best_s(struct collector *c, const struct perf *perf, int64_t bytes)
{
	struct text why = {0};
	struct problem problem;
	struct placement place;
	struct step_time *times;
	struct pricer *pricer;
	struct prices prices;
	struct plan *plan;
	char message[256];
	double s = NAN;

	if (!perf_problem(&problem, perf, bytes, c->scratch))
		return s;
	place = (struct placement){problem.ndevices, problem.platform};
	pricer = pricer_new(c->m, &place);
	prices = pricer_prices(pricer);
	if (planner_run(planner_find("best", 4), &plan, &problem, &prices, c->scratch,
	                &why) == ANSWER_PLAN) {
		times = arena_alloc(c->scratch, (size_t)plan->nsteps + 1,
		                    sizeof(*times));
		s = plan_seconds(times, plan, c->m, &place, model_clock, c->model,
		                 message, sizeof(message));
		/* A program's collectives are counted without packing, and so is this. */
		for (int i = 0; i < plan->nsteps && s >= 0; i++)
			s -= times[i].local_s;
	}
	pricer_free(pricer);
	text_free(&why);
	return s >= 0 ? s : NAN;
}

/* The groups of one size; those of others run at the same time. */
static struct groups groups_of_size(struct collector *c, const struct replica_groups *g,
                                    int32_t size)
{
	int32_t *ids =
		arena_alloc(c->scratch, (size_t)g->first[g->ngroups], sizeof(*ids));
	struct groups out = {0, size, ids};
	int32_t n = 0;

	for (int32_t i = 0; i < g->ngroups; i++) {
		if (g->first[i + 1] - g->first[i] != size)
			continue;
		for (int32_t k = g->first[i]; k < g->first[i + 1]; k++)
			ids[n++] = c->devices[g->ids[k]];
		out.ngroups++;
	}
	return out;
}

static bool even_groups(const struct replica_groups *g)
{
	return g->first[g->ngroups] == g->ngroups * g->size;
}

/* Takes the longer of what is known and what the groups of `perf` take. */
static bool time_perf(struct collected *out, struct collector *c,
                      const struct perf *perf, int64_t bytes, struct text *why)
{
	struct perf_row row;

	if (!perf_measure(&row, perf, bytes, model_clock, c->model, c->scratch, why))
		return false;
	out->algorithm = row.algorithm;
	out->several = out->several ||
	               likely_several(c->m, perf->groups.ids, perf->groups.size);
	out->time_s = fmax(out->time_s, row.time_s);
	out->bound_s = fmax(out->bound_s, row.bound_s);
	if (c->best)
		out->best_s = fmax(out->best_s, best_s(c, perf, bytes));
	return true;
}

static bool time_groups(struct collected *out, struct collector *c,
                        const struct instruction *op, enum opcode code, double share,
                        struct text *why)
{
	const struct replica_groups *g = &c->p->groups.at[op->as.collective->groups];
	struct perf perf = {.machine = c->m};
	int64_t bytes;
	bool result;

	out->group_size = g->size;
	if (!as_perf(&perf, &result, code)) {
		text_printf(why, "it is not known how to run it");
		return false;
	}
	bytes = result ? op_result_bytes(c->p, op) : op_operand_bytes(c->p, op);
	if (code == HLO_RAGGED_ALL_TO_ALL)
		bytes = value_type_bytes(&c->p->value.at[op_operand(c->p, op, 0)].type);
	bytes = (int64_t)llround((double)bytes / share);
	out->collective = perf.collective;
	out->bytes = bytes;
	if (!bytes) { /* XLA takes it out (zero_sized_hlo_elimination) */
		out->algorithm = "none";
		return true;
	}
	/* Mostly all groups are of one size. */
	for (int32_t size = even_groups(g) ? g->size : 2; size <= g->size; size++) {
		if (size < 2)
			break;
		perf.groups = groups_of_size(c, g, size);
		if (perf.groups.ngroups && !time_perf(out, c, &perf, bytes, why))
			return false;
	}
	out->time_s *= share;
	out->bound_s *= share;
	out->best_s *= share;
	return true;
}

/* The time of messages by the model's clock. */
static bool time_lowered(struct collected *out, struct collector *c,
                         const struct lowered *l, struct text *why)
{
	char message[256] = "";
	double s = model_clock(c->model, &l->schedule, message, sizeof(message));

	if (s < 0) {
		text_printf(why, "%s", message);
		return false;
	}
	out->time_s = s + l->launch_s;
	out->algorithm = l->algorithm;
	out->bound_s = out->best_s = NAN;
	return true;
}

static bool time_pairs(struct collected *out, struct collector *c,
                       const struct instruction *op, double share, struct text *why)
{
	const struct ints pairs = op->as.collective->pairs;
	struct pair *pair = arena_alloc(c->scratch, (size_t)pairs.n / 2, sizeof(*pair));
	double bytes = (double)op_result_bytes(c->p, op) / share;
	struct lowered l;
	int32_t n = 0;

	out->group_size = 2;
	for (int32_t i = 0; i + 1 < pairs.n; i += 2) {
		if (pairs.at[i] == pairs.at[i + 1])
			continue;
		pair[n++] = (struct pair){c->devices[pairs.at[i]],
		                          c->devices[pairs.at[i + 1]]};
	}
	if (!n)
		return true;
	out->collective = "permute";
	out->bytes = (int64_t)llround(bytes);
	if (!out->bytes) {
		out->algorithm = "none";
		return true;
	}
	for (int32_t i = 0; i < n && !out->several; i++)
		out->several =
			likely_several(c->m, (int32_t[]){pair[i].src, pair[i].dst}, 2);
	if (!lower_pairs(&l, c->scratch, c->m, pair, n, bytes, why) ||
	    !time_lowered(out, c, &l, why))
		return false;
	out->time_s *= share;
	return true;
}

/* A step of a plan whose messages only the plan knows. */
static bool time_step(struct collected *out, struct collector *c,
                      const struct plan *plan, int step, int64_t bytes, struct text *why)
{
	const struct placement place = {plan->problem->ndevices, c->devices};
	const struct step *s = &plan->step[step];
	struct lowered l;

	out->group_size = 2;
	out->collective = s->npairs && !s->ntransfers ? "permute" : "all-to-all";
	out->bytes = bytes;
	out->several = likely_several(c->m, c->devices, plan->problem->ndevices);
	return lower_step(&l, c->scratch, c->m, &place, plan, step, why) &&
	       time_lowered(out, c, &l, why);
}

static bool time_planned(struct collected *out, struct collector *c,
                         const struct plan *plan, int step, struct text *why)
{
	const struct step *s = &plan->step[step];
	struct groups g = s->groups;
	struct perf perf = {.machine = c->m};
	int32_t *ids = arena_alloc(c->scratch, (size_t)g.ngroups * (size_t)g.size + 1,
	                           sizeof(*ids));
	bool result = true;
	bool group = g.ngroups && !s->gathers &&
	             as_perf(&perf, &result, partition_opcode(s->op));
	int64_t bytes =
		dtype_bytes(plan->problem->array.dtype,
	                    shape_elements(result ? &s->local : step_operand(s)));

	if (!group)
		return time_step(out, c, plan, step, bytes, why);
	for (int32_t i = 0; i < g.ngroups * g.size; i++)
		ids[i] = c->devices[g.ids[i]];
	perf.groups = (struct groups){g.ngroups, g.size, ids};
	out->group_size = g.size;
	out->collective = perf.collective;
	out->bytes = bytes;
	return time_perf(out, c, &perf, bytes, why);
}

bool collect_step(struct collected *out, struct collector *c, const struct plan *plan,
                  int step, struct text *why)
{
	bool done;

	*out = (struct collected){.best_s = c->best ? 0 : NAN};
	done = time_planned(out, c, plan, step, why);
	arena_reset(c->scratch);
	return done;
}

bool collect(struct collected *out, struct collector *c, const struct instruction *op,
             bool scattered, double share, struct text *why)
{
	const struct collective_attr *at = op->as.collective;
	enum opcode code = scattered ? HLO_REDUCE_SCATTER : op->code;
	struct key key;
	struct text reason = {0};
	int32_t number;
	bool fresh;

	key = (struct key){op_result_bytes(c->p, op),
	                   (int32_t)code,
	                   at->groups,
	                   op->code == HLO_COLLECTIVE_PERMUTE ? at->pairs.at : NULL,
	                   at->plan,
	                   at->step,
	                   share};
	number = keys_add(&c->keys, &key, sizeof(key), &fresh);
	if (fresh) {
		struct collected *one = list_add(&c->known, c->arena);
		bool done;

		*one = (struct collected){.best_s = c->best ? 0 : NAN};
		done = at->plan ? time_step(one, c, at->plan, at->step,
		                            op_result_bytes(c->p, op), &reason)
		       : op->code == HLO_COLLECTIVE_PERMUTE
		               ? time_pairs(one, c, op, share, &reason)
		               : time_groups(one, c, op, code, share, &reason);
		*list_add(&c->refused, c->arena) =
			done ? NULL : arena_strdup(c->arena, reason.s ? reason.s : "");
		arena_reset(c->scratch);
		text_free(&reason);
	}
	*out = c->known.at[number];
	if (c->refused.at[number])
		text_printf(why, "%s", c->refused.at[number]);
	return !c->refused.at[number];
}
