#include "plan/plan_json.h"

#include "notation/notation.h"
#include "plan/plan_text.h"
#include "plan/view.h"

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

/* The tile per array dimension: digits of a view are multiplied out. */
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
	json_object_set_new(o, "from_devices",
	                    devices_json(p->from_devices, p->mesh.ndevices));
	json_object_set_new(o, "to_devices",
	                    devices_json(p->to_devices, p->to_mesh.ndevices));
	json_object_set_new(o, "padded_shape", shape_json(&p->padded));
	json_object_set_new(o, "memory_limit_bytes",
	                    p->memory_limit_bytes < 0
	                            ? json_null()
	                            : json_integer(p->memory_limit_bytes));
	json_object_set_new(o, "recv_bound_bytes", json_integer(p->recv_bound_bytes));
	json_object_set_new(o, "memory_bound_bytes",
	                    json_integer(p->memory_bound_bytes));
	return o;
}

static json_t *dim_json(int dim)
{
	return dim < 0 ? json_null() : json_integer(dim);
}

/* Moves that no axes name are not told: [] (design 7). */
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

	if (!op_communicates(s->op) || s->groups.ngroups == 0)
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

json_t *step_json(const struct plan *p, int step)
{
	const struct step *s = &p->step[step];
	json_t *o = json_object();

	json_object_set_new(o, "op", json_string(op_name(s->op)));
	json_object_set_new(o, "moves", moves_json(p, s));
	json_object_set_new(o, "replica_groups", groups_json(s));
	json_object_set_new(o, "source_target_pairs", pairs_json(s));
	if (!step_is_told(p, step))
		json_object_set_new(o, "boxes", json_integer(s->ntransfers));
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

	for (int i = 0; i < p->nsteps; i++)
		json_array_append_new(steps, step_json(p, i));
	return steps;
}

/* --- reading ----------------------------------------------------------------------- */

struct reader {
	const struct problem *problem;
	struct arena *arena;
	const char *file;
	struct error *error;
	size_t step;
};

static bool bad(struct reader *r, const char *member, const char *reason)
{
	error_set(r->error, E_TYPE, (struct where){.file = r->file},
	          "steps[%zu].%s: %s", r->step, member, reason);
	return false;
}

/* One "x" or "x:(1)2" of a move. */
static bool read_part(struct reader *r, struct part *out, const json_t *axis)
{
	const struct mesh *m = &r->problem->mesh;
	const char *text = json_string_value(axis), *colon;
	long pre = 1, size;
	char end;
	int x;

	if (!text)
		return bad(r, "moves", "expected axis names");
	x = mesh_axis(m, text, strlen(text));
	colon = strrchr(text, ':');
	if (x < 0 && colon)
		x = mesh_axis(m, text, (size_t)(colon - text));
	if (x < 0)
		return bad(r, "moves", "unknown axis");
	size = m->axis[x].size;
	if (strlen(text) != strlen(m->axis[x].name) &&
	    (sscanf(colon, ":(%7ld)%7ld%c", &pre, &size, &end) != 2 || pre < 1 ||
	     size < 1 || m->axis[x].size % (pre * size) != 0))
		return bad(r, "moves", "expected a sub-axis such as x:(1)2");
	*out = (struct part){.axis = x, .pre = (int32_t)pre, .size = (int32_t)size};
	return true;
}

static bool read_dim(struct reader *r, int *out, const json_t *dim)
{
	json_int_t value = json_integer_value(dim);

	*out = -1;
	if (!dim || json_is_null(dim))
		return true;
	if (!json_is_integer(dim) || value < 0 || value >= r->problem->array.shape.rank)
		return bad(r, "moves", "expected a dimension");
	*out = (int)value;
	return true;
}

static bool read_move(struct reader *r, struct move *out, const json_t *move)
{
	const json_t *axes = json_object_get(move, "axes");
	size_t n = json_array_size(axes);
	struct part *parts = arena_alloc(r->arena, n, sizeof(*parts));
	int64_t factor = 1;

	if (n == 0 || n > LAYOUT_PARTS_MAX)
		return bad(r, "moves", "expected axes");
	for (size_t i = 0; i < n; i++) {
		if (!read_part(r, &parts[i], json_array_get(axes, i)))
			return false;
		factor *= parts[i].size;
		if (factor > r->problem->mesh.ndevices)
			return bad(r, "moves", "an axis is used twice");
	}
	*out = (struct move){.parts = parts, .nparts = (int)n, .factor = (int32_t)factor};
	return read_dim(r, &out->from_dim, json_object_get(move, "from_dim")) &&
	       read_dim(r, &out->to_dim, json_object_get(move, "to_dim"));
}

/* Rows of equal length of device numbers; *rows and *columns 0 for null. */
static bool read_lists(struct reader *r, const char *member, const json_t *lists,
                       int32_t **ids, int32_t *rows, int32_t *columns)
{
	int32_t ndevices = r->problem->mesh.ndevices;
	size_t n = json_array_size(lists), width, at = 0;

	*rows = *columns = 0;
	*ids = NULL;
	if (!lists || json_is_null(lists))
		return true;
	width = json_array_size(json_array_get(lists, 0));
	if (n == 0 || width == 0 || n * width > 2 * (size_t)ndevices)
		return bad(r, member, "expected lists of devices");
	*ids = arena_alloc(r->arena, n * width, sizeof(**ids));
	for (size_t i = 0; i < n; i++) {
		const json_t *row = json_array_get(lists, i);

		if (json_array_size(row) != width)
			return bad(r, member, "expected lists of equal length");
		for (size_t k = 0; k < width; k++) {
			const json_t *id = json_array_get(row, k);
			json_int_t value = json_integer_value(id);

			if (!json_is_integer(id) || value < 0 || value >= ndevices)
				return bad(r, member, "expected device numbers");
			(*ids)[at++] = (int32_t)value;
		}
	}
	*rows = (int32_t)n;
	*columns = (int32_t)width;
	return true;
}

static bool read_layout(struct reader *r, struct step_read *out, const json_t *layout)
{
	const char *text = json_string_value(layout);
	struct error e = {0};

	if (!text)
		return bad(r, "layout", "expected a layout");
	text = arena_strdup(r->arena, text);
	if (view_parse_layout(&out->after, &out->digits, r->problem, r->arena, text,
	                      where_option("layout", text), &e) != OK)
		return bad(r, "layout", e.text);
	return true;
}

/* "replica_groups" and "source_target_pairs". */
static bool read_devices(struct reader *r, struct step_read *out, const json_t *step)
{
	struct groups *groups = arena_alloc(r->arena, 1, sizeof(*groups));
	int32_t *ids, *pair_ids, two;

	if (!read_lists(r, "replica_groups", json_object_get(step, "replica_groups"),
	                &ids, &groups->ngroups, &groups->size) ||
	    !read_lists(r, "source_target_pairs",
	                json_object_get(step, "source_target_pairs"), &pair_ids,
	                &out->npairs, &two))
		return false;
	groups->ids = ids;
	out->groups = ids ? groups : NULL;
	_Static_assert(sizeof(struct pair) == 2 * sizeof(int32_t), "pairs are two ids");
	out->pairs = (const struct pair *)pair_ids;
	return out->npairs == 0 || two == 2 ||
	       bad(r, "source_target_pairs", "expected pairs");
}

static bool read_step(struct reader *r, struct step_read *out, const json_t *step)
{
	const char *name = json_string_value(json_object_get(step, "op"));
	const json_t *list = json_object_get(step, "moves");
	struct move *moves = arena_alloc(r->arena, RANK_MAX, sizeof(*moves));
	size_t nmoves = json_array_size(list);

	*out = (struct step_read){.op = name ? op_find(name, strlen(name)) : OPS,
	                          .move = moves,
	                          .nmoves = (int)nmoves};
	if (out->op == OPS)
		return bad(r, "op", "expected an op such as all-gather");
	if (nmoves > RANK_MAX || (list && !json_is_array(list)))
		return bad(r, "moves", "expected an array of moves, one per dimension");
	for (size_t i = 0; i < nmoves; i++)
		if (!read_move(r, &moves[i], json_array_get(list, i)))
			return false;
	if (json_object_get(step, "boxes"))
		return bad(r, "boxes", "they are not told, so the step cannot be read");
	return read_devices(r, out, step) &&
	       read_layout(r, out, json_object_get(step, "layout"));
}

enum status plan_parse_json(struct plan **out, const struct problem *p, struct arena *a,
                            const json_t *steps, const char *file, struct error *e)
{
	struct error unread = {0};
	struct reader r = {.problem = p, .arena = a, .file = file, .error = &unread};
	size_t n = json_array_size(steps);
	struct step_read *read = arena_alloc(a, n, sizeof(*read));
	struct text why = {0};
	struct plan *plan;
	int wrong = 0;

	if (!json_is_array(steps))
		return error_set(e, E_TYPE, (struct where){.file = file},
		                 "expected an array of steps");
	while (r.step < n && read_step(&r, &read[r.step], json_array_get(steps, r.step)))
		r.step++;
	/* A step that cannot be comes before a later one that cannot be read. */
	plan = plan_of_read(p, a, "json", read, (int)r.step, &wrong, &why);
	if (!plan) {
		r = (struct reader){.file = file, .error = e, .step = (size_t)wrong};
		bad(&r, "op", why.s);
	} else if (unread.code != OK) {
		error_set(e, unread.code, unread.at, "%s", unread.text);
	} else {
		plan_finish(plan);
		*out = plan;
	}
	text_free(&why);
	return e->code;
}
