#include "planner/assign.h"

#include "base/arena.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

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
	/* Of one path: distance to each column, the row before it, columns reached. */
	double *distance;
	int32_t *from;
	bool *reached;
};

static double cost_of(const struct search *s, int32_t i, int32_t j)
{
	return s->factor[j] * s->cost[(int64_t)i * s->width + s->at[j]];
}

/* Go through row i at distance `so_far`; the nearest column not reached, -1 if none. */
static int32_t scan_row(struct search *s, int32_t i, double so_far)
{
	const double *cost = s->cost + (int64_t)i * s->width, *factor = s->factor;
	const double *v = s->v, u = s->u[i];
	const int32_t *active = s->active, *at = s->at, *row = s->row;
	const bool *reached = s->reached;
	double *distance = s->distance, nearest = INFINITY;
	int32_t best = -1, n = s->nactive;

	for (int32_t a = 0; a < n; a++) {
		int32_t j = active[a];
		double d;

		if (reached[j])
			continue;
		d = so_far + factor[j] * cost[at[j]] - u - v[j];
		if (d < distance[j]) {
			distance[j] = d;
			s->from[j] = i;
		}
		d = distance[j];
		if (d > nearest || d == INFINITY)
			continue;
		if (d < nearest || (row[j] < 0 && row[best] >= 0)) {
			nearest = d;
			best = j;
		}
	}
	return best;
}

/* Along the shortest path from a row without a column to a free one; -1 if none. */
static int32_t augment(struct search *s, int32_t row)
{
	int32_t i = row, sink = -1;
	double length = 0;

	for (int32_t a = 0; a < s->nactive; a++) {
		s->distance[s->active[a]] = INFINITY;
		s->reached[s->active[a]] = false;
	}
	while (sink < 0) {
		int32_t j = scan_row(s, i, length);

		if (j < 0)
			return -1;
		length = s->distance[j];
		if (s->row[j] < 0) {
			sink = j;
			break;
		}
		s->reached[j] = true;
		i = s->row[j];
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
