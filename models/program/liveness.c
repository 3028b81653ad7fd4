#include "program/liveness.h"

#include "program/custom.h"

#include <string.h>

struct live {
	const struct program *p;
	struct arena *a;
	double *inside; /* of each region: the most its own values take; < 0: not known yet */
	int32_t *peak; /* and the op at which that is */
	/* The step of the region at which that is, and the region within, -1: none. */
	int32_t *peak_step, *peak_within;
	bool failed;
};

/* The memory of a value, and of all that share it. */
struct buffer {
	double bytes;
	int32_t last; /* step that reads it last; LASTS: it goes out */
	bool given;   /* it may be written over */
	bool own;     /* it is counted here, not where the region is called */
	bool gone;
};

enum { LASTS = INT32_MAX };

/* A buffer that a step may have read last, in a list of such. */
struct dying {
	int32_t buffer, next; /* next -1: none */
};

/* A region while its ops are gone through. */
struct walk {
	struct live *l;
	const struct region *region;
	struct kernels k;
	struct buffer *buffer; /* [values] */
	int32_t *at;           /* of each value, its buffer; -1: none */
	int32_t *reads;        /* of each value, the last step that reads it */
	int32_t *dying;        /* of each step, the first of its list */
	LIST(struct dying) list;
	int32_t *takes; /* of each value, the argument that it takes over; -1: none */
	double now;
};

static const struct instruction *op_of(const struct walk *w, int32_t step)
{
	return &w->l->p->op.at[w->k.flat.step.at[step].op];
}

static int32_t input(const struct walk *w, const struct flat_step *s, int32_t k)
{
	return w->k.flat.in.at[s->first_in + k];
}

static double value_bytes(const struct walk *w, int32_t v)
{
	const struct value_type *t = w->k.flat.value.at[v].type;

	return t->space == SPACE_DEVICE ? (double)value_type_bytes(t) : 0;
}

/* Ops whose results are other names of their operands. */
static bool is_name(const struct instruction *op)
{
	return op->noperands >= 1 && op->nvalues == 1 &&
	       (op->code == HLO_BITCAST || op->code == HLO_RESHAPE ||
	        op->code == HLO_SHARDING_CONSTRAINT || op->code == HLO_RESHARD ||
	        op->code == HLO_DATA_FLOW_EDGE || custom_is_name(op));
}

/* Ops that may write their result over an operand. */
static bool in_place(const struct instruction *op)
{
	switch (opcode_class(op->code)) {
	case CLASS_ELEMENTWISE:
		return true;
	case CLASS_INDEX:
		return op->code == HLO_DYNAMIC_UPDATE_SLICE || op->code == HLO_SCATTER;
	default:
		return op->code == HLO_FUSION || op->code == HLO_ALL_REDUCE ||
		       op->code == HLO_SORT;
	}
}

/* --- when values are read last --- */

/* The step at which an asynchronous op ends. */
static int32_t end_of(const struct walk *w, int32_t step)
{
	int32_t pair = op_of(w, step)->pair;

	for (int32_t k = step + 1; k < w->k.flat.step.n; k++)
		if (w->k.flat.step.at[k].op == pair)
			return k;
	return step;
}

/* Reads of a value that is computed again are reads of what it is made of. */
static void find_reads(struct walk *w)
{
	const struct flat *f = &w->k.flat;

	for (int64_t v = 0; v < f->value.n; v++)
		w->reads[v] = -1;
	for (int32_t i = 0; i < f->result.n; i++)
		w->reads[f->result.at[i]] = LASTS;
	for (int32_t k = (int32_t)f->step.n; k-- > 0;) {
		const struct flat_step *s = &f->step.at[k];
		const struct instruction *op = op_of(w, k);
		int32_t last = op->async == ASYNC_START ? end_of(w, k) : k;

		for (int32_t i = 0; i < s->nout; i++) {
			int32_t v = s->first_out + i;

			if ((is_name(op) || !w->k.kept[v]) && w->reads[v] > last)
				last = w->reads[v];
		}
		for (int32_t i = 0; i < s->nin; i++)
			if (w->reads[input(w, s, i)] < last)
				w->reads[input(w, s, i)] = last;
	}
}

/* --- buffers --- */

/* Says that a buffer is read up to a step, at which it is looked at again. */
static void keep_until(struct walk *w, int32_t b, int32_t step)
{
	struct buffer *of = &w->buffer[b];

	if (step <= of->last && of->last >= 0)
		return;
	of->last = step;
	if (step == LASTS)
		return;
	*list_add(&w->list, w->l->a) = (struct dying){b, w->dying[step]};
	w->dying[step] = (int32_t)w->list.n - 1;
}

static void share(struct walk *w, int32_t v, int32_t b)
{
	w->at[v] = b;
	if (b >= 0 && w->reads[v] >= 0)
		keep_until(w, b, w->reads[v]);
}

static bool is_free(const struct walk *w, int32_t b, int32_t step)
{
	const struct buffer *of = &w->buffer[b];

	return b >= 0 && of->given && !of->gone && of->last <= step;
}

static bool taken(const struct walk *w, const struct flat_step *s, int32_t v, int32_t b)
{
	for (int32_t k = s->first_out; k < v; k++)
		if (w->at[k] == b)
			return true;
	return false;
}

/*
 * The buffer that a result is written over, -1 if none is free: that of an operand, of what an
 * operand is computed from on the way, or of the argument that the result takes over.
 */
static int32_t taken_over(const struct walk *w, const struct flat_step *s, int32_t step,
                          int32_t v)
{
	double bytes = value_bytes(w, v);
	int32_t argument = w->takes[v];
	bool over = in_place(op_of(w, step));

	if (argument >= 0 && is_free(w, argument, over ? step : step - 1) &&
	    w->buffer[argument].bytes == bytes && !taken(w, s, v, argument))
		return argument;
	for (int32_t i = 0; over && i < s->nin; i++) {
		int32_t b = w->at[input(w, s, i)];

		if (b >= 0 && w->buffer[b].bytes == bytes && is_free(w, b, step) &&
		    !taken(w, s, v, b))
			return b;
	}
	for (int32_t k = over ? w->dying[step] : -1; k >= 0; k = w->list.at[k].next) {
		int32_t b = w->list.at[k].buffer;

		if (w->buffer[b].bytes == bytes && w->buffer[b].last == step &&
		    is_free(w, b, step) && !taken(w, s, v, b))
			return b;
	}
	return -1;
}

/* A loop carries one copy of its values; those that no turn changes need none. */
static bool carries(struct walk *w, const struct flat_step *s, int32_t step, int32_t i)
{
	const struct program *p = w->l->p;
	const struct region *body = &p->region.at[op_called(p, op_of(w, step), 1)];
	int32_t b = w->at[input(w, s, i)];

	if (b < 0 || (body->result.at[i] != body->param.at[i] && !is_free(w, b, step)))
		return false;
	share(w, s->first_out + i, b);
	return true;
}

static bool held(const struct walk *w, const struct flat_step *s, int32_t step,
                 int32_t i)
{
	const struct instruction *op = op_of(w, step);
	int32_t before = op->first_result - op->first_value;

	if (!w->k.kept[s->first_out + i] || op->code == HLO_CONSTANT ||
	    op->async == ASYNC_DONE || op->async == ASYNC_UPDATE)
		return false;
	/* Operands that stand beside the results of a start have buffers of their own. */
	return op->async != ASYNC_START || (i >= before && i < before + op->nresults);
}

static void place_result(struct walk *w, const struct flat_step *s, int32_t step,
                         int32_t i)
{
	int32_t v = s->first_out + i, b;

	if (is_name(op_of(w, step))) {
		share(w, v, w->at[input(w, s, 0)]);
		return;
	}
	if (op_of(w, step)->code == HLO_WHILE && carries(w, s, step, i))
		return;
	if (!held(w, s, step, i))
		return;
	b = taken_over(w, s, step, v);
	if (b < 0) {
		b = v;
		w->buffer[b] = (struct buffer){.bytes = value_bytes(w, v),
		                               .last = -1,
		                               .given = true,
		                               .own = true};
		w->now += w->buffer[b].bytes;
		keep_until(w, b, step);
	}
	share(w, v, b);
}

static void free_dead(struct walk *w, int32_t step)
{
	for (int32_t k = w->dying[step]; k >= 0; k = w->list.at[k].next) {
		struct buffer *of = &w->buffer[w->list.at[k].buffer];

		if (of->last != step || of->gone || !of->own)
			continue;
		of->gone = true;
		w->now -= of->bytes;
	}
}

/* --- regions --- */

static double inside_of(struct live *l, int32_t region);

/*
 * Bytes that regions called by an op hold on top of what is held here, and which of them holds
 * most, -1: none.
 */
static double called_bytes(struct live *l, const struct instruction *op, int32_t *within)
{
	double most = 0;

	*within = -1;
	for (int32_t k = 0; k < op->ncalled && op->async <= ASYNC_START; k++) {
		int32_t r = op_called(l->p, op, k);
		double bytes;

		if (l->p->region.at[r].kind != REGION_CODE)
			continue;
		bytes = inside_of(l, r);
		if (bytes > most) {
			most = bytes;
			*within = r;
		}
	}
	return most;
}

static bool start(struct walk *w, struct live *l, int32_t region)
{
	size_t values, steps;

	*w = (struct walk){.l = l, .region = &l->p->region.at[region]};
	if (!kernels_make(&w->k, l->a, l->p, region)) {
		l->failed = true;
		return false;
	}
	values = (size_t)w->k.flat.value.n + 1;
	steps = (size_t)w->k.flat.step.n + 1;
	w->buffer = arena_alloc(l->a, values, sizeof(*w->buffer));
	w->at = arena_alloc(l->a, values, sizeof(*w->at));
	w->reads = arena_alloc(l->a, values, sizeof(*w->reads));
	w->takes = arena_alloc(l->a, values, sizeof(*w->takes));
	w->dying = arena_alloc(l->a, steps, sizeof(*w->dying));
	memset(w->at, -1, values * sizeof(*w->at));
	memset(w->takes, -1, values * sizeof(*w->takes));
	memset(w->dying, -1, steps * sizeof(*w->dying));
	find_reads(w);
	for (int32_t v = 0; v < w->region->param.n; v++) {
		w->at[v] = v;
		w->buffer[v] = (struct buffer){.bytes = value_bytes(w, v),
		                               .last = w->reads[v]};
	}
	return true;
}

/* Goes through the region, up to a step if `stop` is not -1; the most that it holds. */
static double walk_region(struct walk *w, int32_t stop, struct live_points *points,
                          struct arena *a)
{
	struct live *l = w->l;
	int32_t region = w->k.flat.region;
	double most = 0;

	l->peak[region] = l->peak_step[region] = l->peak_within[region] = -1;
	for (int32_t k = 0; k < w->k.flat.step.n && !l->failed; k++) {
		const struct flat_step *s = &w->k.flat.step.at[k];
		int32_t within;
		double inside = called_bytes(l, op_of(w, k), &within);

		for (int32_t i = 0; i < s->nout; i++)
			place_result(w, s, k, i);
		if (w->now + inside > most) {
			most = w->now + inside;
			l->peak[region] = within >= 0 ? l->peak[within] : s->op;
			l->peak_step[region] = k;
			l->peak_within[region] = within;
		}
		if (k == stop)
			break;
		if (points)
			*list_add(&points->point, a) =
				(struct live_point){s->op, w->now + inside};
		free_dead(w, k);
	}
	return most;
}

/* Parameters of loops and branches are buffers of the caller. */
static bool start_called(struct walk *w, struct live *l, int32_t region)
{
	if (!start(w, l, region))
		return false;
	for (int32_t i = 0; i < w->region->param.n; i++)
		w->buffer[i].given = i >= w->region->result.n ||
		                     w->region->result.at[i] != w->region->param.at[i];
	return true;
}

static double inside_of(struct live *l, int32_t region)
{
	struct walk w;

	if (l->inside[region] < 0 && !l->failed && start_called(&w, l, region))
		l->inside[region] = walk_region(&w, -1, NULL, l->a);
	return l->inside[region];
}

static void live_start(struct live *l, struct arena *scratch, const struct program *p)
{
	size_t n = (size_t)p->region.n;

	*l = (struct live){.p = p, .a = scratch};
	l->inside = arena_alloc(scratch, n, sizeof(*l->inside));
	l->peak = arena_alloc(scratch, n, sizeof(*l->peak));
	l->peak_step = arena_alloc(scratch, n, sizeof(*l->peak_step));
	l->peak_within = arena_alloc(scratch, n, sizeof(*l->peak_within));
	for (size_t i = 0; i < n; i++)
		l->inside[i] = -1;
}

/* Results take over the arguments that the program gives away for them. */
static bool start_entry(struct walk *w, struct live *l)
{
	const struct program *p = l->p;

	if (!start(w, l, p->entry))
		return false;
	for (int64_t i = 0; i < p->alias.n; i++) {
		const struct alias *alias = &p->alias.at[i];

		w->buffer[alias->parameter].given = true;
		if (alias->result >= 0)
			w->takes[w->k.flat.result.at[alias->result]] = alias->parameter;
	}
	return true;
}

bool liveness_of(struct liveness *out, struct live_points *points, struct arena *a,
                 const struct program *p)
{
	struct arena *scratch = arena_new();
	struct live l;
	struct walk w;

	*out = (struct liveness){.peak_op = -1};
	live_start(&l, scratch, p);
	if (start_entry(&w, &l)) {
		for (int32_t v = 0; v < w.region->param.n; v++)
			out->params_bytes += w.buffer[v].bytes;
		out->temp_bytes = walk_region(&w, -1, points, a);
		out->peak_op = l.peak[p->entry];
		out->peak_bytes = out->params_bytes + out->temp_bytes;
	}
	arena_free(scratch);
	return !l.failed;
}

/* --- what is held at the peak --- */

/* The op that reads a buffer last. */
static int32_t last_reader(const struct walk *w, const struct buffer *b)
{
	return b->last >= 0 && b->last != LASTS ? w->k.flat.step.at[b->last].op : -1;
}

/* Lists the region's own buffers at a step to which it was gone through. */
static void list_arrays(struct live_arrays *out, struct arena *a, const struct walk *w,
                        bool arguments)
{
	for (int32_t v = 0; v < w->k.flat.value.n; v++) {
		const struct buffer *b = &w->buffer[v];
		int32_t step = w->k.flat.value.at[v].step;
		bool argument = arguments && v < w->region->param.n;
		int32_t value = argument ? w->region->param.at[v] : -1;

		if (b->bytes <= 0 || (!argument && (!b->own || b->gone)))
			continue;
		*list_add(&out->array, a) =
			(struct live_array){argument ? w->l->p->value.at[value].op
		                                     : w->k.flat.step.at[step].op,
		                            b->bytes, argument, last_reader(w, b)};
	}
}

bool liveness_arrays(struct live_arrays *out, struct arena *a, const struct program *p)
{
	struct arena *scratch = arena_new();
	int32_t region = p->entry, step, within;
	struct live l;
	struct walk w;

	*out = (struct live_arrays){0};
	live_start(&l, scratch, p);
	if (start_entry(&w, &l)) {
		walk_region(&w, -1, NULL, a);
		if (l.peak_step[region] < 0)
			list_arrays(out, a, &w, true);
	}
	while (!l.failed && region >= 0 && l.peak_step[region] >= 0) {
		step = l.peak_step[region];
		within = l.peak_within[region];
		if (region == p->entry ? start_entry(&w, &l)
		                       : start_called(&w, &l, region)) {
			walk_region(&w, step, NULL, a);
			list_arrays(out, a, &w, region == p->entry);
		}
		region = within;
	}
	arena_free(scratch);
	return !l.failed;
}
