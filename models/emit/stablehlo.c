/*
 * StableHLO: the plan as a function of one partition, in the generic form of collectives
 * (openxla/stablehlo, docs/spec.md). Partition i is device i of the plan.
 *
 * A table of numbers by device is a constant, cut by the partition's id.
 */
#include "emit/stablehlo.h"

#include "base/assert.h"
#include "emit/kinds.h"
#include "emit/put.h"

#include <string.h>

/* --- values ------------------------------------------------------------------------- */

void stablehlo_type(struct hlo *h, const struct shape *s)
{
	put_tensor(h->out, h->type, s);
}

static void put_value(struct hlo *h, int value)
{
	text_printf(h->out, value < 0 ? "%%a" : "%%%d", value);
}

/* Begins the line of a new value, and returns the one before. */
static int begin(struct hlo *h)
{
	text_printf(h->out, "  %%%d = ", h->value + 1);
	return h->value++;
}

/* Ends a line whose operand has the shape `h->at` and whose result has `to`. */
static void end(struct hlo *h, const struct shape *to)
{
	text_printf(h->out, " : (");
	stablehlo_type(h, &h->at);
	text_printf(h->out, ") -> ");
	stablehlo_type(h, to);
	text_printf(h->out, "\n");
	h->at = *to;
}

static void put_reshape(struct hlo *h, const struct shape *to)
{
	int from = h->value;

	if (to->rank == h->at.rank &&
	    memcmp(to->dim, h->at.dim, (size_t)to->rank * sizeof(*to->dim)) == 0)
		return;
	begin(h);
	text_printf(h->out, "stablehlo.reshape ");
	put_value(h, from);
	end(h, to);
}

static void put_transpose(struct hlo *h, const int *order, int n)
{
	struct shape to = {.rank = n};
	bool plain = true;
	int from;

	for (int i = 0; i < n; i++) {
		to.dim[i] = h->at.dim[order[i]];
		plain = plain && order[i] == i;
	}
	if (plain)
		return;
	from = begin(h);
	text_printf(h->out, "stablehlo.transpose ");
	put_value(h, from);
	text_printf(h->out, ", dims = [");
	for (int i = 0; i < n; i++)
		text_printf(h->out, "%s%d", i ? ", " : "", order[i]);
	text_printf(h->out, "]");
	end(h, &to);
}

/* --- collectives -------------------------------------------------------------------- */

static void begin_collective(struct hlo *h, const char *name)
{
	int from = begin(h);

	text_printf(h->out, "\"stablehlo.%s\"(", name);
	put_value(h, from);
	text_printf(h->out, ")");
}

static void put_channel(struct hlo *h)
{
	text_printf(h->out,
	            "channel_handle = #stablehlo.channel_handle<handle = %d, type = 1>",
	            ++h->channel);
}

static void put_groups(struct hlo *h, const struct groups *g)
{
	text_printf(h->out, ", replica_groups = dense<");
	put_lists(h->out, g->ids, g->ngroups, g->size);
	text_printf(h->out, "> : tensor<%dx%dxi64>", g->ngroups, g->size);
}

static void put_sum(struct hlo *h)
{
	text_printf(h->out,
	            " ({\n  ^bb0(%%p: tensor<%s>, %%q: tensor<%s>):\n"
	            "    %%s = stablehlo.add %%p, %%q : tensor<%s>\n"
	            "    stablehlo.return %%s : tensor<%s>\n  })",
	            h->type, h->type, h->type, h->type);
}

static void put_pack(struct hlo *h, const struct step *s)
{
	int rank = h->at.rank;
	struct rearrange r = local_pack(s, rank);
	struct shape split = {.rank = r.nsplit}, packed = {.rank = rank + 1};

	for (int i = 0; i < r.nsplit; i++) {
		int32_t cut = i > 0 && r.split[i].cut ? r.split[i - 1].blocks : 1;
		int32_t blocks = r.split[i].blocks;

		assert(cut > 0);
		split.dim[i] = blocks ? blocks : h->at.dim[r.split[i].dim] / cut;
	}
	put_reshape(h, &split);
	put_transpose(h, r.order, r.nsplit);
	packed.dim[0] = s->groups.size;
	for (int i = 0; i < rank; i++)
		packed.dim[i + 1] = h->at.dim[s->nmoves + i];
	put_reshape(h, &packed);
}

static void put_unpack(struct hlo *h, const struct step *s)
{
	int rank = h->at.rank - 1;
	struct rearrange r = local_unpack(s, rank);
	struct shape split = {.rank = rank + s->nmoves}, to = {.rank = rank};

	for (int k = 0; k < s->nmoves; k++)
		split.dim[k] = s->move[k].factor;
	for (int i = 0; i < rank; i++) {
		split.dim[s->nmoves + i] = to.dim[i] = h->at.dim[i + 1];
		if (r.block[i] >= 0)
			to.dim[i] *= s->move[r.block[i]].factor;
	}
	put_reshape(h, &split);
	put_transpose(h, r.order, split.rank);
	put_reshape(h, &to);
}

/* Adds a dimension of 1 in front, or takes it away. */
static struct shape with_front(const struct shape *s, bool add)
{
	struct shape out = {.rank = s->rank + (add ? 1 : -1)};

	if (add)
		out.dim[0] = 1;
	for (int i = 0; i < (add ? s->rank : out.rank); i++)
		out.dim[i + add] = s->dim[i + !add];
	return out;
}

static void put_gather(struct hlo *h, const struct step *s)
{
	bool one = s->nmoves == 1;
	int dim = one ? s->move[0].from_dim : 0;
	struct shape to;

	if (!one) {
		to = with_front(&h->at, true);
		put_reshape(h, &to);
	}
	begin_collective(h, "all_gather");
	text_printf(h->out, " <{all_gather_dim = %d : i64, ", dim);
	put_channel(h);
	put_groups(h, &s->groups);
	text_printf(h->out, ", use_global_device_ids}>");
	to = h->at;
	to.dim[dim] *= s->groups.size;
	end(h, &to);
	if (!one)
		put_unpack(h, s);
}

static void put_all_to_all(struct hlo *h, const struct step *s)
{
	bool one = s->nmoves == 1;
	int split = one ? s->move[0].to_dim : 0, join = one ? s->move[0].from_dim : 0;
	struct shape to;

	if (!one)
		put_pack(h, s);
	begin_collective(h, "all_to_all");
	text_printf(h->out, " <{");
	put_channel(h);
	text_printf(h->out, ", concat_dimension = %d : i64", join);
	put_groups(h, &s->groups);
	text_printf(h->out, ", split_count = %d : i64, split_dimension = %d : i64}>",
	            s->groups.size, split);
	to = h->at;
	to.dim[split] /= s->groups.size;
	to.dim[join] *= s->groups.size;
	end(h, &to);
	if (!one)
		put_unpack(h, s);
}

static void put_reduce_scatter(struct hlo *h, const struct step *s)
{
	bool one = s->nmoves == 1;
	int dim = one ? s->move[0].to_dim : 0;
	struct shape to;

	if (!one)
		put_pack(h, s);
	begin_collective(h, "reduce_scatter");
	text_printf(h->out, " <{");
	put_channel(h);
	put_groups(h, &s->groups);
	text_printf(h->out, ", scatter_dimension = %d : i64, use_global_device_ids}>",
	            dim);
	put_sum(h);
	to = h->at;
	to.dim[dim] /= s->groups.size;
	end(h, &to);
	if (!one) {
		to = with_front(&h->at, false);
		put_reshape(h, &to);
	}
}

static void put_all_reduce(struct hlo *h, const struct step *s)
{
	struct shape to = h->at;

	begin_collective(h, "all_reduce");
	text_printf(h->out, " <{");
	put_channel(h);
	put_groups(h, &s->groups);
	text_printf(h->out, ", use_global_device_ids}>");
	put_sum(h);
	end(h, &to);
}

static void put_permute(struct hlo *h, const struct step *s)
{
	struct shape to = h->at;

	begin_collective(h, "collective_permute");
	text_printf(h->out, " <{");
	put_channel(h);
	text_printf(h->out, ", source_target_pairs = dense<[");
	for (int32_t i = 0; i < s->npairs; i++)
		text_printf(h->out, "%s[%d, %d]", i ? ", " : "", s->pairs[i].src,
		            s->pairs[i].dst);
	text_printf(h->out, "]> : tensor<%dx2xi64>}>", s->npairs);
	end(h, &to);
}

/* --- what differs by device --------------------------------------------------------- */

/*
 * Makes a scalar of `type` that is value[d] on device d, and returns its number. The last
 * value stays what it was for put_value: the caller says it.
 */
static int put_lookup(struct hlo *h, const int64_t *value, const char *type)
{
	int32_t n = h->l.plan->problem->ndevices;
	int table;

	if (!h->has_id)
		text_printf(h->out, "  %%id = stablehlo.partition_id : tensor<ui32>\n");
	h->has_id = true;
	begin(h);
	text_printf(h->out, "stablehlo.constant dense<[");
	for (int32_t d = 0; d < n; d++) {
		text_printf(h->out, d ? ", " : "");
		if (strcmp(type, "i1") == 0)
			text_printf(h->out, value[d] ? "true" : "false");
		else
			text_printf(h->out, "%lld", (long long)value[d]);
	}
	text_printf(h->out, "]> : tensor<%dx%s>\n", n, type);
	table = begin(h);
	text_printf(h->out,
	            "\"stablehlo.dynamic_slice\"(%%%d, %%id) <{slice_sizes = "
	            "array<i64: 1>}> : "
	            "(tensor<%dx%s>, tensor<ui32>) -> tensor<1x%s>\n",
	            table, n, type, type);
	table = begin(h);
	text_printf(h->out, "stablehlo.reshape %%%d : (tensor<1x%s>) -> tensor<%s>\n",
	            table, type, type);
	return h->value;
}

static int put_zero_index(struct hlo *h)
{
	begin(h);
	text_printf(h->out, "stablehlo.constant dense<0> : tensor<i64>\n");
	return h->value;
}

static int64_t *by_device(struct hlo *h)
{
	return arena_alloc(h->l.arena, (size_t)h->l.plan->problem->ndevices,
	                   sizeof(int64_t));
}

static void put_indices(struct hlo *h, const int *index, int n)
{
	for (int i = 0; i < n; i++)
		text_printf(h->out, ", %%%d", index[i]);
}

static void put_slice(struct hlo *h, const struct step *s)
{
	int32_t n = h->l.plan->problem->ndevices;
	struct shape to = h->at;
	int index[RANK_MAX], from = h->value, zero = put_zero_index(h);

	for (int i = 0; i < to.rank; i++)
		index[i] = zero;
	for (int k = 0; k < s->nmoves; k++) {
		int dim = s->move[k].to_dim;
		int64_t *start = by_device(h);

		to.dim[dim] /= s->move[k].factor;
		for (int32_t d = 0; d < n; d++)
			start[d] = s->chunk[(int64_t)d * s->nmoves + k] * to.dim[dim];
		index[dim] = put_lookup(h, start, "i64");
	}
	begin(h);
	text_printf(h->out, "\"stablehlo.dynamic_slice\"(");
	put_value(h, from);
	put_indices(h, index, to.rank);
	text_printf(h->out, ") <{slice_sizes = array<i64: ");
	for (int i = 0; i < to.rank; i++)
		text_printf(h->out, "%s%lld", i ? ", " : "", (long long)to.dim[i]);
	text_printf(h->out, ">}> : (");
	stablehlo_type(h, &h->at);
	for (int i = 0; i < to.rank; i++)
		text_printf(h->out, ", tensor<i64>");
	text_printf(h->out, ") -> ");
	stablehlo_type(h, &to);
	text_printf(h->out, "\n");
	h->at = to;
}

static int put_zeros(struct hlo *h, const struct shape *s)
{
	begin(h);
	text_printf(h->out, "stablehlo.constant dense<%s> : ", h->zero);
	stablehlo_type(h, s);
	text_printf(h->out, "\n");
	return h->value;
}

/* Puts the tile among zeros, at the place of its chunk in every move. */
static void put_among_zeros(struct hlo *h, const struct step *s, const int32_t *place)
{
	int32_t n = h->l.plan->problem->ndevices;
	struct shape to = h->at;
	int index[RANK_MAX], from = h->value, zero = put_zero_index(h), zeros;
	int32_t minor = s->groups.size;

	for (int i = 0; i < to.rank; i++)
		index[i] = zero;
	for (int k = 0; k < s->nmoves; k++) {
		int dim = s->move[k].from_dim;
		int64_t *start = by_device(h);

		minor /= s->move[k].factor;
		for (int32_t d = 0; d < n; d++)
			start[d] = place[d] / minor % s->move[k].factor * h->at.dim[dim];
		to.dim[dim] *= s->move[k].factor;
		index[dim] = put_lookup(h, start, "i64");
	}
	zeros = put_zeros(h, &to);
	begin(h);
	text_printf(h->out, "\"stablehlo.dynamic_update_slice\"(%%%d, ", zeros);
	put_value(h, from);
	put_indices(h, index, to.rank);
	text_printf(h->out, ") : (");
	stablehlo_type(h, &to);
	text_printf(h->out, ", ");
	stablehlo_type(h, &h->at);
	for (int i = 0; i < to.rank; i++)
		text_printf(h->out, ", tensor<i64>");
	text_printf(h->out, ") -> ");
	stablehlo_type(h, &to);
	text_printf(h->out, "\n");
	h->at = to;
}

static void put_partial(struct hlo *h, const struct step *s)
{
	const int32_t *place = local_places(&h->l, s);
	int64_t *first = by_device(h);
	int from = h->value, holds, zeros;

	if (s->move[0].from_dim >= 0) {
		put_among_zeros(h, s, place);
		return;
	}
	for (int32_t d = 0; d < h->l.plan->problem->ndevices; d++)
		first[d] = place[d] == 0;
	holds = put_lookup(h, first, "i1");
	zeros = put_zeros(h, &h->at);
	begin(h);
	text_printf(h->out, "stablehlo.select %%%d, ", holds);
	put_value(h, from);
	text_printf(h->out, ", %%%d : tensor<i1>, ", zeros);
	stablehlo_type(h, &h->at);
	text_printf(h->out, "\n");
}

/* --- the function ------------------------------------------------------------------- */

struct shape hlo_tile(const struct hlo *h, bool target)
{
	const struct problem *q = h->l.plan->problem;
	struct shape s = local_array(&h->l, h->small);

	return layout_local(target ? &q->to : &q->from, &s);
}

void hlo_function(struct hlo *h, const char *name)
{
	static void (*const put[OPS])(struct hlo *, const struct step *) = LOCAL_PUTS;
	const struct plan *p = h->l.plan;
	struct shape from = hlo_tile(h, false), to = hlo_tile(h, true);
	struct shape digits = local_tile(&h->l, 0, h->small);

	text_printf(h->out, "func.func @%s(%%a: ", name);
	stablehlo_type(h, &from);
	text_printf(h->out, ") -> ");
	stablehlo_type(h, &to);
	text_printf(h->out, " {\n");
	h->value = -1;
	h->at = from;
	put_reshape(h, &digits);
	for (int i = 0; i < p->nsteps; i++) {
		text_printf(h->out, "  // step %d, %s\n", i + 1, op_name(p->step[i].op));
		put[p->step[i].op](h, &p->step[i]);
	}
	put_reshape(h, &to);
	text_printf(h->out, "  return ");
	put_value(h, h->value);
	text_printf(h->out, " : ");
	stablehlo_type(h, &to);
	text_printf(h->out, "\n}\n");
}

void hlo_begin_module(struct hlo *h, const struct emission *what,
                      const struct emitter *emitter)
{
	emit_heading(h->out, emitter, what);
	text_printf(h->out,
	            "module @plan attributes {mhlo.num_partitions = %d : i32, "
	            "mhlo.num_replicas = 1 : i32} {\n",
	            what->plan->problem->ndevices);
}

static enum emitted emit_stablehlo(struct text *out, const struct emission *what,
                                   struct arena *scratch, struct text *why)
{
	struct hlo h = {.out = out};

	if (!local_make(&h.l, what->plan, scratch, why))
		return EMIT_CANNOT;
	mlir_type(&h.type, &h.zero, what->plan->problem->array.dtype);
	hlo_begin_module(&h, what, &emitter_stablehlo);
	hlo_function(&h, "main");
	text_printf(out, "}\n");
	return EMITTED;
}

const struct emitter emitter_stablehlo = {
	.name = "stablehlo",
	.help = "a function of StableHLO: collectives on tiles",
	.comment = "// ",
	.comment_end = "",
	.emit = emit_stablehlo,
};
