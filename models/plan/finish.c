/*
 * What is worked out once a plan has all its steps: the axes that say its layouts, and
 * the figures of plan.h for bytes and memory in closed form.
 *
 * Let M be a device's tile before the step and q the size of its group. A device
 * receives nothing in a slice, M (q - 1) in an all-gather, M (1 - 1/q) in an all-to-all,
 * and M in a permute unless it is paired with itself; it sends as much (models/README.md,
 * "Memory").
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

/*
 * Returns the real elements of tiles of `before` and `after` that a device has in
 * common.
 */
static int64_t common_placed(const struct plan *p, const struct shape *before,
                             const int64_t *from, const struct shape *after,
                             const int64_t *to)
{
	int64_t n = 1;

	for (int i = 0; i < p->shape.rank && n > 0; i++) {
		int64_t lo = from[i] > to[i] ? from[i] : to[i], hi = p->shape.dim[i];

		hi = from[i] + before->dim[i] < hi ? from[i] + before->dim[i] : hi;
		hi = to[i] + after->dim[i] < hi ? to[i] + after->dim[i] : hi;
		n *= hi > lo ? hi - lo : 0;
	}
	return n;
}

/* Returns where tiles start before step `step`: [ndevices * rank]. */
static const int64_t *starts_before(const struct plan *p, int step, struct arena *a)
{
	size_t cells = (size_t)p->problem->ndevices * (size_t)p->shape.rank;
	struct tilemap map;
	int64_t *start;

	if (step > 0 && p->step[step - 1].start)
		return p->step[step - 1].start;
	map = tilemap_make(plan_before(p, step), &p->problem->mesh, &p->shape, a);
	start = arena_alloc(a, cells, sizeof(*start));
	for (size_t i = 0; i < cells; i++)
		start[i] = map.index[i] *
		           p->step[step].before_local.dim[i % (size_t)p->shape.rank];
	return start;
}

/* Returns the same for a step that says where its tiles start. */
static int64_t least_placed(const struct plan *p, int step, struct arena *scratch)
{
	const struct step *s = &p->step[step];
	const int64_t *from = starts_before(p, step, scratch);
	int rank = p->shape.rank;
	int64_t least = INT64_MAX;

	for (int32_t i = 0; i < s->npairs; i++) {
		const int64_t *to = s->start + (int64_t)s->pairs[i].dst * rank;
		int64_t n = common_placed(p, &s->local, to, &s->local, to);

		if (s->pairs[i].src != s->pairs[i].dst)
			least = n < least ? n : least;
	}
	for (int32_t d = 0; d < p->problem->mesh.ndevices && s->op != OP_PERMUTE; d++) {
		const int64_t *to = s->start + (int64_t)d * rank;
		int64_t n = common_placed(p, &s->local, to, &s->local, to) -
		            common_placed(p, &s->before_local, from + (int64_t)d * rank,
		                          &s->local, to);

		least = n < least ? n : least;
	}
	return least;
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

/*
 * Returns the smallest number of real elements among what the devices receive in this
 * step.
 */
static int64_t least_real(const struct plan *p, int step, struct arena *scratch)
{
	const struct step *s = &p->step[step];
	const struct problem *q = p->problem;
	struct tilemap from =
		tilemap_make(plan_before(p, step), &q->mesh, &p->shape, scratch);
	struct tilemap to = tilemap_make(&s->after, s->mesh, &p->shape, scratch);
	int64_t least = INT64_MAX;

	/* In a permute those that are paired with themselves receive nothing. */
	for (int32_t i = 0; i < s->npairs; i++) {
		int64_t n = view_common(p, &to, &to, s->pairs[i].dst);

		if (s->pairs[i].src != s->pairs[i].dst)
			least = n < least ? n : least;
	}
	for (int32_t d = 0; d < q->mesh.ndevices && s->op != OP_PERMUTE; d++) {
		int64_t n = view_common(p, &to, &to, d) - view_common(p, &from, &to, d);

		least = n < least ? n : least;
	}
	return least;
}

/* Returns the padding that the device with most padding receives in this step. */
static int64_t padding_elements(const struct plan *p, int step, int64_t received)
{
	const struct step *s = &p->step[step];
	struct arena *scratch;
	int64_t least;

	/*
	 * Transfers are real elements, and of uneven tiles nothing is known to be padding
	 * unless they are placed. What a sum receives counts by its algorithm.
	 */
	if (received == 0 || (s->transfers && !s->part) || s->gathers ||
	    (!s->start &&
	     shape_elements(&p->problem->array.shape) == shape_elements(&p->shape)))
		return 0;
	scratch = arena_new();
	if (s->part)
		least = least_sent(s, p->problem->ndevices, scratch);
	else if (s->start)
		least = least_placed(p, step, scratch);
	else
		least = least_real(p, step, scratch);
	arena_free(scratch);
	return received - least;
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
