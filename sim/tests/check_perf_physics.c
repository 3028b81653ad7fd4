#include "perf/perf.h"
#include "tests/tests.h"

#include "collective/lower.h"
#include "facts/families.h"
#include "platform/platform.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * What holds on every family for every collective, whatever the constants: no time below
 * the bound, more bytes never take less time, and no link carries more than its bandwidth
 * allows in that time.
 */

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const char *const collectives[] = {"all-gather", "reduce-scatter", "all-reduce",
                                          "all-to-all", "permute",        "broadcast",
                                          "reduce"};
static const int64_t sizes[] = {960,           49 * 960,      960 * 1021,
                                960 * 1093LL,  960 * 17477LL, 960 * 34961LL,
                                960 * 559243LL};

static struct arena *arena;
static struct families all;

static void setup(void)
{
	struct error e = {0};
	const char *path;

	arena = arena_new();
	ck_assert_int_eq(platform_data_path(&path, arena, "families.yaml", &e), OK);
	ck_assert_int_eq(families_read(&all, arena, path, &e), OK);
}

static void teardown(void)
{
	arena_free(arena);
}

/* One node, and three; a torus of 4 along every axis, one axis 8. NULL: no more. */
static const char *spec_of(const struct family *f, int k)
{
	if (f->kind == FAMILY_TORUS)
		return k               ? NULL
		       : f->naxes == 2 ? arena_printf(arena, "%s:4x8", f->name)
		                       : arena_printf(arena, "%s:4x4x8", f->name);
	return k > 1 ? NULL : arena_printf(arena, "%s:%d", f->name, k ? 3 : 1);
}

/* The most seconds that any link is busy. */
static double busiest_s(const struct machine *m, const struct schedule *s)
{
	double *bytes = arena_alloc(arena, (size_t)m->nlinks, sizeof(*bytes));
	int32_t links[ROUTE_LINKS_MAX];
	double most_s = 0;

	for (int64_t i = 0; i < s->nmessages; i++) {
		const struct message *msg = &s->message[i];
		int n = machine_route(m, msg->fabric, msg->src, msg->dst, links,
		                      ROUTE_LINKS_MAX);

		ck_assert_int_gt(n, 0);
		for (int k = 0; k < n; k++)
			bytes[links[k]] += msg->bytes;
	}
	for (int32_t l = 0; l < m->nlinks; l++)
		most_s = fmax(most_s, bytes[l] / m->link[l].bandwidth_Bps);
	return most_s;
}

static void check_collective(const struct machine *m, const char *spec,
                             const char *collective)
{
	int32_t *ids = arena_alloc(arena, (size_t)m->ndevices, sizeof(*ids));
	struct perf p = {.machine = m, .collective = collective};
	struct model *model = model_new(m);
	struct error e = {0};
	struct perf_row last = {0};

	ck_assert(perf_op(&p.op, collective, (struct where){0}, &e));
	for (int32_t d = 0; d < m->ndevices; d++)
		ids[d] = d;
	p.groups = (struct groups){.ngroups = 1, .size = m->ndevices, .ids = ids};
	for (int i = 0; i < COUNT(sizes); i++) {
		int64_t bytes = perf_bytes(collective, m->ndevices, sizes[i] * 8);
		double held = (double)bytes / (p.op == OP_ALL_GATHER ? m->ndevices : 1);
		struct perf_row row;
		struct lowered l;
		struct text why = {0};

		ck_assert_msg(
			perf_measure(&row, &p, bytes, model_clock, model, arena, &why),
			"%s on %s: %s", collective, spec, why.s);
		ck_assert_msg(row.time_s >= row.bound_s * (1 - 1e-9),
		              "%s of %lld on %s: %g us by %s, the bound is %g us",
		              collective, (long long)bytes, spec, row.time_s * 1e6,
		              row.algorithm, row.bound_s * 1e6);
		/* The library may change late to what is faster, if it does not know why it is. */
		if (i && m->tuning.value[TUNING_NET_RENDEZVOUS_S] > 0 &&
		    strcmp(row.algorithm, last.algorithm) != 0)
			last.time_s *= 0.9;
		ck_assert_msg(row.time_s >= last.time_s,
		              "%s of %lld on %s: %g us after %g", collective,
		              (long long)bytes, spec, row.time_s * 1e6,
		              last.time_s * 1e6);
		last = row;
		ck_assert(lower_collective(&l, arena, m, p.op, p.groups, held, &why));
		ck_assert_double_le(busiest_s(m, &l.schedule) * (1 - 1e-9), row.time_s);
	}
	model_free(model);
}

START_TEST(physics)
{
	const char *spec;

	for (int f = 0; f < all.n; f++)
		for (int k = 0; (spec = spec_of(&all.family[f], k)); k++) {
			struct machine *m = NULL;
			struct error e = {0};

			ck_assert_msg(platform_machine(&m, arena, spec, NULL, 0, &e) ==
			                      OK,
			              "%s: %s", spec, e.text);
			check_collective(m, spec, collectives[_i]);
		}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("perf physics");
	TCase *t = tcase_create("perf physics");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, physics, 0, COUNT(collectives));
	suite_add_tcase(s, t);
	return s;
}
