/* What a table of measured placements says of the simulation. */
#include "validate/place.h"

#include "stat/rank.h"
#include "stat/summary.h"

#include <math.h>
#include <string.h>

const int place_tops[PLACE_TOPS] = {1, 2, 3, 5, 10};

/* Returns whether two rows differ in their matrices only. */
static bool comparable(const struct place_measured *x, const struct place_measured *y)
{
	return !strcmp(x->hierarchy, y->hierarchy) && !strcmp(x->axes, y->axes) &&
	       !strcmp(x->reduce, y->reduce) && !strcmp(x->algorithm, y->algorithm) &&
	       x->tree == y->tree && x->c.payload_bytes == y->c.payload_bytes;
}

/* Rows of a system, and their simulated and measured times. */
struct sample {
	size_t n;
	const struct place_measured **row;
	double *simulated_s, *measured_s;
};

static struct sample sample_of(const struct place_table *t, const char *system,
                               bool best, struct arena *a)
{
	size_t most = (size_t)t->n;
	struct sample s = {
		.row = arena_alloc(a, most, sizeof(const struct place_measured *)),
		.simulated_s = arena_alloc(a, most, sizeof(double)),
		.measured_s = arena_alloc(a, most, sizeof(double)),
	};

	for (int64_t i = 0; i < t->n; i++) {
		const struct place_measured *m = &t->row[i];

		if ((system && strcmp(system, m->system) != 0) ||
		    (best && isnan(m->best_measured_s)))
			continue;
		s.row[s.n] = m;
		s.simulated_s[s.n] = best ? m->best_s : m->time_s;
		s.measured_s[s.n++] = best ? m->best_measured_s : m->measured_s;
	}
	return s;
}

static struct place_pairs pairs_of(const struct sample *s)
{
	struct place_pairs p = {0};

	for (size_t i = 0; i < s->n; i++)
		for (size_t j = i + 1; j < s->n; j++) {
			double simulated = s->simulated_s[i] - s->simulated_s[j];
			double measured = s->measured_s[i] - s->measured_s[j];

			if (!comparable(s->row[i], s->row[j]) || simulated == 0 ||
			    measured == 0)
				continue;
			p.pairs++;
			p.inversions += (simulated < 0) != (measured < 0);
		}
	return p;
}

static double error_of(const struct sample *s, struct arena *a)
{
	double *error = arena_alloc(a, s->n + 1, sizeof(*error));

	for (size_t i = 0; i < s->n; i++)
		error[i] = exp(fabs(log(s->simulated_s[i] / s->measured_s[i])));
	return s->n ? stat_geomean(error, s->n) : NAN;
}

/* Finds how many programs beat the all-reduce of their matrix, and by how much. */
static void improvements(struct place_errors *out, const struct sample *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct place_measured *m = s->row[i];
		double ratio[2] = {m->measured_s / m->best_measured_s,
		                   m->time_s / m->best_s};

		if (strcmp(m->algorithm, "all-reduce") != 0)
			continue;
		out->improvable++;
		for (int k = 0; k < 2; k++) {
			if (!(ratio[k] > 1 + 1e-9))
				continue;
			out->improved[k]++;
			out->speedup[k] += ratio[k];
			out->most_speedup[k] = fmax(out->most_speedup[k], ratio[k]);
		}
	}
	for (int k = 0; k < 2; k++)
		out->speedup[k] = out->improved[k]
		                          ? out->speedup[k] / (double)out->improved[k]
		                          : NAN;
}

struct place_errors place_errors_of(const struct place_table *t, const char *system,
                                    struct arena *a)
{
	struct sample all = sample_of(t, system, false, a);
	struct sample best = sample_of(t, system, true, a);
	struct place_errors out = {
		.n = all.n,
		.nbest = best.n,
		.error = error_of(&all, a),
		.best_error = error_of(&best, a),
		.least = INFINITY,
		.tau = stat_kendall(all.simulated_s, all.measured_s, all.n),
		.best_tau = stat_kendall(best.simulated_s, best.measured_s, best.n),
		.pairs = pairs_of(&all),
		.best_pairs = pairs_of(&best),
	};

	improvements(&out, &best);
	for (size_t i = 0; i < all.n; i++) {
		double ratio = all.simulated_s[i] / all.measured_s[i];
		int64_t place = all.row[i]->place;

		out.least = fmin(out.least, ratio);
		out.most = fmax(out.most, ratio);
		out.named += place > 0;
		for (int k = 0; k < PLACE_TOPS; k++)
			out.top[k] += place > 0 && place <= place_tops[k];
	}
	return out;
}
