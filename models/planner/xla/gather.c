/* Replication of dimensions (XLA's ReplicatePartial). */
#include "base/assert.h"
#include "planner/xla/xla.h"

/* The ways in which a dimension becomes whole on every device. */
enum way { WAY_NONE, WAY_BROADCAST, WAY_SUM, WAY_GATHER };

static enum way gather_way_of(const struct xla *xla, const struct tiling *s,
                              bool wanted, int d)
{
	int64_t base = xla->scope.base.dim[d];

	if (!wanted || s->tiles[d] == 1)
		return WAY_NONE;
	if (base == xla->tile.dim[d])
		return WAY_BROADCAST;
	return xla->mode->sums_small && base <= s->tiles[d] / 2 ? WAY_SUM : WAY_GATHER;
}

/*
 * Adds a collective among the devices of `s` that differ in the dimensions of inside[]
 * > 1. The groups of every one come from the sharding before the first: sorting the
 * replicas of one gathered in part would list them in another order.
 */
static struct xla_op *collect(struct xla *xla, enum op op, const struct tiling *now,
                              const struct tiling *s, const int32_t inside[RANK_MAX + 1])
{
	struct xla_op *next = xla_step(xla, op, now);

	next->groups = xla_spread(xla, xla_groups_by(s, inside, xla->arena));
	return next;
}

/*
 * Adds the move that gathers the op's dimension d; parts of one of the array's are told
 * together.
 */
static void add_gather_move(struct xla *xla, struct xla_op *op, int d, int32_t factor)
{
	int k = 0;

	if (!op->move)
		op->move = arena_alloc(xla->arena, RANK_MAX, sizeof(*op->move));
	while (k < op->nmoves && op->move[k].from_dim != xla->scope.dim[d])
		k++;
	if (k == op->nmoves)
		op->move[op->nmoves++] = (struct move){
			.from_dim = xla->scope.dim[d], .to_dim = -1, .factor = 1};
	op->move[k].factor *= factor;
}

/*
 * Replicates dimensions of one element: the device that holds it adds it to the zeros
 * of all others.
 */
static const struct tiling *rule_broadcast(struct xla *xla, const struct tiling *s,
                                           const enum way *way)
{
	int32_t inside[RANK_MAX + 1];
	const struct tiling *now = s;
	struct xla_op *op;

	for (int d = 0; d <= s->rank; d++)
		inside[d] = 1;
	for (int d = 0; d < s->rank; d++)
		if (way[d] == WAY_BROADCAST) {
			inside[d] = s->tiles[d];
			now = xla_without(now, d, xla->arena);
		}
	if (now == s)
		return s;
	op = collect(xla, OP_ALL_REDUCE, now, s, inside);
	op->operand = xla_scope_extent(&xla->scope, &xla->tile);
	for (int d = 0; d < s->rank; d++)
		if (inside[d] > 1)
			add_gather_move(xla, op, d, inside[d]);
	return now;
}

/* Adds one collective per dimension of this way, highest first. */
static const struct tiling *gather_one_by_one(struct xla *xla, const struct tiling *now,
                                              const struct tiling *s,
                                              const enum way *way, enum way which)
{
	const enum op ops[] = {[WAY_SUM] = OP_ALL_REDUCE, [WAY_GATHER] = OP_ALL_GATHER};
	struct shape operand = xla->tile;
	int32_t inside[RANK_MAX + 1];

	for (int d = 0; d <= s->rank; d++) {
		inside[d] = 1;
		if (d < s->rank && way[d] == which)
			operand.dim[d] = xla->scope.base.dim[d];
	}
	for (int d = s->rank - 1; d >= 0; d--) {
		struct xla_op *op;

		if (way[d] != which)
			continue;
		now = xla_without(now, d, xla->arena);
		inside[d] = s->tiles[d];
		xla->tile.dim[d] = which == WAY_SUM ? operand.dim[d]
		                                    : xla->tile.dim[d] * s->tiles[d];
		op = collect(xla, ops[which], now, s, inside);
		inside[d] = 1;
		if (which == WAY_SUM)
			op->operand = xla_scope_extent(&xla->scope, &operand);
		add_gather_move(xla, op, d, s->tiles[d]);
	}
	return now;
}

const struct tiling *xla_gather(struct xla *xla, const struct tiling *s,
                                const bool wanted[RANK_MAX])
{
	enum way way[RANK_MAX];
	struct shape real = xla->tile;
	const struct tiling *now;
	bool padded = false;

	for (int d = 0; d < s->rank; d++)
		way[d] = gather_way_of(xla, s, wanted[d], d);
	now = rule_broadcast(xla, s, way);
	now = gather_one_by_one(xla, now, s, way, WAY_GATHER);
	for (int d = 0; d < s->rank; d++) {
		if (way[d] != WAY_GATHER)
			continue;
		real.dim[d] = xla->scope.base.dim[d];
		padded |= real.dim[d] < xla->tile.dim[d];
	}
	if (padded)
		xla_window(xla, now, &real);
	return gather_one_by_one(xla, now, s, way, WAY_SUM);
}
