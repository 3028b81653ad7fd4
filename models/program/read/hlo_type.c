/* Types of HLO: `bf16[8,128]{1,0:T(8,128)S(1)}`, tuples of such. */
#include "program/read/hlo.h"

#include <string.h>

/* Types that are no arrays, and those that no sharding is about. */
static const struct dtype more_dtypes[] = {
	{"token", "token", 0},
	{"opaque", "opaque", 0},
	{"s1", "int1", 1},
	{"u1", "uint1", 1},
};

const struct dtype *hlo_dtype(struct span name)
{
	for (const struct dtype *d = dtypes; d->name; d++)
		if (span_is(name, d->name))
			return d;
	for (size_t i = 0; i < sizeof(more_dtypes) / sizeof(*more_dtypes); i++)
		if (span_is(name, more_dtypes[i].name))
			return &more_dtypes[i];
	return NULL;
}

static bool read_dims(struct build *b, struct value_type *t, int64_t dim[RANK_MAX])
{
	double bits = t->dtype->bits;

	while (!lex_take(&b->s, "]")) {
		if (t->rank > 0 && !lex_expect(&b->s, ","))
			return false;
		if (t->rank == RANK_MAX) {
			scan_fail(&b->s, E_RANGE, "more than %d dimensions", RANK_MAX);
			return false;
		}
		lex_take(&b->s, "<=");
		if (lex_peek(&b->s) == '?') {
			scan_fail(&b->s, E_INFEASIBLE,
			          "a dimension without a bound, expected a size");
			return false;
		}
		if (!lex_int(&b->s, "a dimension", 0, INT64_C(1) << 50, &dim[t->rank]))
			return false;
		bits *= (double)dim[t->rank++];
		if (bits > 0x1p62) {
			scan_fail(&b->s, E_RANGE, "more than 2^62 bits");
			return false;
		}
	}
	return true;
}

/*
 * Reads `{1,0:T(8,128)(2,1)S(1)}`; a bracket that does not begin with a number, a colon or its
 * end is none of a layout.
 */
static bool read_layout(struct build *b, struct value_type *t, int8_t order[RANK_MAX])
{
	const char *p = b->s.pos + 1;
	uint32_t seen = 0;
	int64_t d, space;
	int32_t n = 0;

	while (*p == ' ')
		p++;
	if (*b->s.pos != '{' || !strchr("0123456789:}", *p) || !*p)
		return true;
	b->s.pos = p;
	for (; lex_peek(&b->s) != '}' && *b->s.pos != ':'; n++) {
		if (n && !lex_expect(&b->s, ","))
			return false;
		if (!lex_int(&b->s, "a dimension", 0, t->rank - 1, &d))
			return false;
		if (seen >> d & 1) {
			scan_fail(&b->s, E_TYPE, "dimension %d is there twice", (int)d);
			return false;
		}
		seen |= 1u << d;
		order[n] = (int8_t)d;
	}
	if (n && n != t->rank) {
		scan_fail(&b->s, E_TYPE, "a layout of %d dimensions, expected %d",
		          (int)n, (int)t->rank);
		return false;
	}
	t->layout = n ? order : NULL;
	for (; *b->s.pos && !strchr("}\n", *b->s.pos); b->s.pos++)
		if (b->s.pos[0] == 'S' && b->s.pos[1] == '(') {
			b->s.pos += 2;
			if (!lex_int(&b->s, "a memory space", 0, 255, &space))
				return false;
			t->space = (uint8_t)space;
		}
	return lex_expect(&b->s, "}");
}

static bool read_array(struct build *b)
{
	struct value_type t = {0};
	int64_t dim[RANK_MAX];
	int8_t order[RANK_MAX];
	struct span name;

	if (!lex_name(&b->s, "", &name) || !(t.dtype = hlo_dtype(name))) {
		scan_fail(&b->s, E_SYNTAX, "expected a type such as f32[8,128]");
		return false;
	}
	t.dim = dim;
	if (!lex_expect(&b->s, "[") || !read_dims(b, &t, dim) ||
	    !read_layout(b, &t, order))
		return false;
	build_leaf(b, &t);
	return true;
}

static bool read_any(struct build *b, int depth)
{
	bool first = true;

	if (!lex_take(&b->s, "("))
		return read_array(b);
	if (depth == LEX_DEPTH_MAX) {
		scan_fail(&b->s, E_RANGE, "tuples too deep");
		return false;
	}
	while (!lex_take(&b->s, ")")) {
		if (!first && !lex_expect(&b->s, ","))
			return false;
		if (depth == 0)
			*list_add(&b->type.split, b->a) = (int32_t)b->type.leaf.n;
		if (!read_any(b, depth + 1))
			return false;
		first = false;
	}
	if (depth == 0)
		*list_add(&b->type.split, b->a) = (int32_t)b->type.leaf.n;
	return true;
}

bool hlo_read_type(struct build *b)
{
	b->type.leaf.n = b->type.split.n = 0;
	if (lex_take(&b->s, "b("))
		return read_any(b, 0) && lex_expect(&b->s, ")");
	return read_any(b, 0);
}

/* What is not a name of an op, `f32[8]{0}`, has a bracket behind it. */
bool hlo_skip_type(struct build *b)
{
	struct span s;

	if (lex_peek(&b->s) == '(')
		return lex_balanced(&b->s, &s);
	if (*b->s.pos == '%')
		return true;
	const char *start = b->s.pos;

	if (lex_name(&b->s, "", &s) && *b->s.pos == '[') {
		if (!lex_balanced(&b->s, &s))
			return false;
		return *b->s.pos != '{' || lex_balanced(&b->s, &s);
	}
	b->s.pos = start;
	return true;
}
