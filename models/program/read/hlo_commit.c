/* What the attributes of an op in HLO's text come to: windows, regions, the op's own part. */
#include "program/read/hlo.h"

#include "base/assert.h"

#include <string.h>

/* --- windows --- */

static bool window_item(struct build *b, struct window *w, struct span key, int32_t n)
{
	int64_t *one = arena_alloc(b->a, RANK_MAX, sizeof(*one));
	int64_t *two = arena_alloc(b->a, RANK_MAX, sizeof(*two));
	bool *back = arena_alloc(b->a, RANK_MAX, sizeof(*back));
	bool pads = span_is(key, "pad");
	int32_t count = 0;

	do {
		if (count == RANK_MAX) {
			scan_fail(&b->s, E_RANGE, "more than %d dimensions", RANK_MAX);
			return false;
		}
		if (!lex_signed(&b->s, "a number", &one[count]) ||
		    (pads && (!lex_expect(&b->s, "_") ||
		              !lex_signed(&b->s, "a number", &two[count]))))
			return false;
		if (!pads && (one[count] < 0 || one[count] > INT32_MAX)) {
			scan_fail(&b->s, E_RANGE, "expected 0 or more");
			return false;
		}
		back[count] = one[count] != 0;
		count++;
	} while (lex_take(&b->s, "x"));
	if (n >= 0 && count != n) {
		scan_fail(&b->s, E_TYPE, "%d dimensions, expected %d", (int)count,
		          (int)n);
		return false;
	}
	w->n = count;
	if (span_is(key, "size"))
		w->size = one;
	else if (span_is(key, "stride"))
		w->stride = one;
	else if (span_is(key, "lhs_dilate"))
		w->lhs_dilate = one;
	else if (span_is(key, "rhs_dilate"))
		w->rhs_dilate = one;
	else if (span_is(key, "rhs_reversal"))
		w->reversal = back;
	if (pads) {
		w->low = one;
		w->high = two;
	}
	return true;
}

void hlo_window_fill(struct build *b, struct window *w)
{
	int64_t *ones = arena_alloc(b->a, (size_t)w->n, sizeof(*ones));
	const int64_t *zeros = arena_alloc(b->a, (size_t)w->n, sizeof(*zeros));
	const int64_t **all[] = {&w->size, &w->stride, &w->lhs_dilate, &w->rhs_dilate};

	for (int32_t i = 0; i < w->n; i++)
		ones[i] = 1;
	for (int i = 0; i < 4; i++)
		if (!*all[i])
			*all[i] = ones;
	if (!w->low)
		w->low = w->high = zeros;
	if (!w->reversal)
		w->reversal = arena_alloc(b->a, (size_t)w->n, sizeof(bool));
}

bool hlo_window(struct build *b, struct window *w)
{
	struct span key;
	int32_t n = -1;

	*w = (struct window){0};
	if (!lex_expect(&b->s, "{"))
		return false;
	while (!lex_take(&b->s, "}")) {
		if (!lex_name(&b->s, "", &key) || !lex_expect(&b->s, "=")) {
			scan_fail(&b->s, E_SYNTAX, "expected key=value");
			return false;
		}
		if (!window_item(b, w, key, n))
			return false;
		n = w->n;
	}
	hlo_window_fill(b, w);
	return true;
}

/* --- dimensions of a convolution --- */

/* Reads one part of `b01f_01io->b01f`: two letters and digits. */
static bool labels_part(const char **p, const char *end, const char *letters,
                        int32_t *first, int32_t *second, int32_t *spatial, int32_t *n)
{
	int32_t dim = 0;

	*first = *second = -1;
	*n = 0;
	for (int32_t i = 0; i < RANK_MAX; i++)
		spatial[i] = -1;
	for (; *p < end && **p != '_' && **p != '-'; ++*p, dim++) {
		if (dim == RANK_MAX)
			break;
		if (**p == letters[0]) {
			*first = dim;
		} else if (**p == letters[1]) {
			*second = dim;
		} else if (**p >= '0' && **p <= '9' && spatial[**p - '0'] < 0) {
			spatial[**p - '0'] = dim;
			++*n;
		} else {
			break;
		}
	}
	if (*first >= 0 && *second >= 0 && dim == *n + 2 &&
	    (!*n || spatial[*n - 1] >= 0) && (*p == end || **p == '_' || **p == '-'))
		return true;
	return false;
}

bool hlo_dim_labels(struct build *b, struct span labels, struct conv_attr *c,
                    const char *pos)
{
	int32_t *spatial[3], n[3];
	const char *p = labels.at, *end = span_end(labels);

	for (int i = 0; i < 3; i++)
		spatial[i] = arena_alloc(b->a, RANK_MAX, sizeof(int32_t));
	bool good =
		labels_part(&p, end, "bf", &c->batch, &c->feature, spatial[0], &n[0]);

	p += p < end && *p == '_';
	good = good && labels_part(&p, end, "io", &c->kernel_in, &c->kernel_out,
	                           spatial[1], &n[1]);
	p += p + 1 < end && p[0] == '-' && p[1] == '>' ? 2 : 0;
	good = good && labels_part(&p, end, "bf", &c->out_batch, &c->out_feature,
	                           spatial[2], &n[2]);
	if (!good || p != end || n[0] != n[1] || n[1] != n[2]) {
		scan_fail_at(&b->s, pos, E_SYNTAX,
		             "expected labels such as b01f_01io->b01f");
		return false;
	}
	c->nspatial = n[0];
	c->spatial = spatial[0];
	c->kernel_spatial = spatial[1];
	c->out_spatial = spatial[2];
	return true;
}

/* --- the op's own part --- */

static bool commit_conv(struct build *b, int32_t op, struct hlo_attrs *at,
                        const char *pos)
{
	struct conv_attr *c;

	if (!at->labels.at) {
		scan_fail_at(&b->s, pos, E_SYNTAX, "a convolution without dim_labels");
		return false;
	}
	if (!hlo_dim_labels(b, at->labels, &at->conv, at->labels.at))
		return false;
	if (!at->conv.feature_groups)
		at->conv.feature_groups = 1;
	if (!at->conv.batch_groups)
		at->conv.batch_groups = 1;
	if (!at->conv.window.n)
		hlo_window_fill(b, &at->conv.window);
	c = arena_dup(b->a, &at->conv, 1, sizeof(*c));
	build_last(b, op)->as.conv = c;
	return true;
}

static bool commit_custom(struct build *b, struct instruction *op, struct hlo_attrs *at)
{
	struct custom_attr c = {.target = at->target, .config = at->config};

	op->as.custom = arena_dup(b->a, &c, 1, sizeof(c));
	return true;
}

/* Lists what the op calls: a loop's condition before its body. */
static void commit_calls(struct build *b, int32_t op, const struct hlo_attrs *at)
{
	enum opcode code = build_last(b, op)->code;
	bool applied = code != HLO_CALL && code != HLO_CONDITIONAL;

	if (at->condition.at)
		build_call_name(b, op, at->condition, REGION_CODE);
	if (at->body.at)
		build_call_name(b, op, at->body, REGION_CODE);
	if (at->calls.at)
		build_call_name(b, op, at->calls,
		                code == HLO_FUSION ? REGION_FUSED : REGION_CODE);
	if (at->to_apply.at)
		build_call_name(b, op, at->to_apply,
		                applied ? REGION_APPLIED : REGION_CODE);
	if (at->select.at)
		build_call_name(b, op, at->select, REGION_APPLIED);
	if (at->scatter.at)
		build_call_name(b, op, at->scatter, REGION_APPLIED);
	if (at->on_true.at)
		build_call_name(b, op, at->on_true, REGION_CODE);
	if (at->on_false.at)
		build_call_name(b, op, at->on_false, REGION_CODE);
	for (int64_t i = 0; i < at->branch.n; i++)
		build_call_name(b, op, at->branch.at[i],
		                applied ? REGION_APPLIED : REGION_CODE);
}

/* Finds trips in `{"known_trip_count":{"n":"8"}}`. */
static void commit_loop(struct build *b, struct instruction *op,
                        const struct hlo_attrs *at)
{
	struct loop_attr loop = {.trips = 1};
	const char *p = span_find(at->config, "known_trip_count");

	while (p && p < span_end(at->config) && (*p < '0' || *p > '9'))
		p++;
	if (p && p < span_end(at->config)) {
		loop.trips = 0;
		for (; *p >= '0' && *p <= '9' && loop.trips < INT32_MAX; p++)
			loop.trips = loop.trips * 10 + (*p - '0');
		loop.known = true;
	}
	op->as.loop = arena_dup(b->a, &loop, 1, sizeof(loop));
}

static void *copy(struct build *b, const void *from, size_t size)
{
	return arena_dup(b->a, from, 1, size);
}

bool hlo_commit(struct build *b, int32_t number, struct hlo_attrs *at, const char *pos)
{
	struct instruction *op = build_last(b, number);

	commit_calls(b, number, at);
	op = build_last(b, number);
	op->dims = op->code == HLO_DYNAMIC_SLICE ? at->sizes : at->dims;
	op->direction = at->direction;
	if (op->code == HLO_GET_TUPLE_ELEMENT)
		op->index = at->index;
	switch (op->code) {
	case HLO_DOT:
	case HLO_RAGGED_DOT:
	case HLO_SCALED_DOT:
		op->as.dot = copy(b, &at->dot, sizeof(at->dot));
		break;
	case HLO_CONVOLUTION:
		if (!commit_conv(b, number, at, pos))
			return false;
		break;
	case HLO_REDUCE_WINDOW:
	case HLO_SELECT_AND_SCATTER:
		op->as.window = copy(b, &at->conv.window, sizeof(at->conv.window));
		break;
	case HLO_SLICE:
		op->as.slice = copy(b, &at->slice, sizeof(at->slice));
		break;
	case HLO_PAD:
		op->as.slice = copy(b, &at->pad, sizeof(at->pad));
		break;
	case HLO_GATHER:
	case HLO_SCATTER:
		op->as.gather = copy(b, &at->gather, sizeof(at->gather));
		break;
	case HLO_CUSTOM_CALL:
		commit_custom(b, op, at);
		break;
	case HLO_WHILE:
		commit_loop(b, op, at);
		break;
	default:
		if (opcode_class(op->code) == CLASS_COLLECTIVE)
			op->as.collective =
				copy(b, &at->collective, sizeof(at->collective));
	}
	return build_check(b, number, pos);
}
