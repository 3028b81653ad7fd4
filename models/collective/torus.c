/*
 * torus: a group that is a product of k runs along torus axes, full wrapped ones (rings)
 * and contiguous parts (lines) of lengths d_1..d_k. The array is cut into k parts; in
 * phase p = 0..k-1 part i goes along run (i + p) mod k, all parts at once, so that no
 * two parts share a link in any phase. Along a run it is bidir_ring.c or line.c.
 *
 * All-gather: part i is f_i V; what a device holds of it grows by the length of every
 *   run it has been through, so the last phase dominates, in which part i is on run
 *   i - 1. f_i is proportional to the speed of run i - 1, where the speed of a run is
 *   d/(d-1) times 2W (ring) or W (line): all parts end the last phase together.
 * Reduce-scatter: the first phase dominates; f_i is proportional to the speed of run i.
 * All-reduce: that reduce-scatter, then its reverse in time (part i ends on run i).
 * All-to-all: part i moves as a whole in every phase. Equal parts: phase p takes
 *   S max_i c_i / k with c = d/8W (even ring), (d^2-1)/(8dW) (odd ring),
 *   floor(d^2/4)/(dW) (line), k phases take S max c, which is the bound of the slowest
 *   run; no other cut is faster.
 *
 *   rounds  k phases (all-reduce 2k), of one round where all runs are rings or the op is
 *           all-to-all, else of the longest line's rounds, over which rings and shorter
 *           lines spread their steps; several groups and parts run side by side, round by
 *           round
 *   bytes   received per device V(n-1)/n in the all-gather, and in the reduce-scatter
 *           where all runs are rings; all-reduce the sum of both
 *   cost    sum over phases of the slowest part. In an all-reduce of XLA's (profile tpu)
 *           each phase after the first begins like a collective, with a launch: 2, 4 and
 *           8 MiB over 2x2x4 chips of TPU7x take 124, 130 and 162 us (measured-late.csv),
 *           108, 131 and 176 so, 53, 76 and 121 without. Of other collectives over several axes nothing is
 *           measured. For k equal rings of d, V = n b:
 *           k floor(d/2) latency + V(n-1)/(2knW), tending to V/(2kW); all-to-all
 *           k floor(d/2) latency + Sd/(8W) for even d
 *   need    V on every device (all-to-all 2S)
 *
 * A whole twisted torus of k axes n or 2n long: part i goes through the product of runs
 * that makes a ring of 2n of the axis it is on in the dominant phase, the last or the
 * first; so all links are busy in that one, as without the twist. The other phases have
 * lines. All-to-all: all pairs at once over the shortest routes, S/n each, one round:
 *   cost    latency of the longest route + S/n (routes on the busiest link) / W. Without
 *           the twist S/W in both shapes; with it 81 of 128 on a link of 4x4x8.
 * Source: scaling book, sharding (several axes), whose formula is the limit for equal
 * axes.
 */
#include "base/assert.h"
#include "collective/collective.h"
#include "collective/profile.h"
#include "collective/runs.h"

#include <string.h>

/* One group on its way through its phases. */
struct walk {
	const int32_t *ids;
	struct runs runs;
	const struct runs *twisted;  /* of each part; NULL: `runs` of all */
	double part[TORUS_AXES_MAX]; /* fractions of the array */
	int nphases, phase;
	int32_t round;  /* of the phase */
	double begin_s; /* of a phase after the first */
};

static double run_speed(const struct runs *g, int r)
{
	double d = g->run[r].length;

	return runs_bandwidth_Bps(g, r) * (g->run[r].ring ? 2 : 1) * d / (d - 1);
}

static const struct runs *runs_of(const struct walk *walk, int part)
{
	return walk->twisted ? &walk->twisted[part] : &walk->runs;
}

/* Returns the run of part i in the phase that dominates. */
static int main_run(const struct walk *walk, enum op op, int i)
{
	return op == OP_ALL_GATHER ? (i + walk->runs.n - 1) % walk->runs.n : i;
}

static void cut_parts(struct walk *walk, enum op op)
{
	int k = walk->runs.n;
	double sum = 0;

	for (int i = 0; i < k; i++) {
		walk->part[i] = op == OP_ALL_TO_ALL ? 1
		                                    : run_speed(runs_of(walk, i),
		                                                main_run(walk, op, i));
		sum += walk->part[i];
	}
	for (int i = 0; i < k; i++)
		walk->part[i] /= sum;
}

/* Returns what part i does in the walk's phase. */
static struct leg leg_of(const struct walk *walk, enum op op, double bytes, int i)
{
	const struct run *run = runs_of(walk, i)->run;
	int k = walk->runs.n, p = walk->phase;
	struct leg leg = {.op = op, .bytes = bytes * walk->part[i]};

	if (op == OP_ALL_REDUCE) {
		leg.op = p < k ? OP_REDUCE_SCATTER : OP_ALL_GATHER;
		if (p >= k)
			p = 2 * k - 1 - p;
	}
	leg.run = (i + p) % k;
	for (int q = 0; q < p; q++) {
		double d = run[(i + q) % k].length;

		if (op == OP_ALL_GATHER)
			leg.bytes *= d;
		else if (op != OP_ALL_TO_ALL)
			leg.bytes /= d;
	}
	if (op == OP_ALL_REDUCE && leg.op == OP_ALL_GATHER)
		leg.bytes /= run[leg.run].length;
	return leg;
}

/*
 * Appends the walk's next round to the open round; returns false when it has ended
 * before.
 */
static bool walk_round(struct schedule *out, struct walk *walk, enum op op, int32_t n,
                       double bytes)
{
	struct leg leg[TORUS_AXES_MAX];
	int64_t first = out->ntasks;
	int32_t rounds = 1;

	if (walk->phase == walk->nphases)
		return false;
	if (walk->twisted && op == OP_ALL_TO_ALL) {
		schedule_task(out, 1);
		all_pairs(out, walk->runs.machine, walk->ids, n, bytes / n);
		walk->phase = walk->nphases;
		return true;
	}
	for (int i = 0; i < walk->runs.n; i++) {
		const struct run *run;

		leg[i] = leg_of(walk, op, bytes, i);
		run = &runs_of(walk, i)->run[leg[i].run];
		if (!run->ring && line_rounds(leg[i].op, run->length) > rounds)
			rounds = line_rounds(leg[i].op, run->length);
	}
	for (int i = 0; i < walk->runs.n; i++) {
		const struct runs *runs = runs_of(walk, i);

		if (runs->run[leg[i].run].ring)
			bidir_ring_round(out, runs, &leg[i], walk->round, rounds);
		else
			line_round(out, runs, &leg[i], walk->round, rounds);
	}
	for (int64_t i = first; i < out->ntasks && walk->phase && !walk->round; i++)
		out->task[i].delay_s += walk->begin_s;
	if (++walk->round == rounds) {
		walk->phase++;
		walk->round = 0;
	}
	return true;
}

static bool torus_applies(const struct machine *m, enum op op, const struct groups *g)
{
	struct runs runs;

	if (!runs_carry(m, op, g))
		return false;
	for (int32_t i = 0; i < g->ngroups; i++)
		if (!runs_find(&runs, m, g->ids + (int64_t)i * g->size, g->size))
			return false;
	return true;
}

static struct walk walk_start(struct arena *a, const struct machine *m, enum op op,
                              const int32_t *ids, int32_t n)
{
	struct walk walk = {.ids = ids};
	struct runs *twisted;
	bool found = runs_find(&walk.runs, m, ids, n);

	assert(found);
	(void)found;
	walk.nphases = walk.runs.n * (op == OP_ALL_REDUCE ? 2 : 1);
	if (op == OP_ALL_REDUCE &&
	    !strcmp(profile_of_fabric(m, walk.runs.fabric)->name, "tpu"))
		walk.begin_s = m->device[ids[0]].launch_s;
	if (walk.runs.twisted) {
		twisted = arena_alloc(a, (size_t)walk.runs.n, sizeof(*twisted));
		for (int i = 0; i < walk.runs.n; i++)
			twisted[i] = runs_twisted(&walk.runs, main_run(&walk, op, i));
		walk.twisted = twisted;
	}
	cut_parts(&walk, op);
	return walk;
}

static void torus_build(struct schedule *out, const struct machine *m, enum op op,
                        const struct groups *g, double bytes)
{
	struct walk *walk = arena_alloc(out->arena, (size_t)g->ngroups, sizeof(*walk));
	bool more = true;

	for (int32_t i = 0; i < g->ngroups; i++)
		walk[i] = walk_start(out->arena, m, op, g->ids + (int64_t)i * g->size,
		                     g->size);
	while (more) {
		more = false;
		schedule_round(out);
		for (int32_t i = 0; i < g->ngroups; i++)
			more |= walk_round(out, &walk[i], op, g->size, bytes);
	}
	schedule_end(out);
}

const struct algorithm algorithm_torus = {
	.name = "torus",
	.help = "a product of torus runs, the array cut into one part per axis",
	.any_order = true,
	.applies = torus_applies,
	.build = torus_build,
};
