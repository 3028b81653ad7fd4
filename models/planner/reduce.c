#include "planner/reduce.h"

#include <string.h>

int reduce_parts(struct part *out, const struct problem *p, struct text *why)
{
	int n, nto;
	const struct part *from = layout_parts(&p->from, p->from.rank, &n);
	const struct part *to = layout_parts(&p->to, p->to.rank, &nto);

	memcpy(out, from, (size_t)n * sizeof(*from));
	/*
	 * the axes of two meshes have no names in common, unless the meshes are equal
	 */
	if (nto > 0 && p->two_meshes) {
		text_printf(why, "unreduced axes on another target mesh");
		return -1;
	}
	for (int i = 0; i < nto; i++) {
		if (parts_take(out, &n, to[i]))
			continue;
		text_printf(why, "the target is unreduced over '");
		part_print(why, &p->mesh, to[i]);
		text_printf(why, "', the source is not");
		return -1;
	}
	return n;
}
