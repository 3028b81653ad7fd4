#include "plan/plan_text.h"

#include "notation/notation.h"
#include "plan/exchange.h"
#include "plan/groups.h"
#include "plan/view.h"

#include <ctype.h>
#include <string.h>

enum op op_find(const char *name, size_t length)
{
	enum op op = 0;

	while (op < OPS && (strlen(op_name(op)) != length ||
	                    memcmp(op_name(op), name, length) != 0))
		op++;
	return op;
}

static void print_moves(struct text *out, const struct plan *p, const struct step *s)
{
	const struct mesh *m = &p->problem->mesh;

	for (int i = 0; i < s->nmoves; i++) {
		const struct move *move = &s->move[i];

		text_printf(out, "%s{", i ? ", " : " ");
		for (int k = 0; k < move->nparts; k++) {
			struct part part = move->parts[k];
			const char *name = m->axis[part.axis].name;
			const char *quote = scan_plain_name(name) ? "" : "\"";

			text_printf(out, "%s%s%s%s", k ? "," : "", quote, name, quote);
			if (part.pre != 1 || part.size != m->axis[part.axis].size)
				text_printf(out, ":(%d)%d", part.pre, part.size);
		}
		text_printf(out, "}: ");
		if (move->from_dim >= 0)
			text_printf(out, "%d", view_dim(p, move->from_dim));
		text_printf(out, "->");
		if (move->to_dim >= 0)
			text_printf(out, "%d", view_dim(p, move->to_dim));
	}
}

static bool has_axes(const struct step *s)
{
	for (int i = 0; i < s->nmoves; i++)
		if (s->move[i].nparts == 0)
			return false;
	return s->nmoves > 0;
}

/* Moves by rising dimension, as plan_axes_step puts them. */
static bool in_order(const struct step *s)
{
	for (int i = 1; i < s->nmoves; i++) {
		const struct move *a = &s->move[i - 1], *b = &s->move[i];

		if (s->op == OP_ALL_GATHER ? a->from_dim > b->from_dim
		                           : a->to_dim > b->to_dim)
			return false;
	}
	return true;
}

bool step_follows_axes(const struct plan *p, int step)
{
	const struct mesh *m = &p->problem->mesh;
	const struct step *s = &p->step[step];
	const struct layout *before = plan_before(p, step);
	struct arena *a = arena_new();
	bool follows;

	if (s->transfers || s->op == OP_PAD) {
		follows = true; /* what travels is not told in a line */
	} else if (s->op == OP_PERMUTE) {
		follows = s->npairs == m->ndevices && before->kind != LAYOUT_MAXIMAL &&
		          s->after.kind != LAYOUT_MAXIMAL &&
		          memcmp(s->pairs, pairs_of_layouts(before, &s->after, m, a),
		                 (size_t)s->npairs * sizeof(*s->pairs)) == 0;
	} else if (!has_axes(s)) {
		follows = false;
	} else if (s->op == OP_SLICE) {
		follows = true; /* the layouts tell which block a device keeps */
	} else {
		struct groups g = groups_of_moves(m, s->move, s->nmoves, a);

		follows = in_order(s) && g.size == s->groups.size &&
		          memcmp(g.ids, s->groups.ids,
		                 (size_t)m->ndevices * sizeof(*g.ids)) == 0;
	}
	arena_free(a);
	return follows;
}

static bool same_transfers(const struct step *a, const struct step *b, int rank)
{
	if (a->ntransfers != b->ntransfers)
		return false;
	for (int64_t i = 0; i < a->ntransfers; i++) {
		const struct transfer *x = &a->transfers[i], *y = &b->transfers[i];

		if (x->src != y->src || x->dst != y->dst ||
		    memcmp(x->bounds, y->bounds,
		           2 * (size_t)rank * sizeof(*x->bounds)) != 0)
			return false;
	}
	return true;
}

bool step_is_told(const struct plan *p, int step)
{
	const struct step *s = &p->step[step];
	struct plan other = *p;
	struct text why = {0};
	bool told;

	if (s->op != OP_EXCHANGE)
		return !s->transfers;
	if (s->mesh != &p->problem->mesh)
		return false;
	other.arena = arena_new();
	other.nsteps = step;
	other.capacity = step;
	told = plan_exchange_axes(&other, &s->after, &why) &&
	       same_transfers(s, &other.step[step], p->shape.rank);
	arena_free(other.arena);
	text_free(&why);
	return told;
}

static void print_pairs(struct text *out, const struct step *s)
{
	text_printf(out, " pairs {");
	for (int32_t i = 0; i < s->npairs; i++)
		text_printf(out, "%s{%d,%d}", i ? "," : "", s->pairs[i].src,
		            s->pairs[i].dst);
	text_printf(out, "}");
}

static void print_groups(struct text *out, const struct groups *g)
{
	text_printf(out, " groups {");
	for (int32_t i = 0; i < g->ngroups; i++) {
		for (int32_t r = 0; r < g->size; r++)
			text_printf(out, "%s%d",
			            r   ? ","
			            : i ? ",{"
			                : "{",
			            g->ids[(int64_t)i * g->size + r]);
		text_printf(out, "}");
	}
	text_printf(out, "}");
}

void step_print(struct text *out, const struct plan *p, int step)
{
	const struct step *s = &p->step[step];

	text_printf(out, "%s", op_name(s->op));
	if (has_axes(s))
		print_moves(out, p, s);
}

static void print_step_line(struct text *out, const struct plan *p, int step)
{
	const struct step *s = &p->step[step];

	step_print(out, p, step);
	if (!step_is_told(p, step))
		text_printf(out, " boxes");
	if (!step_follows_axes(p, step)) {
		if (s->op == OP_PERMUTE)
			print_pairs(out, s);
		else if (s->op != OP_SLICE)
			print_groups(out, &s->groups);
	}
	text_printf(out, " => ");
	view_print_layout(out, p, &s->after, s->mesh);
	text_printf(out, "\n");
}

void plan_print(struct text *out, const struct plan *p)
{
	for (int i = 0; i < p->nsteps; i++)
		print_step_line(out, p, i);
}

bool plan_wins_tie(const struct plan *a, const struct plan *b)
{
	struct text s = {0}, t = {0};
	bool first;

	if (a->peak_live_bytes != b->peak_live_bytes)
		return a->peak_live_bytes < b->peak_live_bytes;
	plan_print(&s, a);
	plan_print(&t, b);
	first = strcmp(s.s ? s.s : "", t.s ? t.s : "") < 0;
	text_free(&s);
	text_free(&t);
	return first;
}

void plan_print_line(struct text *out, const struct plan *p)
{
	for (int i = 0; i < p->nsteps; i++) {
		if (i)
			text_printf(out, "; ");
		step_print(out, p, i);
	}
	if (p->nsteps == 0)
		text_printf(out, "nothing");
}

/* --- reading ----------------------------------------------------------------------- */

struct reader {
	struct scan scan;
	const struct problem *problem;
	struct arena *arena;
	/* What was read, and where in the text. */
	int nsteps, capacity;
	struct step_read *step;
	const char **start;
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

/* "{x,y:(1)2}: 0->1" behind the opening brace. */
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
 * "{{0,1},{2,3}}": lists of equal length into ids[*n], rows and columns counted. Never
 * more than twice the devices.
 */
static enum status read_lists(struct reader *r, int32_t **ids, int32_t *rows,
                              int32_t *columns)
{
	struct scan *s = &r->scan;
	int32_t ndevices = r->problem->mesh.ndevices, n = 0;

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

/* The rest of the line is a layout; lines end at '\n'. */
static enum status read_layout(struct reader *r, struct step_read *out)
{
	struct scan *s = &r->scan;
	size_t n;
	char *line;

	scan_peek(s);
	n = strcspn(s->pos, "\n");
	line = arena_strndup(r->arena, s->pos, n);
	if (view_parse_layout(&out->after, &out->digits, r->problem, r->arena, line,
	                      scan_where(s, s->pos), s->error) != OK)
		return s->error->code;
	s->pos += n;
	return OK;
}

/* "pairs {{0,1},{1,0}}" or "groups {{0,3},{1,2}}", if there. */
static enum status read_devices(struct reader *r, struct step_read *out)
{
	struct scan *s = &r->scan;
	int32_t *ids, rows, columns;
	struct groups *groups;

	if (scan_word(s, "boxes"))
		return scan_fail_at(s, s->pos - strlen("boxes"), E_TYPE,
		                    "the boxes of this step are not told, so it cannot "
		                    "be read");
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
	if (read_devices(r, out) != OK)
		return s->error->code;
	return scan_expect(s, "=>") ? read_layout(r, out) : s->error->code;
}

/* Room for one more step. */
static void grow(struct reader *r)
{
	size_t n = (size_t)r->nsteps;

	if (r->nsteps < r->capacity)
		return;
	r->capacity = r->capacity ? 2 * r->capacity : 8;
	r->step = memcpy(arena_alloc(r->arena, (size_t)r->capacity, sizeof(*r->step)),
	                 r->step ? r->step : &(struct step_read){0},
	                 n * sizeof(*r->step));
	r->start = memcpy(arena_alloc(r->arena, (size_t)r->capacity, sizeof(*r->start)),
	                  r->start ? r->start : &(const char *){NULL},
	                  n * sizeof(*r->start));
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
		grow(&r);
		if (read_step(&r, &r.step[r.nsteps], &r.start[r.nsteps]) != OK)
			break;
		r.nsteps++;
	}
	/* A step that cannot be comes before a later one that cannot be read. */
	plan = plan_of_read(p, a, "text", r.step, r.nsteps, &wrong, &why);
	r.scan.error = e;
	if (!plan)
		scan_fail_at(&r.scan, r.start[wrong], E_TYPE, "this step cannot be: %s",
		             why.s);
	else if (unread.code != OK)
		error_set(e, unread.code, unread.at, "%s", unread.text);
	text_free(&why);
	if (e->code != OK)
		return e->code;
	plan_finish(plan);
	*out = plan;
	return OK;
}
