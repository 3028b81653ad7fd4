#include "collective/collective.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * All-gathers played through: who owns which half blocks after every step. A message may
 * carry only what its sender owned before the step and must carry only what its receiver
 * lacks; in the end everybody owns everything. Reduce-scatters are compared with the
 * all-gather turned round in time, all-to-alls by the bytes of every pair.
 */

static const struct link link0 = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
static const struct link nic = {.bandwidth_Bps = 23e9, .latency_s = 2e-6};
static const struct device device;
static const double BLOCK = 3 * 5 * 7;

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

enum { GROUP_MAX = 128, PARTS_MAX = 3 };

/* own[part][member][half block]: of its sender's group, members by place in the group. */
struct world {
	const struct machine *m;
	const struct schedule *s;
	int32_t n;
	int32_t member[GROUP_MAX]; /* of each device */
	int nparts;                /* the array is cut into parts (torus) */
	double part[PARTS_MAX];    /* fractions */
	bool own[PARTS_MAX][GROUP_MAX][2 * GROUP_MAX];
	bool before[PARTS_MAX][GROUP_MAX][2 * GROUP_MAX];
};

/* The torus axis between two neighbours; 0 on other machines. */
static int axis_between(const struct machine *m, int32_t src, int32_t dst)
{
	const struct fabric *f = &m->fabric[0];
	int32_t links[64];

	if (f->geometry != GEOMETRY_TORUS)
		return 0;
	ck_assert_int_ge(machine_route(m, 0, src, dst, links, 64), 1);
	for (int p = 0; p < 2 * f->naxes; p++)
		if (f->port[(int64_t)src * 2 * f->naxes + p] == links[0])
			return p / 2;
	ck_abort_msg("no port");
}

/* Deliver `units` half blocks: any that the receiver lacks, as now or later it must. */
static void deliver(struct world *w, int part, int32_t src, int32_t dst, int units)
{
	for (int32_t u = 0; u < 2 * w->n && units > 0; u++) {
		if (!w->before[part][src][u] || w->own[part][dst][u])
			continue;
		w->own[part][dst][u] = true;
		units--;
	}
	ck_assert_msg(units == 0, "%d to %d: %d half blocks too many", src, dst, units);
}

/* Play step `step` of the merged steps of a task. */
static void play_step(struct world *w, int64_t round, const struct task *t, int step)
{
	for (int64_t i = 0; i < t->nmessages; i++) {
		const struct message *msg = &w->s->message[t->first + i];
		int axis = axis_between(w->m, msg->src, msg->dst);
		int part = w->nparts > 1 ? (int)((axis + w->nparts - round) % w->nparts)
		                         : 0;
		double halves = msg->bytes / (BLOCK / 2 * w->part[part]);
		long all = lround(halves);
		/* As many as fit in equal steps; the last takes what is left. */
		long each = (all + t->repeats - 1) / t->repeats;
		long sent = each * step < all ? each * step : all;
		long now = all - sent < each ? all - sent : each;

		ck_assert_msg(fabs(halves - (double)all) < 1e-9, "%g half blocks",
		              halves);
		deliver(w, part, w->member[msg->src], w->member[msg->dst], (int)now);
	}
}

static void play(struct world *w)
{
	for (int64_t r = 0; r < w->s->nrounds; r++) {
		const struct round *round = &w->s->round[r];
		int32_t steps = 0;

		for (int64_t t = 0; t < round->ntasks; t++)
			if (w->s->task[round->first + t].repeats > steps)
				steps = w->s->task[round->first + t].repeats;
		for (int32_t k = 0; k < steps; k++) {
			memcpy(w->before, w->own, sizeof(w->own));
			for (int64_t t = 0; t < round->ntasks; t++)
				if (k < w->s->task[round->first + t].repeats)
					play_step(w, r, &w->s->task[round->first + t],
					          k);
		}
	}
	for (int p = 0; p < w->nparts; p++)
		for (int32_t d = 0; d < w->n; d++)
			for (int32_t u = 0; u < 2 * w->n; u++)
				ck_assert_msg(
					w->own[p][d][u],
					"device %d lacks half block %d of part %d", d,
					u, p);
}

static struct schedule built(const struct machine *m, const char *name, enum op op,
                             struct groups g, double bytes)
{
	struct schedule s = {.arena = arena};
	const struct algorithm *a = algorithm_choose(m, op, &g);

	ck_assert_str_eq(a->name, name);
	a->build(&s, m, op, &g, bytes);
	return s;
}

static struct groups everybody(const struct machine *m)
{
	int32_t *ids = arena_alloc(arena, (size_t)m->ndevices, sizeof(*ids));

	for (int32_t d = 0; d < m->ndevices; d++)
		ids[d] = d;
	return (struct groups){1, m->ndevices, ids};
}

static const struct {
	const char *name;
	int naxes; /* 0: a cluster of shape[0] x shape[1] */
	int32_t shape[3];
	bool wrap;
	int nparts;
	double part[PARTS_MAX];
} cases[] = {
	{"bidir-ring", 1, {3}, true, 1, {1}},
	{"bidir-ring", 1, {4}, true, 1, {1}},
	{"bidir-ring", 1, {5}, true, 1, {1}},
	{"bidir-ring", 1, {6}, true, 1, {1}},
	{"bidir-ring", 1, {7}, true, 1, {1}},
	{"bidir-ring", 1, {16}, true, 1, {1}},
	{"line", 1, {2}, false, 1, {1}},
	{"line", 1, {3}, false, 1, {1}},
	{"line", 1, {5}, false, 1, {1}},
	{"line", 1, {8}, false, 1, {1}},
	{"ring", 0, {1, 2}, false, 1, {1}},
	{"ring", 0, {1, 7}, false, 1, {1}},
	{"two-level", 0, {2, 2}, false, 1, {1}},
	{"two-level", 0, {3, 5}, false, 1, {1}},
	{"two-level", 0, {4, 8}, false, 1, {1}},
	{"torus", 3, {3, 3, 3}, true, 3, {1. / 3, 1. / 3, 1. / 3}},
	{"torus", 2, {5, 5}, true, 2, {.5, .5}},
	/* Part i ends on axis i - 1: speeds 3/2 : 5/4 and 7/6 : 3/2 : 5/4. */
	{"torus", 2, {3, 5}, true, 2, {5. / 11, 6. / 11}},
	{"torus", 3, {7, 3, 5}, true, 3, {15. / 47, 14. / 47, 18. / 47}},
};

static const struct machine *machine_of(int i)
{
	const bool wrap[] = {cases[i].wrap, cases[i].wrap, cases[i].wrap};

	if (cases[i].naxes)
		return machine_torus(arena, cases[i].naxes, cases[i].shape, wrap, link0,
		                     device);
	return machine_gpu(arena, cases[i].shape[0], cases[i].shape[1], link0, nic,
	                   device);
}

START_TEST(all_gathers_deliver_every_block_once)
{
	const struct machine *m = machine_of(_i);
	struct groups g = everybody(m);
	struct schedule s = built(m, cases[_i].name, OP_ALL_GATHER, g, BLOCK);
	struct world *w = arena_alloc(arena, 1, sizeof(*w));

	ck_assert_int_le(g.size, GROUP_MAX);
	w->m = m;
	w->s = &s;
	w->n = g.size;
	w->nparts = cases[_i].nparts;
	memcpy(w->part, cases[_i].part, sizeof(w->part));
	for (int32_t i = 0; i < w->n; i++) {
		w->member[g.ids[i]] = i;
		for (int p = 0; p < w->nparts; p++)
			w->own[p][i][2 * i] = w->own[p][i][2 * i + 1] = true;
	}
	play(w);
}
END_TEST

static int by_message(const void *a, const void *b)
{
	const struct message *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The messages of one round in a fixed order, turned round if asked for. */
static struct message *sorted(const struct schedule *s, int64_t r, bool turn, int64_t *n)
{
	const struct round *round = &s->round[r];
	const struct task *first = &s->task[round->first];
	const struct task *last = first + round->ntasks - 1;
	struct message *copy;

	*n = last->first + last->nmessages - first->first;
	copy = arena_dup(arena, s->message + first->first, (size_t)*n, sizeof(*copy));
	for (int64_t i = 0; turn && i < *n; i++) {
		int32_t src = copy[i].src;

		copy[i].src = copy[i].dst;
		copy[i].dst = src;
	}
	qsort(copy, (size_t)*n, sizeof(*copy), by_message);
	return copy;
}

/* Rounds [first, first + n) of `a` are rounds of `b` backwards, from `last` down. */
static void is_reverse(const struct schedule *a, int64_t first, int64_t n,
                       const struct schedule *b, int64_t last, bool turn)
{
	for (int64_t r = 0; r < n; r++) {
		int64_t na, nb;
		struct message *ma = sorted(a, first + r, false, &na);
		struct message *mb = sorted(b, last - r, turn, &nb);

		ck_assert_int_eq(na, nb);
		for (int64_t i = 0; i < na; i++) {
			ck_assert_int_eq(ma[i].src, mb[i].src);
			ck_assert_int_eq(ma[i].dst, mb[i].dst);
			ck_assert_int_eq(ma[i].fabric, mb[i].fabric);
			ck_assert(fabs(ma[i].bytes - mb[i].bytes) < 1e-9 * mb[i].bytes);
		}
	}
}

/*
 * A one-way ring turned round in time runs the other way about: its messages are compared
 * as they are. Parts of a torus take their axes in another order in a stand-alone
 * all-gather; there the halves of the all-reduce are compared.
 */
START_TEST(reduce_scatters_are_all_gathers_backwards)
{
	const struct machine *m = machine_of(_i);
	const char *name = cases[_i].name;
	struct groups g = everybody(m);
	double V = BLOCK * g.size;
	struct schedule rs = built(m, name, OP_REDUCE_SCATTER, g, V);

	if (!strcmp(name, "torus")) {
		struct schedule ar = built(m, name, OP_ALL_REDUCE, g, V);

		ck_assert_int_eq(ar.nrounds, 2 * rs.nrounds);
		is_reverse(&ar, rs.nrounds, rs.nrounds, &ar, rs.nrounds - 1, true);
		is_reverse(&ar, rs.nrounds, rs.nrounds, &rs, rs.nrounds - 1, true);
	} else {
		bool one_way = cases[_i].naxes == 0;
		struct schedule ag = built(m, name, OP_ALL_GATHER, g, BLOCK);

		ck_assert_int_eq(rs.nrounds, ag.nrounds);
		is_reverse(&rs, 0, rs.nrounds, &ag, ag.nrounds - 1, !one_way);
	}
}
END_TEST

/*
 * All-to-alls without relays: exactly S/n for every pair, of a line and of every second
 * device of a ring.
 */
START_TEST(all_to_alls_serve_every_pair)
{
	const int32_t five = 5, ten = 10;
	const struct machine *m = machine_torus(arena, 1, _i ? &five : &ten,
	                                        (bool[]){!_i}, link0, device);
	struct groups second = {1, 5, (int32_t[]){0, 2, 4, 6, 8}};
	struct schedule s = built(m, _i ? "line" : "pairwise", OP_ALL_TO_ALL,
	                          _i ? everybody(m) : second, 5 * BLOCK);
	int seen[10][10] = {{0}};

	ck_assert_int_eq(s.nmessages, 20);
	for (int64_t i = 0; i < s.nmessages; i++) {
		ck_assert(s.message[i].bytes == BLOCK);
		ck_assert_int_eq(seen[s.message[i].src][s.message[i].dst]++, 0);
	}
}
END_TEST

/* Adds what a message puts on the ports of its devices: [device][fabric][in or out]. */
static void add_ports(double ports[][2][2], int32_t src, int32_t dst, int fabric,
                      double bytes)
{
	ports[src][fabric][1] += bytes;
	ports[dst][fabric][0] += bytes;
}

/*
 * Two levels: what device x has for device y goes to the member of x's node that has y's
 * number, then along the rail. Added up over all pairs that is what every port carries,
 * inside a node and on the network.
 */
START_TEST(two_level_all_to_all_goes_by_rails)
{
	enum { M = 3, G = 5, N = M * G };
	const struct machine *m = machine_gpu(arena, M, G, link0, nic, device);
	struct schedule s =
		built(m, "two-level", OP_ALL_TO_ALL, everybody(m), N * BLOCK);
	double ports[N][2][2] = {{{0}}};
	double relayed = 0;

	for (int x = 0; x < N; x++)
		for (int y = 0; y < N; y++) {
			int via = x / G * G + y % G;

			if (via != x)
				add_ports(ports, x, via, 0, BLOCK);
			if (via != y)
				add_ports(ports, via, y, 1, BLOCK);
			if (via == 7 && x != via && y != via)
				relayed += BLOCK;
		}
	for (int64_t i = 0; i < s.nmessages; i++)
		add_ports(ports, s.message[i].src, s.message[i].dst,
		          s.message[i].fabric, -s.message[i].bytes);
	for (int x = 0; x < N; x++)
		for (int f = 0; f < 2; f++)
			ck_assert(ports[x][f][0] == 0 && ports[x][f][1] == 0);
	ck_assert(relayed == N * BLOCK * (G - 1) * (M - 1) / N);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("dataflow");
	TCase *c = tcase_create("dataflow");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, all_gathers_deliver_every_block_once, 0, COUNT(cases));
	tcase_add_loop_test(c, reduce_scatters_are_all_gathers_backwards, 0,
	                    COUNT(cases));
	tcase_add_loop_test(c, all_to_alls_serve_every_pair, 0, 2);
	tcase_add_test(c, two_level_all_to_all_goes_by_rails);
	suite_add_tcase(suite, c);
	return suite;
}
