#include "program/partition/split.h"

#include <string.h>

int32_t split_layout(struct split *b, struct layout l)
{
	struct {
		int32_t rank, nunreduced;
		uint8_t nparts[RANK_MAX];
		struct part part[LAYOUT_PARTS_MAX];
	} key;
	size_t n = l.nunreduced;
	bool fresh;
	int32_t number;

	layout_normalise(&l);
	memset(&key, 0, sizeof(key));
	key.rank = l.rank;
	key.nunreduced = l.nunreduced;
	memcpy(key.nparts, l.nparts, (size_t)l.rank);
	for (int d = 0; d < l.rank; d++)
		n += l.nparts[d];
	memcpy(key.part, l.part, n * sizeof(*l.part));
	number = keys_add(&b->layouts, &key, sizeof(key), &fresh);
	if (fresh)
		*list_add(&b->layout, b->a) = l;
	return number;
}

int32_t split_whole(struct split *b, int32_t rank)
{
	return split_layout(b, layout_replicated(rank <= RANK_MAX ? rank : 0));
}

int32_t split_given(struct split *b, int32_t value)
{
	int32_t of = b->s->of[value];

	if (b->given[of] < 0)
		b->given[of] = split_layout(b, sharding_layout(&b->s->at[of]));
	return b->given[of];
}

struct value_type split_type(struct split *b, const struct value_type *t, int32_t layout)
{
	const struct layout *l = &b->layout.at[layout];
	struct value_type out = *t;
	int64_t *dim;

	if (t->rank != l->rank)
		return out;
	dim = arena_alloc(b->a, (size_t)t->rank, sizeof(*dim));
	for (int32_t d = 0; d < t->rank; d++) {
		int64_t n = layout_shards(l, d);

		dim[d] = (t->dim[d] + n - 1) / n;
	}
	out.dim = dim;
	return out;
}

struct layout split_layout_of(const struct op_rule *rule, int32_t tensor,
                              const struct axes *factor)
{
	const struct rule_tensor *t = &rule->tensor[tensor];
	struct layout l = layout_replicated(t->rank);

	for (int32_t d = 0; d < t->rank; d++)
		for (int32_t k = 0; k < t->dim[d].n; k++) {
			const struct axes *axes = &factor[t->dim[d].at[k]];

			for (int32_t i = 0; i < axes->n; i++)
				layout_append(&l, d, axes->at[i]);
		}
	return l;
}
