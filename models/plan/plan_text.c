#include "plan/plan_text.h"

#include "notation/notation.h"
#include "plan/exchange.h"
#include "plan/groups.h"
#include "plan/view.h"

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

/* Moves by rising dimension, as plan_axes_step puts them. */
static bool in_order(const struct step *s)
{
	for (int i = 1; i < s->nmoves; i++) {
		const struct move *a = &s->move[i - 1], *b = &s->move[i];

		if (s->op == OP_ALL_GATHER || s->op == OP_PARTIAL
		            ? a->from_dim > b->from_dim
		            : a->to_dim > b->to_dim)
			return false;
	}
	return true;
}

/*
 * Returns whether a step's groups (or chunks, pairs) are just those that follow from
 * its axes.
 */
static bool step_follows_axes(const struct plan *p, int step)
{
	const struct mesh *m = &p->problem->mesh;
	const struct step *s = &p->step[step];
	const struct layout *before = plan_before(p, step);
	struct arena *a = arena_new();
	bool follows;

	if (s->op == OP_EXCHANGE || s->op == OP_PAD ||
	    (s->op == OP_PERMUTE && s->transfers && s->npairs == 0)) {
		follows = true; /* there are none */
	} else if (s->op == OP_PERMUTE && s->transfers) {
		follows = false;
	} else if (s->op == OP_PERMUTE) {
		follows = s->npairs == m->ndevices && before->kind != LAYOUT_MAXIMAL &&
		          s->after.kind != LAYOUT_MAXIMAL &&
		          memcmp(s->pairs, pairs_of_layouts(before, &s->after, m, a),
		                 (size_t)s->npairs * sizeof(*s->pairs)) == 0;
	} else if (!step_has_axes(s)) {
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

static bool same_box(const struct transfer *a, const struct transfer *b, int rank)
{
	return memcmp(a->bounds, b->bounds, 2 * (size_t)rank * sizeof(*a->bounds)) == 0;
}

static bool same_transfers(const struct step *a, const struct step *b, int rank)
{
	if (a->ntransfers != b->ntransfers)
		return false;
	for (int64_t i = 0; i < a->ntransfers; i++) {
		const struct transfer *x = &a->transfers[i], *y = &b->transfers[i];

		if (x->src != y->src || x->dst != y->dst || !same_box(x, y, rank))
			return false;
	}
	return true;
}

int64_t step_box_run(const struct plan *p, const struct step *s, int64_t first)
{
	int64_t end = first + 1;

	while (end < s->ntransfers &&
	       same_box(&s->transfers[first], &s->transfers[end], p->shape.rank))
		end++;
	return end;
}

bool step_implies_boxes(const struct plan *p, int step)
{
	const struct step *s = &p->step[step];
	struct plan other = *p;
	struct text why = {0};
	bool implied;

	if (!s->transfers && s->op != OP_EXCHANGE)
		return true;
	if (s->op != OP_EXCHANGE || step_on_target(p, step))
		return false;
	other.arena = arena_new();
	other.nsteps = step;
	other.room = step;
	implied = plan_exchange_axes(&other, &s->after, &why) &&
	          same_transfers(s, &other.step[step], p->shape.rank);
	arena_free(other.arena);
	text_free(&why);
	return implied;
}

bool step_on_target(const struct plan *p, int step)
{
	return p->problem->two_meshes && p->step[step].mesh == &p->problem->to_mesh;
}

bool plan_is_unpadded(const struct plan *p)
{
	const struct shape *padded = &p->problem->padded;

	return !p->view && memcmp(p->shape.dim, padded->dim,
	                          (size_t)padded->rank * sizeof(*padded->dim)) != 0;
}

bool step_implies_tile(const struct plan *p, int step)
{
	const struct step *s = &p->step[step];
	struct shape usual = layout_local(&s->after, &p->shape);

	/* Parts are held beside the tiles, which stay. */
	if (s->op == OP_PERMUTE && s->transfers)
		usual = s->before_local;
	return memcmp(s->local.dim, usual.dim,
	              (size_t)usual.rank * sizeof(*usual.dim)) == 0;
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
	if (step_has_axes(s))
		print_moves(out, p, s);
}

static void print_extents(struct text *out, const char *what, const struct shape *s)
{
	text_printf(out, " %s [", what);
	for (int i = 0; i < s->rank; i++)
		text_printf(out, "%s%lld", i ? "," : "", (long long)s->dim[i]);
	text_printf(out, "]");
}

static void print_starts(struct text *out, const struct plan *p, const struct step *s)
{
	int rank = p->shape.rank;

	text_printf(out, " starts {");
	for (int32_t d = 0; d < p->problem->ndevices; d++) {
		text_printf(out, "%s", d ? ",{" : "{");
		for (int i = 0; i < rank; i++)
			text_printf(out, "%s%lld", i ? "," : "",
			            (long long)s->start[(int64_t)d * rank + i]);
		text_printf(out, "}");
	}
	text_printf(out, "}");
}

static void print_head(struct text *out, const struct plan *p, int step)
{
	const struct step *s = &p->step[step];

	step_print(out, p, step);
	if (plan_is_unpadded(p))
		text_printf(out, " unpadded");
	if (step_on_target(p, step))
		text_printf(out, " on target mesh");
	if (s->gathers)
		print_extents(out, "sums", &s->summed);
	if (!step_follows_axes(p, step)) {
		if (s->op == OP_PERMUTE)
			print_pairs(out, s);
		else if (s->op != OP_SLICE)
			print_groups(out, &s->groups);
	}
	if (s->part)
		text_printf(out, " part %lld", (long long)s->part);
	if (!step_implies_boxes(p, step))
		text_printf(out, " boxes");
	if (!step_implies_tile(p, step))
		print_extents(out, "tile", &s->local);
	if (s->start)
		print_starts(out, p, s);
	text_printf(out, " => ");
	view_print_layout(out, p, &s->after, s->mesh);
	text_printf(out, "\n");
}

/* Prints the boxes from number `first` on as a line; returns the number behind them. */
static int64_t print_boxes(struct text *out, const struct plan *p, const struct step *s,
                           int64_t first)
{
	int64_t end = step_box_run(p, s, first);
	const int64_t *bounds = s->transfers[first].bounds;

	text_printf(out, "  [");
	for (int i = 0; i < p->shape.rank; i++)
		text_printf(out, "%s%lld:%lld", i ? "," : "", (long long)bounds[2 * i],
		            (long long)bounds[2 * i + 1]);
	text_printf(out, "]");
	for (int64_t i = first; i < end; i++)
		text_printf(out, "%s%d->%d", i > first ? ", " : " ",
		            s->transfers[i].src, s->transfers[i].dst);
	text_printf(out, "\n");
	return end;
}

/* The lines of a plan one after the other: box -1 is the head of a step. */
struct lines {
	const struct plan *plan;
	int step;
	bool boxes;
	int64_t box;
};

/* Moves to the next line; returns false at the end. */
static bool next_line(struct text *out, struct lines *l)
{
	const struct plan *p = l->plan;

	if (l->boxes && l->box < p->step[l->step].ntransfers) {
		l->box = print_boxes(out, p, &p->step[l->step], l->box);
		return true;
	}
	l->step++;
	if (l->step >= p->nsteps)
		return false;
	print_head(out, p, l->step);
	l->boxes = !step_implies_boxes(p, l->step);
	l->box = 0;
	return true;
}

void plan_print(struct text *out, const struct plan *p)
{
	struct lines l = {.plan = p, .step = -1};

	while (next_line(out, &l))
		;
}

/* Returns the step whose head is the next line, or -1. */
static int next_head(const struct lines *l)
{
	if (l->boxes && l->box < l->plan->step[l->step].ntransfers)
		return -1;
	return l->step + 1 < l->plan->nsteps ? l->step + 1 : -1;
}

/* Compares the text that two lines begin with; 0: as far as the shorter goes it is one. */
static int compare_begins(const char *a, size_t na, const char *b, size_t nb)
{
	return memcmp(a, b, na < nb ? na : nb);
}

/* Returns the order of the next lines where steps without their layouts tell it, else 0. */
static int order_of_heads(const struct lines *la, const struct lines *lb)
{
	int i = next_head(la), k = next_head(lb), order;
	const char *a, *b;
	struct text s = {0}, t = {0};

	if (i < 0 || k < 0)
		return 0;
	a = op_name(la->plan->step[i].op);
	b = op_name(lb->plan->step[k].op);
	order = compare_begins(a, strlen(a), b, strlen(b));
	if (order != 0)
		return order;
	step_print(&s, la->plan, i);
	step_print(&t, lb->plan, k);
	order = compare_begins(s.s, s.length, t.s, t.length);
	text_free(&s);
	text_free(&t);
	return order;
}

/*
 * Line by line: plans that tie soon differ, most in the first step, and those with many boxes
 * are long.
 */
bool plan_wins_tie(const struct plan *a, const struct plan *b)
{
	struct lines la = {.plan = a, .step = -1}, lb = {.plan = b, .step = -1};
	int order = 0;
	bool more = true;

	if (a->peak_live_bytes != b->peak_live_bytes)
		return a->peak_live_bytes < b->peak_live_bytes;
	if (plan_equal(a, b))
		return false;
	while (order == 0 && more) {
		struct text s = {0}, t = {0};

		order = order_of_heads(&la, &lb);
		if (order != 0)
			break;
		more = next_line(&s, &la);
		more = next_line(&t, &lb) || more;
		order = strcmp(s.s ? s.s : "", t.s ? t.s : "");
		text_free(&s);
		text_free(&t);
	}
	return order < 0;
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
