/*
 * The synthesizer against shortest paths over all types by Bellman and Ford, an oracle
 * that knows nothing of how the searches make their states.
 */
#include "planner_case.h"
#include "tariff.h"
#include "tests/tests.h"

#include "plan/check.h"
#include "planner/synth/synth.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct plan *search(const struct problem *p, const struct prices *prices,
                           int exact_atoms, struct arena *a)
{
	struct plan *plan = NULL;
	struct text why = {0};

	ck_assert_msg(synth_search(&plan, p, prices, a, exact_atoms, &why) == ANSWER_PLAN,
	              "%s", why.s);
	return plan;
}

/* The one step from type b to type c, if there is one: its op and atoms, else OPS. */
static enum op step_between(const struct type *b, const struct type *c, uint32_t *moved)
{
	int more = 0, fewer = 0;
	const uint8_t *s = b->atom, *t = c->atom;
	uint32_t lost[TYPE_RANK_MAX] = {0}, won[TYPE_RANK_MAX] = {0};
	bool prefixes = true;

	*moved = 0;
	for (int dim = 0; dim < b->rank; dim++) {
		int nb = b->count[dim], nc = c->count[dim], n = nb < nc ? nb : nc;

		prefixes = prefixes && memcmp(s, t, (size_t)n) == 0;
		for (int k = n; k < nb; k++)
			lost[dim] = lost[dim] * 9 + s[k] + 1;
		for (int k = n; k < nc; k++)
			won[dim] = won[dim] * 9 + t[k] + 1;
		for (int k = n; k < nb; k++)
			*moved |= UINT32_C(1) << s[k];
		for (int k = n; k < nc; k++)
			*moved |= UINT32_C(1) << t[k];
		fewer += nb > nc;
		more += nc > nb;
		s += nb;
		t += nc;
	}
	if (!prefixes || (more == 0 && fewer == 0))
		return OPS;
	if (more == 0)
		return OP_ALL_GATHER;
	if (fewer == 0)
		return OP_SLICE;
	/* Each block that one dimension lost, another won as it was. */
	for (int i = 0; i < b->rank; i++) {
		bool found = lost[i] == 0;

		for (int j = 0; j < b->rank; j++)
			found = found || won[j] == lost[i];
		if (!found || more != fewer)
			return OPS;
	}
	return OP_ALL_TO_ALL;
}

/* All one-step moves between all types that the extents can be cut into. */
struct oracle {
	const struct problem *p; /* for its extents and atoms */
	const struct tariff *tariff;
	int n;
	const struct type *type;
	struct shape *local;
	bool *allowed;
	enum op *op;           /* [n * n], OPS: no step */
	struct price *price;   /* [n * n] */
	struct price *best[3]; /* [n] from one source by phase: start, flat, gathered */
};

static struct price step_price(const struct oracle *o, enum op op, int b, int c,
                               uint32_t moved)
{
	double q = 1, before = 4.0 * (double)shape_elements(&o->local[b]);
	bool outermost = true;

	for (int i = 0; i < o->p->atoms.n; i++)
		if (moved >> i & 1)
			q *= o->p->atoms.atom[i].size;
	for (int dim = 0; dim < o->p->padded.rank; dim++) {
		if (o->type[b].count[dim] <= o->type[c].count[dim])
			continue;
		for (int k = 0; k < dim; k++)
			outermost = outermost && o->local[b].dim[k] == 1;
	}
	return tariff_price(o->tariff, op, before, q, moved,
	                    op == OP_ALL_GATHER && !outermost);
}

static bool same_shape(const struct shape *a, const struct shape *b)
{
	for (int dim = 0; dim < a->rank; dim++)
		if (a->dim[dim] != b->dim[dim])
			return false;
	return true;
}

static void oracle_make(struct oracle *o)
{
	size_t n = (size_t)o->n;

	o->local = xmalloc(n, sizeof(*o->local));
	o->allowed = xmalloc(n, sizeof(*o->allowed));
	o->op = xmalloc(n * n, sizeof(*o->op));
	o->price = xmalloc(n * n, sizeof(*o->price));
	for (int phase = 0; phase < 3; phase++)
		o->best[phase] = xmalloc(n, sizeof(struct price));
	for (int i = 0; i < o->n; i++) {
		o->local[i] = o->p->padded;
		o->allowed[i] = true;
		for (int dim = 0; dim < o->p->padded.rank; dim++) {
			int64_t shards = type_shards(&o->type[i], &o->p->atoms, dim);

			o->allowed[i] =
				o->allowed[i] && o->p->padded.dim[dim] % shards == 0;
			o->local[i].dim[dim] /= shards;
		}
	}
	for (int b = 0; b < o->n; b++) {
		for (int c = 0; c < o->n; c++) {
			uint32_t moved;
			size_t at = (size_t)b * n + (size_t)c;
			enum op op = step_between(&o->type[b], &o->type[c], &moved);

			if (same_shape(&o->local[b], &o->local[c]))
				op = OP_PERMUTE;
			if (b == c || !o->allowed[b] || !o->allowed[c])
				op = OPS;
			o->op[at] = op;
			if (op != OPS)
				o->price[at] = step_price(o, op, b, c, moved);
		}
	}
}

static void oracle_free(struct oracle *o)
{
	for (int phase = 0; phase < 3; phase++)
		free(o->best[phase]);
	free(o->local);
	free(o->allowed);
	free(o->op);
	free(o->price);
}

static bool improve(struct price *to, struct price from, struct price step)
{
	struct price price = price_add(from, step);

	if (from.cost >= 1e300 || price_compare(price, *to) >= 0)
		return false;
	*to = price;
	return true;
}

/* Bellman and Ford: slice? (all-to-all | permute)* all-gather* from one type to all. */
static void oracle_run(struct oracle *o, int source)
{
	bool changed = true;

	for (int phase = 0; phase < 3; phase++)
		for (int i = 0; i < o->n; i++)
			o->best[phase][i] = (struct price){.cost = 1e300};
	o->best[0][source] = o->best[1][source] = (struct price){0};
	while (changed) {
		changed = false;
		for (int b = 0; b < o->n; b++) {
			struct price *flat = o->best[1], *end = o->best[2];

			for (int c = 0; c < o->n; c++) {
				size_t at = (size_t)b * (size_t)o->n + (size_t)c;
				struct price price = o->price[at];

				if (o->op[at] == OPS)
					continue;
				if (o->op[at] == OP_SLICE)
					changed |=
						improve(&flat[c], o->best[0][b], price);
				else if (o->op[at] == OP_ALL_GATHER)
					changed |= improve(&end[c], flat[b], price);
				else
					changed |= improve(&flat[c], flat[b], price);
				if (o->op[at] == OP_ALL_GATHER)
					changed |= improve(&end[c], end[b], price);
			}
		}
	}
}

static struct price oracle_price(const struct oracle *o, int target)
{
	return price_compare(o->best[1][target], o->best[2][target]) < 0
	               ? o->best[1][target]
	               : o->best[2][target];
}

struct domain {
	int mesh[6];
	int rank;
	int64_t extent[4];
	bool seconds;
	bool weak; /* the weak search must reach the oracle's price, too */
};

static const struct domain domains[] = {
	{{2, 2}, 3, {4, 4, 4}, false, true},
	{{2, 2, 2}, 3, {8, 24, 8}, false, true},
	{{2, 2, 2}, 2, {8, 8}, false, true},
	{{2, 2, 2}, 3, {2, 8, 4}, false, true}, /* extents that run out of factors */
	{{2, 2, 2}, 4, {2, 2, 2, 2}, false, true},
	{{3, 3, 3}, 2, {27, 9}, false, true},
	{{5, 5}, 2, {25, 25}, false, true},
	{{2, 2, 2, 2}, 2, {16, 16}, false, true},
	{{2, 3}, 3, {6, 6, 6}, false, false},
	{{2, 3, 2}, 2, {12, 12}, false, false},
	{{2, 3, 2}, 2, {2, 12}, false, false},
	{{2, 2}, 2, {4, 12}, true, false},
	{{2, 2, 2}, 2, {8, 8}, true, false},
	{{2, 3, 2}, 2, {36, 12}, true, false},
	{{2, 3}, 3, {6, 12, 6}, true, false},
};

static void compare_prices(const struct problem *p, const struct domain *d,
                           const struct tariff *tariff, struct price least,
                           struct arena *a)
{
	struct tariff own = *tariff;
	struct prices prices = tariff_prices(&own);
	struct plan *plan;
	struct text why = {0};

	plan = search(p, d->seconds ? &prices : &prices_bytes, 6, a);
	ck_assert_msg(plan_check(plan, &why), "%s: %s", case_describe(a, p), why.s);
	/*
	 * Prices of finished plans may be lower where a permute leaves devices alone.
	 */
	ck_assert_msg(price_compare(d->seconds ? tariff_plan(&own, plan)
	                                       : prices_bytes.plan(NULL, plan),
	                            least) <= 0,
	              "%s: %g, not %g", case_describe(a, p),
	              prices_bytes.plan(NULL, plan).cost, least.cost);
	if (!d->seconds && d->weak)
		ck_assert_msg(price_compare(prices_bytes.plan(NULL, plan), least) == 0,
		              "%s: %g, not %g", case_describe(a, p),
		              prices_bytes.plan(NULL, plan).cost, least.cost);
	if (!d->weak)
		return;
	plan = search(p, &prices_bytes, 0, a);
	ck_assert_msg(plan_check(plan, &why), "%s: %s", case_describe(a, p), why.s);
	ck_assert_msg(price_compare(prices_bytes.plan(NULL, plan), least) == 0,
	              "weak: %s: %g, not %g", case_describe(a, p),
	              prices_bytes.plan(NULL, plan).cost, least.cost);
}

START_TEST(test_shortest_paths)
{
	const struct domain *d = &domains[_i];
	struct tariff tariff = {.seconds = d->seconds,
	                        .launch_s = 0.003,
	                        .axis_Bps = {4e3, 7e3, 1e3, 2e3}};
	struct arena *kept = arena_new(), *a = arena_new();
	struct mesh mesh = case_mesh(kept, d->mesh);
	struct atoms atoms = case_atoms(&mesh);
	struct shape extent = {.rank = d->rank};
	struct oracle o = {.tariff = &tariff};
	struct type *types;
	int step;

	memcpy(extent.dim, d->extent, sizeof(d->extent));
	o.n = case_types(&types, &atoms, d->rank);
	o.type = types;
	o.p = case_of_types(kept, &mesh, &extent, &types[0], &types[0]);
	for (int i = atoms.n; i < 8; i++)
		tariff.axis_Bps[i] = 0;
	oracle_make(&o);
	step = o.n > 200 ? 3 : 1;
	for (int from = 0; from < o.n; from++) {
		if (!o.allowed[from])
			continue;
		oracle_run(&o, from);
		/* Where types are many, every third pair. */
		for (int to = from % step; to < o.n; to += step) {
			struct problem *p;

			if (!o.allowed[to] || to == from)
				continue;
			p = case_of_types(a, &mesh, &extent, &types[from], &types[to]);
			compare_prices(p, d, &tariff, oracle_price(&o, to), a);
			arena_reset(a);
		}
	}
	oracle_free(&o);
	free(types);
	arena_free(a);
	arena_free(kept);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("synth paths");
	TCase *tcase = tcase_create("paths");

	tcase_set_timeout(tcase, 200);
	tcase_add_loop_test(tcase, test_shortest_paths, 0,
	                    sizeof(domains) / sizeof(domains[0]));
	suite_add_tcase(suite, tcase);
	return suite;
}
