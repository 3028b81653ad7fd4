#include "plan/plan_json.h"

#include "notation/notation.h"
#include "plan/plan_text.h"
#include "plan/view.h"

#include <math.h>
#include <string.h>

json_t *json_text(const char *s)
{
	json_t *value = json_string(s);
	struct text t = {0};

	if (value)
		return value;
	while (*s) {
		json_t *one = NULL;
		size_t n = 0;

		/* a character is of at most four bytes */
		while (!one && n < 4 && s[n])
			one = json_stringn(s, ++n);
		if (one)
			text_append(&t, s, n);
		else
			text_append(&t, "\xef\xbf\xbd", 3);
		s += one ? n : 1;
		json_decref(one);
	}
	value = json_string(t.s);
	text_free(&t);
	return value;
}

json_t *json_quantity(double x)
{
	bool whole = x == nearbyint(x) && fabs(x) <= 0x1p53;

	return whole ? json_integer((json_int_t)x) : json_real(x);
}

json_t *json_known(double x)
{
	return isnan(x) ? json_null() : json_real(x);
}

static json_t *string_take(struct text *t)
{
	json_t *s = json_text(t->s ? t->s : "");

	text_free(t);
	return s;
}

static json_t *layout_json(const struct layout *l, const struct mesh *m,
                           const struct shape *shape)
{
	struct text t = {0};

	layout_print(&t, l, m, shape);
	return string_take(&t);
}

static json_t *after_json(const struct plan *p, const struct step *s)
{
	struct text t = {0};

	view_print_layout(&t, p, &s->after, s->mesh);
	return string_take(&t);
}

static json_t *shape_json(const struct shape *s)
{
	json_t *a = json_array();

	for (int i = 0; i < s->rank; i++)
		json_array_append_new(a, json_integer(s->dim[i]));
	return a;
}

/* Returns the tile per array dimension: digits of a view are multiplied out. */
static json_t *local_json(const struct plan *p, const struct step *s)
{
	struct shape local = {.rank = p->problem->padded.rank};

	for (int i = 0; i < local.rank; i++)
		local.dim[i] = 1;
	for (int i = 0; i < s->local.rank; i++)
		local.dim[view_dim(p, i)] *= s->local.dim[i];
	return shape_json(&local);
}

static json_t *mesh_json(const struct mesh *m)
{
	json_t *a = json_array();

	for (int i = 0; i < m->naxes; i++)
		json_array_append_new(a, json_pack("[o, i]", json_text(m->axis[i].name),
		                                   (int)m->axis[i].size));
	return a;
}

static json_t *devices_json(const int32_t *list, int32_t n)
{
	json_t *a;

	if (!list)
		return json_null();
	a = json_array();
	for (int32_t i = 0; i < n; i++)
		json_array_append_new(a, json_integer(list[i]));
	return a;
}

json_t *problem_json(const struct problem *p)
{
	struct text array = {0};
	json_t *o = json_object();
	const struct shape *shape = &p->array.shape;

	array_print(&array, &p->array);
	json_object_set_new(o, "array", string_take(&array));
	json_object_set_new(o, "mesh", mesh_json(&p->mesh));
	json_object_set_new(o, "to_mesh",
	                    p->two_meshes ? mesh_json(&p->to_mesh) : json_null());
	json_object_set_new(o, "from", layout_json(&p->from, &p->mesh, shape));
	json_object_set_new(o, "to", layout_json(&p->to, &p->to_mesh, shape));
	json_object_set_new(o, "devices", json_integer(p->ndevices));
	json_object_set_new(o, "mesh_order",
	                    devices_json(p->mesh.ids, p->mesh.ndevices));
	json_object_set_new(o, "to_mesh_order",
	                    devices_json(p->to_mesh.ids, p->to_mesh.ndevices));
	json_object_set_new(o, "from_devices",
	                    devices_json(p->from_devices, p->mesh.ndevices));
	json_object_set_new(o, "to_devices",
	                    devices_json(p->to_devices, p->to_mesh.ndevices));
	json_object_set_new(o, "padded_shape", shape_json(&p->padded));
	json_object_set_new(o, "memory_limit_bytes",
	                    p->memory_limit_bytes < 0
	                            ? json_null()
	                            : json_integer(p->memory_limit_bytes));
	json_object_set_new(o, "device_memory_bytes",
	                    p->device_memory_bytes ? json_integer(p->device_memory_bytes)
	                                           : json_null());
	json_object_set_new(
		o, "vocabulary",
		json_string(p->vocabulary == VOCABULARY_PORTABLE ? "portable" : "any"));
	json_object_set_new(o, "recv_bound_bytes", json_integer(p->recv_bound_bytes));
	json_object_set_new(o, "memory_bound_bytes",
	                    json_integer(p->memory_bound_bytes));
	return o;
}

static json_t *dim_json(int dim)
{
	return dim < 0 ? json_null() : json_integer(dim);
}

/* Moves that no axes name are not told: their list is empty. */
static json_t *moves_json(const struct plan *p, const struct step *s)
{
	const struct mesh *m = &p->problem->mesh;
	json_t *moves = json_array();

	for (int i = 0; i < s->nmoves; i++) {
		const struct move *move = &s->move[i];
		json_t *o = json_object(), *axes = json_array();

		for (int k = 0; k < move->nparts; k++) {
			struct text t = {0};

			part_print(&t, m, move->parts[k]);
			json_array_append_new(axes, string_take(&t));
		}
		json_object_set_new(o, "axes", axes);
		json_object_set_new(o, "from_dim",
		                    dim_json(view_dim(p, move->from_dim)));
		json_object_set_new(o, "to_dim", dim_json(view_dim(p, move->to_dim)));
		if (move->nparts > 0)
			json_array_append(moves, o);
		json_decref(o);
	}
	if ((int)json_array_size(moves) != s->nmoves)
		json_array_clear(moves);
	return moves;
}

static json_t *groups_json(const struct step *s)
{
	json_t *groups;

	if (s->groups.ngroups == 0)
		return json_null();
	groups = json_array();
	for (int32_t i = 0; i < s->groups.ngroups; i++) {
		json_t *g = json_array();

		for (int32_t r = 0; r < s->groups.size; r++)
			json_array_append_new(
				g,
				json_integer(
					s->groups.ids[(int64_t)i * s->groups.size + r]));
		json_array_append_new(groups, g);
	}
	return groups;
}

static json_t *pairs_json(const struct step *s)
{
	json_t *pairs;

	if (s->op != OP_PERMUTE)
		return json_null();
	pairs = json_array();
	for (int64_t i = 0; i < s->ntransfers && s->npairs == 0; i++)
		json_array_append_new(pairs,
		                      json_pack("[i, i]", (int)s->transfers[i].src,
		                                (int)s->transfers[i].dst));
	for (int32_t i = 0; i < s->npairs; i++)
		json_array_append_new(pairs, json_pack("[i, i]", (int)s->pairs[i].src,
		                                       (int)s->pairs[i].dst));
	return pairs;
}

bool step_has_boxes(const struct step *s)
{
	return s->op == OP_EXCHANGE || (s->op == OP_PERMUTE && s->transfers);
}

/*
 * Returns boxes with all that carry them: {"bounds": [[lo, hi], ...], "pairs": [[0,
 * 1]]}.
 */
static json_t *boxes_json(const struct plan *p, const struct step *s)
{
	json_t *boxes = json_array();
	int64_t i = 0;

	while (i < s->ntransfers) {
		int64_t end = step_box_run(p, s, i);
		const int64_t *x = s->transfers[i].bounds;
		json_t *bounds = json_array(), *pairs = json_array();

		for (int dim = 0; dim < p->shape.rank; dim++)
			json_array_append_new(
				bounds, json_pack("[I, I]", (json_int_t)x[2 * dim],
			                          (json_int_t)x[2 * dim + 1]));
		for (; i < end; i++)
			json_array_append_new(
				pairs, json_pack("[i, i]", (int)s->transfers[i].src,
			                         (int)s->transfers[i].dst));
		json_array_append_new(boxes, json_pack("{s: o, s: o}", "bounds", bounds,
		                                       "pairs", pairs));
	}
	return boxes;
}

/* Returns the extents of the digits of every dimension, major to minor. */
static json_t *digits_json(const struct plan *p)
{
	json_t *digits = json_array();

	for (int i = 0; i < p->problem->padded.rank; i++)
		json_array_append_new(digits, json_array());
	for (int k = 0; k < p->shape.rank; k++)
		json_array_append_new(json_array_get(digits, p->view->dim[k]),
		                      json_integer(p->shape.dim[k]));
	return digits;
}

/* Returns the moves over digits, which need no axes. */
static json_t *blocks_json(const struct step *s)
{
	json_t *blocks = json_array();

	for (int i = 0; i < s->nmoves; i++) {
		const struct move *move = &s->move[i];

		json_array_append_new(blocks,
		                      json_pack("{s: i, s: o, s: o}", "factor",
		                                (int)move->factor, "from_dim",
		                                dim_json(move->from_dim), "to_dim",
		                                dim_json(move->to_dim)));
	}
	return blocks;
}

/* Returns which block every device of the mesh keeps in a slice, in each of its moves. */
static json_t *kept_json(const struct plan *p, const struct step *s)
{
	json_t *kept = json_array();

	for (int32_t d = 0; d < p->problem->mesh.ndevices; d++)
		json_array_append_new(
			kept,
			devices_json(s->chunk + (int64_t)d * s->nmoves, s->nmoves));
	return kept;
}

static json_t *starts_json(const struct plan *p, const struct step *s)
{
	json_t *starts = json_array();
	struct shape at = {.rank = p->shape.rank};

	for (int32_t d = 0; d < p->problem->ndevices; d++) {
		for (int i = 0; i < at.rank; i++)
			at.dim[i] = s->start[(int64_t)d * at.rank + i];
		json_array_append_new(starts, shape_json(&at));
	}
	return starts;
}

/* Adds the members that few steps have. */
static void add_clauses(json_t *o, const struct plan *p, int step)
{
	const struct step *s = &p->step[step];

	if (p->shape.rank > p->problem->padded.rank)
		json_object_set_new(o, "digits", digits_json(p));
	if (plan_is_unpadded(p))
		json_object_set_new(o, "unpadded", json_true());
	if (step_on_target(p, step))
		json_object_set_new(o, "on_target_mesh", json_true());
	if (s->op == OP_SLICE)
		json_object_set_new(o, "kept_blocks", kept_json(p, s));
	if (s->gathers)
		json_object_set_new(o, "summed_shape", shape_json(&s->summed));
	if (s->part)
		json_object_set_new(o, "part_elements", json_integer(s->part));
	if (!step_implies_tile(p, step))
		json_object_set_new(o, "tile_shape", shape_json(&s->local));
	if (s->start)
		json_object_set_new(o, "tile_starts", starts_json(p, s));
}

json_t *step_json(const struct plan *p, int step)
{
	const struct step *s = &p->step[step];
	json_t *o = json_object();

	json_object_set_new(o, "op", json_string(op_name(s->op)));
	json_object_set_new(o, "moves", moves_json(p, s));
	json_object_set_new(o, "blocks", blocks_json(s));
	json_object_set_new(o, "replica_groups", groups_json(s));
	json_object_set_new(o, "source_target_pairs", pairs_json(s));
	json_object_set_new(o, "operand_shape", shape_json(&s->before_local));
	add_clauses(o, p, step);
	json_object_set_new(o, "layout", after_json(p, s));
	json_object_set_new(o, "local_shape", local_json(p, s));
	json_object_set_new(o, "recv_bytes", json_integer(s->recv_bytes));
	json_object_set_new(o, "send_bytes", json_integer(s->send_bytes));
	json_object_set_new(o, "padding_bytes", json_integer(s->padding_bytes));
	json_object_set_new(o, "algorithm", json_null());
	json_object_set_new(o, "time_s", json_object());
	return o;
}

json_t *plan_json(const struct plan *p)
{
	json_t *steps = json_array();

	for (int i = 0; i < p->nsteps; i++) {
		json_t *step = step_json(p, i);

		if (step_has_boxes(&p->step[i]))
			json_object_set_new(step, "boxes", boxes_json(p, &p->step[i]));
		json_array_append_new(steps, step);
	}
	return steps;
}
