/*
 * What is worked out once a plan has all its steps: the axes that say its layouts, and
 * the figures of plan.h for bytes and memory in closed form.
 *
 * Let M be a device's tile before the step and q the size of its group. A device
 * receives nothing in a slice, M (q - 1) in an all-gather, M (1 - 1/q) in an all-to-all,
 * and M in a permute unless it is paired with itself; it sends as much (models/README.md,
 * "Memory").
 *
 * What is padding of that is counted in the tiles: what of the new one is beyond the array
 * and was not in the old one. A reduce-scatter brings the padding of its result from each
 * other member, an all-reduce has the share of padding that its operand has.
 *
 * peak_array_bytes is the largest tile before or after any step. peak_live_bytes is the
 * largest sum, over steps, of the source tile, the operand (unless it is the source) and
 * the result; a plan without steps holds its source tile.
 */
#include "array/tile.h"
#include "base/assert.h"
#include "plan/groups.h"
#include "plan/plan.h"
#include "plan/view.h"

#include <stdlib.h>

/* Running sums per device, and the padding inside what was received. */
struct totals {
	int64_t *recv, *send; /* [ndevices] elements */
};

static int64_t group_elements(const struct step *s)
{
	int64_t m = shape_elements(step_operand(s)), q = s->groups.size;

	switch (s->op) {
	case OP_ALL_GATHER:
		return m * (q - 1);
	case OP_ALL_TO_ALL:
	case OP_REDUCE_SCATTER:
		return m - m / q;
	case OP_ALL_REDUCE:
		return 2 * (m - m / q);
	default:
		return 0;
	}
}

static void account_permute(struct totals *t, struct step *s, int64_t *busiest)
{
	int64_t m = s->part ? s->part : shape_elements(&s->before_local);

	*busiest = 0;
	for (int32_t i = 0; i < s->npairs; i++) {
		if (s->pairs[i].src == s->pairs[i].dst)
			continue;
		t->send[s->pairs[i].src] += m;
		t->recv[s->pairs[i].dst] += m;
		*busiest = m;
	}
}

/* Who holds what before and after a step: tiles and where they start. */
struct ends {
	const struct plan *plan;
	struct tilemap before, after; /* of a view */
	const struct shape *from_tile, *to_tile;
	const int64_t *from, *to; /* [ndevices * rank], without a view */
};

/* Returns where tiles of a layout start: [ndevices * rank]. */
static const int64_t *usual_starts(const struct plan *p, const struct tilemap *map,
                                   const struct shape *tile, struct arena *a)
{
	size_t cells = (size_t)p->problem->ndevices * (size_t)p->shape.rank;
	int64_t *start = arena_alloc(a, cells, sizeof(*start));

	for (size_t i = 0; i < cells; i++)
		start[i] = map->index[i] * tile->dim[i % (size_t)p->shape.rank];
	return start;
}

static struct ends find_ends(const struct plan *p, int step, struct arena *a)
{
	const struct step *s = &p->step[step], *last = step > 0 ? s - 1 : NULL;
	const struct mesh *m = last ? last->mesh : &p->problem->mesh;
	struct ends e = {.plan = p, .from_tile = &s->before_local, .to_tile = &s->local};

	e.before = tilemap_make(plan_before(p, step), m, &p->shape, a);
	e.after = tilemap_make(&s->after, s->mesh, &p->shape, a);
	if (p->view)
		return e;
	e.from = last && last->start ? last->start
	                             : usual_starts(p, &e.before, e.from_tile, a);
	e.to = s->start ? s->start : usual_starts(p, &e.after, e.to_tile, a);
	return e;
}

/* Returns the real elements that device d has in two tiles, which may be one. */
static int64_t common_real(const struct plan *p, int32_t d, const struct shape *x,
                           const int64_t *from, const struct shape *y, const int64_t *to)
{
	const struct shape *real = &p->problem->array.shape;
	int64_t n = 1;

	for (int i = 0; i < real->rank && n > 0; i++) {
		int64_t at = from[(int64_t)d * real->rank + i];
		int64_t start = to[(int64_t)d * real->rank + i];
		int64_t lo = at > start ? at : start, hi = real->dim[i];

		lo = lo > 0 ? lo : 0;
		hi = at + x->dim[i] < hi ? at + x->dim[i] : hi;
		hi = start + y->dim[i] < hi ? start + y->dim[i] : hi;
		n *= hi > lo ? hi - lo : 0;
	}
	return n;
}

/* Returns the real elements of the new tile of device d, and of them those it had. */
static int64_t real_after(const struct ends *e, int32_t d)
{
	return e->plan->view
	               ? view_common(e->plan, &e->after, &e->after, d)
	               : common_real(e->plan, d, e->to_tile, e->to, e->to_tile, e->to);
}

static int64_t real_kept(const struct ends *e, int32_t d)
{
	return e->plan->view ? view_common(e->plan, &e->before, &e->after, d)
	                     : common_real(e->plan, d, e->from_tile, e->from,
	                                   e->to_tile, e->to);
}

/* Returns the padding in what a member of a group receives. */
static int64_t padding_received(const struct step *s, const struct ends *e, int32_t d,
                                int64_t received)
{
	int64_t padding, q = s->groups.size;

	switch (s->op) {
	case OP_ALL_REDUCE:
		/* Padding is added up, and goes round, as all else. */
		padding = shape_elements(step_operand(s)) - real_after(e, d);
		return 2 * (padding - padding / q);
	case OP_REDUCE_SCATTER:
		return (q - 1) * (shape_elements(&s->local) - real_after(e, d));
	default:
		return received - (real_after(e, d) - real_kept(e, d));
	}
}

/* Returns the fewest real elements of any pair of a permute of parts. */
static int64_t least_sent(const struct step *s, int32_t ndevices, struct arena *scratch)
{
	int64_t *real = arena_alloc(scratch, (size_t)ndevices, sizeof(*real));
	int64_t least = INT64_MAX;

	for (int64_t i = 0; i < s->ntransfers; i++)
		real[s->transfers[i].dst] += s->transfers[i].elements;
	for (int32_t i = 0; i < s->npairs; i++)
		if (s->pairs[i].src != s->pairs[i].dst && real[s->pairs[i].dst] < least)
			least = real[s->pairs[i].dst];
	return least;
}

/* Returns whether all tiles before and after a step are real to their ends. */
static bool is_all_real(const struct plan *p, int step)
{
	const struct step *s = &p->step[step];
	const struct shape *real = &p->problem->array.shape;

	if (p->view)
		return shape_elements(&p->shape) == shape_elements(real);
	for (int i = 0; i < real->rank && !s->start; i++)
		if (layout_shards(plan_before(p, step), i) * s->before_local.dim[i] !=
		            real->dim[i] ||
		    layout_shards(&s->after, i) * s->local.dim[i] != real->dim[i])
			return false;
	return !s->start && (step == 0 || !p->step[step - 1].start);
}

/* Returns the padding that the device with most padding receives in this step. */
static int64_t padding_elements(const struct plan *p, int step, int64_t received)
{
	const struct step *s = &p->step[step];
	struct arena *scratch;
	struct ends e;
	int64_t most = 0;

	/* Transfers are real elements. */
	if (received == 0 || (s->transfers && !s->part) ||
	    (!s->part && !s->gathers && is_all_real(p, step)))
		return 0;
	scratch = arena_new();
	if (s->part)
		most = received - least_sent(s, p->problem->ndevices, scratch);
	else
		e = find_ends(p, step, scratch);
	/* In a permute those that are paired with themselves receive nothing. */
	for (int32_t i = 0; i < s->npairs && !s->part; i++) {
		int64_t n = received - real_after(&e, s->pairs[i].dst);

		if (s->pairs[i].src != s->pairs[i].dst)
			most = n > most ? n : most;
	}
	for (int32_t i = 0; i < s->groups.ngroups * s->groups.size; i++) {
		int64_t n = padding_received(s, &e, s->groups.ids[i], received);

		most = n > most ? n : most;
	}
	arena_free(scratch);
	return most;
}

/*
 * Adds the transfers of exchanges and permutes of parts, where each device counts by
 * its own boxes.
 */
static void add_transfers(const struct plan *p, struct totals *t, struct step *s)
{
	const struct dtype *type = p->problem->array.dtype;
	size_t n = (size_t)p->problem->ndevices;
	struct arena *scratch = arena_new();
	int64_t *recv = arena_alloc(scratch, n, sizeof(*recv)), most_in = 0,
		most_out = 0;
	int64_t *send = arena_alloc(scratch, n, sizeof(*send));

	for (int64_t i = 0; i < s->ntransfers; i++) {
		recv[s->transfers[i].dst] += s->transfers[i].elements;
		send[s->transfers[i].src] += s->transfers[i].elements;
	}
	for (size_t d = 0; d < n; d++) {
		t->recv[d] += recv[d];
		t->send[d] += send[d];
		most_in = recv[d] > most_in ? recv[d] : most_in;
		most_out = send[d] > most_out ? send[d] : most_out;
	}
	s->recv_bytes = dtype_bytes(type, most_in);
	s->send_bytes = dtype_bytes(type, most_out);
	arena_free(scratch);
}

static void account_step(struct plan *p, int step, struct totals *t)
{
	struct step *s = &p->step[step];
	const struct dtype *type = p->problem->array.dtype;
	int64_t n = group_elements(s);

	if (s->ntransfers > 0 && !s->part) {
		add_transfers(p, t, s);
		return;
	}
	if (s->op == OP_PERMUTE) {
		account_permute(t, s, &n);
	} else {
		for (int32_t k = 0; k < s->groups.ngroups * s->groups.size && n > 0;
		     k++) {
			t->recv[s->groups.ids[k]] += n;
			t->send[s->groups.ids[k]] += n;
		}
	}
	s->recv_bytes = s->send_bytes = dtype_bytes(type, n);
	s->padding_bytes = dtype_bytes(type, padding_elements(p, step, n));
}

/* Returns whether a tile of this extent holds the whole array. */
static bool is_full(const struct plan *p, const struct shape *tile)
{
	for (int i = 0; i < tile->rank; i++)
		if (tile->dim[i] < p->shape.dim[i])
			return false;
	return true;
}

static void account_memory(struct plan *p)
{
	const struct problem *q = p->problem;
	const struct dtype *type = q->array.dtype;
	struct shape local = layout_local(&p->from, &p->shape);
	struct shape target = layout_local(&p->to, &p->shape);
	int64_t source = dtype_bytes(type, shape_elements(&local)), operand = source;

	p->peak_array_bytes = p->peak_live_bytes = source;
	p->full_remat = false;
	for (int i = 0; i < p->nsteps; i++) {
		const struct step *s = &p->step[i];
		int64_t elements = shape_elements(&s->local), result, live;

		/* A sum leaves arrays as large as those it adds up. */
		if (s->gathers)
			elements = shape_elements(&s->summed);
		result = dtype_bytes(type, elements);
		if (s->gathers)
			operand = result;
		live = source + (i || s->gathers ? operand : 0) + result;
		if (result > p->peak_array_bytes)
			p->peak_array_bytes = result;
		if (live > p->peak_live_bytes)
			p->peak_live_bytes = live;
		if (is_full(p, &s->local) && !is_full(p, &target) && !is_full(p, &local))
			p->full_remat = true;
		operand = result;
	}
}

static int64_t largest_of(const int64_t *x, int32_t n)
{
	int64_t most = 0;

	for (int32_t i = 0; i < n; i++)
		most = x[i] > most ? x[i] : most;
	return most;
}

static void account_bytes(struct plan *p)
{
	int32_t n = p->problem->ndevices;
	struct arena *scratch = arena_new();
	struct totals t = {.recv = arena_alloc(scratch, (size_t)n, sizeof(int64_t)),
	                   .send = arena_alloc(scratch, (size_t)n, sizeof(int64_t))};

	for (int i = 0; i < p->nsteps; i++)
		account_step(p, i, &t);
	p->recv_bytes = dtype_bytes(p->problem->array.dtype, largest_of(t.recv, n));
	p->send_bytes = dtype_bytes(p->problem->array.dtype, largest_of(t.send, n));
	arena_free(scratch);
}

/*
 * Names the axes of a step that was given by groups, where both its layouts are of
 * axes.
 */
static void name_axes(struct plan *p, struct step *s, const struct layout *before)
{
	struct move found[RANK_MAX], *named;
	int n;

	if (s->nmoves == 0 || s->mesh != &p->problem->mesh ||
	    before->kind != LAYOUT_AXES || s->after.kind != LAYOUT_AXES)
		return;
	n = moves_between(found, s->op, before, &s->after, p->arena);
	if (n != s->nmoves)
		return;
	named = arena_dup(p->arena, s->move, (size_t)n, sizeof(*named));
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < n; k++) {
			if (found[k].from_dim == named[i].from_dim &&
			    found[k].to_dim == named[i].to_dim &&
			    found[k].factor == named[i].factor)
				named[i] = found[k];
		}
	}
	s->move = named;
}

void plan_finish(struct plan *p)
{
	const struct layout *before = &p->from;

	for (int i = 0; i < p->nsteps; i++) {
		struct step *s = &p->step[i];
		struct layout axes;

		if (s->after.kind == LAYOUT_TILES &&
		    layout_to_axes(&axes, &s->after, s->mesh, p->arena))
			s->after = axes;
		name_axes(p, s, before);
		before = &s->after;
	}
	account_bytes(p);
	account_memory(p);
}
