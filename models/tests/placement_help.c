#include "placement_help.h"

#include <stdlib.h>
#include <string.h>

/* Below each first factor, all factorizations of the rest. */
static void factorize(struct hierarchy *out, int *n, const struct hierarchy *head,
                      int32_t left)
{
	if (left == 1) {
		out[(*n)++] = *head;
		return;
	}
	for (int32_t f = 2; f <= left; f++) {
		struct hierarchy longer = *head;

		if (left % f)
			continue;
		hierarchy_add(&longer, NULL, f);
		factorize(out, n, &longer, left / f);
	}
}

int factorizations(struct hierarchy **out, struct arena *a, int32_t n)
{
	struct hierarchy empty = {0};
	int found = 0;

	*out = arena_alloc(a, 256, sizeof(**out)); /* 96 has 112 */
	factorize(*out, &found, &empty, n);
	return found;
}

struct mesh mesh_of_sizes(const struct hierarchy *sizes)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct mesh mesh = {.naxes = sizes->nlevels, .ndevices = sizes->ndevices};

	for (int i = 0; i < sizes->nlevels; i++)
		mesh.axis[i] = (struct axis){names[i], sizes->level[i].size};
	return mesh;
}

void each_placement(int32_t n, void (*visit)(void *self, const struct placed_case *c),
                    void *self)
{
	struct arena *a = arena_new();
	struct hierarchy *h;
	int nh = factorizations(&h, a, n);

	for (int i = 0; i < nh; i++)
		for (int j = 0; j < nh; j++) {
			struct placed_case c = {.hierarchy = h[i],
			                        .axes = mesh_of_sizes(&h[j])};
			struct error e = {0};
			struct matrix *matrix;
			int64_t nmatrices = 0;

			if (matrices_of(&matrix, &nmatrices, a, &c.hierarchy, &c.axes,
			                (struct where){0}, &e) != OK)
				abort();
			for (int64_t k = 0; k < nmatrices; k++)
				for (c.reduce = 1; c.reduce < 1u << c.axes.naxes;
				     c.reduce++) {
					c.matrix = matrix[k];
					visit(self, &c);
				}
		}
	arena_free(a);
}

char *program_fault(struct arena *a, const struct placed_case *c, enum order order,
                    const struct program *p)
{
	struct text why = {0};
	struct reduction r;
	struct space space;

	space_collapsed(&space, a, &c->hierarchy, &c->matrix, c->reduce, order);
	reduction_of(&r, a, &space, p);
	if (reduction_check(&r, &c->matrix, c->reduce, &why)) {
		text_free(&why);
		return NULL;
	}
	return text_take(&why, a);
}
