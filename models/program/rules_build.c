#include "program/rules_build.h"

#include "program/lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int32_t rule_factor(struct rule_build *b, int64_t size, enum factor_kind kind,
                    bool blocked)
{
	*list_add(&b->r->factor, b->a) = (struct factor){size, kind, blocked};
	return (int32_t)b->r->factor.n - 1;
}

void rule_put(struct rule_build *b, int32_t tensor, int64_t dim, int32_t factor)
{
	struct rule_dim *d;

	if (tensor >= b->r->ntensors || dim < 0 || dim >= b->r->tensor[tensor].rank) {
		b->bad = true;
		return;
	}
	d = &b->r->tensor[tensor].dim[dim];
	d->at = arena_grow(b->a, d->at, (size_t)d->n, (size_t)d->n + 1, sizeof(*d->at));
	d->at[d->n++] = factor;
}

const struct value_type *rule_type(const struct rule_build *b, int32_t tensor)
{
	return &b->p->value.at[b->r->tensor[tensor].value].type;
}

int64_t rule_size(struct rule_build *b, int32_t tensor, int64_t dim)
{
	if (tensor < b->r->ntensors && dim >= 0 && dim < b->r->tensor[tensor].rank)
		return rule_type(b, tensor)->dim[dim];
	b->bad = true;
	return 1;
}

/* --- rules that a text says --- */

static const char attribute[] = "xla.sdy.sharding_rule";

bool rule_is_said(const struct instruction *op)
{
	return op->rule.at || (op->frontend.at && span_find(op->frontend, attribute));
}

/* A rule that is being read: a name, `k` or `z_3`, is the factor of the same place. */
struct reading {
	struct rule_build *b;
	const char *at;
	struct {
		const char *name;
		int length;
	} factor[64];
	int n;
};

static int name_length(const char *at)
{
	int n = 1;

	if (at[1] != '_')
		return n;
	for (n = 2; isdigit((unsigned char)at[n]); n++)
		;
	return n;
}

/* The number of the factor that is named next, which is taken; -1: none is. */
static int take_factor(struct reading *r)
{
	int length;

	if (!isalpha((unsigned char)*r->at))
		return -1;
	length = name_length(r->at);
	for (int i = 0; i < r->n; i++)
		if (r->factor[i].length == length &&
		    !strncmp(r->factor[i].name, r->at, (size_t)length)) {
			r->at += length;
			return i;
		}
	if (r->n == 64)
		return -1;
	r->factor[r->n].name = r->at;
	r->factor[r->n].length = length;
	r->at += length;
	rule_factor(r->b, 1, FACTOR_PASS, false);
	return r->n++;
}

static bool take(struct reading *r, const char *text)
{
	size_t n = strlen(text);

	while (*r->at == ' ')
		r->at++;
	if (strncmp(r->at, text, n) != 0)
		return false;
	r->at += n;
	return true;
}

/* Reads `([i, jk], [k])` of the tensors from number t on; returns the next number, -1: wrong. */
static int32_t read_tensors(struct reading *r, int32_t t)
{
	if (!take(r, "("))
		return -1;
	while (!take(r, ")")) {
		int32_t dim = 0;

		if (!take(r, "["))
			return -1;
		while (!take(r, "]")) {
			int factor;

			for (take(r, ""); (factor = take_factor(r)) >= 0;)
				rule_put(r->b, t, dim, factor);
			if (r->b->bad || (!take(r, ",") && *r->at != ']'))
				return -1;
			dim++;
		}
		t++;
		take(r, ",");
	}
	return t;
}

/* Reads `{i=4, j=2}`. */
static bool read_sizes(struct reading *r)
{
	if (!take(r, "{"))
		return false;
	while (!take(r, "}")) {
		int factor;
		char *end;

		take(r, "");
		factor = take_factor(r);
		if (factor < 0 || !take(r, "="))
			return false;
		r->b->r->factor.at[factor].size = strtoll(r->at, &end, 10);
		if (end == r->at || r->b->r->factor.at[factor].size < 1)
			return false;
		r->at = end;
		take(r, ",");
	}
	return true;
}

/* Reads `reduction={k}` and the like, each of which may be there. */
static bool read_kinds(struct reading *r)
{
	static const struct {
		const char *name;
		int kind; /* -1: blocked */
	} kinds[] = {{"reduction={", FACTOR_REDUCE},
	             {"need_replication={", FACTOR_REPLICATE},
	             {"permutation={", FACTOR_PERMUTE},
	             {"blocked_propagation={", -1}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!take(r, kinds[i].name))
			continue;
		while (!take(r, "}")) {
			int factor;

			take(r, "");
			factor = take_factor(r);
			if (factor < 0)
				return false;
			if (kinds[i].kind < 0)
				r->b->r->factor.at[factor].blocked = true;
			else
				r->b->r->factor.at[factor].kind =
					(enum factor_kind)kinds[i].kind;
			take(r, ",");
		}
	}
	return true;
}

/* Whether the factors of each dimension make its size. */
static bool sizes_fit(struct rule_build *b)
{
	for (int32_t t = 0; t < b->r->ntensors; t++)
		for (int32_t d = 0; d < b->r->tensor[t].rank; d++) {
			const struct rule_dim *dim = &b->r->tensor[t].dim[d];
			int64_t n = dim->n ? 1 : rule_size(b, t, d);

			for (int32_t k = 0; k < dim->n; k++)
				if (__builtin_mul_overflow(
					    n, b->r->factor.at[dim->at[k]].size, &n))
					return false;
			if (n != rule_size(b, t, d))
				return false;
		}
	return true;
}

bool rule_read(struct rule_build *b)
{
	struct span said = b->op->rule;
	struct reading r = {.b = b};
	int32_t operands, tensors;
	const char *from;

	if (!said.at) {
		from = span_find(b->op->frontend, attribute);
		said = (struct span){from, (int32_t)(span_end(b->op->frontend) - from)};
	}
	from = memchr(said.at, '(', (size_t)said.length);
	if (!from)
		return false;
	r.at = arena_strndup(b->a, from, (size_t)(said.at + said.length - from));
	operands = read_tensors(&r, 0);
	if (operands != b->r->noperands || !take(&r, "->"))
		return false;
	tensors = read_tensors(&r, operands);
	return tensors == b->r->ntensors && read_sizes(&r) && read_kinds(&r) &&
	       sizes_fit(b);
}
