/* The attributes of ops in HLO's text: `, name=value` behind the operands. */
#include "program/read/hlo.h"

#include <string.h>

typedef bool attr_fn(struct build *b, const struct hlo_frames *frames,
                     struct instruction *op, struct hlo_attrs *at);

static bool braces(struct build *b, struct ints *out)
{
	return lex_ints(&b->s, b->a, "{", "}", out);
}

static bool region_name(struct build *b, struct span *out)
{
	if (lex_name(&b->s, "%", out))
		return true;
	scan_fail(&b->s, E_SYNTAX, "expected the name of a computation");
	return false;
}

#define UNUSED (void)b, (void)frames, (void)op, (void)at

/* An attribute whose value goes to a field as it is. */
#define FIELD(name, read, field)                                                       \
	static bool name(struct build *b, const struct hlo_frames *frames,             \
	                 struct instruction *op, struct hlo_attrs *at)                 \
	{                                                                              \
		UNUSED;                                                                \
		return read(b, &(field));                                              \
	}

static bool value(struct build *b, struct span *out)
{
	return lex_peek(&b->s) == '{' ? lex_balanced(&b->s, out) : lex_value(&b->s, out);
}

static bool count(struct build *b, int64_t *out)
{
	return lex_int(&b->s, "a number", 0, INT32_MAX, out);
}

static bool quoted(struct build *b, struct span *out)
{
	return lex_quoted(&b->s, out);
}

FIELD(lhs_batch, braces, at->dot.lhs_batch)
FIELD(rhs_batch, braces, at->dot.rhs_batch)
FIELD(lhs_contracting, braces, at->dot.lhs_contracting)
FIELD(rhs_contracting, braces, at->dot.rhs_contracting)
FIELD(dynamic_sizes, braces, at->sizes)
FIELD(offset_dims, braces, at->gather.offset_dims)
FIELD(collapsed, braces, at->gather.collapsed_slice_dims)
FIELD(start_map, braces, at->gather.start_index_map)
FIELD(operand_batching, braces, at->gather.operand_batching_dims)
FIELD(indices_batching, braces, at->gather.indices_batching_dims)
FIELD(slice_sizes, braces, at->gather.slice_sizes)
FIELD(index_vector, count, at->gather.index_vector_dim)
FIELD(feature_groups, count, at->conv.feature_groups)
FIELD(batch_groups, count, at->conv.batch_groups)
FIELD(channel, count, at->collective.channel)
FIELD(index_of, count, at->index)
FIELD(labels, value, at->labels)
FIELD(direction, value, at->direction)
FIELD(config, value, at->config)
FIELD(sharding, value, op->sharding)
FIELD(frontend, value, op->frontend)
FIELD(target, quoted, at->target)
FIELD(to_apply, region_name, at->to_apply)
FIELD(calls, region_name, at->calls)
FIELD(condition, region_name, at->condition)
FIELD(body, region_name, at->body)
FIELD(on_true, region_name, at->on_true)
FIELD(on_false, region_name, at->on_false)
FIELD(select_by, region_name, at->select)
FIELD(scatter_by, region_name, at->scatter)
FIELD(window, hlo_window, at->conv.window)

static bool dimensions(struct build *b, const struct hlo_frames *frames,
                       struct instruction *op, struct hlo_attrs *at)
{
	UNUSED;
	at->has_dims = true;
	return braces(b, &at->dims);
}

static bool iota_dimension(struct build *b, const struct hlo_frames *frames,
                           struct instruction *op, struct hlo_attrs *at)
{
	int64_t *dim = arena_alloc(b->a, 1, sizeof(*dim));

	UNUSED;
	at->has_dims = true;
	at->dims = (struct ints){1, dim};
	return count(b, dim);
}

static bool truth(struct build *b, bool *out)
{
	*out = lex_word(&b->s, "true");
	if (*out || lex_word(&b->s, "false"))
		return true;
	scan_fail(&b->s, E_SYNTAX, "expected true or false");
	return false;
}

FIELD(global_ids, truth, at->collective.global_ids)

static bool replica_groups(struct build *b, const struct hlo_frames *frames,
                           struct instruction *op, struct hlo_attrs *at)
{
	UNUSED;
	at->collective.groups = build_groups(b);
	return at->collective.groups >= 0;
}

static bool pairs(struct build *b, const struct hlo_frames *frames,
                  struct instruction *op, struct hlo_attrs *at)
{
	LIST(int64_t) list = {0};

	UNUSED;
	if (!lex_expect(&b->s, "{"))
		return false;
	while (!lex_take(&b->s, "}")) {
		if (list.n && !lex_expect(&b->s, ","))
			return false;
		list_reserve(&list, b->a, 2);
		if (!lex_expect(&b->s, "{") ||
		    !lex_int(&b->s, "a device", 0, MESH_DEVICES_MAX - 1,
		             &list.at[list.n]) ||
		    !lex_expect(&b->s, ",") ||
		    !lex_int(&b->s, "a device", 0, MESH_DEVICES_MAX - 1,
		             &list.at[list.n + 1]) ||
		    !lex_expect(&b->s, "}"))
			return false;
		list.n += 2;
	}
	at->collective.pairs = (struct ints){(int32_t)list.n, list.at};
	return true;
}

/* slice={[0:8:1], [0:4]} */
static bool slice(struct build *b, const struct hlo_frames *frames,
                  struct instruction *op, struct hlo_attrs *at)
{
	int64_t *v[3];
	int32_t n = 0;

	UNUSED;
	for (int i = 0; i < 3; i++)
		v[i] = arena_alloc(b->a, RANK_MAX, sizeof(*v[i]));
	if (!lex_expect(&b->s, "{"))
		return false;
	for (; !lex_take(&b->s, "}"); n++) {
		if (n && !lex_expect(&b->s, ","))
			return false;
		if (n == RANK_MAX) {
			scan_fail(&b->s, E_RANGE, "more than %d dimensions", RANK_MAX);
			return false;
		}
		v[2][n] = 1;
		if (!lex_expect(&b->s, "[") ||
		    !lex_int(&b->s, "a start", 0, INT64_MAX, &v[0][n]) ||
		    !lex_expect(&b->s, ":") ||
		    !lex_int(&b->s, "a limit", 0, INT64_MAX, &v[1][n]) ||
		    (lex_take(&b->s, ":") &&
		     !lex_int(&b->s, "a stride", 1, INT64_MAX, &v[2][n])) ||
		    !lex_expect(&b->s, "]"))
			return false;
	}
	at->slice = (struct slice_attr){{n, v[0]}, {n, v[1]}, {n, v[2]}};
	return true;
}

/* padding=0_0x1_2_1: low, high, and what goes between elements. */
static bool padding(struct build *b, const struct hlo_frames *frames,
                    struct instruction *op, struct hlo_attrs *at)
{
	int64_t *v[3];
	int32_t n = 0;

	UNUSED;
	for (int i = 0; i < 3; i++)
		v[i] = arena_alloc(b->a, RANK_MAX, sizeof(*v[i]));
	do {
		if (n == RANK_MAX) {
			scan_fail(&b->s, E_RANGE, "more than %d dimensions", RANK_MAX);
			return false;
		}
		if (!lex_signed(&b->s, "a padding", &v[0][n]) ||
		    !lex_expect(&b->s, "_") ||
		    !lex_signed(&b->s, "a padding", &v[1][n]) ||
		    (lex_take(&b->s, "_") &&
		     !lex_int(&b->s, "a padding", 0, INT64_MAX, &v[2][n])))
			return false;
		n++;
	} while (lex_take(&b->s, "x"));
	at->pad = (struct slice_attr){{n, v[0]}, {n, v[1]}, {n, v[2]}};
	return true;
}

/* Reads `{%a, %b}` into a list of names. */
static bool names(struct build *b, const struct hlo_frames *frames,
                  struct instruction *op, struct hlo_attrs *at)
{
	bool first = true;

	UNUSED;
	if (!lex_expect(&b->s, "{"))
		return false;
	for (; !lex_take(&b->s, "}"); first = false) {
		if (!first && !lex_expect(&b->s, ","))
			return false;
		if (!region_name(b, list_add(&at->branch, b->a)))
			return false;
	}
	return true;
}

/* metadata={op_name="..." source_file="..." source_line=1 stack_frame_id=7} */
static bool metadata(struct build *b, const struct hlo_frames *frames,
                     struct instruction *op, struct hlo_attrs *at)
{
	struct span key, text;
	int64_t number;

	UNUSED;
	if (!lex_expect(&b->s, "{"))
		return false;
	while (!lex_take(&b->s, "}")) {
		if (!lex_name(&b->s, "", &key) || !lex_expect(&b->s, "=")) {
			scan_fail(&b->s, E_SYNTAX, "expected key=value");
			return false;
		}
		if (span_is(key, "op_name") || span_is(key, "source_file")) {
			if (!lex_quoted(&b->s, &text))
				return false;
			*(span_is(key, "op_name") ? &op->op_name : &op->source_file) =
				text;
		} else if (span_is(key, "source_line") ||
		           span_is(key, "stack_frame_id")) {
			if (!lex_int(&b->s, "a number", 0, INT32_MAX, &number))
				return false;
			if (span_is(key, "source_line")) {
				op->source_line = (int32_t)number;
				continue;
			}
			if (number < 1 || number > frames->frame.n)
				continue;
			number = frames->frame.at[number - 1];
			if (number < 1 || number > frames->location.n)
				continue;
			op->source_line = (int32_t)frames->location.at[number - 1].line;
			number = frames->location.at[number - 1].file;
			if (number >= 1 && number <= frames->file.n)
				op->source_file = frames->file.at[number - 1];
		} else if (lex_peek(&b->s) == '"') {
			if (!lex_quoted(&b->s, &text))
				return false;
		} else if (lex_peek(&b->s) == '{') {
			if (!lex_balanced(&b->s, &text))
				return false;
		} else {
			b->s.pos += strcspn(b->s.pos, " \t\n}");
		}
	}
	return true;
}

static const struct {
	const char *name;
	attr_fn *read;
} known[] = {
	{"metadata", metadata},
	{"dimensions", dimensions},
	{"fft_length", dimensions},
	{"to_apply", to_apply},
	{"sharding", sharding},
	{"frontend_attributes", frontend},
	{"index", index_of},
	{"lhs_contracting_dims", lhs_contracting},
	{"rhs_contracting_dims", rhs_contracting},
	{"lhs_batch_dims", lhs_batch},
	{"rhs_batch_dims", rhs_batch},
	{"direction", direction},
	{"slice", slice},
	{"custom_call_target", target},
	{"backend_config", config},
	{"window", window},
	{"dim_labels", labels},
	{"feature_group_count", feature_groups},
	{"batch_group_count", batch_groups},
	{"iota_dimension", iota_dimension},
	{"dynamic_slice_sizes", dynamic_sizes},
	{"channel_id", channel},
	{"replica_groups", replica_groups},
	{"source_target_pairs", pairs},
	{"use_global_device_ids", global_ids},
	{"padding", padding},
	{"calls", calls},
	{"condition", condition},
	{"body", body},
	{"branch_computations", names},
	{"called_computations", names},
	{"true_computation", on_true},
	{"false_computation", on_false},
	{"select", select_by},
	{"scatter", scatter_by},
	{"offset_dims", offset_dims},
	{"update_window_dims", offset_dims},
	{"collapsed_slice_dims", collapsed},
	{"inserted_window_dims", collapsed},
	{"start_index_map", start_map},
	{"scatter_dims_to_operand_dims", start_map},
	{"operand_batching_dims", operand_batching},
	{"input_batching_dims", operand_batching},
	{"start_indices_batching_dims", indices_batching},
	{"scatter_indices_batching_dims", indices_batching},
	{"index_vector_dim", index_vector},
	{"slice_sizes", slice_sizes},
};

bool hlo_attributes(struct build *b, const struct hlo_frames *frames, int32_t op,
                    struct hlo_attrs *at)
{
	struct span key, skipped;

	while (lex_take(&b->s, ",")) {
		attr_fn *read = NULL;

		if (!lex_name(&b->s, "", &key) || !lex_expect(&b->s, "=")) {
			scan_fail(&b->s, E_SYNTAX, "expected an attribute name=value");
			return false;
		}
		for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !read; i++)
			if (*known[i].name == *key.at && span_is(key, known[i].name))
				read = known[i].read;
		/* A permute in place has slice_sizes={{..}}, which nothing needs. */
		if (read == slice_sizes &&
		    build_last(b, op)->code == HLO_COLLECTIVE_PERMUTE)
			read = NULL;
		if (read ? !read(b, frames, build_last(b, op), at)
		         : !lex_value(&b->s, &skipped))
			return false;
	}
	return true;
}
