/* Meshes, layouts and problems from texts. */
#include "api/handle.h"

#include "notation/notation.h"
#include "plan/position.h"

#include <string.h>

struct mesh_reading {
	struct api api;
	struct shardsim_mesh **out;
	const char *text;
};

static bool mesh_body(void *self)
{
	struct mesh_reading *r = self;
	struct shardsim_mesh *m;

	if (!api_needs_out(&r->api, r->out) || !api_needs_text(&r->api, r->text, "mesh"))
		return false;
	m = handle_new(HANDLE_MESH, sizeof(*m));
	m->text = arena_strdup(m->handle.arena, r->text);
	if (mesh_parse(&m->mesh, m->handle.arena, m->text,
	               where_option("mesh", m->text), &r->api.error) != OK)
		return false;
	*r->out = m;
	return true;
}

enum shardsim_status shardsim_mesh_read(struct shardsim_mesh **out, const char *text,
                                        struct shardsim_error *error)
{
	struct mesh_reading r = {.out = out, .text = text};

	if (out)
		*out = NULL;
	return api_call(&r.api, mesh_body, &r, error);
}

struct layout_reading {
	struct api api;
	struct shardsim_layout **out;
	const struct shardsim_mesh *mesh;
	const char *array, *text;
};

static bool layout_body(void *self)
{
	struct layout_reading *r = self;
	struct shardsim_layout *l;
	struct error *e = &r->api.error;

	if (!api_needs_out(&r->api, r->out) ||
	    !api_needs(&r->api, r->mesh, HANDLE_MESH) ||
	    !api_needs_text(&r->api, r->array, "array") ||
	    !api_needs_text(&r->api, r->text, "layout"))
		return false;
	l = handle_new(HANDLE_LAYOUT, sizeof(*l));
	l->mesh = r->mesh;
	l->array_text = arena_strdup(l->handle.arena, r->array);
	l->text = arena_strdup(l->handle.arena, r->text);
	if (array_parse(&l->array, l->array_text, where_option("array", l->array_text),
	                e) != OK ||
	    layout_parse(&l->layout, &r->mesh->mesh, &l->array.shape, l->handle.arena,
	                 l->text, where_option("layout", l->text), e) != OK)
		return false;
	handle_hold(&l->handle, &r->mesh->handle);
	*r->out = l;
	return true;
}

enum shardsim_status shardsim_layout_read(struct shardsim_layout **out,
                                          const struct shardsim_mesh *mesh,
                                          const char *array, const char *text,
                                          struct shardsim_error *error)
{
	struct layout_reading r = {
		.out = out, .mesh = mesh, .array = array, .text = text};

	if (out)
		*out = NULL;
	return api_call(&r.api, layout_body, &r, error);
}

struct layout_printing {
	struct api api;
	char **out;
	const struct shardsim_layout *layout;
	const char *spelling;
};

/* Writes in the spelling that was asked for, if there is one. */
static bool print_spelling(struct text *out, struct layout_printing *p)
{
	const struct shardsim_layout *l = p->layout;
	struct text why = {0};
	int n = 0;

	if (!p->spelling) {
		layout_print(out, &l->layout, &l->mesh->mesh, &l->array.shape);
		return true;
	}
	while (n < NOTATIONS && strcmp(p->spelling, notation_name(n)) != 0)
		n++;
	if (n == NOTATIONS)
		return api_fail(&p->api, SHARDSIM_RANGE,
		                "unknown spelling '%.40s', expected jax, hlo, shardy, "
		                "dtensor or paper",
		                p->spelling);
	if (!layout_print_as(out, n, &l->layout, &l->mesh->mesh, &l->array.shape, &why))
		return api_fail(&p->api, SHARDSIM_NOT_APPLICABLE, "%s",
		                why.s ? why.s : "this spelling cannot say it");
	text_free(&why);
	return true;
}

static bool layout_print_body(void *self)
{
	struct layout_printing *p = self;
	struct text out = {0};

	if (!api_needs_out(&p->api, p->out) ||
	    !api_needs(&p->api, p->layout, HANDLE_LAYOUT) || !print_spelling(&out, p))
		return false;
	*p->out = text_give(&out);
	return true;
}

enum shardsim_status shardsim_layout_print(char **out,
                                           const struct shardsim_layout *layout,
                                           const char *spelling,
                                           struct shardsim_error *error)
{
	struct layout_printing p = {.out = out, .layout = layout, .spelling = spelling};

	if (out)
		*out = NULL;
	return api_call(&p.api, layout_print_body, &p, error);
}

/* --- problems --- */

struct problem_reading {
	struct api api;
	struct shardsim_problem **out;
	const struct shardsim_problem_text *text;
};

/* The texts with their places, all the arena's: errors and the problem borrow them. */
static struct problem_text copy_texts(struct arena *a,
                                      const struct shardsim_problem_text *t)
{
	struct problem_text out = {0};
	const struct {
		const char *name, *from;
		const char **text;
		struct where *at;
	} copy[] = {
		{"array", t->array, &out.array, &out.array_at},
		{"mesh", t->mesh, &out.mesh, &out.mesh_at},
		{"to_mesh", t->to_mesh, &out.to_mesh, &out.to_mesh_at},
		{"from", t->from, &out.from, &out.from_at},
		{"to", t->to, &out.to, &out.to_at},
		{"memory_limit", t->memory_limit, &out.memory_limit,
	         &out.memory_limit_at},
		{"num_devices", t->num_devices, &out.num_devices, &out.num_devices_at},
		{"devices", t->devices, &out.devices, &out.devices_at},
		{"to_devices", t->to_devices, &out.to_devices, &out.to_devices_at},
	};

	for (size_t i = 0; i < sizeof(copy) / sizeof(*copy); i++) {
		if (copy[i].from)
			*copy[i].text = arena_strdup(a, copy[i].from);
		*copy[i].at = where_option(copy[i].name, *copy[i].text);
	}
	return out;
}

static bool problem_body(void *self)
{
	struct problem_reading *r = self;
	const struct shardsim_problem_text *t = r->text;
	struct shardsim_problem *p;
	struct problem_text text;

	if (!api_needs_out(&r->api, r->out))
		return false;
	if (!t)
		return api_fail(&r->api, SHARDSIM_MISUSE, "expected texts, not NULL");
	if (!api_needs_text(&r->api, t->array, "array") ||
	    !api_needs_text(&r->api, t->from, "from") ||
	    !api_needs_text(&r->api, t->to, "to"))
		return false;
	p = handle_new(HANDLE_PROBLEM, sizeof(*p));
	text = copy_texts(p->handle.arena, t);
	if (problem_make(&p->problem, p->handle.arena, &text, &r->api.error) != OK)
		return false;
	*r->out = p;
	return true;
}

enum shardsim_status shardsim_problem_read(struct shardsim_problem **out,
                                           const struct shardsim_problem_text *text,
                                           struct shardsim_error *error)
{
	struct problem_reading r = {.out = out, .text = text};

	if (out)
		*out = NULL;
	return api_call(&r.api, problem_body, &r, error);
}

struct problem_making {
	struct api api;
	struct shardsim_problem **out;
	const struct shardsim_layout *from, *to;
	int64_t memory_limit_bytes;
};

static bool arrays_equal(const struct array *a, const struct array *b)
{
	return a->dtype == b->dtype && a->shape.rank == b->shape.rank &&
	       !memcmp(a->shape.dim, b->shape.dim,
	               (size_t)a->shape.rank * sizeof(*a->shape.dim));
}

static bool new_problem_body(void *self)
{
	struct problem_making *m = self;
	struct shardsim_problem_text t;
	struct shardsim_problem *p;
	struct problem_text text;

	if (!api_needs_out(&m->api, m->out) ||
	    !api_needs(&m->api, m->from, HANDLE_LAYOUT) ||
	    !api_needs(&m->api, m->to, HANDLE_LAYOUT))
		return false;
	if (!arrays_equal(&m->from->array, &m->to->array))
		return api_fail(&m->api, SHARDSIM_TYPE,
		                "the layouts are of different arrays, %.80s and %.80s",
		                m->from->array_text, m->to->array_text);
	p = handle_new(HANDLE_PROBLEM, sizeof(*p));
	t = (struct shardsim_problem_text){.array = m->from->array_text,
	                                   .mesh = m->from->mesh->text,
	                                   .to_mesh = m->to->mesh->text,
	                                   .from = m->from->text,
	                                   .to = m->to->text};
	text = copy_texts(p->handle.arena, &t);
	if (problem_make(&p->problem, p->handle.arena, &text, &m->api.error) != OK)
		return false;
	if (m->memory_limit_bytes >= 0)
		p->problem.memory_limit_bytes = m->memory_limit_bytes;
	*m->out = p;
	return true;
}

enum shardsim_status shardsim_problem_new(struct shardsim_problem **out,
                                          const struct shardsim_layout *from,
                                          const struct shardsim_layout *to,
                                          int64_t memory_limit_bytes,
                                          struct shardsim_error *error)
{
	struct problem_making m = {.out = out,
	                           .from = from,
	                           .to = to,
	                           .memory_limit_bytes = memory_limit_bytes};

	if (out)
		*out = NULL;
	return api_call(&m.api, new_problem_body, &m, error);
}

const struct placement *problem_place(const struct shardsim_problem *problem,
                                      const struct machine *machine, struct arena *a)
{
	const struct problem *p = &problem->problem;
	struct placement place = {p->ndevices, position_devices(p, machine, a)};

	return place.platform ? arena_dup(a, &place, 1, sizeof(place)) : NULL;
}

bool problem_fits(struct api *api, const struct shardsim_problem *problem,
                  const struct machine *machine)
{
	int32_t n = position_needs(&problem->problem);

	return n <= machine->ndevices ||
	       api_fail(api, SHARDSIM_RANGE,
	                "the problem needs device %d, the machine has 0 to %d",
	                (int)n - 1, (int)machine->ndevices - 1);
}
