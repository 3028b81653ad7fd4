/* XLA's choice for gathers and scatters (xla/service/spmd/gather_scatter_handler.cc). */
#include "program/partition/choose.h"
#include "program/propagate_op.h"

#include <math.h>
#include <string.h>

/* What devices share of a look-up: batches, other dimensions that go through, rows, indices. */
enum way { WAY_BATCH, WAY_OPERAND, WAY_SLICE, WAY_INDEX, WAYS };

struct look {
	const struct choosing *c;
	int32_t array, indices,
		window; /* tensors: looked up in, indices, slices or updates */
	enum way *way;  /* [factors]; WAYS: of none */
};

/* What a choice costs on each device: the most bytes at once, and those that are sent. */
struct look_cost {
	double memory, sent;
};

static enum way way_of(const struct look *k, int32_t f)
{
	enum factor_kind kind = k->c->rule->factor.at[f].kind;
	const struct op_rule *r = k->c->rule;
	bool has[3] = {false, false, false};
	const int32_t tensor[3] = {k->array, k->indices, k->window};

	for (int i = 0; i < 3; i++)
		for (int32_t d = 0; d < r->tensor[tensor[i]].rank; d++)
			for (int32_t n = 0; n < r->tensor[tensor[i]].dim[d].n; n++)
				has[i] |= r->tensor[tensor[i]].dim[d].at[n] == f;
	if (kind != FACTOR_PASS && kind != FACTOR_REDUCE)
		return WAYS;
	if (has[0] && has[1])
		return WAY_BATCH;
	if (has[0])
		return has[2] ? WAY_OPERAND : WAY_SLICE;
	return has[1] ? WAY_INDEX : WAYS;
}

/* Takes a tensor's axes of one way, WAYS: of all, which meet none that are taken already. */
static bool take_way(struct axes *out, const struct look *k, int32_t tensor,
                     enum way way)
{
	const struct choosing *c = k->c;
	bool took = false;

	for (int32_t f = 0; f < c->rule->factor.n && c->tensor[tensor]; f++) {
		struct axes axes;

		if (k->way[f] == WAYS || (way != WAYS && k->way[f] != way) ||
		    out[f].n || !choose_axes(&axes, c, tensor, f))
			continue;
		for (int32_t other = 0; other < c->rule->factor.n; other++)
			choose_cut(&axes, &out[other]);
		out[f] = axes;
		took |= axes.n > 0;
	}
	return took;
}

static bool give_way(struct axes *out, const struct look *k, enum way way)
{
	bool took = false;

	if (way != WAY_INDEX)
		took |= take_way(out, k, k->array, way);
	if (way == WAY_INDEX || way == WAY_BATCH)
		took |= take_way(out, k, k->indices, way);
	return took;
}

/* Bytes of a device's tile: split as the op has it, or as it is laid out (out NULL). */
static double tile_bytes(const struct look *k, int32_t tensor, const struct axes *out)
{
	const struct choosing *c = k->c;
	double bytes = (double)value_type_bytes(
		&c->program->value.at[c->rule->tensor[tensor].value].type);

	for (int32_t f = 0; f < c->rule->factor.n; f++) {
		struct axes axes;

		if (choose_axes(&axes, c, tensor, f))
			bytes /= (double)axes_shards(out ? &out[f] : &axes);
	}
	return bytes;
}

/*
 * Adds what it takes to bring an array from one layout to another, by a gather or an all-to-all
 * among as many devices as it was split over; slices are free.
 */
static void add_reshard(struct look_cost *cost, const struct look *k, int32_t tensor,
                        const struct axes *out, bool back)
{
	const struct choosing *c = k->c;
	double in = tile_bytes(k, tensor, back ? out : NULL);
	double to = tile_bytes(k, tensor, back ? NULL : out);
	double lost = 1;

	for (int32_t f = 0; f < c->rule->factor.n; f++) {
		struct axes axes, common;

		if (!choose_axes(&axes, c, tensor, f))
			continue;
		axes_compare(&common, &axes, &out[f]);
		lost *= (double)axes_shards(back ? &out[f] : &axes) /
		        (double)axes_shards(&common);
	}
	if (lost <= 1)
		return;
	cost->memory = fmax(cost->memory, in + to);
	cost->sent += to * (lost - 1) / lost;
}

/*
 * The dearest of the op and its collectives, and what they send (spmd_partitioner.cc,
 * MemoryCostInBytes, CommunicationCostInBytes): a sum is in place and is sent twice, and so is a
 * scatter in place.
 */
static struct look_cost cost_of(const struct look *k, const struct axes *out)
{
	const struct choosing *c = k->c;
	struct look_cost cost = {0, 0};
	double sums = 1, op = 0;

	for (int32_t f = 0; f < c->rule->factor.n; f++)
		if (c->rule->factor.at[f].kind == FACTOR_REDUCE)
			sums *= (double)axes_shards(&out[f]);
	for (int32_t t = 0; t < c->rule->ntensors; t++) {
		bool result = t >= c->rule->noperands;
		double tile;

		if (!c->tensor[t])
			continue;
		tile = tile_bytes(k, t, out);
		op += result && c->op->code == HLO_SCATTER ? 0 : tile;
		if (result && sums > 1) {
			cost.memory = fmax(cost.memory, tile);
			cost.sent += 2 * tile;
		}
		add_reshard(&cost, k, t, out, result);
	}
	cost.memory = fmax(cost.memory, op);
	return cost;
}

static bool costs_less(struct look_cost a, struct look_cost b)
{
	return a.memory != b.memory ? a.memory < b.memory : a.sent < b.sent;
}

void choose_look(struct axes *out, const struct choosing *c)
{
	bool gathers = c->op->code == HLO_GATHER;
	int32_t arrays = gathers ? 1 : (c->rule->noperands - 1) / 2;
	struct look k = {c, gathers ? 0 : c->rule->noperands, arrays,
	                 gathers ? c->rule->noperands : arrays + 1, NULL};
	size_t n = (size_t)c->rule->factor.n;
	struct axes *trial = arena_alloc(c->a, n + 1, sizeof(*trial));
	struct axes *best = arena_alloc(c->a, n + 1, sizeof(*best));
	bool given = true;

	k.way = arena_alloc(c->a, n + 1, sizeof(*k.way));
	for (size_t f = 0; f < n; f++)
		k.way[f] = way_of(&k, (int32_t)f);
	give_way(out, &k, WAY_BATCH);
	while (given) {
		struct look_cost least = {INFINITY, INFINITY};

		given = false;
		for (enum way way = WAY_OPERAND; way < WAYS; way++) {
			struct look_cost cost;

			memcpy(trial, out, n * sizeof(*out));
			if (!give_way(trial, &k, way))
				continue;
			cost = cost_of(&k, trial);
			if (given && !costs_less(cost, least))
				continue;
			given = true;
			least = cost;
			memcpy(best, trial, n * sizeof(*out));
		}
		if (given)
			memcpy(out, best, n * sizeof(*out));
	}
	take_way(out, &k, gathers ? k.window : k.array, WAYS);
	if (!gathers)
		take_way(out, &k, k.window, WAYS);
}
