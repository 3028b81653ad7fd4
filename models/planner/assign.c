#include "planner/assign.h"

#include "base/arena.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

/* Duals u, v: cost - u - v is >= 0 everywhere and 0 where a row has its column. */
struct search {
	const double *cost;
	int32_t rows, cols;
	double *u, *v;
	int32_t *column, *row; /* of each row, of each column; -1: none */
	/* Of one path: distance to each column, the row before it, columns reached. */
	double *distance;
	int32_t *from;
	bool *reached;
};

/* Go through row i at distance `so_far`; the nearest column not reached, -1 if none. */
static int32_t scan_row(struct search *s, int32_t i, double so_far)
{
	const double *cost = s->cost + (int64_t)i * s->cols;
	int32_t best = -1;

	for (int32_t j = 0; j < s->cols; j++) {
		double d = so_far + cost[j] - s->u[i] - s->v[j];

		if (s->reached[j])
			continue;
		if (d < s->distance[j]) {
			s->distance[j] = d;
			s->from[j] = i;
		}
		if (s->distance[j] == INFINITY)
			continue;
		if (best < 0 || s->distance[j] < s->distance[best] ||
		    (s->distance[j] == s->distance[best] && s->row[j] < 0 &&
		     s->row[best] >= 0))
			best = j;
	}
	return best;
}

/* Along the shortest path from a row without a column to a free one; false if none. */
static bool augment(struct search *s, int32_t row)
{
	int32_t i = row, sink = -1;
	double length = 0;

	for (int32_t j = 0; j < s->cols; j++) {
		s->distance[j] = INFINITY;
		s->reached[j] = false;
	}
	while (sink < 0) {
		int32_t j = scan_row(s, i, length);

		if (j < 0)
			return false;
		length = s->distance[j];
		if (s->row[j] < 0) {
			sink = j;
			break;
		}
		s->reached[j] = true;
		i = s->row[j];
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
	size_t n = (size_t)cols;
	struct search s = {.cost = cost, .rows = rows, .cols = cols, .column = column};
	double sum = 0;

	assert(rows <= cols);
	s.u = arena_alloc(a, (size_t)rows, sizeof(*s.u));
	s.v = arena_alloc(a, n, sizeof(*s.v));
	s.row = arena_alloc(a, n, sizeof(*s.row));
	s.distance = arena_alloc(a, n, sizeof(*s.distance));
	s.from = arena_alloc(a, n, sizeof(*s.from));
	s.reached = arena_alloc(a, n, sizeof(*s.reached));
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
