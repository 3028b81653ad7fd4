/*
 * The planner `direct` on random pairs of layouts, meshes and devices, element by
 * element against who holds what.
 */
#include "direct_help.h"
#include "planner/planner.h"
#include "tests/tests.h"

#include "array/tile.h"
#include "base/rng.h"

#include <check.h>

#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct problem *problem_of(const struct problem_text *t)
{
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct error e = {0};

	ck_assert_msg(problem_make(p, arena, t, &e) == OK, "%s: %s", t->array, e.text);
	return p;
}

enum { DEVICES_MAX = 16, PLATFORM_MAX = 24, RANKS = 3, EXTENT_MAX = 13 };

/* Prime factors of a random device count as axes a, b, ... in random order. */
static int random_mesh(struct text *out, int32_t *n, struct rng *r)
{
	static const int32_t primes[] = {2, 3, 5, 7};
	int naxes = 0;

	*n = 1;
	while (naxes == 0 || rng_below(r, 4) > 0) {
		int32_t prime = primes[rng_below(r, COUNT(primes))];

		if (*n * prime > DEVICES_MAX)
			break;
		text_printf(out, "%s%c=%d", naxes ? "," : "", 'a' + naxes, (int)prime);
		*n *= prime;
		naxes++;
	}
	return naxes;
}

/* `n` different numbers below `limit`, in random order, with commas. */
static void random_list(struct text *out, int32_t n, int32_t limit, struct rng *r)
{
	int32_t number[PLATFORM_MAX];

	for (int32_t i = 0; i < limit; i++)
		number[i] = i;
	for (int32_t i = 0; i < n; i++) {
		int32_t j = i + (int32_t)rng_below(r, (uint32_t)(limit - i));
		int32_t swap = number[i];

		number[i] = number[j];
		number[j] = swap;
		text_printf(out, "%s%d", i ? "," : "", (int)number[i]);
	}
}

/* Every axis goes to a random dimension or none; now and then a device list or one. */
static void random_layout(struct text *out, int naxes, int32_t n, int rank,
                          struct rng *r)
{
	uint32_t kind = rng_below(r, 8);
	int dim_of[DEVICES_MAX];

	if (kind == 0) {
		text_printf(out, "{maximal device=%u}",
		            (unsigned)rng_below(r, (uint32_t)n));
		return;
	}
	if (kind == 1) {
		int32_t tiles = n % 2 ? n : n / 2;

		text_printf(out, "{devices=[");
		for (int i = 0; i < rank; i++)
			text_printf(out, "%s%d", i ? "," : "",
			            i == rank / 2 ? (int)tiles : 1);
		text_printf(out, tiles < n ? ",2]" : "]");
		random_list(out, n, n, r);
		text_printf(out, tiles < n ? " last_tile_dim_replicate}" : "}");
		return;
	}
	for (int a = 0; a < naxes; a++)
		dim_of[a] = (int)rng_below(r, (uint32_t)rank + 1);
	text_printf(out, "P(");
	for (int i = 0; i < rank; i++) {
		text_printf(out, "%s(", i ? "," : "");
		for (int k = 0; k < naxes; k++) {
			int a = kind % 2 ? k : naxes - 1 - k;

			if (dim_of[a] == i)
				text_printf(out, "'%c',", 'a' + a);
		}
		text_printf(out, ")");
	}
	text_printf(out, ")");
}

static struct problem *random_problem(struct rng *r)
{
	struct text text[7] = {{0}};
	struct problem_text t = {0};
	int rank = 1 + (int)rng_below(r, RANKS), naxes, to_axes;
	int32_t n, m;
	bool two = rng_below(r, 3) > 0;

	text_printf(&text[0], "bf16[");
	for (int i = 0; i < rank; i++)
		text_printf(&text[0], "%s%u", i ? "," : "",
		            1 + (unsigned)rng_below(r, EXTENT_MAX));
	text_printf(&text[0], "]");
	to_axes = naxes = random_mesh(&text[1], &n, r);
	m = n;
	if (two)
		to_axes = random_mesh(&text[2], &m, r);
	random_layout(&text[3], naxes, n, rank, r);
	random_layout(&text[4], to_axes, m, rank, r);
	random_list(&text[5], n, PLATFORM_MAX, r);
	random_list(&text[6], m, PLATFORM_MAX, r);
	t.array = text_take(&text[0], arena);
	t.mesh = text_take(&text[1], arena);
	t.to_mesh = text_take(&text[2], arena);
	t.from = text_take(&text[3], arena);
	t.to = text_take(&text[4], arena);
	t.devices = text_take(&text[5], arena);
	t.to_devices = text_take(&text[6], arena);
	if (!two)
		t.to_mesh = NULL;
	if (rng_below(r, 2))
		t.devices = NULL;
	/* Behind a list a larger target mesh goes on with numbers that may be in it. */
	if (!two || (rng_below(r, 3) == 0 && (m <= n || !t.devices)))
		t.to_devices = NULL;
	return problem_of(&t);
}

/* Does the device hold the element? */
static bool holds(const struct tilemap *t, const struct shape *g, int32_t d,
                  const int64_t *at)
{
	for (int i = 0; i < g->rank; i++) {
		int64_t lo, hi;

		tilemap_interval(t, g, d, i, &lo, &hi);
		if (at[i] < lo || at[i] >= hi)
			return false;
	}
	return true;
}

/* How often an element arrives at a device, always from one that holds it. */
static int arrivals(const struct plan *plan, const struct tilemap *from,
                    const struct shape *g, int32_t d, const int64_t *at)
{
	const struct step *s = &plan->step[0];
	int n = 0;

	for (int64_t k = 0; plan->nsteps && k < s->ntransfers; k++) {
		const struct transfer *t = &s->transfers[k];
		bool inside = t->dst == d;

		for (int i = 0; i < g->rank; i++)
			inside = inside && at[i] >= t->bounds[2 * i] &&
			         at[i] < t->bounds[2 * i + 1];
		n += inside;
		ck_assert(!inside || holds(from, g, t->src, at));
	}
	return n;
}

/* What a device lacks arrives once, nothing else does, from one device in one box. */
static void compare_elements(const struct problem *p, const struct plan *plan)
{
	const struct shape *g = &p->array.shape;
	struct tilemap from = tilemap_make(&p->from, &p->mesh, g, arena);
	struct tilemap to = tilemap_make(&p->to, &p->to_mesh, g, arena);

	for (int32_t d = 0; d < p->ndevices; d++) {
		for (int64_t k = 0; k < shape_elements(g); k++) {
			int64_t at[RANKS], rest = k;

			for (int i = g->rank - 1; i >= 0; i--) {
				at[i] = rest % g->dim[i];
				rest /= g->dim[i];
			}
			ck_assert_int_eq(arrivals(plan, &from, g, d, at),
			                 holds(&to, g, d, at) && !holds(&from, g, d, at));
		}
	}
	for (int64_t k = 1; plan->nsteps && k < plan->step[0].ntransfers; k++)
		for (int64_t j = 0; j < k; j++)
			ck_assert(memcmp(&plan->step[0].transfers[j],
			                 &plan->step[0].transfers[k],
			                 sizeof(struct pair)) != 0);
}

static bool same_tile(const struct tilemap *t, int32_t a, int32_t b)
{
	size_t size = (size_t)t->tile.rank * sizeof(*t->index);

	return t->index[(int64_t)a * t->tile.rank] >= 0 &&
	       memcmp(t->index + (int64_t)a * t->tile.rank,
	              t->index + (int64_t)b * t->tile.rank, size) == 0;
}

/*
 * Of k devices that hold one tile none sends more than a k-th of what they all send and
 * (1 - 1/k) of its largest box: nothing was given to one that others would have been
 * done with earlier.
 */
static void compare_senders(const struct problem *p, const struct plan *plan)
{
	struct tilemap from = tilemap_make(&p->from, &p->mesh, &p->array.shape, arena);
	int64_t n = plan->nsteps ? plan->step[0].ntransfers : 0;

	for (int32_t d = 0; d < p->ndevices; d++) {
		int64_t own = 0, all = 0, largest = 0, holders = 0;

		for (int32_t e = 0; e < p->ndevices; e++)
			holders += same_tile(&from, d, e);
		for (int64_t i = 0; i < n; i++) {
			const struct transfer *t = &plan->step[0].transfers[i];

			if (!same_tile(&from, t->src, d))
				continue;
			all += t->elements;
			own += t->src == d ? t->elements : 0;
			largest = t->elements > largest ? t->elements : largest;
		}
		ck_assert_int_le(own * holders, all + largest * (holders - 1));
	}
}

START_TEST(every_device_receives_what_it_lacks)
{
	struct rng *r = rng_new(7 + (uint64_t)_i);
	int exchanges = 0, others = 0;

	for (int k = 0; k < 60; k++) {
		const struct problem *p;
		const struct plan *plan;

		arena_reset(arena);
		p = random_problem(r);
		plan = direct_plan(arena, p, &prices_bytes);
		ck_assert_int_le(plan->nsteps, 1);
		ck_assert_int_eq(plan->recv_bytes, p->recv_bound_bytes);
		compare_elements(p, plan);
		compare_senders(p, plan);
		exchanges += plan->nsteps && plan->step[0].op == OP_EXCHANGE;
		others += !p->same_devices;
	}
	ck_assert_int_gt(exchanges, 20);
	ck_assert_int_gt(others, 10);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("direct_random");
	TCase *c = tcase_create("direct_random");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, every_device_receives_what_it_lacks, 0, 10);
	suite_add_tcase(suite, c);
	return suite;
}
