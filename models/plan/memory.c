#include "plan/memory.h"

#include "array/tile.h"

#include <assert.h>
#include <stdlib.h>

/* Running sums per device, and the padding inside what was received. */
struct totals {
	int64_t *recv, *send; /* [ndevices] elements */
};

static int64_t group_elements(const struct step *s)
{
	int64_t m = shape_elements(&s->before_local), q = s->groups.size;

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

static void add_permute(struct totals *t, struct step *s, int64_t *busiest)
{
	int64_t m = shape_elements(&s->before_local);

	*busiest = 0;
	for (int32_t i = 0; i < s->npairs; i++) {
		if (s->pairs[i].src == s->pairs[i].dst)
			continue;
		t->send[s->pairs[i].src] += m;
		t->recv[s->pairs[i].dst] += m;
		*busiest = m;
	}
}

/* The smallest number of real elements among what the devices receive in this step. */
static int64_t least_real(const struct plan *p, int step, struct arena *scratch)
{
	const struct step *s = &p->step[step];
	const struct layout *before = step ? &p->step[step - 1].after : &p->problem->from;
	const struct problem *q = p->problem;
	const struct shape *real = &q->array.shape;
	struct tilemap from = tilemap_make(before, &q->mesh, &q->padded, scratch);
	struct tilemap to = tilemap_make(&s->after, &q->mesh, &q->padded, scratch);
	int64_t least = INT64_MAX;

	/* In a permute those that are paired with themselves receive nothing. */
	for (int32_t i = 0; i < s->npairs; i++) {
		int64_t n = tilemap_elements(&to, real, s->pairs[i].dst);

		if (s->pairs[i].src != s->pairs[i].dst)
			least = n < least ? n : least;
	}
	for (int32_t d = 0; d < q->mesh.ndevices && s->op != OP_PERMUTE; d++) {
		int64_t n = tilemap_elements(&to, real, d) -
		            tilemap_common(&from, &to, real, d);

		least = n < least ? n : least;
	}
	return least;
}

/* Padding that the device with most padding receives in this step. */
static int64_t padding_elements(const struct plan *p, int step, int64_t received)
{
	struct arena *scratch;
	int64_t least;

	if (received == 0 || shape_elements(&p->problem->array.shape) ==
	                             shape_elements(&p->problem->padded))
		return 0;
	scratch = arena_new();
	least = least_real(p, step, scratch);
	arena_free(scratch);
	return received - least;
}

static void account_step(struct plan *p, int step, struct totals *t)
{
	struct step *s = &p->step[step];
	const struct dtype *type = p->problem->array.dtype;
	int64_t n = group_elements(s);

	if (s->op == OP_PERMUTE) {
		add_permute(t, s, &n);
	} else {
		for (int32_t d = 0; d < p->problem->mesh.ndevices && n > 0; d++) {
			t->recv[d] += n;
			t->send[d] += n;
		}
	}
	s->recv_bytes = s->send_bytes = dtype_bytes(type, n);
	s->padding_bytes = dtype_bytes(type, padding_elements(p, step, n));
}

static void account_memory(struct plan *p)
{
	const struct problem *q = p->problem;
	const struct dtype *type = q->array.dtype;
	struct shape local = layout_local(&q->from, &q->padded);
	int64_t source = dtype_bytes(type, shape_elements(&local)), operand = source;
	int64_t full = shape_elements(&q->padded), target;

	target = layout_local_elements(&q->to, &q->padded);
	p->peak_array_bytes = p->peak_live_bytes = source;
	p->full_remat = false;
	for (int i = 0; i < p->nsteps; i++) {
		int64_t elements = shape_elements(&p->step[i].local);
		int64_t result = dtype_bytes(type, elements);
		int64_t live = source + (i ? operand : 0) + result;

		if (result > p->peak_array_bytes)
			p->peak_array_bytes = result;
		if (live > p->peak_live_bytes)
			p->peak_live_bytes = live;
		if (elements == full && target != full && shape_elements(&local) != full)
			p->full_remat = true;
		operand = result;
	}
}

static int64_t largest(const int64_t *x, int32_t n)
{
	int64_t most = 0;

	for (int32_t i = 0; i < n; i++)
		most = x[i] > most ? x[i] : most;
	return most;
}

void memory_account(struct plan *p)
{
	int32_t n = p->problem->mesh.ndevices;
	struct arena *scratch = arena_new();
	struct totals t = {.recv = arena_alloc(scratch, (size_t)n, sizeof(int64_t)),
	                   .send = arena_alloc(scratch, (size_t)n, sizeof(int64_t))};

	for (int i = 0; i < p->nsteps; i++)
		account_step(p, i, &t);
	p->recv_bytes = dtype_bytes(p->problem->array.dtype, largest(t.recv, n));
	p->send_bytes = dtype_bytes(p->problem->array.dtype, largest(t.send, n));
	account_memory(p);
	arena_free(scratch);
}
