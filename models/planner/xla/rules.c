#include "base/assert.h"
#include "planner/xla/xla.h"

#include <string.h>

/* Puts "number name: verdict" before what rules inside this one have said. */
static void say_rule(struct xla *xla, const struct xla_rule *rule, size_t before,
                     bool applied)
{
	char *inside;

	if (!xla->words)
		return;
	inside = arena_strndup(xla->arena, xla->words->s ? xla->words->s + before : "",
	                       applied ? xla->words->length - before : 0);
	xla->words->length = before;
	text_printf(xla->words, "%*srule %s, %s: %s\n%s", 2 * xla->depth, "",
	            rule->number, rule->name, applied ? rule->when : rule->unless,
	            inside);
}

static bool apply_rule(struct xla *xla, const struct xla_rule *rule,
                       const struct tiling *s, const struct tiling *t)
{
	const struct xla_rule *outer = xla->rule;
	size_t before = xla->words ? xla->words->length : 0;
	bool applied;

	xla->rule = rule;
	xla->depth++;
	applied = rule->apply(xla, s, t);
	xla->depth--;
	xla->rule = outer;
	/* all rules but the last are for arrays that are not replicated */
	if (applied || !xla_replicated(s))
		say_rule(xla, rule, before, applied);
	return applied;
}

static bool reshard(struct xla *xla, const struct tiling *s, const struct tiling *t,
                    bool sparing)
{
	bool before = xla->sparing, done = xla_equal(s, t);

	xla->sparing = sparing;
	xla->tile = xla_local(xla, s);
	for (int i = 0; !done && xla->mode->rules[i]; i++) {
		done = apply_rule(xla, xla->mode->rules[i], s, t);
		if (!done)
			xla->tile = xla_local(xla, s);
	}
	xla->sparing = before;
	return done;
}

bool xla_reshard(struct xla *xla, const struct tiling *s, const struct tiling *t)
{
	return reshard(xla, s, t, false);
}

bool xla_reshard_sparing(struct xla *xla, const struct tiling *s, const struct tiling *t)
{
	return reshard(xla, s, t, true);
}

static bool permute(struct xla *xla, const struct tiling *s, const struct tiling *t)
{
	if (xla_replicated(s) || !xla_same_dims(s, t))
		return false;
	xla_permute(xla, s, t);
	return true;
}

/*
 * Takes swaps that can share one all-to-all, from the first by rising `to`, and returns
 * their number: dimensions used once and divisible now and at the end. The others are
 * left in `rest`.
 */
static int fusable(struct xla_swap *taken, struct xla_swap *rest,
                   const struct xla_swap *swaps, int n, const struct xla *xla,
                   const struct tiling *s, const struct tiling *t)
{
	const struct shape *base = &xla->scope.base;
	bool used[RANK_MAX] = {false};
	int ntaken = 0, nrest = 0;

	for (int to = 0; to < s->rank; to++)
		for (int k = 0; k < n; k++) {
			int from = swaps[k].from;

			if (swaps[k].to != to)
				continue;
			if (used[from] || used[to] ||
			    base->dim[from] % s->tiles[from] != 0 ||
			    base->dim[to] % t->tiles[to] != 0) {
				rest[nrest++] = swaps[k];
				continue;
			}
			used[from] = used[to] = true;
			taken[ntaken++] = swaps[k];
		}
	return ntaken;
}

static const struct tiling *rules_one_by_one(struct xla *xla, const struct tiling *s,
                                             const struct xla_swap *swaps, int n)
{
	for (int k = 0; k < n; k++)
		s = xla_swap(xla, s, &swaps[k], 1);
	return s;
}

static const char sorted_swaps[] =
	"XLA stops with a failed check here: it takes all-to-alls by rising target "
	"dimension to fuse them,";

/* Returns a swap whose shards do not divide among those where they go, or NULL. */
static const struct xla_swap *early_swap(const struct tiling *s,
                                         const struct xla_swap *swaps, int n)
{
	for (int k = 0; k < n; k++)
		if (s->tiles[swaps[k].from] % s->tiles[swaps[k].to] != 0)
			return &swaps[k];
	return NULL;
}

/*
 * Returns the reason why a swap comes too early: XLA makes groups of its shards, which
 * it cannot do with none, or with other than all devices (TileAssignment::Reshape
 * checks).
 */
static const char *early(const struct xla *xla, const struct tiling *s,
                         const struct xla_swap *swap)
{
	return arena_printf(
		xla->arena,
		"%s and so moves shards from dimension %d, which has %d, to "
		"dimension %d, which has %d, before those that it waits for",
		sorted_swaps, swap->from, (int)s->tiles[swap->from], swap->to,
		(int)s->tiles[swap->to]);
}

/*
 * Returns the reason why the swaps lead astray: XLA cannot permute what they end with
 * (CanReshardWithCollectivePermute).
 */
static const char *astray(const struct xla *xla, const struct tiling *s,
                          const struct tiling *t)
{
	struct text out = {0};

	text_printf(&out, "%s which leads to", sorted_swaps);
	for (int d = 0; d < s->rank; d++)
		text_printf(&out, "%s%d", d ? "x" : " ", (int)s->tiles[d]);
	text_printf(&out, " shards in place of");
	for (int d = 0; d < t->rank; d++)
		text_printf(&out, "%s%d", d ? "x" : " ", (int)t->tiles[d]);
	return text_take(&out, xla->arena);
}

/*
 * Does as many swaps at once as can be; the one behind a fused all-to-all goes alone.
 * Swaps taken before others that they should follow may not divide or not lead to the
 * counts of `t`. Then it returns NULL, with the reason in xla->fails.
 */
static const struct tiling *fused(struct xla *xla, const struct tiling *s,
                                  const struct tiling *t, const struct xla_swap *swaps,
                                  int n)
{
	struct xla_swap ahead[RANK_MAX], taken[RANK_MAX], rest[RANK_MAX];
	const struct xla_swap *bad;
	bool alone = false;

	memcpy(ahead, swaps, (size_t)n * sizeof(*ahead));
	while (n > 0) {
		int k = alone ? 0 : fusable(taken, rest, ahead, n, xla, s, t);

		alone = k >= 2;
		if (!alone) {
			k = 1;
			taken[0] = ahead[0];
			memcpy(rest, ahead + 1, (size_t)(n - 1) * sizeof(*rest));
		}
		bad = early_swap(s, taken, k);
		if (bad) {
			xla->fails = early(xla, s, bad);
			return NULL;
		}
		s = xla_swap(xla, s, taken, k);
		n -= k;
		memcpy(ahead, rest, (size_t)n * sizeof(*rest));
	}
	if (xla_same_dims(s, t))
		return s;
	xla->fails = astray(xla, s, t);
	return NULL;
}

static bool swap(struct xla *xla, const struct tiling *s, const struct tiling *t)
{
	struct xla_swap swaps[RANK_MAX];
	int n = xla_swaps(swaps, s, t), nops = xla->nops;
	const struct tiling *after = NULL;

	if (n == 0)
		return false;
	if (xla->mode->swaps_fuse)
		after = fused(xla, s, t, swaps, n);
	if (!after) {
		xla->nops = nops;
		xla->tile = xla_local(xla, s);
		after = rules_one_by_one(xla, s, swaps, n);
	}
	if (!xla_equal(after, t))
		xla_permute(xla, after, t);
	return true;
}

static bool slice_partial(struct xla *xla, const struct tiling *s,
                          const struct tiling *t)
{
	const struct tiling *cut = xla_compatible(s, t, xla->arena);
	int nops = xla->nops;

	if (!cut)
		return false;
	if (!xla_slice(xla, s, cut)) {
		xla->nops = nops;
		return false;
	}
	if (!xla_equal(cut, t))
		xla_permute(xla, cut, t);
	return true;
}

static bool unshift(struct xla *xla, const struct tiling *s, const struct tiling *t)
{
	const struct tiling *middle = xla_shifted(s, t, xla->arena);
	int nops = xla->nops;

	if (!middle)
		return false;
	if (swap(xla, s, middle) && xla_reshard(xla, middle, t))
		return true;
	xla->nops = nops;
	return false;
}

/*
 * Shifts tiles along d so that the `inside` tiles of one of the target hold no other's
 * rows (TileToPartialReplicateHaloExchange).
 */
static void shift_tiles(struct xla *xla, const struct xla_scope *scope,
                        const struct tiling *from, const struct tiling *inner, int d,
                        int32_t inside, int64_t surplus)
{
	struct xla_halo h = xla_halo(xla, scope, from, inner, d);
	bool compact = xla->mode->halos_compact, fits;

	/* in 2021 a shard takes a share of the rows before it, not all as it should */
	for (int32_t i = 0; i < h.count; i++) {
		h.left[i] = compact ? surplus * (i / inside) : surplus * i / inside;
		h.right[i] = compact ? -h.left[i] : 0;
	}
	if (compact) {
		xla_halo_compact(xla, &h, scope->base.dim[d]);
		return;
	}
	/* it fits, for the halo is less than all the other tiles */
	fits = xla_halo_exchange(xla, &h);
	assert(fits);
	(void)fits;
	xla->op[xla->nops - 1].lossy = surplus != 1;
}

/*
 * Puts the tiles that make up one of the target in one group each, and gathers there.
 */
static void gather_groups(struct xla *xla, const struct tiling *from,
                          const struct tiling *t)
{
	const struct xla_scope scope = xla->scope;
	const struct tiling *inner = from;
	struct shape local = xla_local(xla, t);
	bool wanted[RANK_MAX] = {false};
	int32_t inside[RANK_MAX];
	int dims[RANK_MAX], n = 0;

	for (int d = 0; d < from->rank; d++) {
		struct xla_scope within;
		const struct tiling *tiles;
		int64_t surplus;

		if (from->tiles[d] == t->tiles[d])
			continue;
		wanted[d] = true;
		dims[n] = d;
		inside[n] = from->tiles[d] / t->tiles[d];
		surplus = xla->tile.dim[d] * inside[n] - local.dim[d];
		n++;
		within = xla_scope_group(&tiles, &scope, from, dims, inside, n,
		                         xla->arena);
		if (t->tiles[d] > 1 && surplus > 0)
			shift_tiles(xla, &scope, from, inner, d, inside[n - 1], surplus);
		xla->scope = within;
		inner = tiles;
		if (t->tiles[d] > 1 && surplus > 0)
			xla_window(xla, inner, &xla->tile);
	}
	xla_gather(xla, inner, wanted);
	xla->scope = scope;
}

static bool gather_partial(struct xla *xla, const struct tiling *s,
                           const struct tiling *t)
{
	const struct tiling *from = xla_compatible(t, s, xla->arena);

	if (!from)
		return false;
	if (!xla_equal(s, from))
		xla_permute(xla, s, from);
	gather_groups(xla, from, t);
	return true;
}

static bool shift(struct xla *xla, const struct tiling *s, const struct tiling *t)
{
	const struct tiling *middle = xla_shifted(t, s, xla->arena);
	int nops = xla->nops;

	if (!middle)
		return false;
	if (xla_reshard(xla, s, middle) && swap(xla, middle, t))
		return true;
	xla->nops = nops;
	return false;
}

static bool replicate(struct xla *xla, const struct tiling *s, const struct tiling *t)
{
	bool wanted[RANK_MAX];

	if (xla_replicated(s) || (xla->sparing && !xla_replicated(t)))
		return false;
	for (int d = 0; d < s->rank; d++)
		wanted[d] = true;
	return xla_reshard(xla, xla_gather(xla, s, wanted), t);
}

static bool slice(struct xla *xla, const struct tiling *s, const struct tiling *t)
{
	if (!xla_replicated(s))
		return false;
	xla_slice(xla, s, t);
	return true;
}

static const struct xla_rule rule_permute = {"3", "collective permute", "applies",
                                             "the tile counts differ", permute};
static const struct xla_rule rule_swap = {
	"4", "all-to-all", "applies",
	"no swaps make the tile counts of one those of the other", swap};
static const struct xla_rule rule_slice_partial = {
	"5a", "slice replicas", "applies",
	"the source holds no replicas or its tile counts do not divide the target's",
	slice_partial};
static const struct xla_rule rule_unshift = {
	"5b", "all-to-all of replicas, then slice", "applies",
	"the source is not the target shifted by one dimension", unshift};
static const struct xla_rule rule_gather_partial = {
	"6a", "gather into replicas", "applies",
	"the target holds no replicas or its tile counts do not divide the source's",
	gather_partial};
static const struct xla_rule rule_shift = {
	"6b", "gather, then all-to-all of replicas", "applies",
	"the target is not the source shifted by one dimension", shift};
static const struct xla_rule rule_replicate = {
	"10", "full rematerialization", "applies, because no rule above does",
	"the rule around this one forbids it (rule 9)", replicate};
static const struct xla_rule rule_slice = {"12", "slice", "applies",
                                           "the source is not replicated", slice};

static const struct xla_rule *const rules_2021[] = {
	&rule_permute,   &rule_swap,           &rule_slice_partial,
	&rule_unshift,   &rule_gather_partial, &rule_shift,
	&rule_replicate, &rule_slice,          NULL,
};

static const struct xla_rule *const rules_today[] = {
	&rule_permute,
	&rule_swap,
	&rule_slice_partial,
	&rule_unshift,
	&rule_gather_partial,
	&rule_shift,
	&xla_rule_complex,
	&xla_rule_group,
	&rule_replicate,
	&rule_slice,
	NULL,
};

const struct xla_mode xla_mode_2021 = {
	.rules = rules_2021,
	.swaps_lose_rows = true,
};

const struct xla_mode xla_mode_today = {
	.rules = rules_today,
	.swaps_fuse = true,
	.halos_compact = true,
	.sums_small = true,
};
