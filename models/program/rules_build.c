#include "program/rules_build.h"

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

bool ints_have(struct ints list, int64_t n)
{
	for (int32_t i = 0; i < list.n; i++)
		if (list.at[i] == n)
			return true;
	return false;
}
