#include "placement/search.h"

#include "base/assert.h"

#include <math.h>
#include <stdlib.h>

/* One matrix in one order: what every kind of step costs, and the fastest way on. */
struct ranking {
	struct arena *arena;
	struct space space;
	const struct synthesis *synthesis;
	struct groups *groups; /* [nslices], on devices; no ids: not made yet */
	double *kind_s;        /* [nkinds]; INFINITY: not asked */
	/* [nnodes * (limit + 1)]: of exactly that many steps; INFINITY: none. */
	double *left_s;
	int32_t *edge; /* the first of those steps */
};

static bool is_faster(double a_s, double b_s)
{
	return a_s < b_s && (isinf(b_s) || b_s - a_s > 1e-12 * b_s);
}

static enum status clock_refused(const struct placement_case *c, struct text *why,
                                 struct error *e)
{
	error_set(e, E_INFEASIBLE, c->at, "%s", why->s ? why->s : "no time");
	text_free(why);
	return E_INFEASIBLE;
}

/* Asks the clock for a kind of step, once; groups are made once per slice. */
static enum status ask_kind(struct ranking *r, int k, const struct placement_case *c,
                            const struct reduction_clock *clock, struct error *e)
{
	const struct step_kind *kind = &r->synthesis->kind[k];
	struct groups *g = &r->groups[kind->slice];
	struct reduction_step step = {
		.op = kind->instruction.op,
		.share = step_share(kind, &r->space.tree),
	};
	struct text why = {0};

	if (!isinf(r->kind_s[k]))
		return OK;
	if (!g->ids)
		*g = space_groups(
			&r->space,
			slice_groups(&r->space.tree, kind->instruction.slice, r->arena),
			r->arena);
	step.groups = *g;
	r->kind_s[k] =
		clock->step_s(clock->self, &step, step.share * c->payload_bytes, &why);
	if (r->kind_s[k] < 0)
		return clock_refused(c, &why, e);
	text_free(&why);
	return OK;
}

static enum status ask_all_kinds(struct ranking *r, const struct placement_case *c,
                                 const struct reduction_clock *clock, struct error *e)
{
	for (int k = 0; k < r->synthesis->nkinds; k++)
		if (ask_kind(r, k, c, clock, e) != OK)
			return e->code;
	return OK;
}

/* Returns whether a program of at most `left` steps goes on from the node. */
static bool leads_on(const struct synth_node *node, int left)
{
	for (int length = 0; length <= left; length++)
		if (node->programs[length])
			return true;
	return false;
}

/*
 * Asks for what the fastest programs may be made of. It walks forwards, those who are
 * done first, and leaves what already takes longer than the fastest so far. Times are
 * not negative, so all steps of all fastest programs are asked for.
 */
static enum status explore_programs(struct ranking *r, const struct placement_case *c,
                                    const struct reduction_clock *clock, struct error *e)
{
	const struct synthesis *s = r->synthesis;
	size_t n = (size_t)s->nnodes;
	double *now = arena_alloc(r->arena, 2 * n, sizeof(*now)), *next = now + n;
	double best_s = s->goal == 0 ? 0 : INFINITY;

	for (size_t i = 0; i < 2 * n; i++)
		now[i] = i ? INFINITY : 0;
	for (int left = s->limit; left > 0; left--) {
		for (int64_t i = 0; i < 2 * s->nnodes; i++) {
			const struct synth_node *node = &s->node[i % s->nnodes];
			double so_far_s = now[i % s->nnodes];
			bool done = i < s->nnodes; /* this round: steps to the goal */

			for (int32_t k = node->first; k < node->first + node->nedges;
			     k++) {
				struct synth_edge edge = s->edge[k];

				if (isinf(so_far_s) || is_faster(best_s, so_far_s) ||
				    done != (edge.to == s->goal) ||
				    !leads_on(&s->node[edge.to], left - 1))
					continue;
				if (ask_kind(r, edge.kind, c, clock, e) != OK)
					return e->code;
				next[edge.to] = fmin(next[edge.to],
				                     so_far_s + r->kind_s[edge.kind]);
				if (done)
					best_s = fmin(best_s, next[edge.to]);
			}
		}
		for (size_t i = 0; i < n; i++) {
			now[i] = next[i];
			next[i] = INFINITY;
		}
	}
	return OK;
}

/* Finds the fastest ways from every node to the goal, one step longer at a time. */
static void find_shortest(struct ranking *r)
{
	const struct synthesis *s = r->synthesis;
	int32_t n = s->nnodes;

	r->left_s = arena_alloc(r->arena, (size_t)n * (size_t)(s->limit + 1),
	                        sizeof(*r->left_s));
	r->edge = arena_alloc(r->arena, (size_t)n * (size_t)(s->limit + 1),
	                      sizeof(*r->edge));
	for (int32_t i = 0; i < n; i++)
		r->left_s[i] = i == s->goal ? 0 : INFINITY;
	for (int length = 1; length <= s->limit; length++) {
		double *now = r->left_s + (int64_t)length * n;
		int32_t *edge = r->edge + (int64_t)length * n;

		for (int32_t i = 0; i < n; i++) {
			const struct synth_node *node = &s->node[i];

			now[i] = INFINITY;
			for (int32_t k = node->first; k < node->first + node->nedges;
			     k++) {
				double s_left = r->kind_s[s->edge[k].kind] +
				                now[s->edge[k].to - n];

				if (!is_faster(s_left, now[i]))
					continue;
				now[i] = s_left;
				edge[i] = k;
			}
		}
	}
}

/* Returns the fastest program and its time; the shortest of equally fast ones. */
static double fastest_program(struct program *out, const struct ranking *r)
{
	const struct synthesis *s = r->synthesis;
	int best = 0;
	int32_t node = 0;

	for (int length = 1; length <= s->limit; length++)
		if (is_faster(r->left_s[(int64_t)length * s->nnodes],
		              r->left_s[(int64_t)best * s->nnodes]))
			best = length;
	*out = (struct program){.n = best};
	for (int i = 0; i < best; i++) {
		int32_t k = r->edge[(int64_t)(best - i) * s->nnodes + node];

		out->step[i] = s->kind[s->edge[k].kind].instruction;
		node = s->edge[k].to;
	}
	return r->left_s[(int64_t)best * s->nnodes];
}

/* Makes room for what is asked in the ranking's space. */
static enum status ranking_open(struct ranking *r, struct arena *a,
                                struct synth_cache *cache,
                                const struct placement_case *c, struct error *e)
{
	const struct synthesis *s;

	r->arena = a;
	if (synth_cached(&s, cache, &r->space.tree, c->limit, c->at, e) != OK)
		return e->code;
	r->synthesis = s;
	r->groups = arena_alloc(a, (size_t)s->nslices + 1, sizeof(*r->groups));
	r->kind_s = arena_alloc(a, (size_t)s->nkinds + 1, sizeof(*r->kind_s));
	for (int k = 0; k < s->nkinds; k++)
		r->kind_s[k] = INFINITY;
	return OK;
}

/* Times one all-reduce over each whole reduction group. */
static enum status time_allreduce(double *out_s, struct arena *a,
                                  const struct matrix *m, const struct placement_case *c,
                                  const struct reduction_clock *clock, struct error *e)
{
	struct reduction_step step = {.op = OP_ALL_REDUCE, .share = 1};
	struct text why = {0};
	struct space space;

	space_collapsed(&space, a, &c->hierarchy, m, c->reduce, ORDER_ROW);
	step.groups = (struct groups){space.ncopies, space.tree.ndevices, space.device};
	*out_s = 0;
	if (step.groups.size > 1)
		*out_s = clock->step_s(clock->self, &step, c->payload_bytes, &why);
	if (*out_s < 0)
		return clock_refused(c, &why, e);
	text_free(&why);
	return OK;
}

/* One order of one matrix, or the split levels. */
struct found {
	struct program program;
	double s;
	int64_t programs;
};

static enum status search_space(struct found *out, const struct space *space,
                                struct arena *scratch, struct synth_cache *cache,
                                const struct placement_case *c,
                                const struct reduction_clock *clock, struct error *e)
{
	struct ranking r = {.space = *space};

	if (ranking_open(&r, scratch, cache, c, e) != OK ||
	    explore_programs(&r, c, clock, e) != OK)
		return e->code;
	find_shortest(&r);
	out->s = fastest_program(&out->program, &r);
	out->programs = r.synthesis->programs;
	return OK;
}

/*
 * Searches both orders, where they differ, and split levels where row order is the
 * faster one.
 */
static enum status search_orders(struct found found[ORDERS], struct placed *out,
                                 const struct matrix *m, struct arena *scratch,
                                 struct synth_cache *cache,
                                 const struct placement_case *c,
                                 const struct reduction_clock *clock, struct error *e)
{
	bool alike = !(c->reduce & (c->reduce - 1)); /* one axis: the orders are equal */
	bool only_row = c->orders == 1u << ORDER_ROW;
	struct found finer;
	struct space space;

	for (int order = 0; order < ORDERS; order++) {
		if (order && (alike || only_row)) {
			found[order] = found[0];
			continue;
		}
		space_collapsed(&space, scratch, &c->hierarchy, m, c->reduce, order);
		if (search_space(&found[order], &space, scratch, cache, c, clock, e) !=
		    OK)
			return e->code;
	}
	if (!is_faster(found[ORDER_ROW].s, found[ORDER_LEVEL].s))
		return OK;
	if (space_split(&space, scratch, &c->hierarchy, m, c->reduce)) {
		if (search_space(&finer, &space, scratch, cache, c, clock, e) != OK)
			return e->code;
		out->split = is_faster(finer.s, found[ORDER_LEVEL].s);
	}
	if (out->split) {
		finer.programs = found[ORDER_LEVEL].programs;
		found[ORDER_LEVEL] = finer;
	}
	out->row_taken = is_faster(found[ORDER_ROW].s, found[ORDER_LEVEL].s);
	if (out->row_taken)
		found[ORDER_LEVEL] = found[ORDER_ROW];
	return OK;
}

static enum status place_matrix(struct placed *out, struct arena *scratch,
                                struct synth_cache *cache,
                                const struct placement_case *c,
                                const struct reduction_clock *clock, struct error *e)
{
	struct found found[ORDERS];

	assert(c->orders && c->orders < 1u << ORDERS);
	out->split = out->row_taken = false;
	if (search_orders(found, out, &out->matrix, scratch, cache, c, clock, e) != OK)
		return e->code;
	out->best_s = INFINITY;
	for (int order = 0; order < ORDERS; order++) {
		bool asked = c->orders & 1u << order;

		out->order_s[order] = asked ? found[order].s : -1;
		if (!asked || !is_faster(found[order].s, out->best_s))
			continue;
		out->best_s = found[order].s;
		out->best = found[order].program;
		out->programs = found[order].programs;
		out->order = out->row_taken ? ORDER_ROW : order;
	}
	out->split &= out->order == ORDER_LEVEL;
	return time_allreduce(&out->allreduce_s, scratch, &out->matrix, c, clock, e);
}

void placed_space(struct space *out, struct arena *a, const struct placement_case *c,
                  const struct placed *p)
{
	if (p->split)
		space_split(out, a, &c->hierarchy, &p->matrix, c->reduce);
	else
		space_collapsed(out, a, &c->hierarchy, &p->matrix, c->reduce, p->order);
}

enum status placement_of(struct placed *out, const struct matrix *m,
                         struct synth_cache *cache, const struct placement_case *c,
                         const struct reduction_clock *clock, struct error *e)
{
	struct arena *scratch = arena_new();
	enum status status;

	*out = (struct placed){.matrix = *m};
	status = place_matrix(out, scratch, cache, c, clock, e);
	arena_free(scratch);
	return status;
}

double placement_rounded_s(double s)
{
	int exponent;
	double fraction = frexp(s, &exponent);

	return ldexp(rint(ldexp(fraction, 40)), exponent - 40);
}

static int by_time(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	double best_x = placement_rounded_s(x->best_s),
	       best_y = placement_rounded_s(y->best_s);
	double all_x = placement_rounded_s(x->allreduce_s),
	       all_y = placement_rounded_s(y->allreduce_s);

	if (best_x != best_y)
		return best_x < best_y ? -1 : 1;
	if (all_x != all_y)
		return all_x < all_y ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

enum status placement_search(struct placed **out, int64_t *n, struct arena *a,
                             const struct placement_case *c,
                             const struct reduction_clock *clock, struct error *e)
{
	struct synth_cache cache = {.arena = a};
	struct arena *scratch;
	struct matrix *matrix;
	enum status status = OK;

	if (matrices_of(&matrix, n, a, &c->hierarchy, &c->axes, c->at, e) != OK)
		return e->code;
	*out = arena_alloc(a, (size_t)*n, sizeof(**out));
	scratch = arena_new();
	for (int64_t i = 0; i < *n && status == OK; i++) {
		(*out)[i] = (struct placed){.matrix = matrix[i], .number = i};
		status = place_matrix(&(*out)[i], scratch, &cache, c, clock, e);
		arena_reset(scratch);
	}
	arena_free(scratch);
	qsort(*out, (size_t)*n, sizeof(**out), by_time);
	return status;
}

/* Found order breaks ties: `at` is the place in it. */
struct found_program {
	struct timed_program timed;
	int64_t at;
};

static int by_program_time(const void *a, const void *b)
{
	const struct found_program *x = a, *y = b;

	double x_s = placement_rounded_s(x->timed.time_s),
	       y_s = placement_rounded_s(y->timed.time_s);

	if (x_s != y_s)
		return x_s < y_s ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

enum status placement_programs(struct timed_program **out, int64_t *n, struct arena *a,
                               const struct matrix *m, enum order order,
                               struct synth_cache *cache, const struct placement_case *c,
                               const struct reduction_clock *clock, struct error *e)
{
	struct arena *scratch = arena_new();
	struct found_program *found;
	struct synth_walk walk;
	struct ranking r;

	r = (struct ranking){0};
	space_collapsed(&r.space, scratch, &c->hierarchy, m, c->reduce, order);
	if (ranking_open(&r, scratch, cache, c, e) != OK ||
	    ask_all_kinds(&r, c, clock, e) != OK) {
		arena_free(scratch);
		return e->code;
	}
	*n = 0;
	found = arena_alloc(scratch, (size_t)r.synthesis->programs + 1, sizeof(*found));
	walk = (struct synth_walk){.s = r.synthesis};
	while (synth_next(&walk)) {
		struct found_program *f = &found[*n];

		f->timed.program = walk.program;
		f->at = (*n)++;
		for (int i = 0; i < walk.program.n; i++)
			f->timed.time_s += r.kind_s[walk.kind[i]];
	}
	assert(*n == r.synthesis->programs);
	qsort(found, (size_t)*n, sizeof(*found), by_program_time);
	*out = arena_alloc(a, (size_t)*n + 1, sizeof(**out));
	for (int64_t i = 0; i < *n; i++)
		(*out)[i] = found[i].timed;
	arena_free(scratch);
	return OK;
}
