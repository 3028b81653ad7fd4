#include "planner/send/assign.h"

#include "base/arena.h"
#include "base/assert.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/*
 * The duals u and v: cost - u - v is >= 0 everywhere and 0 where a row has its column.
 */
struct search {
	int32_t rows, cols;
	const double *cost; /* [rows * cols] */
	double *u, *v;
	int32_t *column, *row; /* of each row, of each column; -1: none */
	/*
	 * For one path: the distance to each column, the row before it, whether it was
	 * reached, and the columns that were not reached, rising.
	 */
	double *distance;
	int32_t *from;
	bool *reached;
	int32_t nopen, *open;
};

/*
 * Goes through row i at distance `so_far`. Returns where the nearest open column is, or
 * -1.
 */
static int32_t scan_row(struct search *s, int32_t i, double so_far)
{
	const double *cost = s->cost + (int64_t)i * s->cols;
	const double *v = s->v, u = s->u[i];
	const int32_t *open = s->open, *row = s->row;
	double *distance = s->distance, nearest = INFINITY;
	int32_t best = -1, n = s->nopen;

	for (int32_t a = 0; a < n; a++) {
		int32_t j = open[a];
		double d = so_far + cost[j] - u - v[j];

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

/* Reaches the column at a place in the list of open ones. */
static int32_t reach_column(struct search *s, int32_t at)
{
	int32_t column = s->open[at];

	s->reached[column] = true;
	s->nopen--;
	memmove(s->open + at, s->open + at + 1,
	        (size_t)(s->nopen - at) * sizeof(*s->open));
	return column;
}

/*
 * Augments along the shortest path from a row without a column to a free one. Returns
 * false if there is none.
 */
static bool augment(struct search *s, int32_t row)
{
	int32_t i = row, sink = -1;
	double length = 0;

	for (int32_t j = 0; j < s->cols; j++) {
		s->distance[j] = INFINITY;
		s->reached[j] = false;
		s->open[j] = j;
	}
	s->nopen = s->cols;
	while (sink < 0) {
		int32_t at = scan_row(s, i, length), j;

		if (at < 0)
			return false;
		j = s->open[at];
		length = s->distance[j];
		if (s->row[j] < 0)
			sink = j;
		else
			i = s->row[reach_column(s, at)];
	}
	s->u[row] += length;
	for (int32_t j = 0; j < s->cols; j++) {
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
	return true;
}

double assign_min_cost(int32_t *column, const double *cost, int32_t rows, int32_t cols)
{
	struct arena *a = arena_new();
	struct search s = {.rows = rows, .cols = cols, .cost = cost, .column = column};
	size_t n = (size_t)cols;
	double sum = 0;

	assert(rows <= cols);
	s.u = arena_alloc(a, (size_t)rows, sizeof(*s.u));
	s.v = arena_alloc(a, n, sizeof(*s.v));
	s.row = arena_alloc(a, n, sizeof(*s.row));
	s.distance = arena_alloc(a, n, sizeof(*s.distance));
	s.from = arena_alloc(a, n, sizeof(*s.from));
	s.reached = arena_alloc(a, n, sizeof(*s.reached));
	s.open = arena_alloc(a, n, sizeof(*s.open));
	for (int32_t j = 0; j < cols; j++)
		s.row[j] = -1;
	for (int32_t i = 0; i < rows && sum < INFINITY; i++)
		if (!augment(&s, i))
			sum = INFINITY;
	for (int32_t i = 0; i < rows && sum < INFINITY; i++)
		sum += cost[(int64_t)i * cols + column[i]];
	arena_free(a);
	return sum;
}
