/*
 * bidir-ring: a group that is a full wrapped torus axis of d devices (d >= 3), both
 * directions at once.
 *
 * All-gather of blocks of b = V/d: in step k every device passes on, to the right, the
 * block it got last from the left, and the other way round. After floor(d/2) steps all
 * blocks are everywhere; for even d the last step sends half a block each way, as the
 * farthest block arrives from both sides.        d = 4, on device 0:  0.. -> 0123 (2/2)
 *   rounds  floor(d/2), between the same neighbours: one task, repeats floor(d/2)
 *   bytes   per link and direction b(d-1)/2; received per device V(d-1)/d
 *   cost    floor(d/2) latency + V(d-1)/(2dW)
 *   need    V on every device
 * Reduce-scatter is its reverse in time with the same figures for its input V.
 * All-reduce is both: repeats 2 floor(d/2), per link V(d-1)/d,
 *   cost    2 floor(d/2) latency + V(d-1)/(dW)
 * All-to-all of S per device (S/d to each other): store and forward the shorter way, the
 * half distance of even d split over both. Step k carries all that has at least k hops
 * to go.
 *   rounds  floor(d/2), one task, repeats floor(d/2)
 *   bytes   per link and direction Sd/8 (even d), S(d^2-1)/(8d) (odd d); a device
 *           receives twice that, of which all beyond S(d-1)/d is relayed
 *   cost    floor(d/2) latency + the link's bytes / W
 *   need    2S
 * Source: scaling book, sharding ("W bidirectional"); the loads of links are exact.
 */
#include "base/assert.h"
#include "collective/collective.h"
#include "collective/runs.h"

/* Returns the bytes on each link, one way, of the first s of floor(d/2) steps. */
static double ring_bytes(enum op op, int32_t d, double bytes, int32_t s)
{
	int32_t steps = d / 2;
	double block = op == OP_ALL_GATHER ? bytes : bytes / d;
	double half = d % 2 ? 0 : 0.5;

	switch (op) {
	case OP_ALL_GATHER:
		return s == steps ? block * (d - 1) / 2 : block * s;
	case OP_REDUCE_SCATTER:
		return s == 0 ? 0 : block * (s - half);
	default:
		assert(op == OP_ALL_TO_ALL);
		return block * ((double)s * steps - s * (s - 1.0) / 2 - half * s);
	}
}

/* Appends a task with both directions of every line of devices along run `r`. */
static void ring_tasks(struct schedule *out, const struct runs *g, int r, double bytes,
                       int32_t repeats)
{
	int32_t d = g->run[r].length, lines = runs_lines(g, r);
	int32_t *ids = arena_alloc(out->arena, (size_t)d, sizeof(*ids));

	for (int32_t line = 0; line < lines; line++) {
		runs_line(ids, g, r, line);
		schedule_task(out, repeats);
		for (int32_t i = 0; i < d; i++) {
			int32_t right = ids[i + 1 == d ? 0 : i + 1];
			int32_t left = ids[i == 0 ? d - 1 : i - 1];

			schedule_message(out, g->fabric, ids[i], right, bytes);
			schedule_message(out, g->fabric, ids[i], left, bytes);
		}
	}
}

void bidir_ring_round(struct schedule *out, const struct runs *g, const struct leg *leg,
                      int32_t round, int32_t rounds)
{
	int32_t d = g->run[leg->run].length, steps = d / 2;
	int32_t from = (int32_t)((int64_t)steps * round / rounds);
	int32_t to = (int32_t)((int64_t)steps * (round + 1) / rounds);

	assert(round >= 0 && round < rounds);
	if (from == to)
		return;
	ring_tasks(out, g, leg->run,
	           ring_bytes(leg->op, d, leg->bytes, to) -
	                   ring_bytes(leg->op, d, leg->bytes, from),
	           to - from);
}

static bool bidir_ring_applies(const struct machine *m, enum op op,
                               const struct groups *g)
{
	if (!runs_carry(m, op, g))
		return false;
	return runs_single(m, g, true);
}

static void bidir_ring_build(struct schedule *out, const struct machine *m, enum op op,
                             const struct groups *g, double bytes)
{
	struct runs runs;
	int32_t d = g->size;

	schedule_round(out);
	for (int32_t i = 0; i < g->ngroups; i++) {
		struct leg leg = {.op = op, .bytes = bytes};
		bool found = runs_find(&runs, m, g->ids + (int64_t)i * d, d);

		assert(found);
		(void)found;
		if (op == OP_ALL_REDUCE)
			ring_tasks(out, &runs, 0, bytes * (d - 1) / d, d / 2 * 2);
		else
			bidir_ring_round(out, &runs, &leg, 0, 1);
	}
	schedule_end(out);
}

const struct algorithm algorithm_bidir_ring = {
	.name = "bidir-ring",
	.help = "a full wrapped torus axis, both directions at once",
	.any_order = true,
	.applies = bidir_ring_applies,
	.build = bidir_ring_build,
};
