/*
 * Plans over digits, read back: which digits they need follows from the layouts and moves
 * of all lines together.
 */
#include "base/assert.h"
#include "plan/view.h"

#include "notation/notation.h"
#include "plan/plan_text.h"

#include <ctype.h>
#include <string.h>

/* --- strided layouts -------------------------------------------------------------- */

/* Returns whether a text begins as the strided layouts in view.h do. */
static bool view_is_strided(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	if (*text++ != '[')
		return false;
	text += strspn(text, "0123456789, \t");
	if (*text++ != ']')
		return false;
	while (isspace((unsigned char)*text))
		text++;
	return strncmp(text, "->", 2) == 0;
}

/* Returns the digits of one dimension after the other; their product is its extent. */
static enum status read_digits(struct view *out, const struct shape *g, struct scan *s)
{
	out->shape.rank = 0;
	if (!scan_expect(s, "["))
		return s->error->code;
	for (int dim = 0; dim < g->rank; dim++) {
		int64_t product = 1, digit;

		do {
			if (out->shape.rank > 0 && !scan_expect(s, ","))
				return s->error->code;
			if (!scan_int(s, "a digit", 1, g->dim[dim], &digit))
				return s->error->code;
			product *= digit;
			if (g->dim[dim] % product != 0)
				return scan_fail(s, E_TYPE,
				                 "the digits of dimension %d do not "
				                 "multiply to %lld",
				                 dim, (long long)g->dim[dim]);
			if (out->shape.rank == RANK_MAX)
				return scan_fail(s, E_RANGE, "more than %d digits",
				                 RANK_MAX);
			out->dim[out->shape.rank] = (uint8_t)dim;
			out->shape.dim[out->shape.rank++] = digit;
		} while (product < g->dim[dim]);
	}
	scan_expect(s, "]");
	return s->error->code;
}

static enum status read_view_shape(const struct shape *g, struct scan *s)
{
	if (!scan_expect(s, "["))
		return s->error->code;
	for (int dim = 0; dim < g->rank; dim++) {
		int64_t extent;

		if ((dim > 0 && !scan_expect(s, ",")) ||
		    !scan_int(s, "the padded extent", g->dim[dim], g->dim[dim], &extent))
			return s->error->code;
	}
	return scan_expect(s, "]") && scan_expect(s, "->") ? OK : s->error->code;
}

enum status view_parse_layout(struct layout *out, struct view *digits,
                              const struct problem *p, const struct mesh *m,
                              struct arena *a, const char *text, struct where at,
                              struct error *e)
{
	struct scan s = scan_start(text, at, e);

	digits->shape = p->padded;
	for (int dim = 0; dim < p->padded.rank; dim++)
		digits->dim[dim] = (uint8_t)dim;
	if (!view_is_strided(text))
		return layout_parse(out, m, &p->array.shape, a, text, at, e);
	if (read_view_shape(&p->padded, &s) != OK ||
	    read_digits(digits, &p->padded, &s) != OK)
		return e->code;
	scan_peek(&s);
	if (layout_parse(out, m, &digits->shape, a, s.pos, scan_where(&s, s.pos), e) !=
	    OK)
		return e->code;
	for (int k = 0; k < digits->shape.rank; k++)
		if (digits->shape.dim[k] % layout_shards(out, k) != 0)
			return scan_fail(&s, E_TYPE, "digit %d of %lld does not divide",
			                 k, (long long)digits->shape.dim[k]);
	return OK;
}

/* --- the digits that all lines need ----------------------------------------------- */

enum { CUTS_MAX = RANK_MAX + 1 };

/* Where the digits of a dimension begin and end: products of its major ones, rising. */
struct cuts {
	int n;
	int64_t at[CUTS_MAX];
};

/*
 * Adds a cut; returns false where the cut divides none, or the next one does not divide
 * it.
 */
static bool cut_add(struct cuts *c, int64_t at)
{
	int k = c->n;

	while (k > 0 && c->at[k - 1] > at)
		k--;
	if (k > 0 && c->at[k - 1] == at)
		return true;
	if (c->n == CUTS_MAX || (k > 0 && at % c->at[k - 1] != 0) ||
	    (k < c->n && c->at[k] % at != 0))
		return false;
	memmove(c->at + k + 1, c->at + k, (size_t)(c->n - k) * sizeof(*c->at));
	c->at[k] = at;
	c->n++;
	return true;
}

/* Cuts digits where those of a line begin and end, and where its shards end. */
static bool cut_layout(struct cuts *cuts, const struct layout *l,
                       const struct view *digits)
{
	int64_t major = 1;

	for (int k = 0; k < digits->shape.rank; k++) {
		struct cuts *c = &cuts[digits->dim[k]];

		major = k > 0 && digits->dim[k] == digits->dim[k - 1] ? major : 1;
		if (!cut_add(c, major * layout_shards(l, k)))
			return false;
		major *= digits->shape.dim[k];
		if (!cut_add(c, major))
			return false;
	}
	return true;
}

/*
 * Tells where a part lies in array dimension `dim` of a line, as cuts; returns false if
 * it does not.
 */
static bool find_part(int64_t *start, int64_t *end, const struct layout *l,
                      const struct view *digits, int dim, struct part p)
{
	int64_t major = 1;

	for (int k = 0; k < digits->shape.rank; k++) {
		int64_t at = major;
		int n;
		const struct part *q = layout_parts(l, k, &n);

		if (digits->dim[k] != dim)
			continue;
		for (int i = 0; i < n; at *= q[i++].size) {
			if (q[i].axis != p.axis || p.pre % q[i].pre != 0 ||
			    (int64_t)p.pre * p.size > (int64_t)q[i].pre * q[i].size)
				continue;
			*start = at * (p.pre / q[i].pre);
			*end = *start * p.size;
			return true;
		}
		major *= digits->shape.dim[k];
	}
	return false;
}

/* Cuts digits where moves begin and end; their parts may go together in one digit. */
static bool cut_moves(struct cuts *cuts, const struct layout *l,
                      const struct view *digits, const struct step_read *s, bool before)
{
	for (int i = 0; i < s->nmoves; i++) {
		const struct move *m = &s->move[i];
		int dim = before ? m->from_dim : m->to_dim;
		int64_t start, end, none;

		if (dim < 0 || !find_part(&start, &none, l, digits, dim, m->parts[0]) ||
		    !find_part(&none, &end, l, digits, dim, m->parts[m->nparts - 1]))
			continue;
		if (!cut_add(&cuts[dim], start) || !cut_add(&cuts[dim], end))
			return false;
	}
	return true;
}

static struct view whole_view(const struct problem *p)
{
	struct view v = {.shape = p->padded};

	for (int dim = 0; dim < p->padded.rank; dim++)
		v.dim[dim] = (uint8_t)dim;
	return v;
}

/*
 * Finds the digits of all lines; returns false where a line does not go with those
 * before it: its number is *wrong.
 */
static bool find_view(struct view *out, const struct problem *p,
                      const struct step_read *steps, int n, int *wrong)
{
	struct cuts cuts[RANK_MAX];
	struct view whole = whole_view(p), before = whole;
	const struct layout *l = &p->from;
	bool fits;

	for (int dim = 0; dim < p->padded.rank; dim++)
		cuts[dim] = (struct cuts){.n = 1, .at = {1}};
	*wrong = 0;
	fits = cut_layout(cuts, &p->from, &whole) && cut_layout(cuts, &p->to, &whole);
	for (int i = 0; i < n && fits; i++) {
		const struct step_read *s = &steps[i];

		*wrong = i;
		fits = cut_layout(cuts, &s->after, &s->digits) &&
		       cut_moves(cuts, l, &before, s, true) &&
		       cut_moves(cuts, &s->after, &s->digits, s, false);
		l = &s->after;
		before = s->digits;
	}
	out->shape.rank = 0;
	for (int dim = 0; dim < p->padded.rank && fits; dim++) {
		int k = cuts[dim].n > 1 ? 1 : 0;

		do {
			int rank = out->shape.rank;

			if (rank == RANK_MAX)
				return false;
			out->dim[rank] = (uint8_t)dim;
			out->shape.dim[rank] =
				cuts[dim].at[k] / cuts[dim].at[k ? k - 1 : 0];
			out->shape.rank++;
		} while (++k < cuts[dim].n);
	}
	return fits;
}

/* --- lines over those digits ------------------------------------------------------ */

/*
 * Binds `digit` of radix `size` with the parts from part[*i] on; *i moves behind them.
 */
static bool bind_digit(struct layout *out, int digit, int64_t size, struct part *part,
                       int n, int *i)
{
	while (size > 1 && *i < n) {
		struct part *p = &part[*i], first = *p;

		if (size < p->size) {
			if (p->size % size != 0)
				return false;
			first.size = (int32_t)size;
			p->pre *= first.size;
			p->size /= first.size;
		} else {
			(*i)++;
		}
		if (size % first.size != 0 || !layout_append(out, digit, first))
			return false;
		size /= first.size;
	}
	return size == 1 || out->nparts[digit] == 0;
}

/* Says a layout over `digits` in the finer ones of `v`. */
static bool refine(struct layout *out, const struct layout *l,
                   const struct view *digits, const struct view *v)
{
	int fine = 0;

	*out = layout_replicated(v->shape.rank);
	if (l->kind != LAYOUT_AXES || l->nunreduced)
		return false;
	for (int k = 0; k < digits->shape.rank; k++) {
		struct part part[LAYOUT_PARTS_MAX];
		int64_t left = digits->shape.dim[k];
		int n, i = 0;
		const struct part *all = layout_parts(l, k, &n);

		if (n > 0)
			memcpy(part, all, (size_t)n * sizeof(*part));
		/* Of extent 1 there is one digit, wherever a line has more. */
		if (left == 1 && (fine == v->shape.rank || v->shape.dim[fine] > 1))
			continue;
		do {
			if (fine == v->shape.rank || left % v->shape.dim[fine] != 0 ||
			    !bind_digit(out, fine, v->shape.dim[fine], part, n, &i))
				return false;
			left /= v->shape.dim[fine++];
		} while (left > 1);
	}
	layout_normalise(out);
	return true;
}

/* Returns whether the parts that bind a digit are among those of a move. */
static bool part_of_move(const struct layout *l, int digit, const struct move *m)
{
	int n;
	const struct part *part = layout_parts(l, digit, &n);

	for (int k = 0; k < n; k++) {
		bool inside = false;

		for (int i = 0; i < m->nparts && !inside; i++)
			inside = part[k].axis == m->parts[i].axis &&
			         part[k].pre % m->parts[i].pre == 0 &&
			         (int64_t)part[k].pre * part[k].size <=
			                 (int64_t)m->parts[i].pre * m->parts[i].size;
		if (!inside)
			return false;
	}
	return n > 0;
}

static bool same_digit(const struct layout *a, int i, const struct layout *b, int k)
{
	int n, m;
	const struct part *p = layout_parts(a, i, &n), *q = layout_parts(b, k, &m);

	return n == m && memcmp(p, q, (size_t)n * sizeof(*p)) == 0;
}

/*
 * Returns the digit of array dimension `dim` that digit `from` of the layout before
 * goes to.
 */
static int target_digit(const struct view *v, const struct layout *before,
                        const struct layout *after, int from, int dim)
{
	for (int k = 0; k < v->shape.rank; k++)
		if (v->dim[k] == dim && before->nparts[k] == 0 &&
		    same_digit(before, from, after, k))
			return k;
	return -1;
}

/*
 * Tells a move between array dimensions as moves between the digits that it binds (or,
 * a slice, comes to bind). Returns their number, -1 if they are not all of its parts.
 */
static int refine_move(struct move *out, int n, const struct view *v, enum op op,
                       const struct move *m, const struct layout *before,
                       const struct layout *after, struct arena *a)
{
	bool slice = op == OP_SLICE;
	const struct layout *has = slice ? after : before,
			    *lacks = slice ? before : after;
	int dim = slice ? m->to_dim : m->from_dim;
	int64_t product = 1;

	for (int k = 0; k < v->shape.rank; k++) {
		struct move *x = &out[n];
		const struct part *parts;

		if (v->dim[k] != dim || lacks->nparts[k] > 0 || !part_of_move(has, k, m))
			continue;
		if (n == RANK_MAX)
			return -1;
		parts = layout_parts(has, k, &x->nparts);
		*x = (struct move){.from_dim = slice ? -1 : k,
		                   .to_dim = slice ? k : -1,
		                   .factor = (int32_t)layout_shards(has, k),
		                   .nparts = x->nparts};
		x->parts = arena_dup(a, parts, (size_t)x->nparts, sizeof(*parts));
		if (op == OP_ALL_TO_ALL) {
			x->to_dim = target_digit(v, before, after, k, m->to_dim);
			if (x->to_dim < 0)
				return -1;
		}
		product *= x->factor;
		n++;
	}
	return product == m->factor ? n : -1;
}

static bool dims_said(enum op op, const struct move *m)
{
	return (m->from_dim >= 0) == (op == OP_ALL_GATHER || op == OP_ALL_TO_ALL) &&
	       (m->to_dim >= 0) == (op == OP_SLICE || op == OP_ALL_TO_ALL);
}

static bool add_view_step(struct plan *p, const struct step_read *s, struct text *why)
{
	struct step_read fine = *s;
	struct move moves[RANK_MAX];
	struct layout before = *plan_layout(p), after;
	int n = 0;

	if (s->boxes || s->part || s->summed || s->tile || s->start || s->on_target ||
	    s->unpadded) {
		text_printf(why, "boxes and tiles are not told over digits");
		return false;
	}
	if (!refine(&after, &s->after, &s->digits, p->view)) {
		text_printf(why, "its layout does not go with the digits");
		return false;
	}
	for (int i = 0; i < s->nmoves; i++) {
		if (!dims_said(s->op, &s->move[i])) {
			text_printf(why, "a move's dimensions do not fit the op");
			return false;
		}
		n = refine_move(moves, n, p->view, s->op, &s->move[i], &before, &after,
		                p->arena);
		if (n < 0) {
			text_printf(why, "the axes do not lead to this layout");
			return false;
		}
	}
	fine.move = moves;
	fine.nmoves = n;
	fine.after = after;
	return plan_add_read(p, &fine, why);
}

bool view_add_steps(struct plan *p, const struct step_read *steps, int n, int *wrong,
                    struct text *why)
{
	const struct problem *q = p->problem;
	struct view view, whole = whole_view(q);
	struct layout from, to;

	*wrong = 0;
	if (!q->padded_ok || q->from.kind != LAYOUT_AXES || q->to.kind != LAYOUT_AXES) {
		text_printf(why, "digits need layouts of axes with one padded shape");
		return false;
	}
	if (!find_view(&view, q, steps, n, wrong) ||
	    !refine(&from, &q->from, &whole, &view) ||
	    !refine(&to, &q->to, &whole, &view)) {
		text_printf(why, "its digits do not line up with those before it");
		return false;
	}
	plan_view(p, &view, &from, &to);
	for (int i = 0; i < n; i++) {
		*wrong = i;
		if (!add_view_step(p, &steps[i], why))
			return false;
	}
	return true;
}

/* Returns a step as its text says it. */
static struct step_read told_step(const struct plan *p, const struct step *s)
{
	struct step_read out = {.op = s->op,
	                        .nmoves = s->nmoves,
	                        .npairs = s->npairs,
	                        .after = s->after,
	                        .digits = *p->view};
	struct move *moves =
		arena_dup(p->arena, s->move, (size_t)s->nmoves, sizeof(*moves));

	for (int k = 0; k < s->nmoves; k++) {
		moves[k].from_dim = view_dim(p, moves[k].from_dim);
		moves[k].to_dim = view_dim(p, moves[k].to_dim);
	}
	out.move = moves;
	out.pairs = s->npairs ? s->pairs : NULL;
	view_join(&out.digits, &out.after);
	return out;
}

struct plan *view_join_plan(const struct plan *p)
{
	struct step_read *steps =
		arena_alloc(p->arena, (size_t)p->nsteps, sizeof(*steps));
	struct text why = {0};
	struct plan *out;
	int wrong;

	assert(p->view);
	for (int i = 0; i < p->nsteps; i++)
		steps[i] = told_step(p, &p->step[i]);
	out = plan_of_read(p->problem, p->arena, p->planner, steps, p->nsteps, &wrong,
	                   &why);
	assert(out);
	text_free(&why);
	plan_finish(out);
	return out;
}
