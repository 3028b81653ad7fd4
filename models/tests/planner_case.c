#include "planner_case.h"

#include "notation/notation.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct problem *case_of_texts(struct arena *a, const char *mesh, const char *array,
                              const char *from, const char *to)
{
	struct problem *p = arena_alloc(a, 1, sizeof(*p));
	struct problem_text text = {.array = array, .mesh = mesh, .from = from, .to = to};
	struct error e = {0};

	ck_assert_msg(problem_make(p, a, &text, &e) == OK, "%s", e.text);
	return p;
}

struct mesh case_mesh(struct arena *a, const int *sizes)
{
	struct mesh m = {.ndevices = 1};

	for (; sizes[m.naxes]; m.naxes++) {
		m.axis[m.naxes].name = arena_printf(a, "x%d", m.naxes);
		m.axis[m.naxes].size = sizes[m.naxes];
		m.ndevices *= sizes[m.naxes];
	}
	return m;
}

struct atoms case_atoms(const struct mesh *m)
{
	struct layout none = layout_replicated(1);
	struct atoms atoms;
	struct text why = {0};

	ck_assert(atoms_common(&atoms, &none, m, &none, m, &why));
	return atoms;
}

struct problem *case_of_layouts(struct arena *a, const struct mesh *m,
                                const struct shape *extent, const struct layout *from,
                                const struct layout *to)
{
	struct problem *p = arena_alloc(a, 1, sizeof(*p));

	p->arena = a;
	p->array.shape = *extent;
	for (p->array.dtype = dtypes; strcmp(p->array.dtype->name, "f32") != 0;)
		p->array.dtype++;
	p->mesh = p->to_mesh = *m;
	p->memory_limit_bytes = -1;
	p->from = *from;
	p->to = *to;
	problem_finish(p);
	return p;
}

struct problem *case_of_types(struct arena *a, const struct mesh *m,
                              const struct shape *extent, const struct type *from,
                              const struct type *to)
{
	struct atoms atoms = case_atoms(m);
	struct layout source, target;

	ck_assert(layout_of_type(&source, from, &atoms, m));
	ck_assert(layout_of_type(&target, to, &atoms, m));
	return case_of_layouts(a, m, extent, &source, &target);
}

struct listing {
	struct type *out;
	int n, capacity;
	const struct atoms *atoms;
};

static void put_atom(struct type *t, int dim, uint8_t atom)
{
	int at = type_first(t, dim + 1);

	memmove(t->atom + at + 1, t->atom + at, (size_t)(ATOMS_MAX - at - 1));
	t->atom[at] = atom;
	t->count[dim]++;
}

static void list_types(struct listing *x, const struct type *t, int first_dim,
                       uint32_t used)
{
	if (x->n == x->capacity) {
		x->capacity *= 2;
		x->out = xrealloc(x->out, (size_t)x->capacity, sizeof(*x->out));
	}
	x->out[x->n++] = *t;
	for (int dim = first_dim; dim < t->rank; dim++) {
		for (int i = 0; i < x->atoms->n; i++) {
			struct type next = *t;

			if (used >> i & 1)
				continue;
			put_atom(&next, dim, (uint8_t)i);
			list_types(x, &next, dim, used | UINT32_C(1) << i);
		}
	}
}

int case_types(struct type **out, const struct atoms *atoms, int rank)
{
	struct listing x = {.capacity = 64, .atoms = atoms};
	struct type none;

	memset(&none, 0, sizeof(none));
	none.rank = (uint8_t)rank;
	x.out = xmalloc((size_t)x.capacity, sizeof(*x.out));
	list_types(&x, &none, 0, 0);
	*out = x.out;
	return x.n;
}

struct type case_random_type(struct rng *r, const struct atoms *atoms,
                             const struct shape *extent, unsigned used_percent)
{
	struct type t;
	uint8_t order[ATOMS_MAX];

	memset(&t, 0, sizeof(t));
	t.rank = (uint8_t)extent->rank;
	for (int i = 0; i < atoms->n; i++) {
		int j = (int)rng_below(r, (uint32_t)i + 1);

		order[i] = order[j];
		order[j] = (uint8_t)i;
	}
	for (int i = 0; i < atoms->n; i++) {
		int dim = (int)rng_below(r, (uint32_t)extent->rank);
		int64_t left = extent->dim[dim] / type_shards(&t, atoms, dim);

		if (rng_below(r, 100) < used_percent &&
		    left % atoms->atom[order[i]].size == 0)
			put_atom(&t, dim, order[i]);
	}
	return t;
}

const char *case_describe(struct arena *a, const struct problem *p)
{
	struct text t = {0};

	mesh_print(&t, &p->mesh);
	text_printf(&t, " ");
	array_print(&t, &p->array);
	text_printf(&t, " ");
	layout_print(&t, &p->from, &p->mesh, &p->array.shape);
	text_printf(&t, " -> ");
	layout_print(&t, &p->to, &p->to_mesh, &p->array.shape);
	return text_take(&t, a);
}
