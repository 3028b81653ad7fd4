/* Types and names of MLIR's text. */
#include "program/read/hlo.h"
#include "program/read/shlo.h"

#include <ctype.h>
#include <string.h>

bool shlo_name(struct build *b, char byte, struct span *out)
{
	const char *p;

	if (lex_peek(&b->s) != byte)
		return false;
	p = b->s.pos + 1;
	if (*p == '"') {
		b->s.pos++;
		return lex_quoted(&b->s, out);
	}
	while (isalnum((unsigned char)*p) || (*p && strchr("_$.-", *p)))
		p++;
	if (p == b->s.pos + 1) {
		scan_fail(&b->s, E_SYNTAX, "expected a name behind '%c'", byte);
		return false;
	}
	*out = (struct span){b->s.pos + 1, (int32_t)(p - b->s.pos - 1)};
	b->s.pos = p;
	return true;
}

/* i32, ui8, f8E4M3FN, complex<f32>: the names of HLO are s32, u8, f8e4m3fn, c64. */
static const struct dtype *read_element(struct build *b)
{
	char name[24];
	struct span s;
	int32_t n = 0;

	if (lex_take(&b->s, "complex<")) {
		bool wide = lex_take(&b->s, "f64");

		if (!wide && !lex_expect(&b->s, "f32"))
			return NULL;
		if (!lex_expect(&b->s, ">"))
			return NULL;
		return hlo_dtype(wide ? (struct span){"c128", 4}
		                      : (struct span){"c64", 3});
	}
	if (!lex_name(&b->s, "", &s) || s.length > (int32_t)sizeof(name) - 2)
		return NULL;
	if (span_is(s, "i1"))
		return hlo_dtype((struct span){"pred", 4});
	if (s.at[0] == 'i' && isdigit((unsigned char)s.at[1]))
		name[n++] = 's';
	for (int32_t i = s.at[0] == 'i' || (s.at[0] == 'u' && s.at[1] == 'i');
	     i < s.length; i++)
		name[n++] = (char)tolower((unsigned char)s.at[i]);
	/* ui8: what stands behind its first letter is i8. */
	if (s.at[0] == 'u' && s.at[1] == 'i')
		name[0] = 'u';
	return hlo_dtype((struct span){name, n});
}

static bool read_tensor(struct build *b)
{
	struct value_type t = {0};
	int64_t dim[RANK_MAX];
	const char *pos = b->s.pos;
	struct span rest;
	double bits;

	while (isdigit((unsigned char)lex_peek(&b->s))) {
		if (t.rank == RANK_MAX) {
			scan_fail(&b->s, E_RANGE, "more than %d dimensions", RANK_MAX);
			return false;
		}
		if (!lex_int(&b->s, "a dimension", 0, INT64_C(1) << 50, &dim[t.rank++]) ||
		    !lex_expect(&b->s, "x"))
			return false;
	}
	if (*b->s.pos == '?') {
		scan_fail(&b->s, E_INFEASIBLE,
		          "a dimension without a size, expected one");
		return false;
	}
	pos = b->s.pos;
	t.dtype = read_element(b);
	if (!t.dtype) {
		scan_fail_at(&b->s, pos, E_SYNTAX,
		             "expected a type of elements such as f32");
		return false;
	}
	bits = t.dtype->bits;
	for (int32_t i = 0; i < t.rank; i++)
		bits *= (double)dim[i];
	if (bits > 0x1p62) {
		scan_fail_at(&b->s, pos, E_RANGE, "more than 2^62 bits");
		return false;
	}
	if (lex_take(&b->s, ",") && !lex_value(&b->s, &rest))
		return false;
	t.dim = dim;
	build_leaf(b, &t);
	return lex_expect(&b->s, ">");
}

static bool read_any(struct build *b, int depth)
{
	struct value_type token = {.dtype = hlo_dtype((struct span){"token", 5})};
	struct span name, rest;
	bool first = true;

	if (lex_take(&b->s, "tensor<"))
		return read_tensor(b);
	if (depth < LEX_DEPTH_MAX && lex_take(&b->s, "tuple<")) {
		while (!lex_take(&b->s, ">")) {
			if (!first && !lex_expect(&b->s, ","))
				return false;
			if (depth == 0)
				*list_add(&b->type.split, b->a) =
					(int32_t)b->type.leaf.n;
			if (!read_any(b, depth + 1))
				return false;
			first = false;
		}
		if (depth == 0)
			*list_add(&b->type.split, b->a) = (int32_t)b->type.leaf.n;
		return true;
	}
	if (lex_peek(&b->s) == '!' && shlo_name(b, '!', &name)) {
		if (!span_is(name, "stablehlo.token") && !span_is(name, "mhlo.token")) {
			scan_fail_at(
				&b->s, name.at - 1, E_INFEASIBLE,
				"expected tensor<..>, tuple<..> or !stablehlo.token");
			return false;
		}
		if (*b->s.pos == '<' && !lex_balanced(&b->s, &rest))
			return false;
		build_leaf(b, &token);
		return true;
	}
	scan_fail(&b->s, E_SYNTAX, "expected a type such as tensor<8x16xf32>");
	return false;
}

bool shlo_type(struct build *b)
{
	return read_any(b, 0);
}
