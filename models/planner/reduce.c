#include "planner/reduce.h"

#include <string.h>

static bool has_digit(const struct part *digits, int n, struct part d)
{
	for (int i = 0; i < n; i++)
		if (memcmp(&digits[i], &d, sizeof(d)) == 0)
			return true;
	return false;
}

int reduce_digits(struct part *out, const struct problem *p, struct text *why)
{
	struct part from[LAYOUT_PARTS_MAX], to[LAYOUT_PARTS_MAX];
	int nfrom = layout_digits(from, &p->from, p->from.rank);
	int nto = layout_digits(to, &p->to, p->to.rank), n = 0;

	/* Digits of two meshes have no common names; equal ones do. */
	if (nto > 0 && p->two_meshes) {
		text_printf(why, "unreduced axes on another target mesh");
		return -1;
	}
	for (int i = 0; i < nto; i++) {
		if (has_digit(from, nfrom, to[i]))
			continue;
		text_printf(why, "the target is unreduced over '%s', the source is not",
		            p->mesh.axis[to[i].axis].name);
		return -1;
	}
	for (int i = 0; i < nfrom; i++)
		if (!has_digit(to, nto, from[i]))
			out[n++] = from[i];
	return n;
}
