/* What was read of an op in MLIR's text becomes an op of the program. */
#include "program/read/hlo.h"
#include "program/read/shlo.h"

#include <stdlib.h>
#include <string.h>

static const struct value_type *operand(const struct build *b, const struct shlo_op *m,
                                        int64_t k)
{
	return &b->p->value.at[m->operand.at[k]].type;
}

static bool bad(const struct build *b, const struct shlo_op *m, const char *why)
{
	scan_fail_at((struct scan *)&b->s, m->pos, E_TYPE, "%.*s: %s",
	             (int)m->word.length, m->word.at, why);
	return false;
}

/* The part of `[2] x [1]` before or behind the x. */
static struct span side(struct span value, bool second)
{
	const char *x = value.at ? span_find(value, "] x [") : NULL;

	if (!x)
		return (struct span){NULL, 0};
	if (second)
		return (struct span){x - 1, (int32_t)(span_end(value) - x + 1)};
	return (struct span){value.at, (int32_t)(x - 4 - value.at)};
}

static struct ints one(struct build *b, int64_t n)
{
	return (struct ints){1, arena_dup(b->a, &n, 1, sizeof(n))};
}

static bool set_dot(struct build *b, const struct shlo_op *m, struct instruction *op)
{
	struct span numbers = shlo_find(m, "dot_dimension_numbers");
	struct span batch = shlo_find(m, "batching_dims");
	struct span contract = shlo_find(m, "contracting_dims");
	struct dot_attr d = {{0}, {0}, {0}, {0}};

	if (m->operand.n < 2)
		return bad(b, m, "expected two operands");
	if (numbers.at) {
		d.lhs_batch = shlo_ints_in(b, numbers, "lhs_batching_dimensions");
		d.rhs_batch = shlo_ints_in(b, numbers, "rhs_batching_dimensions");
		d.lhs_contracting =
			shlo_ints_in(b, numbers, "lhs_contracting_dimensions");
		d.rhs_contracting =
			shlo_ints_in(b, numbers, "rhs_contracting_dimensions");
	} else if (span_find(m->word, "dot_general")) {
		d.lhs_batch = shlo_ints(b, side(batch, false));
		d.rhs_batch = shlo_ints(b, side(batch, true));
		d.lhs_contracting = shlo_ints(b, side(contract, false));
		d.rhs_contracting = shlo_ints(b, side(contract, true));
	} else if (operand(b, m, 0)->rank && operand(b, m, 1)->rank) {
		d.lhs_contracting = one(b, operand(b, m, 0)->rank - 1);
		d.rhs_contracting = one(b, 0);
	}
	op->as.dot = arena_dup(b->a, &d, 1, sizeof(d));
	return true;
}

/* Pairs of low and high paddings, one after another. */
static void split_pads(struct build *b, struct window *w, struct ints pads)
{
	int64_t *low = arena_alloc(b->a, (size_t)w->n, sizeof(*low));
	int64_t *high = arena_alloc(b->a, (size_t)w->n, sizeof(*high));

	for (int32_t i = 0; i < w->n && 2 * i + 1 < pads.n; i++) {
		low[i] = pads.at[2 * i];
		high[i] = pads.at[2 * i + 1];
	}
	w->low = low;
	w->high = high;
}

/* As many numbers as the window has dimensions, or none. */
static const int64_t *per_dimension(const struct window *w, struct ints at)
{
	return at.n == w->n ? at.at : NULL;
}

static void read_window(struct build *b, const struct shlo_op *m, struct window *w)
{
	static const char *const strides[] = {"window_strides", NULL};
	static const char *const lhs[] = {"lhs_dilation", "base_dilations", NULL};
	static const char *const rhs[] = {"rhs_dilation", "window_dilations", NULL};
	struct span pretty = shlo_find(m, "window");
	struct ints reversal;
	bool *back = arena_alloc(b->a, (size_t)w->n, sizeof(*back));

	w->stride = per_dimension(w, pretty.at ? shlo_ints_in(b, pretty, "stride =")
	                                       : shlo_ints(b, shlo_find_of(m, strides)));
	w->lhs_dilate =
		per_dimension(w, pretty.at ? shlo_ints_in(b, pretty, "lhs_dilate =")
	                                   : shlo_ints(b, shlo_find_of(m, lhs)));
	w->rhs_dilate =
		per_dimension(w, pretty.at ? shlo_ints_in(b, pretty, "rhs_dilate =")
	                                   : shlo_ints(b, shlo_find_of(m, rhs)));
	reversal = pretty.at ? shlo_ints_in(b, pretty, "reverse =")
	                     : shlo_ints(b, shlo_find(m, "window_reversal"));
	for (int32_t i = 0; i < w->n && i < reversal.n; i++)
		back[i] = reversal.at[i] != 0;
	w->reversal = back;
	if (pretty.at) {
		const char *p = span_find(pretty, "pad = ");
		const char *end = span_end(pretty);

		if (p)
			split_pads(b, w,
			           shlo_ints(b, (struct span){p, (int32_t)(end - p)}));
	} else if (shlo_find(m, "padding").at) {
		split_pads(b, w, shlo_ints(b, shlo_find(m, "padding")));
	}
	hlo_window_fill(b, w);
}

/* `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]` as b01f_01io->b01f. */
static struct span conv_labels(struct build *b, struct span value)
{
	char *out = arena_alloc(b->a, (size_t)value.length + 1, 1);
	const char *start =
		value.at ? memchr(value.at, '[', (size_t)value.length) : NULL;
	int32_t n = 0;

	for (const char *p = start; p && p < span_end(value); p++) {
		if (*p == 'x' && p[-1] == ']')
			out[n++] = '_';
		else if (!strchr("[], \n>", *p) || (*p == '>' && p[-1] == '-'))
			out[n++] = *p;
	}
	return (struct span){out, n};
}

static bool set_conv(struct build *b, const struct shlo_op *m, struct instruction *op)
{
	static const char *const numbers[] = {"dim_numbers", "dimension_numbers", NULL};
	struct span value = shlo_find_of(m, numbers);
	struct conv_attr c = {0};
	struct ints groups = shlo_ints(b, shlo_find(m, "feature_group_count"));
	int64_t *size;

	if (!value.at || m->operand.n != 2)
		return bad(b, m, "expected two operands and dim_numbers");
	if (!hlo_dim_labels(b, conv_labels(b, value), &c, value.at))
		return false;
	if (operand(b, m, 1)->rank != c.nspatial + 2)
		return bad(b, m, "dim_numbers do not fit the kernel");
	c.feature_groups = groups.n ? groups.at[0] : 1;
	groups = shlo_ints(b, shlo_find(m, "batch_group_count"));
	c.batch_groups = groups.n ? groups.at[0] : 1;
	size = arena_alloc(b->a, (size_t)c.nspatial, sizeof(*size));
	for (int32_t i = 0; i < c.nspatial; i++)
		size[i] = operand(b, m, 1)->dim[c.kernel_spatial[i]];
	c.window.n = c.nspatial;
	c.window.size = size;
	read_window(b, m, &c.window);
	op->as.conv = arena_dup(b->a, &c, 1, sizeof(c));
	return true;
}

static bool set_window(struct build *b, const struct shlo_op *m, struct instruction *op)
{
	struct ints size = shlo_ints(b, shlo_find(m, "window_dimensions"));
	struct window w = {.n = size.n, .size = size.at};

	read_window(b, m, &w);
	op->as.window = arena_dup(b->a, &w, 1, sizeof(w));
	return true;
}

/* `[0:4, 1:8:2]`, or three lists. */
static void set_slice(struct build *b, const struct shlo_op *m, struct instruction *op)
{
	struct slice_attr s = {shlo_ints(b, shlo_find(m, "start_indices")),
	                       shlo_ints(b, shlo_find(m, "limit_indices")),
	                       shlo_ints(b, shlo_find(m, "strides"))};
	const char *p = m->bracket.at, *end = span_end(m->bracket);
	int64_t *v[3];
	int32_t n = -1;
	int part = 0;

	for (int i = 0; i < 3; i++)
		v[i] = arena_alloc(b->a, RANK_MAX + 1, sizeof(*v[i]));
	for (; m->bracket.at && p < end && n < RANK_MAX; p++) {
		if (*p == '[' || *p == ',') {
			v[2][++n] = 1;
			part = 0;
		} else if (*p == ':') {
			part++;
		} else if (*p >= '0' && *p <= '9' && part < 3) {
			v[part][n] = strtoll(p, (char **)&p, 10);
			p--;
		}
	}
	if (n >= 0)
		s = (struct slice_attr){{n + 1, v[0]}, {n + 1, v[1]}, {n + 1, v[2]}};
	op->as.slice = arena_dup(b->a, &s, 1, sizeof(s));
}

static struct ints of_keys(struct build *b, const struct shlo_op *m, const char *one,
                           const char *two)
{
	const char *const keys[] = {one, two, NULL};

	return shlo_ints(b, shlo_find_of(m, keys));
}

static void set_pad(struct build *b, const struct shlo_op *m, struct instruction *op)
{
	struct slice_attr s = {of_keys(b, m, "low", "edge_padding_low"),
	                       of_keys(b, m, "high", "edge_padding_high"),
	                       of_keys(b, m, "interior", "interior_padding")};

	op->as.slice = arena_dup(b->a, &s, 1, sizeof(s));
}

static void set_index(struct build *b, const struct shlo_op *m, struct instruction *op)
{
	bool gather = op->code == HLO_GATHER;
	struct span v =
		shlo_find(m, gather ? "dimension_numbers" : "scatter_dimension_numbers");
	struct index_attr g = {
		.offset_dims = shlo_ints_in(
			b, v, gather ? "offset_dims" : "update_window_dims"),
		.collapsed_slice_dims = shlo_ints_in(
			b, v, gather ? "collapsed_slice_dims" : "inserted_window_dims"),
		.start_index_map = shlo_ints_in(
			b, v,
			gather ? "start_index_map" : "scatter_dims_to_operand_dims"),
		.operand_batching_dims = shlo_ints_in(
			b, v, gather ? "operand_batching_dims" : "input_batching_dims"),
		.indices_batching_dims =
			shlo_ints_in(b, v,
	                             gather ? "start_indices_batching_dims"
	                                    : "scatter_indices_batching_dims"),
		.slice_sizes = shlo_ints(b, shlo_find(m, "slice_sizes"))};
	struct ints at = shlo_ints_in(b, v, "index_vector_dim");

	g.index_vector_dim = at.n ? at.at[0] : 0;
	op->as.gather = arena_dup(b->a, &g, 1, sizeof(g));
}

static bool set_collective(struct shlo *r, const struct shlo_op *m,
                           struct instruction *op)
{
	struct build *b = r->b;
	struct collective_attr c = {.groups = -1, .channel = -1};
	struct span channel = shlo_find(m, "channel_handle");
	struct ints handle = shlo_ints_in(b, channel, "handle =");

	c.channel = handle.n ? handle.at[0] : -1;
	c.global_ids = false;
	for (int64_t i = 0; i < m->pair.n; i++)
		c.global_ids |= span_is(m->pair.at[i].key, "use_global_device_ids");
	if (op->code == HLO_COLLECTIVE_PERMUTE) {
		c.pairs = shlo_ints(b, shlo_find(m, "source_target_pairs"));
		if (c.pairs.n % 2)
			return bad(b, m, "expected pairs of devices");
		for (int32_t i = 0; i < c.pairs.n; i++)
			if (c.pairs.at[i] < 0 || c.pairs.at[i] >= MESH_DEVICES_MAX)
				return bad(b, m, "no such device");
	} else {
		c.groups = shlo_groups(r, m, shlo_find(m, "replica_groups"));
		if (c.groups < 0)
			return false;
	}
	op->dims = of_keys(b, m, "all_gather_dim", "scatter_dimension");
	if (!op->dims.n)
		op->dims = shlo_ints(b, shlo_find(m, "split_dimension"));
	op->as.collective = arena_dup(b->a, &c, 1, sizeof(c));
	return true;
}

static void set_constant(struct build *b, const struct shlo_op *m,
                         struct instruction *op)
{
	struct constant_attr c = {0};
	struct span dense = m->constant.at ? m->constant : shlo_find(m, "value");
	const char *p = dense.at ? memchr(dense.at, '<', (size_t)dense.length) : NULL;
	const struct value_type *t = &b->p->value.at[op->first_value].type;
	char *end;

	if (p && op->nvalues == 1 && t->rank == 0) {
		c.value = strtod(p + 1, &end);
		c.known = end > p + 1;
		if (!strncmp(p + 1, "true", 4) || !strncmp(p + 1, "false", 5)) {
			c.known = true;
			c.value = p[1] == 't';
		}
	}
	op->as.constant = arena_dup(b->a, &c, 1, sizeof(c));
}

static void set_custom(struct build *b, const struct shlo_op *m, struct instruction *op)
{
	struct custom_attr c = {.target = shlo_find(m, "call_target_name"),
	                        .config = shlo_find(m, "backend_config")};

	if (m->called.n)
		c.target = m->called.at[0];
	if (c.target.at && *c.target.at == '"')
		c.target = (struct span){c.target.at + 1, c.target.length - 2};
	if (!c.target.at && op->code == HLO_CUSTOM_CALL)
		c.target = m->word;
	op->as.custom = arena_dup(b->a, &c, 1, sizeof(c));
}

static void set_manual(struct build *b, const struct shlo_op *m, struct instruction *op)
{
	const struct manual_attr manual = {shlo_find(m, "in_shardings"),
	                                   shlo_find(m, "out_shardings"),
	                                   shlo_find(m, "manual_axes")};

	op->as.manual = arena_dup(b->a, &manual, 1, sizeof(manual));
}

/* The word behind `applies`; at NULL: there is none. */
static struct span applied_by(const struct shlo_op *m)
{
	for (int64_t i = 0; i + 1 < m->word_list.n; i++)
		if (span_is(m->word_list.at[i], "applies"))
			return m->word_list.at[i + 1];
	return (struct span){NULL, 0};
}

static struct span direction_of(const struct shlo_op *m)
{
	struct span v = shlo_find(m, "comparison_direction");
	const char *p = v.at ? span_find(v, "direction ") : NULL;

	if (p)
		return (struct span){p, 2};
	return m->word_list.n ? m->word_list.at[0] : (struct span){NULL, 0};
}

/* Ops whose dimensions are one list of integers, and its name in short and in full. */
static const struct {
	enum opcode code;
	const char *brief, *full;
} dims_key[] = {
	{HLO_BROADCAST, "dims", "broadcast_dimensions"},
	{HLO_TRANSPOSE, "dims", "permutation"},
	{HLO_REVERSE, "dims", "dimensions"},
	{HLO_REDUCE, "dims", "dimensions"},
	{HLO_CONCATENATE, "dim", "dimension"},
	{HLO_SORT, "dim", "dimension"},
	{HLO_IOTA, "dim", "iota_dimension"},
	{HLO_DYNAMIC_SLICE, "sizes", "slice_sizes"},
	{HLO_FFT, "length", "fft_length"},
};

static void set_dims(struct build *b, const struct shlo_op *m, struct instruction *op)
{
	for (size_t i = 0; i < sizeof(dims_key) / sizeof(*dims_key); i++)
		if (dims_key[i].code == op->code)
			op->dims = of_keys(b, m, dims_key[i].brief, dims_key[i].full);
}

static bool set_own(struct shlo *r, const struct shlo_op *m, struct instruction *op)
{
	struct build *b = r->b;
	struct loop_attr loop = {.trips = 1};
	struct ints at;

	set_dims(b, m, op);
	switch (op->code) {
	case HLO_DOT:
		return set_dot(b, m, op);
	case HLO_CONVOLUTION:
		return set_conv(b, m, op);
	case HLO_REDUCE_WINDOW:
	case HLO_SELECT_AND_SCATTER:
		return set_window(b, m, op);
	case HLO_SLICE:
		set_slice(b, m, op);
		return true;
	case HLO_PAD:
		set_pad(b, m, op);
		return true;
	case HLO_GATHER:
	case HLO_SCATTER:
		set_index(b, m, op);
		return true;
	case HLO_REDUCE:
		op->applies = applied_by(m);
		return true;
	case HLO_GET_TUPLE_ELEMENT:
		at = m->bracket.at ? shlo_ints(b, m->bracket)
		                   : shlo_ints(b, shlo_find(m, "index"));
		op->index = at.n ? at.at[0] : -1;
		return true;
	case HLO_COMPARE:
		op->direction = direction_of(m);
		return true;
	case HLO_CONSTANT:
		set_constant(b, m, op);
		return true;
	case HLO_CUSTOM_CALL:
		set_custom(b, m, op);
		return true;
	case HLO_MANUAL_COMPUTATION:
		set_manual(b, m, op);
		return true;
	case HLO_SHARDING_GROUP:
		at = shlo_ints(b, shlo_find(m, "group_id"));
		op->index = at.n ? at.at[0] : 0;
		return true;
	case HLO_PROPAGATION_BARRIER:
		op->direction = shlo_find(m, "allowed_direction");
		return true;
	case HLO_WHILE:
		op->as.loop = arena_dup(b->a, &loop, 1, sizeof(loop));
		return true;
	default:
		return opcode_class(op->code) != CLASS_COLLECTIVE ||
		       set_collective(r, m, op);
	}
}

/* Arrays before the values that their reductions begin with. */
static void order_inits(struct build *b, struct shlo_op *m)
{
	int64_t n = m->operand.n;
	int32_t *at = arena_alloc(b->a, (size_t)n, sizeof(*at));

	if (!m->inits || n != 2 * m->inits)
		return;
	for (int64_t i = 0; i < n; i++)
		at[(i % 2) * m->inits + i / 2] = m->operand.at[i];
	memcpy(m->operand.at, at, (size_t)n * sizeof(*at));
}

static bool set_same(struct build *b, int32_t op, const struct shlo_op *m)
{
	const struct instruction *o = build_last(b, op);
	int64_t first = o->code == HLO_GET_TUPLE_ELEMENT ? o->index : 0;

	if (o->code != HLO_OPT_BARRIER && o->code != HLO_TUPLE &&
	    o->code != HLO_GET_TUPLE_ELEMENT)
		return true;
	if (first < 0 || first + o->nvalues > o->noperands)
		return bad(b, m, "it has not so many operands");
	for (int32_t i = 0; i < o->nvalues; i++)
		if (!build_same(b, o->first_value + i,
		                op_operand(b->p, o, (int32_t)first + i), m->pos))
			return false;
	return true;
}

bool shlo_commit(struct shlo *r, struct shlo_op *m, int32_t *out)
{
	static const char *const shardings[] = {"sdy.sharding", "mhlo.sharding", NULL};
	static const char *const callees[] = {"callee", "decomposition", NULL};
	struct build *b = r->b;
	bool runs = shlo_runs_regions(m->code);
	struct span callee = shlo_find_of(m, callees);
	struct instruction *op;
	int32_t number;

	/* On whole arrays the collectives of sdy change a layout and no value. */
	if (opcode_class(m->code) == CLASS_COLLECTIVE && !strncmp(m->word.at, "sdy.", 4))
		m->code = HLO_RESHARD;
	order_inits(b, m);
	shlo_hand_in(b, m);
	number = *out = build_op(b, m->code, m->name);
	for (int64_t i = 0; i < m->operand.n; i++)
		build_operand(b, number, m->operand.at[i]);
	for (int64_t i = 0; i < m->region.n; i++)
		build_call(b, number, m->region.at[i],
		           runs ? REGION_CODE : REGION_APPLIED);
	if (m->code == HLO_CALL && m->called.n)
		build_call_name(b, number, m->called.at[0], REGION_CODE);
	else if (m->code == HLO_CALL && callee.at && callee.length > 1)
		build_call_name(b, number,
		                (struct span){callee.at + 1, callee.length - 1},
		                REGION_CODE);
	op = build_last(b, number);
	op->sharding = shlo_find_of(m, shardings);
	if (!op->sharding.at && opcode_class(m->code) == CLASS_FREE)
		op->sharding = m->bracket;
	op->frontend = shlo_find(m, "mhlo.frontend_attributes");
	op->rule = shlo_find(m, "sdy.sharding_rule");
	if (m->place.at)
		*list_add(&r->places, b->a) = (struct shlo_place){number, m->place};
	return set_own(r, m, op) && build_check(b, number, m->pos) &&
	       set_same(b, number, m);
}
