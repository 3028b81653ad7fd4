/*
 * Ops and blocks of StableHLO's text. Pretty forms and the generic one are read by one loop that
 * takes tokens as they come: what each op means by them is shlo_op.c's business.
 */
#include "program/read/shlo.h"

#include <ctype.h>
#include <string.h>

/* --- operands and regions --- */

/* Reads `%a`, or `%a#1`, and adds its values. */
static bool add_operand(struct build *b, struct shlo_op *m, struct span name)
{
	const struct named *of = build_find(b, name);
	int64_t k = -1;

	if (!of) {
		scan_fail_at(&b->s, name.at, E_TYPE, "'%%%.*s' is not there",
		             (int)name.length, name.at);
		return false;
	}
	if (*b->s.pos == '#') {
		b->s.pos++;
		if (!lex_int(&b->s, "the number of a result", 0, of->n - 1, &k))
			return false;
	}
	for (int32_t i = k < 0 ? 0 : (int32_t)k; i < (k < 0 ? of->n : k + 1); i++)
		*list_add(&m->operand, b->a) = of->first + i;
	return true;
}

/* Reads `%a: type {attributes} loc(..), ...` up to the bracket behind it, which is taken. */
bool shlo_args(struct build *b, struct shlo_block *args, struct shlo_op *attrs)
{
	struct span name, place;
	bool first = true;

	for (; !lex_take(&b->s, ")"); first = false) {
		int64_t pairs = attrs->pair.n;

		if (!first && !lex_expect(&b->s, ","))
			return false;
		if (!shlo_name(b, '%', &name)) {
			scan_fail(&b->s, E_SYNTAX,
			          "expected an argument such as %%arg0");
			return false;
		}
		b->type.leaf.n = b->type.split.n = 0;
		if (!lex_expect(&b->s, ":") || !shlo_type(b))
			return false;
		if (b->type.leaf.n != 1) {
			scan_fail_at(&b->s, name.at, E_INFEASIBLE, "expected an array");
			return false;
		}
		*list_add(&args->name, b->a) = name;
		*list_add(&args->type, b->a) = b->type.leaf.at[0];
		if (!shlo_dict_of(b, attrs, list_add(&args->written, b->a)))
			return false;
		*list_add(&args->sharding, b->a) = (struct span){NULL, 0};
		for (int64_t i = pairs; i < attrs->pair.n; i++) {
			struct span key = attrs->pair.at[i].key;

			if (span_is(key, "sdy.sharding") ||
			    span_is(key, "mhlo.sharding"))
				args->sharding.at[args->sharding.n - 1] =
					attrs->pair.at[i].value;
			/* Which argument it is of. */
			if (span_is(key, "tf.aliasing_output") ||
			    span_is(key, "jax.buffer_donor"))
				*list_add(&attrs->operand, b->a) =
					(int32_t)args->name.n - 1;
		}
		if (!shlo_place(b, &place))
			return false;
	}
	return true;
}

/* Reads `{ ops }` with the arguments that are known, and adds the region. */
static bool add_region(struct shlo *r, struct shlo_op *m, const struct shlo_block *args)
{
	int32_t number;

	if (!lex_expect(&r->b->s, "{") ||
	    !shlo_block(r, args, (struct span){"", 0}, &number))
		return false;
	*list_add(&m->region, r->b->a) = number;
	return true;
}

/* Reads the regions of the generic form, `({ .. }, { .. })`. */
static bool generic_regions(struct shlo *r, struct shlo_op *m)
{
	const struct shlo_block none = {0};

	do {
		if (!add_region(r, m, &none))
			return false;
	} while (lex_take(&r->b->s, ","));
	return lex_expect(&r->b->s, ")");
}

/* --- one op --- */

/* Reads a word: a key, `init:`, `dense<..>`, `loc(..)`, or a word alone. */
static bool read_word(struct build *b, struct shlo_op *m)
{
	struct span word;

	if (!lex_name(&b->s, "", &word)) {
		scan_fail(&b->s, E_SYNTAX,
		          "expected an operand, an attribute or a type");
		return false;
	}
	if ((span_is(word, "dense") || span_is(word, "dense_resource")) &&
	    *b->s.pos == '<')
		return lex_balanced(&b->s, &m->constant);
	if (lex_peek(&b->s) == '=' && b->s.pos[1] != '=') {
		struct shlo_pair *pair = list_add(&m->pair, b->a);

		b->s.pos++;
		pair->key = word;
		return shlo_value(b, &pair->value);
	}
	if (span_is(word, "init") && lex_take(&b->s, ":")) {
		m->inits++;
		return true;
	}
	*list_add(&m->word_list, b->a) = word;
	return true;
}

/* Reads `%a`, `%i = %a` of a loop, or the first of a block's arguments. */
static bool read_value(struct build *b, struct shlo_op *m, struct shlo_block *args,
                       int depth)
{
	const char *pos = b->s.pos;
	struct span name;

	if (!shlo_name(b, '%', &name))
		return false;
	if (depth && m->code == HLO_WHILE && lex_take(&b->s, "=")) {
		*list_add(&args->name, b->a) = name;
		if (shlo_name(b, '%', &name))
			return add_operand(b, m, name);
		scan_fail(&b->s, E_SYNTAX, "expected a value such as %%0");
		return false;
	}
	if (depth && lex_peek(&b->s) == ':') {
		struct shlo_op attrs = {0};

		b->s.pos = pos;
		return shlo_args(b, args, &attrs);
	}
	return add_operand(b, m, name);
}

static bool read_bracket(struct shlo *r, struct shlo_op *m, struct shlo_block *args)
{
	struct build *b = r->b;

	if (lex_take(&b->s, "<{"))
		return shlo_dict(b, m) && lex_expect(&b->s, ">");
	if (*b->s.pos != '{')
		return lex_balanced(&b->s, &m->bracket);
	if (m->code == HLO_MANUAL_COMPUTATION || m->code == HLO_NAMED_COMPUTATION)
		return add_region(r, m, args);
	b->s.pos++;
	return shlo_dict(b, m);
}

/* Reads all up to the colon before the types, which is taken; false with an error. */
static bool read_soup(struct shlo *r, struct shlo_op *m, struct shlo_block *args)
{
	struct build *b = r->b;
	int depth = 0;
	struct span name;
	bool good = true;

	while (good && !lex_take(&b->s, ":")) {
		char c = *b->s.pos;

		if (c == '(') {
			b->s.pos++;
			if (lex_peek(&b->s) == '{')
				good = generic_regions(r, m);
			else
				depth++;
		} else if (c == ')' || c == ',') {
			depth -= c == ')';
			b->s.pos++;
		} else if (c == '%') {
			int64_t before = args->name.n;

			good = read_value(b, m, args, depth);
			/* The bracket behind arguments was taken with them. */
			if (args->type.n && args->name.n > before && depth > 0)
				depth--;
		} else if (c == '@') {
			good = shlo_name(b, '@', &name);
			if (good)
				*list_add(&m->called, b->a) = name;
		} else if (c == '<' || c == '[' || c == '{') {
			good = read_bracket(r, m, args);
		} else if (c == '"') {
			good = lex_quoted(&b->s, &name);
		} else if (isdigit((unsigned char)c) || c == '-' || c == '#') {
			good = shlo_value(b, &name);
		} else {
			good = read_word(b, m);
		}
	}
	return good;
}

/* Leaves of the results' types in b->type; `t, t -> t`, `(t, t) -> (t, t)`, `t, t`. */
static bool read_signature(struct build *b, struct shlo_op *m)
{
	bool list = lex_take(&b->s, "(");
	int32_t last = 0;

	b->type.leaf.n = b->type.split.n = 0;
	for (bool first = true; !list || !lex_take(&b->s, ")"); first = false) {
		if (!first && list && !lex_expect(&b->s, ","))
			return false;
		last = (int32_t)b->type.leaf.n;
		if (!shlo_type(b))
			return false;
		if (!list && !lex_take(&b->s, ","))
			break;
	}
	if (!lex_take(&b->s, "->")) {
		/* Of operands and result the types that differ; the last is the result's. */
		if (m->results == 1 && b->type.leaf.n > 1 && !b->type.split.n) {
			b->type.leaf.at[0] = b->type.leaf.at[last];
			b->type.leaf.n = 1;
		}
		if (!m->results)
			b->type.leaf.n = 0;
		return true;
	}
	b->type.leaf.n = b->type.split.n = 0;
	if (!lex_take(&b->s, "("))
		return shlo_type(b);
	for (bool first = true; !lex_take(&b->s, ")"); first = false)
		if ((!first && !lex_expect(&b->s, ",")) || !shlo_type(b))
			return false;
	return true;
}

/* Regions that stand behind the types: of a loop, and a reducer. */
static bool read_rest(struct shlo *r, struct shlo_op *m, struct shlo_block *args)
{
	struct build *b = r->b;
	LIST(struct value_type) types = {0};
	bool tuple = b->type.split.n > 0;
	struct shlo_op attrs = {0};

	for (int64_t i = 0; i < b->type.leaf.n; i++)
		*list_add(&types, b->a) = b->type.leaf.at[i];
	if (m->code == HLO_WHILE) {
		for (int64_t i = 0; i < types.n && args->type.n < args->name.n; i++)
			*list_add(&args->type, b->a) = types.at[i];
		if (lex_word(&b->s, "attributes") &&
		    (!lex_expect(&b->s, "{") || !shlo_dict(b, m)))
			return false;
		if (lex_word(&b->s, "cond") &&
		    (!add_region(r, m, args) || !lex_word(&b->s, "do") ||
		     !add_region(r, m, args))) {
			scan_fail(&b->s, E_SYNTAX,
			          "expected 'do' and the body of the loop");
			return false;
		}
	}
	if (lex_word(&b->s, "reducer")) {
		struct shlo_block reducer = {0};

		while (lex_take(&b->s, "("))
			if (!shlo_args(b, &reducer, &attrs))
				return false;
		if (!add_region(r, m, &reducer))
			return false;
	}
	if (tuple)
		return true;
	b->type.leaf.n = b->type.split.n = 0;
	for (int64_t i = 0; i < types.n; i++)
		build_leaf(b, &types.at[i]);
	return true;
}

/* The terminator of a block: return, stablehlo.return, sdy.return. */
static bool is_end(const struct shlo_op *m)
{
	return m->word.length >= 6 &&
	       !memcmp(m->word.at + m->word.length - 6, "return", 6);
}

/* The name of an op, `stablehlo.add` or in quotes. */
static bool read_op_name(struct build *b, struct shlo_op *m)
{
	lex_peek(&b->s);
	m->pos = b->s.pos;
	if (*b->s.pos == '"') {
		if (!lex_quoted(&b->s, &m->word))
			return false;
	} else if (!lex_name(&b->s, "", &m->word)) {
		scan_fail(&b->s, E_SYNTAX, "expected an operation");
		return false;
	}
	m->code = opcode_of_stablehlo(m->word.at, (size_t)m->word.length);
	if (m->code == HLO_OPCODES && is_end(m)) {
		m->code = HLO_TUPLE;
	} else if (m->code == HLO_OPCODES) {
		program_warn(b->p, b->line,
		             "unknown operation '%.*s' is priced by its bytes",
		             (int)m->word.length, m->word.at);
		m->code = HLO_CUSTOM_CALL;
	}
	return true;
}

/* Names of the results, `%0:3 =` or `%a, %b =`, to be given once the op is there. */
struct result_names {
	LIST(struct span) name;
	LIST(int32_t) count;
};

static bool read_results(struct build *b, struct shlo_op *m, struct result_names *names)
{
	struct span name;
	int64_t n;

	while (lex_peek(&b->s) == '%') {
		n = 1;
		if (!shlo_name(b, '%', &name))
			return false;
		if (*b->s.pos == ':') {
			b->s.pos++;
			if (!lex_int(&b->s, "a number of results", 1, 1 << 20, &n))
				return false;
		}
		*list_add(&names->name, b->a) = name;
		*list_add(&names->count, b->a) = (int32_t)n;
		m->results += (int32_t)n;
		if (!lex_take(&b->s, ","))
			return lex_expect(&b->s, "=");
	}
	return true;
}

static bool name_results(struct build *b, const struct shlo_op *m,
                         const struct result_names *names, int32_t op)
{
	const struct instruction *o = build_last(b, op);
	int32_t first = o->first_value, most = o->nvalues;

	for (int64_t i = 0; i < names->name.n; i++) {
		int32_t n = names->count.at[i];

		/* One name of a tuple is that of all its leaves. */
		if (names->name.n == 1 && n == 1 && m->code != HLO_WHILE)
			n = most;
		if (n > most) {
			scan_fail_at(&b->s, m->pos, E_TYPE, "%d results, expected %d",
			             (int)o->nvalues, (int)m->results);
			return false;
		}
		b->type.split.n = 0;
		if (!build_name(b, names->name.at[i], first, n, op))
			return false;
		first += n;
		most -= n;
	}
	return true;
}

/* Reads an op; the values of a terminator are the results of the region. */
static bool read_op(struct shlo *r, struct region *region, bool *ended)
{
	struct build *b = r->b;
	struct result_names names = {0};
	struct shlo_op m = {0};
	struct shlo_block args = {0};
	const char *start;
	int32_t op;

	build_line(b);
	start = b->s.pos;
	if (!read_results(b, &m, &names) || !read_op_name(b, &m))
		return false;
	m.name = names.name.n ? (struct span){names.name.at[0].at - 1,
	                                      names.name.at[0].length + 1}
	                      : m.word;
	*ended = is_end(&m);
	if (*ended && lex_peek(&b->s) != '%' && *b->s.pos != '(' && *b->s.pos != ':')
		return true;
	if (!read_soup(r, &m, &args) || !read_signature(b, &m))
		return false;
	if (*ended) {
		int32_t *at = arena_alloc(b->a, (size_t)m.operand.n, sizeof(*at));

		for (int64_t i = 0; i < m.operand.n; i++)
			at[i] = b->p->value.at[m.operand.at[i]].same;
		region->result = (struct numbers){(int32_t)m.operand.n, at};
		return shlo_place(b, &m.place);
	}
	if (!read_rest(r, &m, &args) || !shlo_place(b, &m.place))
		return false;
	if (!shlo_commit(r, &m, &op))
		return false;
	build_last(b, op)->written = span_up_to(start, b->s.pos);
	return name_results(b, &m, &names, op);
}

/* --- blocks --- */

static bool add_params(struct build *b, const struct shlo_block *args,
                       struct region *region)
{
	int32_t *at = arena_alloc(b->a, (size_t)args->name.n, sizeof(*at));

	for (int64_t i = 0; i < args->name.n; i++) {
		int32_t op;

		if (i >= args->type.n) {
			scan_fail_at(&b->s, args->name.at[i].at, E_TYPE,
			             "a value without a type");
			return false;
		}
		b->type.leaf.n = b->type.split.n = 0;
		build_leaf(b, &args->type.at[i]);
		op = build_op(b, HLO_PARAMETER, args->name.at[i]);
		b->p->op.at[op].index = i;
		if (i < args->sharding.n)
			b->p->op.at[op].sharding = args->sharding.at[i];
		if (i < args->written.n)
			b->p->op.at[op].written = args->written.at[i];
		at[i] = b->p->op.at[op].first_value;
		if (!build_name(b, args->name.at[i], at[i], 1, op))
			return false;
	}
	region->param = (struct numbers){(int32_t)args->name.n, at};
	return true;
}

/* Reads a block behind its bracket, with its label and arguments if it has one. */
bool shlo_block(struct shlo *r, const struct shlo_block *given, struct span name,
                int32_t *number)
{
	struct build *b = r->b;
	struct region region = {.name = name, .line = build_line(b)};
	struct mark mark = build_region_open(b);
	struct shlo_block args = *given;
	struct shlo_op attrs = {0};
	struct span label;
	bool ended = false;

	if (++r->depth > LEX_DEPTH_MAX) {
		scan_fail(&b->s, E_RANGE, "regions too deep");
		return false;
	}
	if (shlo_name(b, '^', &label)) {
		if (lex_take(&b->s, "(") && !shlo_args(b, &args, &attrs))
			return false;
		if (!lex_expect(&b->s, ":"))
			return false;
	}
	if (!add_params(b, &args, &region))
		return false;
	while (!ended && lex_peek(&b->s) != '}')
		if (!read_op(r, &region, &ended))
			return false;
	r->depth--;
	if (!lex_expect(&b->s, "}"))
		return false;
	*number = build_region_close(b, mark, &region);
	return true;
}
