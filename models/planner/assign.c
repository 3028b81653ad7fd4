#include "planner/assign.h"

#include "base/arena.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Duals u, v: cost - u - v is >= 0 everywhere and 0 where a row has its column. */
struct search {
	int32_t rows, cols;
	/* Row i to column j costs factor[j] * cost[i * width + at[j]]. */
	const double *cost;
	int32_t width;
	double *factor; /* [cols] */
	int32_t *at;    /* [cols] */
	double *u, *v;
	int32_t *column, *row;    /* of each row, of each column; -1: none */
	int32_t nactive, *active; /* columns that are looked at, rising */
	/*
	 * Of one path: distance to each column, the row before it, whether it was reached,
	 * and the active columns that were not, rising.
	 */
	double *distance;
	int32_t *from;
	bool *reached;
	int32_t nopen, *open;
	/*
	 * Rows of equal costs are of one kind, by the first one's number; NULL: not looked
	 * at. `paths` is how many there were, `gone` in which of them a kind was gone through.
	 */
	int32_t *kind, *gone, paths;
};

static double cost_of(const struct search *s, int32_t i, int32_t j)
{
	return s->factor[j] * s->cost[(int64_t)i * s->width + s->at[j]];
}

/* Go through row i at distance `so_far`; where the nearest open column is, -1 if none. */
static int32_t scan_row(struct search *s, int32_t i, double so_far)
{
	const double *cost = s->cost + (int64_t)i * s->width, *factor = s->factor;
	const double *v = s->v, u = s->u[i];
	const int32_t *open = s->open, *at = s->at, *row = s->row;
	double *distance = s->distance, nearest = INFINITY;
	int32_t best = -1, n = s->nopen;

	for (int32_t a = 0; a < n; a++) {
		int32_t j = open[a];
		double d = so_far + factor[j] * cost[at[j]] - u - v[j];

		if (d < distance[j]) {
			distance[j] = d;
			s->from[j] = i;
		}
		d = distance[j];
		if (d > nearest || d == INFINITY)
			continue;
		if (d < nearest || (row[j] < 0 && row[open[best]] >= 0)) {
			nearest = d;
			best = a;
		}
	}
	return best;
}

/*
 * As scan_row for a row of a kind that was gone through in this path: in exact arithmetic
 * rows of a kind that have columns have one u, so that they come at one distance and
 * change no other. Open columns before `at` are farther than `so_far`.
 */
static int32_t scan_again(const struct search *s, int32_t at, double so_far)
{
	const int32_t *open = s->open, *row = s->row;
	const double *distance = s->distance;
	int32_t best = -1, n = s->nopen;

	for (int32_t a = at; a < n; a++)
		if (distance[open[a]] == so_far)
			return a;
	for (int32_t a = 0; a < n; a++) {
		double d = distance[open[a]], nearest;

		if (d == INFINITY)
			continue;
		nearest = best < 0 ? INFINITY : distance[open[best]];
		if (d < nearest ||
		    (d == nearest && row[open[a]] < 0 && row[open[best]] >= 0))
			best = a;
	}
	return best;
}

/* Has a row of this one's kind been gone through in this path? From now on it has. */
static bool is_known(struct search *s, int32_t i)
{
	int32_t *gone;

	if (!s->kind)
		return false;
	gone = &s->gone[s->kind[i]];
	if (*gone == s->paths)
		return true;
	*gone = s->paths;
	return false;
}

/* Reach the column that is there in the list of open ones. */
static int32_t reach(struct search *s, int32_t at)
{
	int32_t column = s->open[at];

	s->reached[column] = true;
	s->nopen--;
	memmove(s->open + at, s->open + at + 1,
	        (size_t)(s->nopen - at) * sizeof(*s->open));
	return column;
}

/* Along the shortest path from a row without a column to a free one; -1 if none. */
static int32_t augment(struct search *s, int32_t row)
{
	int32_t i = row, sink = -1, at = 0;
	double length = 0;

	for (int32_t a = 0; a < s->nactive; a++) {
		s->distance[s->active[a]] = INFINITY;
		s->reached[s->active[a]] = false;
	}
	memcpy(s->open, s->active, (size_t)s->nactive * sizeof(*s->open));
	s->nopen = s->nactive;
	s->paths++;
	while (sink < 0) {
		int32_t j;

		at = is_known(s, i) ? scan_again(s, at, length) : scan_row(s, i, length);
		if (at < 0)
			return -1;
		j = s->open[at];
		length = s->distance[j];
		if (s->row[j] < 0)
			sink = j;
		else
			i = s->row[reach(s, at)];
	}
	s->u[row] += length;
	for (int32_t a = 0; a < s->nactive; a++) {
		int32_t j = s->active[a];

		if (!s->reached[j])
			continue;
		s->u[s->row[j]] += length - s->distance[j];
		s->v[j] -= length - s->distance[j];
	}
	for (int32_t j = sink, next; j >= 0; j = next) {
		i = s->from[j];
		next = i == row ? -1 : s->column[i];
		s->row[j] = i;
		s->column[i] = j;
	}
	return sink;
}

static void search_alloc(struct search *s, struct arena *a)
{
	size_t n = (size_t)s->cols;

	s->u = arena_alloc(a, (size_t)s->rows, sizeof(*s->u));
	s->v = arena_alloc(a, n, sizeof(*s->v));
	s->row = arena_alloc(a, n, sizeof(*s->row));
	s->distance = arena_alloc(a, n, sizeof(*s->distance));
	s->from = arena_alloc(a, n, sizeof(*s->from));
	s->reached = arena_alloc(a, n, sizeof(*s->reached));
	s->active = arena_alloc(a, n, sizeof(*s->active));
	s->open = arena_alloc(a, n, sizeof(*s->open));
	s->factor = arena_alloc(a, n, sizeof(*s->factor));
	s->at = arena_alloc(a, n, sizeof(*s->at));
	for (int32_t j = 0; j < s->cols; j++) {
		s->row[j] = -1;
		s->factor[j] = j / s->width + 1;
		s->at[j] = j % s->width;
	}
}

double assign_min_cost(int32_t *column, const double *cost, int32_t rows, int32_t cols)
{
	struct arena *a = arena_new();
	struct search s = {.rows = rows,
	                   .cols = cols,
	                   .cost = cost,
	                   .width = cols,
	                   .column = column};
	double sum = 0;

	assert(rows <= cols);
	search_alloc(&s, a);
	for (s.nactive = 0; s.nactive < cols; s.nactive++)
		s.active[s.nactive] = s.nactive;
	for (int32_t i = 0; i < rows && sum < INFINITY; i++)
		if (augment(&s, i) < 0)
			sum = INFINITY;
	for (int32_t i = 0; i < rows && sum < INFINITY; i++)
		sum += cost_of(&s, i, column[i]);
	arena_free(a);
	return sum;
}

/* Look at one more column from now on. */
static void activate(struct search *s, int32_t column)
{
	int32_t at = s->nactive++;

	for (; at > 0 && s->active[at - 1] > column; at--)
		s->active[at] = s->active[at - 1];
	s->active[at] = column;
}

/*
 * Are all sums exact, in any order? They are if loads are whole multiples of a unit of
 * which no sum, of a cost or two for every row, has too many for a double.
 */
static bool sums_are_exact(const double *load, int32_t rows, int32_t queues,
                           int32_t places)
{
	int64_t n = (int64_t)rows * queues;
	double most = 0, unit;
	int exponent;

	for (int64_t i = 0; i < n; i++)
		most = fmax(most, load[i]);
	frexp(4 * most * places * (rows + 2.), &exponent);
	unit = ldexp(1, exponent - DBL_MANT_DIG + 1);
	for (int64_t i = 0; i < n; i++)
		if (fmod(load[i], unit) != 0)
			return false;
	return true;
}

static void find_kinds(struct search *s, struct arena *a)
{
	size_t size = (size_t)s->width * sizeof(*s->cost);

	s->kind = arena_alloc(a, (size_t)s->rows, sizeof(*s->kind));
	s->gone = arena_alloc(a, (size_t)s->rows, sizeof(*s->gone));
	for (int32_t i = 0; i < s->rows; i++) {
		const double *cost = s->cost + (int64_t)i * s->width;
		int32_t k = 0;

		while (k < i && memcmp(cost, s->cost + (int64_t)k * s->width, size) != 0)
			k++;
		s->kind[i] = k;
	}
}

double assign_queues(int32_t *queue, const double *load, int32_t rows, int32_t queues,
                     int32_t places)
{
	struct arena *a = arena_new();
	struct search s = {.rows = rows,
	                   .cols = places * queues,
	                   .cost = load,
	                   .width = queues,
	                   .column = queue};
	double sum = 0;

	assert(rows <= s.cols);
	search_alloc(&s, a);
	if (sums_are_exact(load, rows, queues, places))
		find_kinds(&s, a);
	for (int32_t k = 0; k < queues; k++)
		activate(&s, k);
	for (int32_t i = 0; i < rows; i++) {
		int32_t sink = augment(&s, i);

		assert(sink >= 0);
		if (sink + queues < s.cols)
			activate(&s, sink + queues);
	}
	for (int32_t i = 0; i < rows; i++) {
		sum += cost_of(&s, i, queue[i]);
		queue[i] %= queues;
	}
	arena_free(a);
	return sum;
}
