#include "digit_case.h"

#include "array/tile.h"
#include "plan/check.h"
#include "plan/plan_text.h"
#include "planner/planner.h"
#include "xla_text.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

/* --- problems --------------------------------------------------------------------- */

static struct mesh random_mesh(struct rng *r, int32_t most, struct arena *a)
{
	static const char *const names[] = {"x", "y", "z"};
	static const int32_t sizes[] = {2, 4, 3, 2, 6, 4, 5, 2};
	struct mesh m = {.ndevices = 1};
	int naxes = 1 + (int)rng_below(r, 3);
	int32_t *ids;

	for (int i = 0; i < naxes; i++) {
		int32_t size = sizes[rng_below(r, 8)];

		if (m.ndevices * size > most)
			continue;
		m.axis[m.naxes] = (struct axis){names[m.naxes], size};
		m.naxes++;
		m.ndevices *= size;
	}
	if (rng_below(r, 4))
		return m;
	ids = arena_alloc(a, (size_t)m.ndevices, sizeof(*ids));
	for (int32_t i = 0; i < m.ndevices; i++) {
		int32_t k = (int32_t)rng_below(r, (uint32_t)i + 1);

		ids[i] = ids[k];
		ids[k] = i;
	}
	m.ids = ids;
	return m;
}

/* Every prime digit of the mesh in a random place of a random dimension, or nowhere. */
static struct layout random_layout(struct rng *r, const struct mesh *m, int rank)
{
	struct part list[3][LAYOUT_PARTS_MAX], digit[LAYOUT_PARTS_MAX];
	struct layout l = layout_replicated(rank);
	int n[3] = {0};

	for (int x = 0; x < m->naxes; x++) {
		struct part whole = {x, 1, m->axis[x].size};
		int count = parts_digits(digit, &whole, 1);

		for (int k = 0; k < count; k++) {
			int dim = (int)rng_below(r, (uint32_t)rank + 1), at;

			if (dim == rank)
				continue;
			at = (int)rng_below(r, (uint32_t)n[dim] + 1);
			memmove(&list[dim][at + 1], &list[dim][at],
			        (size_t)(n[dim]++ - at) * sizeof(digit[0]));
			list[dim][at] = digit[k];
		}
	}
	for (int dim = 0; dim < rank; dim++)
		for (int k = 0; k < n[dim]; k++)
			layout_append(&l, dim, list[dim][k]);
	layout_normalise(&l);
	return l;
}

static int64_t common_multiple(int64_t a, int64_t b)
{
	int64_t n = a;

	while (n % b != 0)
		n += a;
	return n;
}

struct problem *digit_problem(struct rng *r, struct arena *a, int32_t most, bool uneven)
{
	struct mesh m = random_mesh(r, most, a);
	int rank = 1 + (int)rng_below(r, 3);
	struct layout from = random_layout(r, &m, rank), to = random_layout(r, &m, rank);
	struct array array = array_of("1");

	array.shape.rank = rank;
	for (int dim = 0; dim < rank; dim++) {
		int64_t s = layout_shards(&from, dim), t = layout_shards(&to, dim);
		uint32_t least = (uint32_t)(s < t ? s : t);

		array.shape.dim[dim] = common_multiple(s, t) * (1 + rng_below(r, 3));
		if (uneven)
			array.shape.dim[dim] -= rng_below(r, least);
	}
	return problem_of(&array, &m, NULL, &from, &to, a);
}

bool digit_changes_owner(const struct problem *p)
{
	struct arena *a = arena_new();
	struct tilemap from = tilemap_make(&p->from, &p->mesh, &p->padded, a);
	struct tilemap to = tilemap_make(&p->to, &p->to_mesh, &p->padded, a);
	bool changes = false;

	for (int32_t d = 0; d < p->ndevices; d++)
		changes = changes || tilemap_common(&from, &to, &p->padded, d) == 0;
	arena_free(a);
	return changes;
}

/* --- plans --- */

struct problem *digit_texts(struct arena *a, const char *array, const char *mesh,
                            const char *from, const char *to)
{
	struct problem *p = arena_alloc(a, 1, sizeof(*p));
	struct problem_text t = {.array = array, .mesh = mesh, .from = from, .to = to};
	struct error e = {0};

	ck_assert_msg(problem_make(p, a, &t, &e) == OK, "%s", e.text);
	return p;
}

const char *digit_printed(const struct plan *p, struct arena *a)
{
	struct text t = {0};

	plan_print(&t, p);
	return text_take(&t, a);
}

bool digit_proven(const struct plan *p, struct arena *a, const char **reason)
{
	struct text why = {0};
	bool ok = plan_check(p, &why);

	*reason = text_take(&why, a);
	return ok;
}

extern const struct planner planner_digit;

/* Prices that take the k-th way of the digit planner, in turn. */
struct turns {
	int wanted, asked;
};

static struct price turn_plan(void *self, const struct plan *plan)
{
	struct turns *t = self;

	(void)plan;
	return (struct price){.cost = t->asked++ == t->wanted ? 0.5 : 1};
}

struct plan *digit_random_plan(struct rng *r, struct arena *a, bool uneven)
{
	struct problem *p = digit_problem(r, a, 24, uneven);
	struct turns turns = {.wanted = (int)rng_below(r, 6)};
	struct prices prices = {.self = &turns, .plan = turn_plan};
	struct plan *plan = NULL;
	struct text why = {0};

	if (planner_run(&planner_digit, &plan, p, &prices, a, &why) != ANSWER_PLAN)
		plan = NULL;
	text_free(&why);
	return plan && plan->nsteps > 0 ? plan : NULL;
}
