#include "bound/bound.h"
#include "tests/tests.h"

#include "bound/cells.h"
#include "bound/ports.h"
#include "bound_machine.h"
#include "collective/local.h"
#include "plan_random.h"

#include <check.h>

#include <math.h>
#include <string.h>

/*
 * Bounds by cuts of axes and by boxes, against every device, domain, cut and box looked
 * at alone, by all links between ports and the crossing of its list of devices.
 */

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* The sets of a problem on a machine, and the largest bound of those looked at. */
struct naive {
	const struct problem *problem;
	const struct machine *machine;
	struct ports *ports;
	struct cells *cells;
	int32_t *number;
	double s;
	const char *what;
};

static void look_one_way(struct naive *v, const struct gate *gate, int64_t elements,
                         const char *what)
{
	double s = gate_s(gate, elements, v->problem->array.dtype->bits);

	if (s <= v->s)
		return;
	v->s = s;
	v->what = what;
}

/* Looks at the set of n devices of the machine, which is called `in` or `out`. */
static void look_at(struct naive *v, const int32_t *device, int32_t n, const char *in,
                    const char *out)
{
	int32_t *member = arena_alloc(arena, (size_t)n, sizeof(*member)), k = 0;
	struct crossing crossing;
	struct gate into, out_of;

	for (int32_t i = 0; i < n; i++)
		if (v->number[device[i]] >= 0)
			member[k++] = v->number[device[i]];
	if (k == 0 || k == v->problem->ndevices)
		return;
	ports_gates(&into, &out_of, v->ports, device, n, -1);
	crossing = cells_crossing(v->cells, member, k);
	look_one_way(v, &into, crossing.in, in);
	look_one_way(v, &out_of, crossing.out, out);
}

static void look_at_places(struct naive *v, int fabric, int32_t domain, int axis,
                           int32_t lo, int32_t hi)
{
	const struct fabric *f = &v->machine->fabric[fabric];
	int32_t *device =
		arena_alloc(arena, (size_t)v->machine->ndevices, sizeof(*device));
	int32_t n = 0, inner = 1, size = f->shape[axis];
	const char *places;

	for (int a = f->naxes - 1; a > axis; a--)
		inner *= f->shape[a];
	for (int32_t d = 0; d < v->machine->ndevices; d++) {
		int32_t c = f->place[d] / inner % size;

		if (f->domain[d] == domain &&
		    ((c >= lo && c < hi) || (c + size >= lo && c + size < hi)))
			device[n++] = d;
	}
	places = arena_printf(arena, "places %d to %d of axis %d of pod %d", (int)lo,
	                      (int)((hi - 1) % size), axis, (int)domain);
	look_at(v, device, n, arena_printf(arena, "into %s", places),
	        arena_printf(arena, "out of %s", places));
}

static void look_at_axis(struct naive *v, int fabric, int32_t domain, int axis)
{
	const struct fabric *f = &v->machine->fabric[fabric];
	int32_t size = f->shape[axis];

	for (int32_t c = 1; c < size && !f->wrap[axis]; c++)
		look_at_places(v, fabric, domain, axis, c <= size / 2 ? 0 : c,
		               c <= size / 2 ? c : size);
	for (int32_t n = 1; n <= size - 2 && !f->wrap[axis]; n++)
		for (int32_t c = 1; c + n < size; c++)
			look_at_places(v, fabric, domain, axis, c, c + n);
	for (int32_t n = 1; n <= size / 2 && f->wrap[axis]; n++)
		for (int32_t c = 0; c < (2 * n == size ? n : size); c++)
			look_at_places(v, fabric, domain, axis, c, c + n);
}

/* A box of a torus of at most three axes. */
struct drawn_box {
	int32_t lo[3], len[3];
};

/* Looks at a box of which two axes at least are not whole. */
static void look_at_box(struct naive *v, int fabric, int32_t domain,
                        const struct drawn_box *b)
{
	const struct fabric *f = &v->machine->fabric[fabric];
	int32_t *device =
		arena_alloc(arena, (size_t)v->machine->ndevices, sizeof(*device));
	const char *places = " places", *and = "";
	int32_t n = 0, open = 0;

	for (int32_t d = 0; d < v->machine->ndevices; d++) {
		bool inside = f->domain[d] == domain;

		for (int x = f->naxes - 1, rest = inside ? f->place[d] : 0; x >= 0; x--) {
			int32_t c = rest % f->shape[x];

			rest /= f->shape[x];
			inside = inside &&
			         (c - b->lo[x] + f->shape[x]) % f->shape[x] < b->len[x];
		}
		if (inside)
			device[n++] = d;
	}
	for (int x = 0; x < f->naxes; x++) {
		if (b->len[x] == f->shape[x])
			continue;
		open++;
		places = arena_printf(
			arena, "%s%s %d to %d of axis %d", places, and, (int)b->lo[x],
			(int)((b->lo[x] + b->len[x] - 1) % f->shape[x]), x);
		and = " and";
	}
	if (open > 1)
		look_at(v, device, n,
		        arena_printf(arena, "into%s of pod %d", places, (int)domain),
		        arena_printf(arena, "out of%s of pod %d", places, (int)domain));
}

/* Looks at all boxes of these lengths, whose places from axis `x` on are not chosen yet. */
static void look_at_positions(struct naive *v, int fabric, int32_t domain,
                              struct drawn_box *b, int x)
{
	const struct fabric *f = &v->machine->fabric[fabric];
	int32_t size = f->shape[x < f->naxes ? x : 0];

	if (x == f->naxes) {
		look_at_box(v, fabric, domain, b);
		return;
	}
	for (b->lo[x] = 0; b->lo[x] < size; b->lo[x]++)
		if (b->len[x] == size ? b->lo[x] == 0
		                      : f->wrap[x] || b->lo[x] + b->len[x] <= size)
			look_at_positions(v, fabric, domain, b, x + 1);
}

/* Looks at all boxes whose lengths from axis `x` on are not chosen yet. */
static void look_at_lengths(struct naive *v, int fabric, int32_t domain,
                            struct drawn_box *b, int x)
{
	const struct fabric *f = &v->machine->fabric[fabric];

	if (x == f->naxes) {
		look_at_positions(v, fabric, domain, b, 0);
		return;
	}
	for (b->len[x] = 1; b->len[x] <= f->shape[x]; b->len[x]++)
		look_at_lengths(v, fabric, domain, b, x + 1);
}

static void look_at_boxes(struct naive *v)
{
	for (int k = 0; k < v->machine->nfabrics; k++) {
		const struct fabric *f = &v->machine->fabric[k];
		struct drawn_box b = {{0}, {0}};

		if (f->naxes == 0 || f->twist || !f->port)
			continue;
		ck_assert_int_le(f->naxes, 3);
		for (int32_t j = 0; j < f->ndomains; j++)
			look_at_lengths(v, k, j, &b, 0);
	}
}

static void look_at_fabric(struct naive *v, int fabric)
{
	const struct fabric *f = &v->machine->fabric[fabric];
	const char *kind = f->naxes ? "pod" : "node";

	for (int32_t j = 0; j < f->ndomains; j++) {
		int32_t n;
		const int32_t *device = ports_domain(&n, v->ports, fabric, j);

		if (n > 1 && n < v->machine->ndevices)
			look_at(v, device, n,
			        arena_printf(arena, "into %s %d of %s", kind, (int)j,
			                     f->name),
			        arena_printf(arena, "out of %s %d of %s", kind, (int)j,
			                     f->name));
	}
}

/* Looks at the domains of a switch or graph less a device. */
static void look_at_less(struct naive *v, int fabric)
{
	const struct fabric *f = &v->machine->fabric[fabric];

	for (int32_t d = 0; d < v->machine->ndevices; d++) {
		int32_t *device, n, k = 0;
		const int32_t *all;

		if (f->naxes || f->ndomains < 2 || v->number[d] < 0 || f->domain[d] < 0)
			continue;
		all = ports_domain(&n, v->ports, fabric, f->domain[d]);
		device = arena_alloc(arena, (size_t)n, sizeof(*device));
		for (int32_t i = 0; i < n; i++)
			if (all[i] != d)
				device[k++] = all[i];
		if (k > 1)
			look_at(v, device, k,
			        arena_printf(arena,
			                     "into node %d of %s without device %d",
			                     (int)f->domain[d], f->name, (int)d),
			        arena_printf(arena,
			                     "out of node %d of %s without device %d",
			                     (int)f->domain[d], f->name, (int)d));
	}
}

static struct naive naive_bound(const struct problem *p, const struct machine *m,
                                const struct placement *place)
{
	struct naive v = {
		.problem = p,
		.machine = m,
		.ports = ports_make(m, arena),
		.cells = cells_make(p, arena),
		.number = arena_alloc(arena, (size_t)m->ndevices, sizeof(*v.number))};

	memset(v.number, -1, (size_t)m->ndevices * sizeof(*v.number));
	for (int32_t d = 0; d < p->ndevices; d++)
		v.number[placement_device(place, d)] = d;
	ports_restrict(v.ports, v.number, arena);
	for (int32_t d = 0; d < m->ndevices; d++)
		look_at(&v, &d, 1, arena_printf(arena, "receive of device %d", (int)d),
		        arena_printf(arena, "send of device %d", (int)d));
	for (int k = 0; k < m->nfabrics; k++)
		look_at_fabric(&v, k);
	for (int k = 0; k < m->nfabrics; k++)
		look_at_less(&v, k);
	for (int k = 0; k < m->nfabrics; k++)
		for (int32_t j = 0; m->fabric[k].naxes && j < m->fabric[k].ndomains; j++)
			for (int x = 0; x < m->fabric[k].naxes; x++)
				look_at_axis(&v, k, j, x);
	return v;
}

/*
 * Compares the bound; of machines with equal links, whose sums are exact, the set too.
 * Where there are too many boxes the bound lies between that without any and that with
 * all.
 */
static void compare(const struct problem *p, const struct machine *m,
                    const struct placement *place, bool alike, bool few)
{
	struct bound bound = bound_find(p, m, place, arena);
	struct naive naive = naive_bound(p, m, place);
	double least_s = naive.s;

	look_at_boxes(&naive);
	if (few)
		least_s = naive.s;
	/* sums are no sets, and may say more than those (check_bound_sums.c) */
	if (bound.what && strncmp(bound.what, "sums", 4) == 0) {
		ck_assert(bound.s > least_s);
		return;
	}
	ck_assert_msg(
		bound.s >= least_s * (1 - 1e-12) && bound.s <= naive.s * (1 + 1e-12),
		"%.17g (%s), alone %.17g (%s)", bound.s, bound.what ? bound.what : "",
		naive.s, naive.what ? naive.what : "");
	if (alike && few && naive.s > 0)
		ck_assert_str_eq(bound.what, naive.what);
}

static struct problem *draw_problem(struct rng *r, int32_t most)
{
	struct problem *p = rng_below(r, 3) ? random_problem(r, arena, most)
	                                    : random_listed_problem(r, arena, most);

	for (int x = 0; x < p->mesh.naxes && rng_below(r, 2); x++) {
		bool used = p->from.kind != LAYOUT_AXES;

		for (int k = 0; k < LAYOUT_PARTS_MAX; k++)
			used = used ||
			       (p->from.part[k].size && p->from.part[k].axis == x);
		if (!used)
			layout_append(&p->from, p->from.rank,
			              (struct part){x, 1, p->mesh.axis[x].size});
	}
	problem_finish(p);
	return p;
}

START_TEST(bounds_are_those_of_all_sets)
{
	struct rng *r = rng_new(31);

	for (int k = 0; k < 1500; k++) {
		bool alike = rng_below(r, 2);
		struct problem *p = draw_problem(r, 24);
		int32_t n = p->ndevices + (int32_t)rng_below(r, 5);
		struct machine *m = random_any_machine(r, arena, n, 1, alike);
		struct placement place = {p->ndevices,
		                          random_order(r, m->ndevices, arena)};

		compare(p, m, rng_below(r, 2) ? &place : NULL, alike, true);
		arena_reset(arena);
	}
	rng_free(r);
}
END_TEST

/* Rings and lines that are long enough for lengths to be passed over. */
START_TEST(bounds_of_long_axes)
{
	struct rng *r = rng_new(37);

	for (int k = 0; k < 150; k++) {
		int32_t shape[2] = {20 + (int32_t)rng_below(r, 25),
		                    1 + (int32_t)rng_below(r, 2)};
		bool wrap[2] = {rng_below(r, 3) > 0, false};
		struct problem *p = draw_problem(r, 40);
		struct machine *m;
		struct placement place;

		while (shape[0] * shape[1] < p->ndevices)
			shape[0]++;
		m = machine_torus(arena, 2, shape, wrap, bound_ici, bound_device);
		place = (struct placement){p->ndevices,
		                           random_order(r, m->ndevices, arena)};
		compare(p, m, rng_below(r, 3) ? NULL : &place, true, shape[1] == 1);
		arena_reset(arena);
	}
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("bound_axis");
	TCase *c = tcase_create("bound_axis");

	tcase_set_timeout(c, 240);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, bounds_are_those_of_all_sets);
	tcase_add_test(c, bounds_of_long_axes);
	suite_add_tcase(suite, c);
	return suite;
}
