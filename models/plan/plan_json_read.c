/* Plans read from JSON. What follows from the layouts is worked out in plan_read.c. */
#include "plan/plan_json.h"

#include "plan/plan_text.h"
#include "plan/view.h"

#include <string.h>

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

/* Reads one "x" or "x:(1)2" of a move. */
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

static bool read_json_dim(struct reader *r, int *out, const json_t *dim)
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
	return read_json_dim(r, &out->from_dim, json_object_get(move, "from_dim")) &&
	       read_json_dim(r, &out->to_dim, json_object_get(move, "to_dim"));
}

/* Reads rows of equal length of device numbers; *rows and *columns 0 for null. */
static bool read_json_lists(struct reader *r, const char *member, const json_t *lists,
                            int32_t **ids, int32_t *rows, int32_t *columns)
{
	int32_t ndevices = r->problem->ndevices;
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
	if (view_parse_layout(&out->after, &out->digits, r->problem,
	                      out->on_target ? &r->problem->to_mesh : &r->problem->mesh,
	                      r->arena, text, where_option("layout", text), &e) != OK)
		return bad(r, "layout", e.text);
	return true;
}

/* Reads "replica_groups" and "source_target_pairs". */
static bool read_json_devices(struct reader *r, struct step_read *out,
                              const json_t *step)
{
	struct groups *groups = arena_alloc(r->arena, 1, sizeof(*groups));
	const json_t *pairs = json_object_get(step, "source_target_pairs");
	int32_t *ids, *pair_ids, two;

	/* Those of parts without a common size repeat what the boxes say. */
	if (out->boxes && !out->part)
		pairs = NULL;
	if (!read_json_lists(r, "replica_groups", json_object_get(step, "replica_groups"),
	                     &ids, &groups->ngroups, &groups->size) ||
	    !read_json_lists(r, "source_target_pairs", pairs, &pair_ids, &out->npairs,
	                     &two))
		return false;
	groups->ids = ids;
	out->groups = ids ? groups : NULL;
	_Static_assert(sizeof(struct pair) == 2 * sizeof(int32_t), "pairs are two ids");
	out->pairs = (const struct pair *)pair_ids;
	return out->npairs == 0 || two == 2 ||
	       bad(r, "source_target_pairs", "expected pairs");
}

/* Reads a number in [0, most]. */
static bool read_number(int64_t *out, const json_t *number, int64_t most)
{
	*out = json_integer_value(number);
	return json_is_integer(number) && *out >= 0 && *out <= most;
}

static bool read_extents(struct reader *r, const char *member, const json_t *list,
                         int64_t *out)
{
	int rank = r->problem->array.shape.rank;

	if (!json_is_array(list) || json_array_size(list) != (size_t)rank)
		return bad(r, member, "expected a number for each dimension");
	for (int i = 0; i < rank; i++)
		if (!read_number(&out[i], json_array_get(list, (size_t)i),
		                 STEP_NUMBER_MAX))
			return bad(r, member, "expected a number for each dimension");
	return true;
}

/* Reads an extent, if there is one. */
static bool read_json_shape(struct reader *r, const char *member, const json_t *step,
                            const struct shape **out)
{
	const json_t *list = json_object_get(step, member);
	struct shape *shape;

	if (!list || json_is_null(list))
		return true;
	shape = arena_alloc(r->arena, 1, sizeof(*shape));
	shape->rank = r->problem->array.shape.rank;
	*out = shape;
	return read_extents(r, member, list, shape->dim);
}

static bool read_starts(struct reader *r, const json_t *list, const int64_t **out)
{
	size_t n = (size_t)r->problem->ndevices;
	size_t rank = (size_t)r->problem->array.shape.rank;
	int64_t *start = arena_alloc(r->arena, n * rank, sizeof(*start));

	if (!list)
		return true;
	if (json_array_size(list) != n)
		return bad(r, "tile_starts", "expected one for each device");
	for (size_t d = 0; d < n; d++)
		if (!read_extents(r, "tile_starts", json_array_get(list, d),
		                  start + d * rank))
			return false;
	*out = start;
	return true;
}

/*
 * Reads one box with its senders and receivers: as many transfers as pairs, from *n on.
 */
static bool read_box(struct reader *r, const json_t *box, struct transfer *out,
                     int64_t *n)
{
	const json_t *list = json_object_get(box, "bounds");
	const json_t *pairs = json_object_get(box, "pairs");
	const struct shape *g = &r->problem->padded;
	int64_t *bounds = arena_alloc(r->arena, 2 * (size_t)g->rank, sizeof(*bounds));
	int64_t last = r->problem->ndevices - 1;

	if (!json_is_array(list) || json_array_size(list) != (size_t)g->rank)
		return bad(r, "boxes", "expected bounds for each dimension");
	for (int i = 0; i < g->rank; i++)
		for (size_t k = 0; k < 2; k++)
			if (!read_number(
				    &bounds[2 * i + (int)k],
				    json_array_get(json_array_get(list, (size_t)i), k),
				    g->dim[i]))
				return bad(r, "boxes",
				           "expected bounds inside the array");
	for (size_t i = 0; i < json_array_size(pairs); i++) {
		const json_t *pair = json_array_get(pairs, i);
		int64_t src, dst;

		if (!read_number(&src, json_array_get(pair, 0), last) ||
		    !read_number(&dst, json_array_get(pair, 1), last))
			return bad(r, "boxes", "expected pairs of devices");
		out[(*n)++] = (struct transfer){
			.src = (int32_t)src, .dst = (int32_t)dst, .bounds = bounds};
	}
	return true;
}

static bool read_boxes(struct reader *r, struct step_read *out, const json_t *boxes)
{
	struct transfer *transfers;
	size_t n = 0;

	if (!boxes)
		return true;
	if (!json_is_array(boxes))
		return bad(r, "boxes", "expected an array of boxes");
	for (size_t i = 0; i < json_array_size(boxes); i++)
		n += json_array_size(
			json_object_get(json_array_get(boxes, i), "pairs"));
	transfers = arena_alloc(r->arena, n, sizeof(*transfers));
	for (size_t i = 0; i < json_array_size(boxes); i++)
		if (!read_box(r, json_array_get(boxes, i), transfers, &out->ntransfers))
			return false;
	out->boxes = true;
	out->transfers = transfers;
	return true;
}

/* Reads the members that few steps have. */
static bool read_clauses(struct reader *r, struct step_read *out, const json_t *step)
{
	const json_t *part = json_object_get(step, "part_elements");
	const json_t *boxes = json_object_get(step, "boxes");

	/* Those of strided tiles follow from the layouts, as in text. */
	if (json_object_get(step, "digits"))
		boxes = NULL;

	out->unpadded = json_is_true(json_object_get(step, "unpadded"));
	out->on_target = json_is_true(json_object_get(step, "on_target_mesh"));
	if (part && (!read_number(&out->part, part, STEP_NUMBER_MAX) || out->part == 0))
		return bad(r, "part_elements", "expected a number");
	return read_json_shape(r, "summed_shape", step, &out->summed) &&
	       read_json_shape(r, "tile_shape", step, &out->tile) &&
	       read_starts(r, json_object_get(step, "tile_starts"), &out->start) &&
	       read_boxes(r, out, boxes);
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
	return read_clauses(r, out, step) && read_json_devices(r, out, step) &&
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
