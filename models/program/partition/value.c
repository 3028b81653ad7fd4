/* Values in the layouts in which they are wanted. */
#include "program/partition/split.h"

int32_t split_value(struct split *b, const struct instruction *like, int32_t old,
                    int32_t layout)
{
	struct resharding r = {.like = like, .to = layout};
	int32_t first = -1;

	for (int32_t i = b->copies[old]; i >= 0; i = b->copy.at[i].next) {
		if (b->copy.at[i].layout == layout)
			return b->copy.at[i].value;
		first = i;
	}
	if (split_is_anew(b, old))
		return split_anew(b, old, layout, 0);
	r.type = &b->p->value.at[old].type;
	r.from = b->copy.at[first].layout;
	split_is(b, old, layout, split_reshard(b, b->copy.at[first].value, &r));
	return b->copy.at[b->copies[old]].value;
}

int32_t split_result(struct split *b, int32_t region, int32_t k, int32_t target)
{
	int32_t v = b->p->region.at[region].result.at[k];

	if (target >= 0)
		return split_given(b, target + k);
	if (split_is_anew(b, v))
		return split_whole(b, b->p->value.at[v].type.rank);
	return split_given(b, v);
}
