/* Plans read from text. What follows from the layouts is worked out in plan_read.c. */
#include "plan/plan_text.h"

#include "base/list.h"
#include "plan/view.h"

#include <ctype.h>
#include <string.h>

struct reader {
	struct scan scan;
	const struct problem *problem;
	struct arena *arena;
	/* What was read, and where in the text. */
	LIST(struct step_read) steps;
	LIST(const char *) starts;
};

static enum status read_part(struct reader *r, struct part *out)
{
	struct scan *s = &r->scan;
	const struct mesh *m = &r->problem->mesh;
	const char *name;
	size_t length;
	int64_t pre, size;
	int axis;

	if (!scan_quoted(s, '"', &name, &length) && !scan_name(s, &name, &length))
		return scan_fail(s, E_SYNTAX, "expected an axis");
	axis = mesh_axis(m, name, length);
	if (axis < 0)
		return scan_fail_at(s, name, E_TYPE, "unknown axis '%.*s'", (int)length,
		                    name);
	*out = (struct part){.axis = axis, .pre = 1, .size = m->axis[axis].size};
	if (!scan_take(s, ":("))
		return OK;
	if (!scan_int(s, "the sub-axis pre-size", 1, m->axis[axis].size, &pre) ||
	    !scan_expect(s, ")") ||
	    !scan_int(s, "the sub-axis size", 1, m->axis[axis].size, &size))
		return s->error->code;
	if (m->axis[axis].size % (pre * size) != 0)
		return scan_fail_at(s, name, E_TYPE,
		                    "the sub-axis does not divide its axis");
	out->pre = (int32_t)pre;
	out->size = (int32_t)size;
	return OK;
}

static enum status read_dim(struct reader *r, int *out)
{
	int64_t dim;

	*out = -1;
	if (!isdigit((unsigned char)scan_peek(&r->scan)))
		return OK;
	if (scan_int(&r->scan, "a dimension", 0, r->problem->array.shape.rank - 1, &dim))
		*out = (int)dim;
	return r->scan.error->code;
}

/* Reads "{x,y:(1)2}: 0->1" behind the opening brace. */
static enum status read_move(struct reader *r, struct move *out)
{
	struct scan *s = &r->scan;
	struct part *parts = arena_alloc(r->arena, LAYOUT_PARTS_MAX, sizeof(*parts));
	int64_t factor = 1;
	int n = 0;

	do {
		if (n == LAYOUT_PARTS_MAX)
			return scan_fail(s, E_RANGE, "too many axes");
		if (read_part(r, &parts[n]) != OK)
			return s->error->code;
		factor *= parts[n++].size;
		if (factor > r->problem->mesh.ndevices)
			return scan_fail(s, E_TYPE, "an axis is used twice");
	} while (scan_take(s, ","));
	*out = (struct move){.parts = parts, .nparts = n, .factor = (int32_t)factor};
	if (!scan_expect(s, "}") || !scan_expect(s, ":"))
		return s->error->code;
	if (read_dim(r, &out->from_dim) != OK || !scan_expect(s, "->"))
		return s->error->code;
	return read_dim(r, &out->to_dim);
}

/*
 * Reads "{{0,1},{2,3}}", lists of equal length, into ids[*n] and counts rows and
 * columns. There are never more than twice the devices.
 */
static enum status read_lists(struct reader *r, int32_t **ids, int32_t *rows,
                              int32_t *columns)
{
	struct scan *s = &r->scan;
	int32_t ndevices = r->problem->ndevices, n = 0;

	*ids = arena_alloc(r->arena, 2 * (size_t)ndevices, sizeof(**ids));
	*rows = *columns = 0;
	if (!scan_expect(s, "{"))
		return s->error->code;
	do {
		int32_t start = n;

		if (!scan_expect(s, "{"))
			return s->error->code;
		do {
			int64_t id;

			if (n == 2 * ndevices)
				return scan_fail(s, E_RANGE, "too many devices");
			if (!scan_int(s, "a device", 0, ndevices - 1, &id))
				return s->error->code;
			(*ids)[n++] = (int32_t)id;
		} while (scan_take(s, ","));
		if (*rows > 0 && n - start != *columns)
			return scan_fail(s, E_SYNTAX, "expected lists of equal length");
		*columns = n - start;
		(*rows)++;
		if (!scan_expect(s, "}"))
			return s->error->code;
	} while (scan_take(s, ","));
	scan_expect(s, "}");
	return s->error->code;
}

/* Reads the rest of the line, which is a layout; lines end at '\n'. */
static enum status read_layout(struct reader *r, struct step_read *out)
{
	struct scan *s = &r->scan;
	size_t n;
	char *line;

	scan_peek(s);
	n = strcspn(s->pos, "\n");
	line = arena_strndup(r->arena, s->pos, n);
	if (view_parse_layout(&out->after, &out->digits, r->problem,
	                      out->on_target ? &r->problem->to_mesh : &r->problem->mesh,
	                      r->arena, line, scan_where(s, s->pos), s->error) != OK)
		return s->error->code;
	s->pos += n;
	return OK;
}

/* Reads "pairs {{0,1},{1,0}}" or "groups {{0,3},{1,2}}", if there. */
static enum status read_devices(struct reader *r, struct step_read *out)
{
	struct scan *s = &r->scan;
	int32_t *ids, rows, columns;
	struct groups *groups;

	if (scan_word(s, "pairs")) {
		struct pair *pairs;

		if (read_lists(r, &ids, &rows, &columns) != OK)
			return s->error->code;
		if (columns != 2)
			return scan_fail(s, E_SYNTAX, "expected pairs {source,target}");
		pairs = arena_alloc(r->arena, (size_t)rows, sizeof(*pairs));
		for (int32_t i = 0; i < rows; i++)
			pairs[i] = (struct pair){ids[2 * i], ids[2 * i + 1]};
		out->pairs = pairs;
		out->npairs = rows;
	} else if (scan_word(s, "groups")) {
		if (read_lists(r, &ids, &rows, &columns) != OK)
			return s->error->code;
		groups = arena_alloc(r->arena, 1, sizeof(*groups));
		*groups = (struct groups){.ngroups = rows, .size = columns, .ids = ids};
		out->groups = groups;
	}
	return OK;
}

/* Reads "[3,4]", an extent of the rank of the array. */
static enum status read_extents(struct reader *r, const struct shape **out)
{
	struct scan *s = &r->scan;
	struct shape *shape = arena_alloc(r->arena, 1, sizeof(*shape));

	shape->rank = r->problem->array.shape.rank;
	if (!scan_expect(s, "["))
		return s->error->code;
	for (int i = 0; i < shape->rank; i++)
		if ((i > 0 && !scan_expect(s, ",")) ||
		    !scan_int(s, "an extent", 0, STEP_NUMBER_MAX, &shape->dim[i]))
			return s->error->code;
	*out = shape;
	return scan_expect(s, "]") ? OK : s->error->code;
}

/* Reads "{{0,0},{2,0}}", where the tile of every device starts. */
static enum status read_starts(struct reader *r, const int64_t **out)
{
	struct scan *s = &r->scan;
	int32_t n = r->problem->ndevices;
	int rank = r->problem->array.shape.rank;
	int64_t *start = arena_alloc(r->arena, (size_t)n * (size_t)rank, sizeof(*start));

	*out = start;
	if (!scan_expect(s, "{"))
		return s->error->code;
	for (int32_t d = 0; d < n; d++) {
		if ((d > 0 && !scan_expect(s, ",")) || !scan_expect(s, "{"))
			return s->error->code;
		for (int i = 0; i < rank; i++)
			if ((i > 0 && !scan_expect(s, ",")) ||
			    !scan_int(s, "a start", 0, STEP_NUMBER_MAX, start++))
				return s->error->code;
		if (!scan_expect(s, "}"))
			return s->error->code;
	}
	return scan_expect(s, "}") ? OK : s->error->code;
}

/* Reads what a step has between its moves and its layout, in this order. */
static enum status read_clauses(struct reader *r, struct step_read *out)
{
	struct scan *s = &r->scan;

	out->unpadded = scan_word(s, "unpadded");
	if (scan_word(s, "on")) {
		if (!scan_word(s, "target") || !scan_word(s, "mesh"))
			return scan_fail(s, E_SYNTAX, "expected 'on target mesh'");
		out->on_target = true;
	}
	if (scan_word(s, "sums") && read_extents(r, &out->summed) != OK)
		return s->error->code;
	if (read_devices(r, out) != OK)
		return s->error->code;
	if (scan_word(s, "part") &&
	    !scan_int(s, "the elements of a part", 1, STEP_NUMBER_MAX, &out->part))
		return s->error->code;
	out->boxes = scan_word(s, "boxes");
	if (scan_word(s, "tile") && read_extents(r, &out->tile) != OK)
		return s->error->code;
	return scan_word(s, "starts") ? read_starts(r, &out->start) : OK;
}

/* The boxes of a step, as they are read. */
struct boxes {
	LIST(struct transfer) sent;
};

/* Reads "0:3,6:12] 4->0, 5->1" behind the opening bracket. */
static enum status read_box(struct reader *r, struct boxes *b)
{
	struct scan *s = &r->scan;
	const struct shape *g = &r->problem->padded;
	int64_t *bounds = arena_alloc(r->arena, 2 * (size_t)g->rank, sizeof(*bounds));
	int64_t src, dst, last = r->problem->ndevices - 1;

	for (int i = 0; i < g->rank; i++) {
		int64_t most = g->dim[i];

		if ((i > 0 && !scan_expect(s, ",")) ||
		    !scan_int(s, "where a box begins", 0, most, &bounds[2 * i]) ||
		    !scan_expect(s, ":") ||
		    !scan_int(s, "where a box ends", 0, most, &bounds[2 * i + 1]))
			return s->error->code;
	}
	if (!scan_expect(s, "]"))
		return s->error->code;
	do {
		if (!scan_int(s, "a device", 0, last, &src) || !scan_expect(s, "->") ||
		    !scan_int(s, "a device", 0, last, &dst))
			return s->error->code;
		*list_add(&b->sent, r->arena) = (struct transfer){
			.src = (int32_t)src, .dst = (int32_t)dst, .bounds = bounds};
	} while (scan_take(s, ","));
	return OK;
}

static enum status read_boxes(struct reader *r, struct step_read *out)
{
	struct boxes b = {0};

	while (scan_take(&r->scan, "["))
		if (read_box(r, &b) != OK)
			return r->scan.error->code;
	out->transfers = b.sent.at;
	out->ntransfers = b.sent.n;
	return OK;
}

static enum status read_step(struct reader *r, struct step_read *out, const char **start)
{
	struct scan *s = &r->scan;
	struct move *moves = arena_alloc(r->arena, RANK_MAX, sizeof(*moves));
	size_t length;

	if (!scan_name(s, start, &length))
		return scan_fail(s, E_SYNTAX, "expected a step such as all-gather");
	*out = (struct step_read){.op = op_find(*start, length), .move = moves};
	if (out->op == OPS)
		return scan_fail_at(s, *start, E_SYNTAX, "unknown step '%.*s'",
		                    (int)length, *start);
	while (scan_take(s, out->nmoves ? "," : "{")) {
		if (out->nmoves == RANK_MAX || (out->nmoves && !scan_expect(s, "{")))
			return scan_fail(s, E_SYNTAX, "expected a move");
		if (read_move(r, &moves[out->nmoves++]) != OK)
			return s->error->code;
	}
	if (read_clauses(r, out) != OK || !scan_expect(s, "=>") ||
	    read_layout(r, out) != OK)
		return s->error->code;
	return out->boxes ? read_boxes(r, out) : OK;
}

enum status plan_parse(struct plan **out, const struct problem *p, struct arena *a,
                       const char *text, struct where at, struct error *e)
{
	struct error unread = {0};
	struct reader r = {
		.scan = scan_start(text, at, &unread), .problem = p, .arena = a};
	struct text why = {0};
	struct plan *plan;
	int wrong;

	while (!scan_done(&r.scan)) {
		struct step_read *step = list_add(&r.steps, a);

		if (read_step(&r, step, list_add(&r.starts, a)) != OK) {
			r.steps.n--;
			break;
		}
	}
	/* A step that cannot be comes before a later one that cannot be read. */
	plan = plan_of_read(p, a, "text", r.steps.at, (int)r.steps.n, &wrong, &why);
	r.scan.error = e;
	if (!plan)
		scan_fail_at(&r.scan, r.starts.at[wrong], E_TYPE,
		             "this step cannot be: %s", why.s);
	else if (unread.code != OK)
		error_set(e, unread.code, unread.at, "%s", unread.text);
	text_free(&why);
	if (e->code != OK)
		return e->code;
	plan_finish(plan);
	*out = plan;
	return OK;
}
