#include "price/price.h"

#include "base/assert.h"
#include "bound/bound.h"
#include "collective/local.h"
#include "plan/groups.h"
#include "price/paths.h"
#include "price/sent.h"
#include "price/table.h"
#include "price/wires.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a collective's rounds take so far, and when the rest need not be known. */
struct sum {
	struct model *model;
	double seconds, most_s;
	double round_s; /* no round takes less */
	bool any_order; /* they are the same for all orders of the digits */
};

struct pricer {
	/* The machine with nothing forced on it, whose exchanges are no schedules. */
	struct machine free;
	const struct machine *machine; /* &free */
	struct machine scheduled;      /* the same, if its exchanges may be schedules */
	const struct placement *place;
	struct model *model;
	struct arena *scratch;
	struct price_table *collectives; /* wire times, whatever problem they are of */
	struct price_table *sent;        /* notes that planners keep on one problem */
	int32_t *order, order_n;         /* the mesh's device ids that it is for */
	int32_t rates_n;                 /* number of devices that these describe */
	struct local_rates rates;
	struct price_wires wires;
	double least_latency_s; /* of all links */
	struct price_paths *paths;
	struct price_sent *exchanges;
	struct bounds *bounds; /* of bounds_n devices; NULL: not asked yet */
	int32_t bounds_n;
};

struct pricer *pricer_new(const struct machine *m, const struct placement *place)
{
	struct pricer *p = xmalloc(1, sizeof(*p));

	*p = (struct pricer){.free = *m, .place = place};
	p->free.forced = (struct forced){0};
	p->scheduled = p->free;
	p->free.tuning.value[TUNING_SCHEDULED] = 0;
	p->machine = &p->free;
	p->least_latency_s = m->nlinks > 0 ? m->link[0].latency_s : 0;
	for (int32_t l = 0; l < m->nlinks; l++)
		p->least_latency_s = fmin(p->least_latency_s, m->link[l].latency_s);
	p->model = model_new(p->machine);
	p->paths = price_paths_new(p->machine, place, model_routes(p->model));
	p->exchanges = price_sent_new(p->machine, place, p->model);
	p->scratch = arena_new();
	p->collectives = price_table_new();
	p->sent = price_table_new();
	return p;
}

void pricer_free(struct pricer *p)
{
	if (!p)
		return;
	price_paths_free(p->paths);
	price_sent_free(p->exchanges);
	model_free(p->model);
	bounds_free(p->bounds);
	arena_free(p->scratch);
	price_table_free(p->collectives);
	price_table_free(p->sent);
	xfree(p->order);
	xfree(p);
}

static int32_t placed(const struct pricer *p, int32_t d)
{
	return placement_device(p->place, d);
}

/* Brings the rates up to date for the first n devices. */
static void rates_refresh(struct pricer *p, int32_t n)
{
	if (p->rates_n == n)
		return;
	p->rates_n = n;
	p->rates = local_rates(p->machine, p->place, n);
	arena_reset(p->scratch);
	p->wires = price_wires(p->machine, p->place, n, p->scratch);
}

/* Forgets everything if the mesh orders its devices otherwise than before. */
static void order_refresh(struct pricer *p, const struct mesh *m)
{
	size_t size = (size_t)m->ndevices * sizeof(*p->order);
	bool same = m->ids ? p->order && p->order_n == m->ndevices &&
	                             memcmp(p->order, m->ids, size) == 0
	                   : !p->order;

	if (same)
		return;
	price_table_clear(p->collectives);
	xfree(p->order);
	p->order = NULL;
	if (!m->ids)
		return;
	p->order = xmalloc((size_t)m->ndevices, sizeof(*p->order));
	p->order_n = m->ndevices;
	memcpy(p->order, m->ids, size);
}

/*
 * Sorts the moves as a finished step has them (plan.c): by rising dimension. The
 * groups, and so the prices, of a question and of the step built from it are then the
 * same.
 */
static void sort_moves(struct move *out, const struct step_ask *ask)
{
	bool gather = ask->op == OP_ALL_GATHER;

	for (int i = 0; i < ask->nmoves; i++) {
		struct move m = ask->move[i];
		int j = i;

		for (; j > 0; j--) {
			const struct move *before = &out[j - 1];

			if (gather ? before->from_dim <= m.from_dim
			           : before->to_dim <= m.to_dim)
				break;
			out[j] = *before;
		}
		out[j] = m;
	}
}

/* A round_fn. */
static bool add_round(void *self, const struct schedule *s)
{
	struct sum *sum = self;
	double seconds = model_schedule_s(sum->model, s);

	sum->seconds = seconds < 0 ? PRICE_IMPOSSIBLE_S : sum->seconds + seconds;
	if (sum->seconds + (double)s->rounds_left * sum->round_s > sum->most_s)
		sum->seconds += (double)s->rounds_left * sum->round_s;
	return sum->seconds <= sum->most_s;
}

/*
 * Returns the seconds of the collective, or those of its first rounds where these
 * exceed most_s, with the least that all the other rounds take.
 */
static struct sum wire_sum(struct pricer *p, const struct mesh *mesh,
                           const struct step_ask *ask, const struct move *moves)
{
	struct sum sum = {.model = p->model,
	                  .round_s = p->least_latency_s,
	                  .most_s = ask->most_cost > 0 ? ask->most_cost : INFINITY};
	struct groups g;
	struct lowered lowered;
	struct text why = {0};
	int32_t *ids;

	arena_reset(p->scratch);
	g = groups_of_moves(mesh, moves, ask->nmoves, p->scratch);
	if (p->place && p->place->platform) {
		ids = arena_alloc(p->scratch, (size_t)mesh->ndevices, sizeof(*ids));
		for (int32_t i = 0; i < mesh->ndevices; i++)
			ids[i] = placed(p, g.ids[i]);
		g.ids = ids;
	}
	if (!lower_collective_rounds(&lowered, p->scratch, p->machine, ask->op, g,
	                             (double)ask->before_bytes, add_round, &sum, &why))
		sum.seconds = PRICE_IMPOSSIBLE_S;
	text_free(&why);
	sum.any_order = sum.seconds < PRICE_IMPOSSIBLE_S && lowered.any_order;
	return sum;
}

/*
 * Returns the note of a collective if its seconds are known, or are known to be more
 * than `most_s` (<= 0: they have to be exact); else NULL.
 */
static const struct price_note *
noted_collective(const struct pricer *p, const struct price_key *key, double most_s)
{
	const struct price_note *note =
		price_table_find(p->collectives, key, price_key_size(key));

	if (note && note->more && (most_s <= 0 || note->price.cost <= most_s))
		return NULL;
	return note;
}

/* Returns the wire time of the collective, remembered, and its group size in *q. */
static double collective_s(struct pricer *p, const struct mesh *mesh,
                           const struct step_ask *ask, int32_t *q)
{
	struct move sort[RANK_MAX];
	const struct move *moves = ask->move;
	struct price_key key, sorted;
	const struct price_note *known;
	struct price_note *note;
	struct sum sum;

	assert(ask->nmoves <= RANK_MAX);
	if (ask->nmoves > 1) {
		sort_moves(sort, ask);
		moves = sort;
	}
	*q = price_key_make(&key, mesh, ask, moves);
	order_refresh(p, mesh);
	known = noted_collective(p, &key, ask->most_cost);
	if (known)
		return known->price.cost;
	sorted = price_key_sorted(&key);
	known = noted_collective(p, &sorted, ask->most_cost);
	if (known) {
		/* The next time it is found at once. */
		*price_table_note(p->collectives, &key, price_key_size(&key)) = *known;
		return known->price.cost;
	}
	sum = wire_sum(p, mesh, ask, moves);
	if (sum.any_order)
		key = sorted;
	note = price_table_note(p->collectives, &key, price_key_size(&key));
	note->price.cost = sum.seconds;
	note->more = sum.seconds > sum.most_s;
	return sum.seconds;
}

/* Returns whether so many devices fit on the machine. */
static bool mesh_fits(const struct pricer *p, int32_t ndevices)
{
	return ndevices <= placement_size(p->place, p->machine);
}

static struct price step_price(void *self, const struct problem *problem,
                               const struct step_ask *ask)
{
	struct pricer *p = self;
	const struct mesh *mesh = &problem->mesh;
	double before_bytes = (double)ask->before_bytes, after_bytes = before_bytes;
	double seconds = 0;
	int32_t q = 1;

	if (!mesh_fits(p, mesh->ndevices))
		return (struct price){.cost = PRICE_IMPOSSIBLE_S};
	rates_refresh(p, mesh->ndevices);
	if (ask->op == OP_PERMUTE) {
		seconds = before_bytes * p->wires.permute_s_per_byte +
		          p->wires.permute_latency_s;
	} else if (ask->op == OP_SLICE) {
		struct price_key key;

		after_bytes /= price_key_make(&key, mesh, ask, ask->move);
	} else {
		seconds = collective_s(p, mesh, ask, &q);
		if (ask->op == OP_ALL_GATHER)
			after_bytes *= q;
	}
	seconds += local_traffic_bytes(ask->op, before_bytes, after_bytes, q,
	                               ask->unpack) *
	           p->rates.s_per_byte;
	return (struct price){.cost = seconds + p->rates.launch_s};
}

/* Returns whether the step is a collective over the groups that its moves say. */
static bool is_asked(const struct pricer *p, const struct plan *plan, int step)
{
	const struct step *s = &plan->step[step];
	struct groups g;

	if (s->nmoves == 0 || s->gathers || s->groups.ngroups == 0 ||
	    !op_communicates(s->op) || !mesh_fits(p, plan->problem->mesh.ndevices))
		return false;
	for (int i = 0; i < s->nmoves; i++)
		if (s->move[i].nparts == 0)
			return false;
	arena_reset(p->scratch);
	g = groups_of_moves(&plan->problem->mesh, s->move, s->nmoves, p->scratch);
	return g.ngroups == s->groups.ngroups && g.size == s->groups.size &&
	       memcmp(g.ids, s->groups.ids,
	              (size_t)g.ngroups * (size_t)g.size * sizeof(*g.ids)) == 0;
}

/* A step of a plan, for which steps_of_plan() has all. */
struct plan_step {
	struct plan_steps plan;
	int step;
};

static bool lower_one(const void *self, struct lowered *out, struct arena *a, int step,
                      struct text *why)
{
	const struct plan_step *s = self;

	return lower_step(out, a, s->plan.machine, s->plan.place, s->plan.plan,
	                  s->step + step, why);
}

/*
 * Returns the seconds of a collective from the table, where searches have left most of
 * them.
 */
static double asked_s(struct pricer *p, const struct plan *plan, int i)
{
	const struct problem *problem = plan->problem;
	const struct step *s = &plan->step[i];
	const struct step_ask ask = {
		.op = s->op,
		.nmoves = s->nmoves,
		.move = s->move,
		.before_bytes = dtype_bytes(problem->array.dtype,
	                                    shape_elements(&s->before_local)),
	};
	int32_t q;
	double wire_s = collective_s(p, &problem->mesh, &ask, &q);

	rates_refresh(p, problem->ndevices);
	return wire_s + lower_local_bytes(plan, i) * p->rates.s_per_byte +
	       p->rates.launch_s;
}

/*
 * Returns the seconds of a step; where these are more than `most_s`, some above it that they
 * are no less than.
 */
static double step_s(struct pricer *p, const struct plan *plan, int i, double most_s)
{
	const struct plan_step one = {{plan, p->machine, p->place}, i};
	const struct steps steps = {1, lower_one, &one};
	char message[200];
	double wire_s, other_s;

	if (is_asked(p, plan, i))
		return asked_s(p, plan, i);
	if (plan->step[i].op == OP_EXCHANGE) {
		rates_refresh(p, plan->problem->ndevices);
		other_s = lower_local_bytes(plan, i) * p->rates.s_per_byte;
		if (price_sent_s(&wire_s, p->exchanges, plan, i,
		                 most_s - other_s - p->rates.launch_s))
			return wire_s + other_s + p->rates.launch_s;
	}
	return steps_seconds(NULL, &steps, model_clock, p->model, message,
	                     sizeof(message));
}

static struct price within_price(void *self, const struct plan *plan, double most_s)
{
	struct price price = {0};

	for (int i = 0; i < plan->nsteps; i++) {
		double seconds = step_s(self, plan, i, most_s);

		if (seconds < 0 || seconds >= PRICE_IMPOSSIBLE_S)
			return (struct price){.cost = PRICE_IMPOSSIBLE_S};
		price.cost += seconds;
	}
	return price;
}

static struct price plan_price(void *self, const struct plan *plan)
{
	return within_price(self, plan, INFINITY);
}

static double path_price(void *self, const struct problem *problem, int32_t src,
                         int32_t dst)
{
	struct pricer *p = self;
	double price =
		mesh_fits(p, problem->ndevices) ? price_path(p->paths, src, dst) : -1;

	return price < 0 ? PRICE_IMPOSSIBLE_S : price;
}

/* Returns the bound on the wire plus the launch of the step that moves the bytes. */
static struct price bound_price(void *self, const struct problem *problem)
{
	struct pricer *p = self;
	double seconds;

	if (!mesh_fits(p, problem->ndevices))
		return (struct price){.cost = PRICE_IMPOSSIBLE_S};
	if (!p->bounds || p->bounds_n != problem->ndevices) {
		bounds_free(p->bounds);
		p->bounds_n = problem->ndevices;
		p->bounds = bounds_new(p->machine, p->place, p->bounds_n);
	}
	seconds = bounds_s(p->bounds, problem);
	if (seconds > 0) {
		rates_refresh(p, problem->ndevices);
		seconds += p->rates.launch_s;
	}
	return (struct price){.cost = seconds};
}

/*
 * Prices a plan with an exchange that may be a schedule, as a machine runs it that takes
 * schedules, unless what no schedule is faster than is slow enough: the bound on the wires,
 * with the launch and the packing of the plan.
 */
static struct price scheduled_price(void *self, const struct plan *plan,
                                    struct price most)
{
	struct pricer *p = self;
	struct price least = bound_price(self, plan->problem);
	struct plan_steps of = {plan, &p->scheduled, p->place};
	struct steps steps = steps_of_plan(&of);
	char message[200];
	double seconds;

	for (int i = 0; i < plan->nsteps; i++)
		least.cost += lower_local_s(p->machine, p->place, plan, i);
	if (least.cost >= most.cost)
		return most;
	seconds = steps_seconds(NULL, &steps, model_clock, p->model, message,
	                        sizeof(message));
	return (struct price){.cost = seconds < 0 ? PRICE_IMPOSSIBLE_S : seconds};
}

static struct price least_price(void *self, const struct problem *problem,
                                double recv_bytes)
{
	struct pricer *p = self;

	if (!mesh_fits(p, problem->ndevices))
		return (struct price){.cost = PRICE_IMPOSSIBLE_S};
	rates_refresh(p, problem->ndevices);
	return (struct price){.cost = recv_bytes * p->wires.receive_s_per_byte +
	                              p->rates.launch_s};
}

static struct price_note *price_note(void *self, const void *key, size_t size)
{
	struct pricer *p = self;

	return price_table_note(p->sent, key, size);
}

static void price_forget(void *self)
{
	struct pricer *p = self;

	price_table_clear(p->sent);
}

struct prices pricer_prices(struct pricer *p)
{
	bool scheduled = p->scheduled.tuning.value[TUNING_SCHEDULED] != 0;

	return (struct prices){.self = p,
	                       .step = step_price,
	                       .plan = plan_price,
	                       .path = path_price,
	                       .bound = bound_price,
	                       .least = least_price,
	                       .note = price_note,
	                       .forget = price_forget,
	                       .within = within_price,
	                       .scheduled = scheduled ? scheduled_price : NULL};
}

static bool lower_plan_step(const void *self, struct lowered *out, struct arena *a,
                            int step, struct text *why)
{
	const struct plan_steps *p = self;

	return lower_step(out, a, p->machine, p->place, p->plan, step, why);
}

struct steps steps_of_plan(const struct plan_steps *p)
{
	return (struct steps){p->plan->nsteps, lower_plan_step, p};
}

double plan_seconds(struct step_time *steps, const struct plan *plan,
                    const struct machine *m, const struct placement *place,
                    clock_fn *clock, void *self, char *message, size_t size)
{
	struct plan_steps of = {plan, m, place};
	struct steps s = steps_of_plan(&of);

	return steps_seconds(steps, &s, clock, self, message, size);
}
