/*
 * Time lines worked out by hand: kernels `k*` and collectives `c*` of small programs take the
 * seconds that are given by name.
 */
#include "program/timeline.h"
#include "tests/program_help.h"
#include "tests/tests.h"

#include <check.h>
#include <math.h>
#include <string.h>

#define A "f32[512] "
#define GROUPS                                                                         \
	", channel_id=1, replica_groups={{0,1}}, dimensions={0}, "                     \
	"use_global_device_ids=true"

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

struct seconds {
	const char *name;
	double s;
};

/* Runs a region whose ops take the seconds given; all others take none. */
static struct timeline run(const struct program *p, int32_t region,
                           const struct seconds *given, enum overlap overlap,
                           double trips)
{
	struct flat *f = arena_alloc(arena, 1, sizeof(*f));
	struct timed_step *step;
	struct timeline out;

	ck_assert(flat_make(f, arena, p, region));
	step = arena_alloc(arena, (size_t)f->step.n + 1, sizeof(*step));
	for (int64_t i = 0; i < f->step.n; i++) {
		const struct instruction *op = &p->op.at[f->step.at[i].op];

		step[i].stream = opcode_class(op->code) == CLASS_COLLECTIVE &&
		                                 op->async != ASYNC_DONE
		                         ? 0
		                         : -1;
		for (const struct seconds *g = given; g->name; g++)
			if (span_is(op->name, g->name))
				step[i].s = g->s;
	}
	timeline_run(&out, arena,
	             &(struct timeline_ask){p, f, step, overlap, trips, NULL});
	return out;
}

static struct program entry(const char *ops)
{
	return program_sample_text(
		arena, arena_printf(arena,
	                            "HloModule m, num_partitions=2\nENTRY e {\n a = " A
	                            "parameter(0)\n b = " A "parameter(1)\n%s}\n",
	                            ops));
}

static void takes(const struct timeline *t, double s, double exposed)
{
	ck_assert_msg(fabs(t->s - s) < 1e-12 && fabs(t->exposed_s - exposed) < 1e-12,
	              "%g s, %g exposed", t->s, t->exposed_s);
}

/* k1 0-1, c 1-3 beside k2 1-2, k3 waits for c until 3. */
static const char *const beside =
	" k1 = " A "sort(a), dimensions={0}\n c = f32[1024] all-gather(k1)" GROUPS
	"\n k2 = " A "sort(b), dimensions={0}\n"
	" k3 = f32[1024] sort(c), dimensions={0}\n"
	" ROOT t = (f32[512], f32[1024]) tuple(k2, k3)\n";
static const struct seconds beside_s[] = {{"k1", 1}, {"c", 2}, {"k2", 1}, {"k3", 1}, {0}};

START_TEST(hides_a_collective)
{
	struct program p = entry(beside);
	struct timeline t = run(&p, p.entry, beside_s, OVERLAP_ASYNC, 1);

	takes(&t, 4, 1);
	ck_assert_double_eq(t.compute_s, 3);
	ck_assert_int_eq(t.span.n, 4);
	t = run(&p, p.entry, beside_s, OVERLAP_NONE, 1);
	takes(&t, 5, 2);
	/* The collective is not asynchronous: as the text says, kernels wait. */
	t = run(&p, p.entry, beside_s, OVERLAP_STREAM, 1);
	takes(&t, 5, 2);
}
END_TEST

/* As the text says: the collective runs from its start, and k3 stands behind its end. */
START_TEST(follows_the_text)
{
	struct program p =
		entry(" k1 = " A "sort(a), dimensions={0}\n"
	              " c = (f32[512], f32[1024]) all-gather-start(k1)" GROUPS "\n"
	              " k2 = " A "sort(b), dimensions={0}\n"
	              " d = f32[1024] all-gather-done(c)\n"
	              " k3 = f32[1024] sort(d), dimensions={0}\n"
	              " ROOT t = (f32[512], f32[1024]) tuple(k2, k3)\n");
	struct timeline t = run(&p, p.entry, beside_s, OVERLAP_STREAM, 1);

	takes(&t, 4, 1);
}
END_TEST

/* Two collectives are one after another on their stream, the first of the text first. */
START_TEST(runs_one_at_a_time)
{
	struct program p = entry(" c1 = f32[1024] all-gather(a)" GROUPS
	                         "\n c2 = f32[1024] all-gather(b)" GROUPS
	                         "\n k1 = f32[1024] sort(c2), dimensions={0}\n"
	                         " k2 = f32[1024] sort(c1), dimensions={0}\n"
	                         " ROOT t = (f32[1024], f32[1024]) tuple(k1, k2)\n");
	const struct seconds s[] = {{"c1", 2}, {"c2", 3}, {"k1", 1}, {"k2", 1}, {0}};
	struct timeline t = run(&p, p.entry, s, OVERLAP_ASYNC, 1);

	takes(&t, 7, 5);
}
END_TEST

/* A loop that gathers what never changes: each trip gathers while the one before computes. */
static const char *const layers =
	"HloModule m, num_partitions=2\n"
	"cond {\n p = (s32[], f32[512], f32[1024]) parameter(0)\n"
	" i = s32[] get-tuple-element(p), index=0\n n = s32[] constant(10)\n"
	" ROOT r = pred[] compare(i, n), direction=LT\n}\n"
	"body {\n p = (s32[], f32[512], f32[1024]) parameter(0)\n"
	" i = s32[] get-tuple-element(p), index=0\n"
	" w = f32[512] get-tuple-element(p), index=1\n"
	" x = f32[1024] get-tuple-element(p), index=2\n"
	" one = s32[] constant(1)\n j = s32[] add(i, one)\n"
	" c = f32[1024] all-gather(w)" GROUPS "\n"
	" k = (f32[1024], f32[1024]) sort(x, c), dimensions={0}\n"
	" y = f32[1024] get-tuple-element(k), index=0\n"
	" ROOT t = (s32[], f32[512], f32[1024]) tuple(j, w, y)\n}\n"
	"ENTRY e {\n z = s32[] constant(0)\n a = f32[512] parameter(0)\n"
	" b = f32[1024] parameter(1)\n"
	" u = (s32[], f32[512], f32[1024]) tuple(z, a, b)\n"
	" ROOT v = (s32[], f32[512], f32[1024]) while(u), condition=cond, "
	"body=body\n}\n";

static int32_t region_named(const struct program *p, const char *name)
{
	for (int64_t i = 0; i < p->region.n; i++)
		if (span_is(p->region.at[i].name, name))
			return (int32_t)i;
	return -1;
}

START_TEST(gathers_ahead_in_loops)
{
	struct program p = program_sample_text(arena, layers);
	int32_t body = region_named(&p, "body");
	const struct seconds kernels[] = {{"c", 1}, {"k", 2}, {0}};
	const struct seconds wires[] = {{"c", 3}, {"k", 2}, {0}};
	struct timeline t;

	ck_assert_int_ge(body, 0);
	/* The first gather is waited for, the others are hidden. */
	t = run(&p, body, kernels, OVERLAP_ASYNC, 10);
	takes(&t, 1 + 10 * 2, 1);
	/* Gathers one behind another, and the last kernel. */
	t = run(&p, body, wires, OVERLAP_ASYNC, 10);
	takes(&t, 10 * 3 + 2, 10 * 3 + 2 - 20);
	t = run(&p, body, wires, OVERLAP_NONE, 10);
	takes(&t, 50, 30);
}
END_TEST

/* A collective on what the trip computed cannot be early. */
START_TEST(waits_for_the_trip)
{
	struct text text = {0};
	const char *at = strstr(layers, "all-gather(w)");
	struct program p;
	const struct seconds s[] = {{"c", 1}, {"k", 2}, {0}};
	struct timeline t;

	text_append(&text, layers, (size_t)(at - layers));
	text_printf(&text,
	            "all-reduce(x), channel_id=1, replica_groups={{0,1}}, "
	            "to_apply=sum%s",
	            strchr(at, '\n'));
	p = program_sample_text(
		arena, arena_printf(arena,
	                            "%.*ssum {\n q = f32[] parameter(0)\n r = "
	                            "f32[] parameter(1)\n ROOT s = f32[] add(q, "
	                            "r)\n}\n%s",
	                            (int)(strchr(layers, '\n') + 1 - layers), layers,
	                            strchr(text.s, '\n') + 1));
	text_free(&text);
	t = run(&p, region_named(&p, "body"), s, OVERLAP_ASYNC, 10);
	takes(&t, 30, 10);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("timeline");
	TCase *t = tcase_create("by hand");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, hides_a_collective);
	tcase_add_test(t, follows_the_text);
	tcase_add_test(t, runs_one_at_a_time);
	tcase_add_test(t, gathers_ahead_in_loops);
	tcase_add_test(t, waits_for_the_trip);
	suite_add_tcase(s, t);
	return s;
}
