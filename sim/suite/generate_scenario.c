/* How all generators make layouts and scenarios. */
#include "suite/generate.h"

#include "notation/notation.h"

struct layout generate_insert(const struct layout *l, int dim, int at, struct part part)
{
	struct layout out = layout_replicated(l->rank);

	for (int i = 0; i < l->rank; i++) {
		int n;
		const struct part *old = layout_parts(l, i, &n);

		for (int k = 0; k <= n; k++) {
			if (i == dim && k == at)
				layout_append(&out, i, part);
			if (k < n)
				layout_append(&out, i, old[k]);
		}
	}
	return out;
}

const char *generate_layout_text(struct suite *s, const struct layout *l,
                                 const struct mesh *m, const struct shape *shape)
{
	struct text t = {0};

	layout_print(&t, l, m, shape);
	return text_take(&t, s->arena);
}

void generate_add(struct suite *s, const struct generate *g, const char *family,
                  int64_t number, const char *array, const char *mesh, const char *from,
                  const char *to)
{
	struct scenario sc = {.family = family,
	                      .source = g->random ? "generated: random"
	                                          : "generated: layouts",
	                      .at = g->at};

	sc.name = arena_printf(s->arena, "%s-%05lld", family, (long long)number);
	sc.text = (struct problem_text){.array = array,
	                                .mesh = mesh,
	                                .from = from,
	                                .to = to,
	                                .array_at = g->at,
	                                .mesh_at = g->at,
	                                .from_at = g->at,
	                                .to_at = g->at};
	suite_add(s, &sc);
}

void generate_place(struct layout *l, struct rng *r, struct part part)
{
	int dim = (int)rng_below(r, (uint32_t)l->rank + 1);

	if (dim < l->rank)
		*l = generate_insert(l, dim, (int)rng_below(r, l->nparts[dim] + 1u),
		                     part);
}
