#include "bound/ports.h"
#include "tests/tests.h"

#include "bound_machine.h"
#include "collective/schedule.h"
#include "cost/model.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
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

/* ---- by hand ---- */

/* A graph given as routes: "0>3:0,2" is by links 0 and 2. */
struct route {
	int32_t src, dst, n, link[4];
};

struct drawn {
	const struct route *route;
	int n;
};

static int drawn_route(const struct machine *m, int f, int32_t src, int32_t dst,
                       int32_t *links, int capacity)
{
	const struct drawn *d = m->ask_state;

	(void)f;
	for (int i = 0; i < d->n; i++)
		if (d->route[i].src == src && d->route[i].dst == dst) {
			ck_assert_int_le(d->route[i].n, capacity);
			memcpy(links, d->route[i].link,
			       (size_t)d->route[i].n * sizeof(*links));
			return d->route[i].n;
		}
	return -1;
}

/*
 * Two leaves of two hosts each: links up from the hosts 0 to 3, down to them 4 to 7, all
 * of 45 GB/s and 1 us, and one of 9 GB/s, 3 us from leaf to leaf (8, 9).
 */
static const struct route leaves[] = {
	{0, 1, 2, {0, 5}},    {1, 0, 2, {1, 4}},    {2, 3, 2, {2, 7}},
	{3, 2, 2, {3, 6}},    {0, 2, 3, {0, 8, 6}}, {0, 3, 3, {0, 8, 7}},
	{1, 2, 3, {1, 8, 6}}, {1, 3, 3, {1, 8, 7}}, {2, 0, 3, {2, 9, 4}},
	{2, 1, 3, {2, 9, 5}}, {3, 0, 3, {3, 9, 4}}, {3, 1, 3, {3, 9, 5}},
};

static struct machine *two_leaves(bool asks, bool ends, int32_t share)
{
	static const int32_t first[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
	static const int32_t end[] = {0, 4, 1, 5, 2, 6, 3, 7};
	struct machine *m =
		machine_gpu(arena, 1, 4, bound_nvlink, bound_nic, bound_device);
	struct link *link = arena_alloc(arena, 10, sizeof(*link));
	struct drawn *d = arena_alloc(arena, 1, sizeof(*d));

	for (int i = 0; i < 10; i++)
		link[i] = bound_ici;
	link[8].bandwidth_Bps = link[9].bandwidth_Bps = 9e9;
	link[8].latency_s = link[9].latency_s = 3e-6;
	*d = (struct drawn){leaves, COUNT(leaves)};
	m->link = link;
	m->nlinks = 10;
	m->ask = asks ? drawn_route : NULL;
	m->ask_state = d;
	m->fabric[0].geometry = GEOMETRY_GRAPH;
	m->fabric[0].end_first = ends ? first : NULL;
	m->fabric[0].end = ends ? end : NULL;
	m->fabric[0].share = share;
	return m;
}

static const struct {
	bool asks, ends;
	int32_t set[4], n;
	double in_Bps, in_s, out_Bps, out_s;
} by_hand[] = {
	/* one host: its own link; the shortest route is of two links */
	{true, false, {0}, 1, 45e9, 2e-6, 45e9, 2e-6},
	{true, true, {0}, 1, 45e9, 2e-6, 45e9, 2e-6},
	/* its ends alone: one latency, for what is behind is not known */
	{false, true, {0}, 1, 45e9, 1e-6, 45e9, 1e-6},
	/* a leaf: the link between, of all routes the second */
	{true, false, {0, 1}, 2, 9e9, 5e-6, 9e9, 5e-6},
	{true, true, {2, 3}, 2, 9e9, 5e-6, 9e9, 5e-6},
	{false, true, {0, 1}, 2, 90e9, 1e-6, 90e9, 1e-6},
	/* three: what the fourth has, at the far end */
	{true, false, {0, 1, 3}, 3, 45e9, 2e-6, 45e9, 2e-6},
	{false, true, {0, 1, 3}, 3, 45e9, 1e-6, 45e9, 1e-6},
	/* nobody outside */
	{true, true, {0, 1, 2, 3}, 4, 0, INFINITY, 0, INFINITY},
	/* nobody knows */
	{false, false, {0, 1}, 2, INFINITY, 0, INFINITY, 0},
};

START_TEST(by_hand_rows)
{
	struct machine *m = two_leaves(by_hand[_i].asks, by_hand[_i].ends, 1);
	struct ports *p = ports_make(m, arena);
	struct gate in, out;

	for (int twice = 0; twice < 2; twice++) {
		ports_gates(&in, &out, p, by_hand[_i].set, by_hand[_i].n, -1);
		ck_assert_double_eq(in.bandwidth_Bps, by_hand[_i].in_Bps);
		ck_assert_double_eq(out.bandwidth_Bps, by_hand[_i].out_Bps);
		ck_assert(fabs(in.latency_s - by_hand[_i].in_s) < 1e-18 ||
		          in.latency_s == by_hand[_i].in_s);
		ck_assert(fabs(out.latency_s - by_hand[_i].out_s) < 1e-18 ||
		          out.latency_s == by_hand[_i].out_s);
	}
}
END_TEST

/* Two nodes of four GPUs with a NIC of 23 GB/s, 2.5 us a way for every two. */
static const struct {
	int32_t set[8], n;
	int except;
	double in_Bps, in_s;
} nics[] = {
	/* one GPU: the whole of its NIC and its NVLink */
	{{0}, 1, -1, 240e9 + 23e9, 1.4e-6},
	{{0}, 1, 0, 23e9, 5e-6},
	{{0, 1}, 2, 0, 23e9, 5e-6},
	{{0, 2}, 2, 0, 46e9, 5e-6},
	{{0, 1, 2, 3}, 4, 0, 46e9, 5e-6},
	/* the one left has a NIC to send by, which it shares */
	{{0, 1, 2, 3, 4, 5, 6}, 7, 0, 23e9, 5e-6},
	/* all but two on different NICs */
	{{0, 1, 2, 3, 4, 6}, 6, 0, 46e9, 5e-6},
};

START_TEST(nic_rows)
{
	struct machine *m = machine_shared(arena, 8, 2, false);
	struct ports *p = ports_make(m, arena);
	struct gate in, out;

	ck_assert_int_eq(m->ndevices, 8);
	ports_gates(&in, &out, p, nics[_i].set, nics[_i].n, nics[_i].except);
	ck_assert_double_eq_tol(in.bandwidth_Bps, nics[_i].in_Bps, 1);
	ck_assert_double_eq_tol(out.bandwidth_Bps, nics[_i].in_Bps, 1);
	ck_assert_double_eq_tol(in.latency_s, nics[_i].in_s, 1e-15);
}
END_TEST

/* ---- brute force ---- */

/*
 * Whatever messages go from outside a set into it, all at once and each a task of its
 * own, the clock says no less than their bytes over the gate and its latency.
 */
static void try_messages(struct rng *r, const struct machine *m, const bool *member,
                         const struct gate *gate, bool in, struct model *model)
{
	struct schedule s = {.arena = arena};
	double bytes = 0, time_s;
	uint32_t often = 1 + rng_below(r, 4);

	schedule_round(&s);
	for (int32_t i = 0; i < m->ndevices * m->ndevices; i++) {
		int32_t src = i / m->ndevices, dst = i % m->ndevices;
		double size = rng_below(r, 2) ? 1e6 : 1e3 * (1 + rng_below(r, 9));

		if (member[src] == member[dst] || member[dst] != in ||
		    rng_below(r, often))
			continue;
		schedule_task(&s, 1);
		schedule_message(&s, machine_fabric(m, src, dst), src, dst, size);
		bytes += size;
	}
	schedule_end(&s);
	if (bytes == 0)
		return;
	time_s = model_schedule_s(model, &s);
	ck_assert_double_ge(time_s, 0);
	ck_assert_msg(
		time_s >= (bytes / gate->bandwidth_Bps + gate->latency_s) * (1 - 1e-9),
		"%s: %g bytes %s %g s, but the gate has %g B/s, %g s", m->name, bytes,
		in ? "in" : "out", time_s, gate->bandwidth_Bps, gate->latency_s);
}

/* Every set of a small machine, several times. */
static void try_sets(struct rng *r, const struct machine *m)
{
	struct ports *p = ports_make(m, arena);
	struct model *model = model_new(m);

	for (uint32_t bits = 1; bits + 1 < 1u << m->ndevices; bits++) {
		bool member[16];
		int32_t set[16], n = 0;
		struct gate in, out;

		for (int32_t d = 0; d < m->ndevices; d++) {
			member[d] = bits >> d & 1;
			if (member[d])
				set[n++] = d;
		}
		if (m->ndevices > 6 && rng_below(r, m->ndevices > 8 ? 64 : 8))
			continue;
		ports_gates(&in, &out, p, set, n, -1);
		for (int k = 0; k < 4; k++) {
			try_messages(r, m, member, &in, true, model);
			try_messages(r, m, member, &out, false, model);
		}
	}
	model_free(model);
}

START_TEST(no_messages_beat_a_gate)
{
	struct rng *r = rng_new(17);

	for (int k = 0; k < 300; k++) {
		struct machine *m = random_any_machine(r, arena, 3 + k % 7, 1, k % 2);

		if (m->ndevices <= 12)
			try_sets(r, m);
		arena_reset(arena);
	}
	rng_free(r);
}
END_TEST

/* The ends alone, when routes are too many to ask, or are asked all the same. */
START_TEST(ends_alone_are_safe)
{
	struct rng *r = rng_new(19);

	for (int k = 0; k < 200; k++) {
		struct machine *m = machine_web(r, arena, 3 + k % 5, true), *blind;
		struct ports *p, *q;
		struct model *model = model_new(m);

		blind = arena_dup(arena, m, 1, sizeof(*m));
		blind->ask = NULL;
		p = ports_make(m, arena);
		q = ports_make(blind, arena);
		for (uint32_t bits = 1; bits + 1 < 1u << m->ndevices; bits++) {
			bool member[16];
			int32_t set[16], n = 0;
			struct gate in, out, in_blind, out_blind;

			for (int32_t d = 0; d < m->ndevices; d++) {
				member[d] = bits >> d & 1;
				if (member[d])
					set[n++] = d;
			}
			ports_gates(&in, &out, p, set, n, -1);
			ports_gates(&in_blind, &out_blind, q, set, n, -1);
			ck_assert_double_le(in.bandwidth_Bps, in_blind.bandwidth_Bps);
			ck_assert_double_le(out.bandwidth_Bps, out_blind.bandwidth_Bps);
			ck_assert_double_ge(in.latency_s, in_blind.latency_s);
			ck_assert_double_lt(in_blind.bandwidth_Bps, INFINITY);
			ck_assert_double_gt(in.bandwidth_Bps, 0);
			try_messages(r, m, member, &in_blind, true, model);
			try_messages(r, m, member, &out_blind, false, model);
		}
		model_free(model);
		arena_reset(arena);
	}
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("bound_ports");
	TCase *c = tcase_create("bound_ports");

	tcase_set_timeout(c, 120);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, by_hand_rows, 0, COUNT(by_hand));
	tcase_add_loop_test(c, nic_rows, 0, COUNT(nics));
	tcase_add_test(c, no_messages_beat_a_gate);
	tcase_add_test(c, ends_alone_are_safe);
	suite_add_tcase(suite, c);
	return suite;
}
