/*
 * line: a group that is a contiguous part of a torus axis, or a whole axis that does not
 * wrap: d devices, both directions at once.
 *
 * All-gather of blocks of b = V/d: in round r = 0.. device i sends block i - r to the
 * right (if i >= r) and block i + r to the left.
 * d = 3, on device 0:  0.. -> 01. -> 012    on device 1:  .1. -> 012
 *   rounds  d - 1; the senders differ by round, so they are not merged
 *   bytes   b per link, direction and round; busiest link V(d-1)/d; received per device
 *           V(d-1)/d
 *   cost    (d-1)(latency + V/(dW))
 *   need    V on every device
 * Reduce-scatter is its reverse in time with the same figures for its input V, but for
 * the partial sums received: b at the two ends, b(d+1) between them (d > 2).
 * All-reduce is both: 2(d-1) rounds, twice the cost.
 * All-to-all of S per device: all pairs at once, S/d each, over the real routes. Where
 * the axis wraps and the part is longer than half of it, the farthest pairs take the
 * shorter way round outside the part; the figures are for all others.
 *   rounds  1
 *   bytes   link i to i + 1: (i+1)(d-1-i) S/d; busiest S floor(d^2/4)/d
 *   cost    (d-1) latency + S floor(d^2/4)/(dW)
 *   need    2S
 * d = 2 is one exchange between neighbours. Source: scaling book, sharding (no
 * wraparound).
 */
#include "base/assert.h"
#include "collective/collective.h"
#include "collective/runs.h"

int32_t line_rounds(enum op op, int32_t length)
{
	return op == OP_ALL_TO_ALL ? 1 : length - 1;
}

/*
 * Adds round r of the all-gather or, with every message turned round, of its reverse.
 */
static void neighbours(struct schedule *out, int fabric, const int32_t *ids, int32_t d,
                       int32_t r, bool reverse, double block)
{
	for (int32_t i = 0; i < d; i++) {
		if (i >= r && i + 1 < d)
			schedule_message(out, fabric, ids[i + reverse],
			                 ids[i + !reverse], block);
		if (i + r < d && i > 0)
			schedule_message(out, fabric, ids[i - reverse],
			                 ids[i - !reverse], block);
	}
}

/* Appends such a share of step number `step` of a line's to the open task. */
static void line_step(struct schedule *out, const struct runs *g, const struct leg *leg,
                      const int32_t *ids, int32_t step, double share)
{
	int32_t d = g->run[leg->run].length;

	switch (leg->op) {
	case OP_ALL_GATHER:
		neighbours(out, g->fabric, ids, d, step, false, leg->bytes * share);
		break;
	case OP_REDUCE_SCATTER:
		neighbours(out, g->fabric, ids, d, d - 2 - step, true,
		           leg->bytes / d * share);
		break;
	default:
		assert(leg->op == OP_ALL_TO_ALL);
		all_pairs(out, g->machine, ids, d, leg->bytes / d * share);
	}
}

void line_round(struct schedule *out, const struct runs *g, const struct leg *leg,
                int32_t round, int32_t rounds)
{
	int32_t d = g->run[leg->run].length, lines = runs_lines(g, leg->run);
	int32_t steps = line_rounds(leg->op, d);
	int32_t *ids = arena_alloc(out->arena, (size_t)d, sizeof(*ids));

	assert(round >= 0 && round < rounds && steps <= rounds);
	for (int32_t line = 0; line < lines; line++) {
		runs_line(ids, g, leg->run, line);
		schedule_task(out, 1);
		/* In units of a step over `rounds`: step k takes k rounds to (k + 1) rounds. */
		for (int64_t at = (int64_t)round * steps, end = at + steps, next;
		     at < end; at = next) {
			int64_t step = at / rounds;

			next = (step + 1) * rounds < end ? (step + 1) * rounds : end;
			line_step(out, g, leg, ids, (int32_t)step,
			          (double)(next - at) / rounds);
		}
	}
}

static bool line_applies(const struct machine *m, enum op op, const struct groups *g)
{
	if (!runs_carry(m, op, g))
		return false;
	return runs_single(m, g, false);
}

static void line_build(struct schedule *out, const struct machine *m, enum op op,
                       const struct groups *g, double bytes)
{
	struct leg leg = {.op = op, .bytes = bytes};
	struct runs *runs;

	if (op == OP_ALL_REDUCE) {
		line_build(out, m, OP_REDUCE_SCATTER, g, bytes);
		line_build(out, m, OP_ALL_GATHER, g, bytes / g->size);
		return;
	}
	runs = arena_alloc(out->arena, (size_t)g->ngroups, sizeof(*runs));
	for (int32_t i = 0; i < g->ngroups; i++) {
		bool found =
			runs_find(&runs[i], m, g->ids + (int64_t)i * g->size, g->size);

		assert(found);
		(void)found;
	}
	for (int32_t r = 0; r < line_rounds(op, g->size); r++) {
		schedule_round(out);
		for (int32_t i = 0; i < g->ngroups; i++)
			line_round(out, &runs[i], &leg, r, line_rounds(op, g->size));
	}
	schedule_end(out);
}

const struct algorithm algorithm_line = {
	.name = "line",
	.help = "a contiguous part of a torus axis, both directions at once",
	.any_order = true,
	.applies = line_applies,
	.build = line_build,
};
