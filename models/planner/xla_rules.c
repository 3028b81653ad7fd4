#include "planner/xla.h"

#include <assert.h>

bool xla_reshard(struct xla *x, const struct tiling *s, const struct tiling *t)
{
	if (xla_equal(s, t))
		return true;
	for (xla_rule *const *rule = x->mode->rules; *rule; rule++)
		if ((*rule)(x, s, t))
			return true;
	return false;
}

bool xla_rule_permute(struct xla *x, const struct tiling *s, const struct tiling *t)
{
	if (xla_replicated(s) || !xla_same_dims(s, t))
		return false;
	xla_permute(x, s, t);
	return true;
}

bool xla_rule_swap(struct xla *x, const struct tiling *s, const struct tiling *t)
{
	struct xla_swap swaps[RANK_MAX];
	int n = xla_swaps(swaps, s, t);

	if (n == 0)
		return false;
	for (int k = 0; k < n; k++)
		s = xla_swap_once(x, s, swaps[k]);
	if (!xla_equal(s, t))
		xla_permute(x, s, t);
	return true;
}

bool xla_rule_slice_partial(struct xla *x, const struct tiling *s,
                            const struct tiling *t)
{
	const struct tiling *cut = xla_compatible(s, t, x->arena);

	if (!cut)
		return false;
	xla_slice(x, s, cut);
	if (!xla_equal(cut, t))
		xla_permute(x, cut, t);
	return true;
}

bool xla_rule_unshift(struct xla *x, const struct tiling *s, const struct tiling *t)
{
	const struct tiling *middle = xla_shifted(s, t, x->arena);
	int nops = x->nops;

	if (!middle)
		return false;
	if (xla_rule_swap(x, s, middle) && xla_reshard(x, middle, t))
		return true;
	x->nops = nops;
	return false;
}

bool xla_rule_gather_partial(struct xla *x, const struct tiling *s,
                             const struct tiling *t)
{
	const struct tiling *from = xla_compatible(t, s, x->arena);
	struct xla_scope scope = x->scope;
	const struct tiling *inner;
	int dims[RANK_MAX], n = 0;
	int32_t inside[RANK_MAX];
	bool wanted[RANK_MAX] = {false};

	if (!from)
		return false;
	if (!xla_equal(s, from))
		xla_permute(x, s, from);
	for (int d = 0; d < s->rank; d++) {
		if (s->tiles[d] == t->tiles[d])
			continue;
		wanted[d] = true;
		dims[n] = d;
		inside[n++] = s->tiles[d] / t->tiles[d];
	}
	x->scope = xla_scope_group(&inner, &scope, from, dims, inside, n, x->arena);
	xla_gather(x, inner, wanted);
	x->scope = scope;
	return true;
}

bool xla_rule_shift(struct xla *x, const struct tiling *s, const struct tiling *t)
{
	const struct tiling *middle = xla_shifted(t, s, x->arena);
	int nops = x->nops;

	if (!middle)
		return false;
	if (xla_reshard(x, s, middle) && xla_rule_swap(x, middle, t))
		return true;
	x->nops = nops;
	return false;
}

bool xla_rule_replicate(struct xla *x, const struct tiling *s, const struct tiling *t)
{
	bool wanted[RANK_MAX];

	if (xla_replicated(s))
		return false;
	for (int d = 0; d < s->rank; d++)
		wanted[d] = true;
	return xla_reshard(x, xla_gather(x, s, wanted), t);
}

bool xla_rule_slice(struct xla *x, const struct tiling *s, const struct tiling *t)
{
	if (!xla_replicated(s))
		return false;
	xla_slice(x, s, t);
	return true;
}

static xla_rule *const rules_2021[] = {
	xla_rule_permute,        /* 3 */
	xla_rule_swap,           /* 4 */
	xla_rule_slice_partial,  /* 5a */
	xla_rule_unshift,        /* 5b */
	xla_rule_gather_partial, /* 6a */
	xla_rule_shift,          /* 6b */
	xla_rule_replicate,      /* 10 */
	xla_rule_slice,          /* 12 */
	NULL,
};

const struct xla_mode xla_mode_2021 = {
	.rules = rules_2021,
	.swaps_lose_rows = true,
};
