/* What all forms of workloads share: tensors with their layouts, and how they are moved. */
#include "move/read.h"

#include "base/units.h"
#include "facts/model.h"

#include <string.h>

enum status move_settings(struct move_work *w, const struct move_texts *t,
                          struct error *e)
{
	struct scan s;

	if (t->concurrent) {
		s = scan_start(t->concurrent, t->concurrent_at, e);
		if (!scan_int(&s, "concurrent", 1, MOVE_CONCURRENT_MAX, &w->concurrent) ||
		    scan_finish(&s) != OK)
			return e->code;
	}
	if (t->batch && units_bytes(t->batch, t->batch_at, &w->batch_bytes, e) != OK)
		return e->code;
	if (t->source) {
		w->free_source = strcmp(t->source, "free") == 0;
		if (!w->free_source && strcmp(t->source, "keep") != 0)
			return error_set(
				e, E_SYNTAX, t->source_at,
				"unknown source '%.40s', expected keep or free",
				t->source);
	}
	if (!t->memory_limit)
		return OK;
	w->any_memory = strcmp(t->memory_limit, "none") == 0;
	w->memory_limit_bytes = -1;
	if (w->any_memory)
		return OK;
	return units_bytes(t->memory_limit, t->memory_limit_at, &w->memory_limit_bytes,
	                   e);
}

/* --- tensors -------------------------------------------------------------------------- */

/* Sets one end of a problem: the layout, the mesh and the devices of the stage. */
static enum status set_side(const char **layout, struct where *layout_at,
                            const char **devices, struct where *devices_at,
                            const struct scheme *s, const struct model_tensor *t,
                            struct error *e)
{
	if (!*layout && scheme_layout(layout, layout_at, s, t, e) != OK)
		return e->code;
	if (*devices)
		return OK;
	*devices = s->stage_devices[scheme_stage(s, t)];
	*devices_at = s->devices ? s->devices_at : s->at;
	return OK;
}

static enum status set_sides(struct problem_text *text, const struct move_sides *sides,
                             const struct model_tensor *t, struct where at,
                             struct error *e)
{
	bool own_mesh = text->mesh != NULL;

	if (own_mesh && (!text->from || !text->to))
		return error_set(
			e, E_SYNTAX, at,
			"tensor '%.100s' has a mesh, expected from and to with "
			"it",
			t->name);
	if (own_mesh)
		return OK;
	if (!sides->given)
		return error_set(e, E_TYPE, at,
		                 "tensor '%.100s' has no mesh, expected one, or --from "
		                 "and --to",
		                 t->name);
	text->mesh = sides->from.stage_text;
	text->mesh_at = sides->from.at;
	text->to_mesh = sides->to.stage_text;
	text->to_mesh_at = sides->to.at;
	if (set_side(&text->from, &text->from_at, &text->devices, &text->devices_at,
	             &sides->from, t, e) != OK)
		return e->code;
	return set_side(&text->to, &text->to_at, &text->to_devices,
	                &text->to_devices_at, &sides->to, t, e);
}

enum status move_add_tensor(struct move_work *w, const struct move_sides *sides,
                            const struct model_tensor *t, const struct dtype *dtype,
                            const struct problem_text *said, struct where at,
                            struct error *e)
{
	struct problem_text text = *said;
	struct array array = {.dtype = sides->dtype ? sides->dtype : dtype};
	struct text shape = {0};
	struct problem p;
	struct arena *scratch;
	bool known = false;
	int64_t before = w->array.n;

	array.shape.rank = t->rank;
	for (int i = 0; i < t->rank; i++)
		array.shape.dim[i] = t->dim[i];
	array_print(&shape, &array);
	text.array = text_take(&shape, w->arena);
	text.array_at = at;
	if (set_sides(&text, sides, t, at, e) != OK ||
	    move_add(w, t->name, &text, 1, at, e) != OK)
		return e->code;
	known = w->array.n == before;
	if (known)
		return OK;
	/* What does not fit is said at its place, before anything is planned. */
	scratch = arena_new();
	if (problem_make(&p, scratch, &text, e) != OK) {
		struct error first = *e;

		e->code = OK;
		error_set(e, first.code, first.at, "tensor '%.100s': %.250s", t->name,
		          first.text);
		/* The text may be of the scratch arena; only the place is kept. */
		e->at.source = NULL;
	}
	arena_free(scratch);
	return e->code;
}

enum status move_add_model(struct move_work *w, struct move_sides *sides,
                           const char *path, struct error *e)
{
	const struct problem_text none = {0};
	struct architecture m;
	struct model_tensor *t;
	int64_t n;

	if (architecture_read(&m, w->arena, path, e) != OK)
		return e->code;
	if (!w->name)
		w->name = m.name;
	sides->from.heads = sides->to.heads = m.heads;
	sides->from.kv_heads = sides->to.kv_heads = m.kv_heads;
	sides->from.layers = sides->to.layers = m.layers;
	model_tensors(&t, &n, w->arena, &m);
	for (int64_t i = 0; i < n; i++)
		if (move_add_tensor(w, sides, &t[i], m.train.dtype, &none,
		                    (struct where){.file = path}, e) != OK)
			return e->code;
	return OK;
}
