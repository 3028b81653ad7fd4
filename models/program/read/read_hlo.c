/*
 * HLO's text: a header, tables of places in the source, computations. Dumps before and
 * after partitioning and after optimisation have one grammar; finish.c tells them apart.
 */
#include "program/read/hlo.h"

#include <stdlib.h>
#include <string.h>

struct reader {
	struct build *b;
	struct hlo_header header;
	LIST(int32_t) parameter;    /* of the open computation: op of each number, -1 */
	LIST(int32_t) entry_params; /* first leaf of each parameter of the entry */
	struct named of;            /* what the operand that was read last is */
	struct hlo_attrs attrs;
};

/* --- instructions --- */

/* Reads one operand: a name, behind its type or not, or an op that is written in place. */
static bool read_operand(struct reader *r, int32_t op)
{
	struct build *b = r->b;
	const struct named *of;
	const char *start;
	struct span name;
	int64_t k = -1;

	lex_peek(&b->s);
	start = b->s.pos;
	if (!hlo_skip_type(b))
		return false;
	if (!lex_name(&b->s, "%", &name)) {
		scan_fail(&b->s, E_SYNTAX, "expected the name of an operand");
		return false;
	}
	if (lex_peek(&b->s) == '(') {
		scan_fail_at(&b->s, start, E_INFEASIBLE,
		             "an op written in place of an operand, expected its name");
		return false;
	}
	of = build_find(b, name);
	if (!of) {
		scan_fail_at(&b->s, name.at, E_TYPE, "'%.*s' is not there",
		             (int)name.length, name.at);
		return false;
	}
	if (lex_take(&b->s, "#") &&
	    !lex_int(&b->s, "an element", 0, of->elements - 1, &k))
		return false;
	for (int32_t i = k < 0 ? 0 : of->split[k];
	     i < (k < 0 ? of->n : of->split[k + 1]); i++)
		build_operand(b, op, of->first + i);
	r->of = *of;
	return true;
}

static bool read_operands(struct reader *r, int32_t op)
{
	struct build *b = r->b;
	bool first = true;

	while (!lex_take(&b->s, ")")) {
		if (!first && !lex_expect(&b->s, ","))
			return false;
		if (!read_operand(r, op))
			return false;
		first = false;
	}
	return true;
}

/* Reads what stands between the brackets of a constant; `(` is taken. */
static bool read_constant(struct build *b, int32_t op)
{
	struct constant_attr *c = arena_alloc(b->a, 1, sizeof(*c));
	const struct instruction *o = build_last(b, op);
	struct span s;
	char *end;

	b->s.pos--;
	if (!lex_balanced(&b->s, &s))
		return false;
	if (o->nvalues == 1 && b->p->value.at[o->first_value].type.rank == 0) {
		c->value = strtod(s.at + 1, &end);
		c->known = end > s.at + 1;
		if (s.at[1] == 't' || s.at[1] == 'f') {
			c->known = true;
			c->value = s.at[1] == 't';
		}
	}
	build_last(b, op)->as.constant = c;
	return true;
}

static bool read_parameter(struct reader *r, int32_t op)
{
	struct build *b = r->b;
	const char *pos = b->s.pos;
	int64_t number;

	if (!lex_int(&b->s, "the number of the parameter", 0, 1 << 20, &number) ||
	    !lex_expect(&b->s, ")"))
		return false;
	build_last(b, op)->index = number;
	while (r->parameter.n <= number)
		*list_add(&r->parameter, b->a) = -1;
	if (r->parameter.at[number] >= 0) {
		scan_fail_at(&b->s, pos, E_TYPE, "parameter %lld is there twice",
		             (long long)number);
		return false;
	}
	r->parameter.at[number] = op;
	return true;
}

/* Finds the opcode of a name, apart from `-start`, `-update`, `-done` behind it. */
static enum opcode async_opcode(struct span name, enum async *async)
{
	static const char *const ends[] = {"-start", "-update", "-done"};
	enum opcode code = opcode_find(name.at, (size_t)name.length);

	*async = ASYNC_NONE;
	for (int i = 0; i < 3 && code == HLO_OPCODES; i++) {
		int32_t n = (int32_t)strlen(ends[i]);

		if (name.length <= n ||
		    strncmp(name.at + name.length - n, ends[i], (size_t)n) != 0)
			continue;
		*async = (enum async)(ASYNC_START + i);
		code = opcode_find(name.at, (size_t)(name.length - n));
	}
	return code;
}

/* Makes what only hands values on other names of them. */
static bool set_same(struct reader *r, int32_t op, const char *pos)
{
	struct build *b = r->b;
	const struct instruction *o = build_last(b, op);
	int32_t first = 0;

	if (o->code == HLO_GET_TUPLE_ELEMENT) {
		if (!o->noperands || o->index < 0 || o->index >= r->of.elements) {
			scan_fail_at(&b->s, pos, E_RANGE,
			             "no tuple with such an element");
			return false;
		}
		first = r->of.split[o->index];
	} else if (o->code != HLO_TUPLE && o->code != HLO_OPT_BARRIER &&
	           o->code != HLO_ADD_DEPENDENCY && o->code != HLO_DOMAIN) {
		return true;
	}
	if (first + o->nvalues > o->noperands) {
		scan_fail_at(&b->s, pos, E_TYPE, "%d arrays are made of %d",
		             (int)o->nvalues, (int)o->noperands);
		return false;
	}
	for (int32_t i = 0; i < o->nvalues; i++)
		if (!build_same(b, o->first_value + i, op_operand(b->p, o, first + i),
		                pos))
			return false;
	return true;
}

/* Reads an op behind its `name =`. */
static bool read_op(struct reader *r, struct span name, int32_t *out)
{
	struct build *b = r->b;
	struct span word;
	enum async async;
	enum opcode code;
	const char *pos;
	int32_t op;

	if (!hlo_read_type(b))
		return false;
	lex_peek(&b->s);
	pos = b->s.pos;
	if (!lex_name(&b->s, "", &word)) {
		scan_fail(&b->s, E_SYNTAX, "expected an operation");
		return false;
	}
	code = async_opcode(word, &async);
	if (code == HLO_OPCODES) {
		code = HLO_CUSTOM_CALL;
		program_warn(b->p, b->line,
		             "unknown operation '%.*s' is priced by its bytes",
		             (int)word.length, word.at);
	}
	op = *out = build_op(b, code, name);
	build_last(b, op)->async = async;
	r->of = (struct named){.op = -1, .elements = -1};
	if (!lex_expect(&b->s, "("))
		return false;
	if (code == HLO_PARAMETER  ? !read_parameter(r, op)
	    : code == HLO_CONSTANT ? !read_constant(b, op)
	                           : !read_operands(r, op))
		return false;
	r->attrs = (struct hlo_attrs){.collective = {.groups = -1, .channel = -1},
	                              .branch.at = r->attrs.branch.at,
	                              .branch.room = r->attrs.branch.room};
	if (async == ASYNC_UPDATE || async == ASYNC_DONE || code == HLO_SEND_DONE ||
	    code == HLO_RECV_DONE)
		build_last(b, op)->pair = r->of.op;
	return hlo_attributes(b, &r->header.frames, op, &r->attrs) &&
	       hlo_commit(b, op, &r->attrs, pos) && set_same(r, op, pos) &&
	       build_name(b, name, b->p->op.at[op].first_value, b->p->op.at[op].nvalues,
	                  op);
}

/* --- computations --- */

/* Lists the leaves of the parameters in the order of their numbers. */
static bool list_parameters(struct reader *r, struct region *region, bool entry)
{
	struct build *b = r->b;
	LIST(int32_t) leaves = {0};

	for (int64_t i = 0; i < r->parameter.n; i++) {
		int32_t op = r->parameter.at[i];

		if (op < 0) {
			scan_fail_at(&b->s, region->name.at, E_TYPE,
			             "parameter %d is not there", (int)i);
			return false;
		}
		if (entry)
			*list_add(&r->entry_params, b->a) = (int32_t)leaves.n;
		for (int32_t k = 0; k < b->p->op.at[op].nvalues; k++)
			*list_add(&leaves, b->a) = b->p->op.at[op].first_value + k;
	}
	region->param = (struct numbers){(int32_t)leaves.n, leaves.at};
	return true;
}

static void list_results(struct build *b, struct region *region, int32_t root)
{
	const struct instruction *op = &b->p->op.at[root];
	int32_t *at = arena_alloc(b->a, (size_t)op->nvalues, sizeof(*at));

	for (int32_t i = 0; i < op->nvalues; i++)
		at[i] = b->p->value.at[op->first_value + i].same;
	region->result = (struct numbers){op->nvalues, at};
}

static bool read_instructions(struct reader *r, int32_t *root)
{
	struct build *b = r->b;
	struct span name;
	int32_t op = -1;

	*root = -1;
	while (!lex_take(&b->s, "}")) {
		bool is_root;

		build_line(b);
		is_root = lex_word(&b->s, "ROOT");
		if (!lex_name(&b->s, "%", &name)) {
			scan_fail(&b->s, E_SYNTAX, "expected an instruction or '}'");
			return false;
		}
		if (!lex_expect(&b->s, "=") || !read_op(r, name, &op))
			return false;
		build_last(b, op)->written = span_up_to(name.at, b->s.pos);
		if (is_root)
			*root = op;
	}
	if (*root < 0)
		*root = op;
	if (op >= 0)
		return true;
	scan_fail(&b->s, E_SYNTAX, "a computation without instructions");
	return false;
}

/* Skips `(x: f32[], y: f32[]) -> f32[]` between the name and the brace. */
static bool skip_signature(struct build *b)
{
	struct span s;

	if (lex_peek(&b->s) == '(' && !lex_balanced(&b->s, &s))
		return false;
	return !lex_take(&b->s, "->") || hlo_skip_type(b);
}

static bool resolve_aliases(struct reader *r, const int32_t *split, int32_t elements)
{
	struct build *b = r->b;
	const struct region *entry = &b->p->region.at[b->p->entry];

	for (int64_t i = 0; i < r->header.alias.n; i++) {
		const struct alias_path *a = &r->header.alias.at[i];
		int64_t result = a->result[0], parameter = -1;

		if (result >= 0 && elements >= 0)
			result = result < elements ? split[result] + a->result[1]
			                           : INT32_MAX;
		if (a->parameter[0] < r->entry_params.n)
			parameter =
				r->entry_params.at[a->parameter[0]] + a->parameter[1];
		if (result >= entry->result.n || parameter < 0 ||
		    parameter >= entry->param.n) {
			scan_fail_at(&b->s, a->pos, E_RANGE,
			             "no such result or parameter of the entry");
			return false;
		}
		*list_add(&b->p->alias, b->a) =
			(struct alias){(int32_t)result, (int32_t)parameter};
	}
	return true;
}

static bool read_computation(struct reader *r)
{
	struct build *b = r->b;
	struct region region = {.kind = REGION_CODE};
	struct mark mark;
	struct span thread;
	int32_t root, number;
	bool entry;

	region.line = build_line(b);
	entry = lex_word(&b->s, "ENTRY");
	if (!lex_name(&b->s, "%", &region.name)) {
		scan_fail(&b->s, E_SYNTAX, "expected the name of a computation");
		return false;
	}
	mark = build_region_open(b);
	r->parameter.n = 0;
	if (!skip_signature(b) || !lex_expect(&b->s, "{") ||
	    !read_instructions(r, &root) || !list_parameters(r, &region, entry))
		return false;
	list_results(b, &region, root);
	const int32_t *split = NULL;
	int32_t elements = -1;

	for (int64_t i = 0; i < b->named.n; i++)
		if (b->named.at[i].op == root) {
			split = b->named.at[i].split;
			elements = b->named.at[i].elements;
		}
	number = build_region_close(b, mark, &region);
	if (!build_region_name(b, number))
		return false;
	if (entry && b->p->entry >= 0) {
		scan_fail_at(&b->s, region.name.at, E_TYPE, "a second ENTRY");
		return false;
	}
	if (entry) {
		b->p->entry = number;
		if (!resolve_aliases(r, split, elements))
			return false;
	}
	return !lex_take(&b->s, ",") || lex_value(&b->s, &thread);
}

bool read_hlo(struct build *b)
{
	struct reader r = {.b = b};

	if (!hlo_header(b, &r.header))
		return false;
	while (lex_peek(&b->s))
		if (!read_computation(&r))
			return false;
	if (!b->p->region.n) {
		scan_fail(&b->s, E_SYNTAX, "expected a computation");
		return false;
	}
	/* A dump that was cut off has no ENTRY: the last computation stands for it. */
	if (b->p->entry < 0) {
		b->p->entry = (int32_t)b->p->region.n - 1;
		program_warn(b->p, 0,
		             "no ENTRY: '%.*s', the last computation, is taken for it",
		             (int)b->p->region.at[b->p->entry].name.length,
		             b->p->region.at[b->p->entry].name.at);
	}
	return build_resolve(b) && build_finish(b);
}
