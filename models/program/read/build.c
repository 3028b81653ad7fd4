#include "program/read/build.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

bool build_begin(struct build *b, struct program *p, struct arena *a, const char *text,
                 size_t length, const char *file, struct error *e)
{
	struct where at = {.file = file, .line = 1, .col = 1};
	const char *copy = arena_strndup(a, text, length);

	*p = (struct program){
		.arena = a, .file = file, .text = copy, .entry = -1, .replicas = 1};
	*b = (struct build){.p = p, .a = a, .line = 1};
	b->s = scan_start(copy, at, e);
	b->counted = copy;
	b->names.arena = b->regions.arena = b->group_texts.arena = a;
	if (strlen(copy) == length)
		return true;
	scan_fail_at(&b->s, copy + strlen(copy), E_SYNTAX,
	             "a zero byte: this is not a text");
	return false;
}

void build_end(struct build *b)
{
	xfree(b->named.at);
	xfree(b->calls.at);
	xfree(b->order.at);
}

int32_t build_line(struct build *b)
{
	lex_peek(&b->s);
	while ((b->counted = memchr(b->counted, '\n', (size_t)(b->s.pos - b->counted)))) {
		b->counted++;
		b->line++;
	}
	b->counted = b->s.pos;
	return b->line;
}

void build_leaf(struct build *b, const struct value_type *t)
{
	struct value_type *leaf = list_add(&b->type.leaf, b->a);

	*leaf = *t;
	leaf->dim = arena_dup(b->a, t->dim, (size_t)t->rank, sizeof(*t->dim));
	if (t->layout)
		leaf->layout =
			arena_dup(b->a, t->layout, (size_t)t->rank, sizeof(*t->layout));
}

int32_t build_op(struct build *b, enum opcode code, struct span name)
{
	struct program *p = b->p;
	int32_t number = (int32_t)p->op.n;
	struct instruction *op = list_add(&p->op, b->a);

	*op = (struct instruction){.code = code,
	                           .pair = -1,
	                           .region = -1,
	                           .line = b->line,
	                           .name = name,
	                           .first_value = (int32_t)p->value.n,
	                           .nvalues = (int32_t)b->type.leaf.n,
	                           .first_operand = (int32_t)p->operand.n,
	                           .first_called = (int32_t)p->called.n};
	op->first_result = op->first_value;
	op->nresults = op->nvalues;
	list_reserve(&p->value, b->a, b->type.leaf.n);
	for (int64_t i = 0; i < b->type.leaf.n; i++, p->value.n++)
		p->value.at[p->value.n] =
			(struct value){b->type.leaf.at[i], number, (int32_t)p->value.n};
	*list_add(&b->order, NULL) = number;
	return number;
}

struct instruction *build_last(struct build *b, int32_t op)
{
	return &b->p->op.at[op];
}

void build_operand(struct build *b, int32_t op, int32_t value)
{
	struct instruction *o = build_last(b, op);

	assert(o->first_operand + o->noperands == b->p->operand.n);
	*list_add(&b->p->operand, b->a) = b->p->value.at[value].same;
	o->noperands++;
}

bool build_same(struct build *b, int32_t value, int32_t of, const char *pos)
{
	struct value *v = &b->p->value.at[value];
	const struct value_type *t = &b->p->value.at[of].type;

	if (v->type.dtype != t->dtype || v->type.rank != t->rank ||
	    memcmp(v->type.dim, t->dim, (size_t)t->rank * sizeof(*t->dim)) != 0) {
		scan_fail_at(&b->s, pos, E_TYPE,
		             "this type is not that of what it is made of");
		return false;
	}
	v->same = b->p->value.at[of].same;
	return true;
}

static uint64_t name_hash(struct span name)
{
	return hash_bytes(HASH_START, name.at, (size_t)name.length);
}

static bool span_equal(struct span a, struct span b)
{
	return a.length == b.length && !memcmp(a.at, b.at, (size_t)a.length);
}

const struct named *build_find(const struct build *b, struct span name)
{
	uint64_t hash = name_hash(name);
	size_t at;

	for (int32_t i = table_first(&b->names, hash, &at); i >= 0;
	     i = table_next(&b->names, hash, &at))
		if (!b->named.at[i].gone && span_equal(b->named.at[i].name, name))
			return &b->named.at[i];
	return NULL;
}

bool build_name(struct build *b, struct span name, int32_t first, int32_t n, int32_t op)
{
	struct named *named;

	if (build_find(b, name)) {
		scan_fail_at(&b->s, name.at, E_TYPE, "'%.*s' is there twice",
		             (int)name.length, name.at);
		return false;
	}
	table_add(&b->names, name_hash(name), (int32_t)b->named.n);
	named = list_add(&b->named, NULL);
	*named = (struct named){.name = name, .first = first, .n = n, .op = op};
	named->elements = (int32_t)b->type.split.n - 1;
	if (b->type.split.n)
		named->split = arena_dup(b->a, b->type.split.at,
		                         (size_t)b->type.split.n, sizeof(int32_t));
	return true;
}

struct mark build_region_open(struct build *b)
{
	return (struct mark){b->order.n, b->named.n};
}

int32_t build_region_close(struct build *b, struct mark m, struct region *r)
{
	int32_t number = (int32_t)b->p->region.n;

	r->nops = (int32_t)(b->order.n - m.order);
	r->op = arena_dup(b->a, b->order.at + m.order, (size_t)r->nops, sizeof(int32_t));
	for (int32_t i = 0; i < r->nops; i++)
		b->p->op.at[r->op[i]].region = number;
	*list_add(&b->p->region, b->a) = *r;
	b->order.n = m.order;
	if (!m.named) {
		table_clear(&b->names);
		b->named.n = 0;
	}
	for (int64_t i = m.named; i < b->named.n; i++)
		b->named.at[i].gone = true;
	return number;
}

void build_call(struct build *b, int32_t op, int32_t region, enum region_kind kind)
{
	struct instruction *o = build_last(b, op);

	assert(o->first_called + o->ncalled == b->p->called.n);
	*list_add(&b->p->called, b->a) = region;
	o->ncalled++;
	if (region >= 0)
		b->p->region.at[region].kind = kind;
}

void build_call_name(struct build *b, int32_t op, struct span name,
                     enum region_kind kind)
{
	*list_add(&b->calls, NULL) =
		(struct called_name){name, (int32_t)b->p->called.n, name.at, kind};
	build_call(b, op, -1, kind);
}

static int32_t find_region(const struct build *b, struct span name)
{
	uint64_t hash = name_hash(name);
	size_t at;

	for (int32_t i = table_first(&b->regions, hash, &at); i >= 0;
	     i = table_next(&b->regions, hash, &at))
		if (span_equal(b->p->region.at[i].name, name))
			return i;
	return -1;
}

bool build_region_name(struct build *b, int32_t region)
{
	struct span name = b->p->region.at[region].name;

	if (find_region(b, name) >= 0) {
		scan_fail_at(&b->s, name.at, E_TYPE, "'%.*s' is there twice",
		             (int)name.length, name.at);
		return false;
	}
	table_add(&b->regions, name_hash(name), region);
	return true;
}

bool build_resolve(struct build *b)
{
	for (int64_t i = 0; i < b->calls.n; i++) {
		const struct called_name *c = &b->calls.at[i];
		int32_t region = find_region(b, c->name);

		if (region < 0) {
			scan_fail_at(&b->s, c->pos, E_TYPE,
			             "'%.*s' is called and is not there",
			             (int)c->name.length, c->name.at);
			return false;
		}
		b->p->called.at[c->at] = region;
		if (c->kind != REGION_CODE)
			b->p->region.at[region].kind = c->kind;
	}
	return true;
}
