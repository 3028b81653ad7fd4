/* Gradients by one rule per op, and blocks of a forward and a backward computation. */
#include "automap/tape.h"

#include "base/assert.h"

#include <string.h>

static const struct term none = {.number = -1};

static struct term times(struct tape *t, struct term a, struct term b)
{
	return tape_element(t, "multiply", a, b);
}

/* One minus x. */
static struct term rest(struct tape *t, struct term x)
{
	struct term one = tape_broadcast(t, tape_scalar(t, x.type, 1), x, NULL);

	return tape_element(t, "subtract", one, x);
}

static void element_gradient(struct tape *t, const struct tape_node *n, struct term d,
                             struct term *out)
{
	struct term a = n->in[0], b = n->in[1], y = n->out;

	if (!strcmp(n->op, "add")) {
		out[0] = out[1] = d;
	} else if (!strcmp(n->op, "subtract")) {
		out[0] = d;
		out[1] = tape_unary(t, "negate", d);
	} else if (!strcmp(n->op, "multiply")) {
		out[0] = times(t, d, b);
		out[1] = times(t, d, a);
	} else if (!strcmp(n->op, "divide")) {
		out[0] = tape_element(t, "divide", d, b);
		out[1] = tape_unary(t, "negate",
		                    tape_element(t, "divide", times(t, d, y), b));
	} else if (!strcmp(n->op, "exponential")) {
		out[0] = times(t, d, y);
	} else if (!strcmp(n->op, "log")) {
		out[0] = tape_element(t, "divide", d, a);
	} else if (!strcmp(n->op, "rsqrt")) {
		out[0] = tape_scaled(t, times(t, d, times(t, y, times(t, y, y))), -.5);
	} else if (!strcmp(n->op, "logistic")) {
		out[0] = times(t, d, times(t, y, rest(t, y)));
	} else if (!strcmp(n->op, "negate")) {
		out[0] = tape_unary(t, "negate", d);
	} else if (!strcmp(n->op, "convert")) {
		out[0] = tape_convert(t, d, a.type);
	} else {
		assert(!"an elementwise op without a rule");
	}
}

/* The letters of one side of a dot. */
static const char *letters_of(struct tape *t, const char *from, const char *end)
{
	return arena_strndup(t->a, from, (size_t)(end - from));
}

/* y = dot(a, b): da = dot(d, b), db = dot(a, d). */
static void dot_gradient(struct tape *t, const struct tape_node *n, struct term d,
                         struct term *out)
{
	const char *comma = strchr(n->op, ','), *arrow = strstr(n->op, "->");
	const char *l = letters_of(t, n->op, comma),
		   *r = letters_of(t, comma + 1, arrow);
	const char *o = arrow + 2;

	out[0] = tape_dot(t, arena_printf(t->a, "%s,%s->%s", o, r, l), d, n->in[1]);
	out[1] = tape_dot(t, arena_printf(t->a, "%s,%s->%s", l, o, r), n->in[0], d);
}

static void move_gradient(struct tape *t, const struct tape_node *n, struct term d,
                          struct term *out)
{
	struct term x = n->in[0];
	int64_t dim[TERM_RANK];
	int k = 0;

	if (n->kind == TAPE_BROADCAST) {
		for (int i = 0; i < n->out.rank; i++) {
			bool kept = false;

			for (int j = 0; j < n->ndims; j++)
				kept |= n->dim[j] == i;
			if (!kept)
				dim[k++] = i;
		}
		out[0] = k ? tape_sum(t, d, dim, k) : d;
	} else if (n->kind == TAPE_SUM) {
		for (int i = 0, j = 0; i < x.rank; i++) {
			if (j < n->ndims && n->dim[j] == i)
				j++;
			else
				dim[k++] = i;
		}
		out[0] = tape_broadcast(t, d, x, dim);
	} else if (n->kind == TAPE_RESHAPE) {
		out[0] = tape_reshape(t, d, x.rank, x.dim);
	} else {
		for (int i = 0; i < n->ndims; i++)
			dim[n->dim[i]] = i;
		out[0] = tape_transpose(t, d, dim);
	}
}

/* Writes the members of a tuple, which come with their shapes and get their numbers. */
static void take_apart(struct tape *t, int32_t tuple, struct term *member, int n)
{
	for (int i = 0; i < n; i++) {
		member[i].number = t->terms++;
		text_printf(&t->body, "  %%v%d = ", (int)member[i].number);
		term_print_type(&t->body, &member[i]);
		text_printf(&t->body, " get-tuple-element(%%v%d), index=%d\n",
		            (int)tuple, i);
	}
}

/* q, k, v, the result and its gradient in, those of q, k and v out. */
static void attention_gradient(struct tape *t, const struct tape_node *n, struct term d,
                               struct term *out)
{
	struct term in[5] = {n->in[0], n->in[1], n->in[2], n->out, d};
	int tuple = t->terms++;

	text_printf(&t->body, "  %%v%d = (", tuple);
	terms_print(&t->body, n->in, 3, true);
	text_printf(&t->body, ") custom-call(");
	terms_print(&t->body, in, 5, false);
	text_printf(
		&t->body,
		"), custom_call_target=\"%s\", "
		"backend_config={mask_type = %d : i64, num_gqa_groups = %lld : i64}, "
		"metadata={op_name=\"%s/custom-call\"}\n",
		n->torch ? "flash_attn_backward" : "te_fused_attn_backward_ffi",
		n->causal ? 2 : 0, (long long)n->in[1].dim[2], t->part);
	memcpy(out, n->in, 3 * sizeof(*out));
	take_apart(t, tuple, out, 3);
}

void tape_gradient(struct tape *t, const struct tape_node *n, struct term d,
                   struct term *out)
{
	for (int i = 0; i < TAPE_INPUTS; i++)
		out[i] = none;
	switch (n->kind) {
	case TAPE_ELEMENT:
		element_gradient(t, n, d, out);
		return;
	case TAPE_DOT:
		dot_gradient(t, n, d, out);
		return;
	case TAPE_BROADCAST:
	case TAPE_SUM:
	case TAPE_RESHAPE:
	case TAPE_TRANSPOSE:
		move_gradient(t, n, d, out);
		return;
	case TAPE_ROWS:
		out[0] = tape_add_rows(t, n->in[0], n->in[1], d, n->batch);
		return;
	case TAPE_ADD_ROWS:
		out[2] = tape_rows(t, d, n->in[1], n->batch);
		return;
	case TAPE_ATTENTION:
		attention_gradient(t, n, d, out);
		return;
	case TAPE_ARGUMENT:
	case TAPE_CONSTANT:
	case TAPE_MAX:
		return;
	}
}

/* --- blocks ----------------------------------------------------------------------- */

void block_begin(struct tape *t)
{
	t->body = (struct text){0};
	t->node.n = 0;
}

/* What the backward pass of a block is made of. */
struct back {
	struct tape *t;
	struct block *b;
	const struct tape_node *node; /* of the forward pass */
	int64_t n;
	int32_t first;      /* number of the first term of the block */
	int32_t *made_by;   /* by number - first: the node */
	struct term *grad;  /* the same: the gradient so far */
	struct term *known; /* the same: what the backward pass has of it */
	bool *wanted;       /* the same: it depends on an argument with a gradient */
};

/* A value of the forward pass in the backward pass: kept, or made anew. */
static struct term recall(struct back *k, struct term x)
{
	int32_t i = x.number - k->first;
	const struct tape_node *n = &k->node[k->made_by[i]];

	if (k->known[i].number >= 0)
		return k->known[i];
	if (n->kind == TAPE_CONSTANT)
		return k->known[i] = tape_scalar(k->t, n->out.type, n->value);
	if (n->kind == TAPE_BROADCAST)
		return k->known[i] = tape_broadcast(k->t, recall(k, n->in[0]), n->out,
		                                    n->dim);
	for (int j = 0; j < k->b->nsaved; j++)
		assert(k->b->saved[j].number != x.number);
	k->b->saved_argument[k->b->nsaved] = -1;
	for (int j = 0; j < k->b->narguments; j++)
		if (k->b->argument[j].number == x.number)
			k->b->saved_argument[k->b->nsaved] = j;
	k->b->saved[k->b->nsaved++] = x;
	return k->known[i] = x;
}

static void run_back(struct back *k, int64_t at)
{
	struct tape_node n = k->node[at];
	struct term d = k->grad[n.out.number - k->first], in[TAPE_INPUTS];

	if (d.number < 0 || n.kind == TAPE_ARGUMENT || n.kind == TAPE_CONSTANT)
		return;
	/* Only what the rules read is recalled: that of sums and moves is a shape. */
	if (n.kind == TAPE_DOT || n.kind == TAPE_ATTENTION ||
	    (n.kind == TAPE_ELEMENT && strcmp(n.op, "add") && strcmp(n.op, "subtract") &&
	     strcmp(n.op, "convert") && strcmp(n.op, "negate"))) {
		bool by_result =
			n.op && (!strcmp(n.op, "exponential") ||
		                 !strcmp(n.op, "logistic") || !strcmp(n.op, "rsqrt"));

		for (int i = 0; i < n.n && !by_result; i++)
			n.in[i] = recall(k, n.in[i]);
		if (by_result || n.kind == TAPE_ATTENTION ||
		    (n.op && !strcmp(n.op, "divide")))
			n.out = recall(k, n.out);
	} else if (n.kind == TAPE_ROWS || n.kind == TAPE_ADD_ROWS) {
		n.in[1] = recall(k, n.in[1]);
	}
	tape_gradient(k->t, &n, d, in);
	for (int i = 0; i < n.n; i++) {
		int32_t to = k->node[at].in[i].number - k->first;

		if (in[i].number < 0 || to < 0 || !k->wanted[to])
			continue;
		k->grad[to] = k->grad[to].number < 0
		                      ? in[i]
		                      : tape_element(k->t, "add", k->grad[to], in[i]);
	}
}

const char *tape_finish(struct tape *t, const char *kind, const struct term *param,
                        int nparams, const struct term *result, int nresults)
{
	const char *name = arena_printf(t->a, "%s_%d", kind, (int)t->computations++);

	text_printf(&t->done, "%%%s {\n", name);
	for (int i = 0; i < nparams; i++) {
		text_printf(&t->done, "  %%v%d = ", (int)param[i].number);
		term_print_type(&t->done, &param[i]);
		text_printf(&t->done, " parameter(%d)\n", i);
	}
	if (t->body.s)
		text_append(&t->done, t->body.s, t->body.length);
	text_printf(&t->done, "  ROOT %%v%d = (", (int)t->terms++);
	terms_print(&t->done, result, nresults, true);
	text_printf(&t->done, ") tuple(");
	terms_print(&t->done, result, nresults, false);
	text_printf(&t->done, ")\n}\n\n");
	text_free(&t->body);
	t->body = (struct text){0};
	return name;
}

static void list_arguments(struct tape *t, struct block *b)
{
	b->argument = arena_alloc(t->a, (size_t)t->node.n + 1, sizeof(*b->argument));
	b->has_gradient = arena_alloc(t->a, (size_t)t->node.n + 1, sizeof(bool));
	for (int64_t i = 0; i < t->node.n; i++)
		if (t->node.at[i].kind == TAPE_ARGUMENT) {
			b->has_gradient[b->narguments] = *t->node.at[i].out.type != 's';
			b->argument[b->narguments++] = t->node.at[i].out;
		}
}

/* Notes which terms depend on what has a gradient; indices have none. */
static void find_wanted(struct back *k)
{
	for (int64_t i = 0; i < k->n; i++) {
		const struct tape_node *n = &k->node[i];
		int32_t out = n->out.number - k->first;

		k->made_by[out] = (int32_t)i;
		k->wanted[out] = n->kind == TAPE_ARGUMENT && *n->out.type != 's';
		for (int j = 0; j < n->n && n->kind != TAPE_MAX; j++)
			k->wanted[out] |= k->wanted[n->in[j].number - k->first];
	}
}

static void write_backward(struct tape *t, struct block *b, struct text *forward)
{
	struct back k = {.t = t, .b = b, .n = t->node.n};
	struct term *param,
		*result = arena_alloc(t->a, (size_t)b->narguments + 1, sizeof(*result));
	int32_t last = t->node.at[t->node.n - 1].out.number;
	struct term d = b->result;
	int nresults = 0;
	size_t terms;

	k.node = arena_dup(t->a, t->node.at, (size_t)k.n, sizeof(*k.node));
	k.first = k.node[0].out.number;
	terms = (size_t)(last - k.first) + 1;
	k.made_by = arena_alloc(t->a, terms, sizeof(*k.made_by));
	k.grad = arena_alloc(t->a, terms, sizeof(*k.grad));
	k.known = arena_alloc(t->a, terms, sizeof(*k.known));
	k.wanted = arena_alloc(t->a, terms, sizeof(*k.wanted));
	b->saved = arena_alloc(t->a, terms, sizeof(*b->saved));
	b->saved_argument = arena_alloc(t->a, terms, sizeof(*b->saved_argument));
	for (size_t i = 0; i < terms; i++)
		k.grad[i] = k.known[i] = none;
	find_wanted(&k);
	*forward = t->body;
	t->body = (struct text){0};
	t->part = "backward";
	d.number = t->terms++;
	k.grad[b->result.number - k.first] = d;
	for (int64_t i = k.n; i-- > 0;)
		run_back(&k, i);
	for (int i = 0; i < b->narguments; i++) {
		struct term g = k.grad[b->argument[i].number - k.first];

		b->has_gradient[i] &= g.number >= 0;
		if (b->has_gradient[i])
			result[nresults++] = g;
	}
	param = arena_alloc(t->a, (size_t)b->nsaved + 1, sizeof(*param));
	param[0] = d;
	memcpy(param + 1, b->saved, (size_t)b->nsaved * sizeof(*param));
	b->backward = tape_finish(t, "backward", param, b->nsaved + 1, result, nresults);
}

/* The result and those of the saved values that are no arguments; returns how many there are. */
static int list_results(struct term *out, const struct block *b)
{
	int n = 1;

	out[0] = b->result;
	for (int i = 0; i < b->nsaved; i++)
		if (b->saved_argument[i] < 0)
			out[n++] = b->saved[i];
	return n;
}

void block_end(struct tape *t, struct block *out, struct term result)
{
	struct text forward;
	struct term *results;

	*out = (struct block){.result = result};
	list_arguments(t, out);
	write_backward(t, out, &forward);
	results = arena_alloc(t->a, (size_t)out->nsaved + 1, sizeof(*results));
	t->body = forward;
	out->forward = tape_finish(t, "forward", out->argument, out->narguments,
	                           results, list_results(results, out));
	t->part = "forward";
}

void tape_call(struct tape *t, const char *name, const struct term *in, int nin,
               struct term *results, int n)
{
	int tuple = t->terms++;

	text_printf(&t->body, "  %%v%d = (", tuple);
	terms_print(&t->body, results, n, true);
	text_printf(&t->body, ") call(");
	terms_print(&t->body, in, nin, false);
	text_printf(&t->body, "), to_apply=%%%s\n", name);
	take_apart(t, tuple, results, n);
}

struct block_run block_call(struct tape *t, const struct block *b,
                            const struct term *argument)
{
	struct block_run run = {.block = b};
	struct term *results =
		arena_alloc(t->a, (size_t)b->nsaved + 1, sizeof(*results));
	int n = 1;

	tape_call(t, b->forward, argument, b->narguments, results,
	          list_results(results, b));
	run.argument =
		arena_dup(t->a, argument, (size_t)b->narguments, sizeof(*argument));
	run.result = results[0];
	run.saved = arena_alloc(t->a, (size_t)b->nsaved + 1, sizeof(*run.saved));
	for (int i = 0; i < b->nsaved; i++)
		run.saved[i] = b->saved_argument[i] < 0 ? results[n++]
		                                        : argument[b->saved_argument[i]];
	return run;
}

void block_call_back(struct tape *t, const struct block_run *run, struct term d,
                     struct term *gradient)
{
	const struct block *b = run->block;
	struct term *in = arena_alloc(t->a, (size_t)b->nsaved + 1, sizeof(*in));
	struct term *out = arena_alloc(t->a, (size_t)b->narguments + 1, sizeof(*out));
	int n = 0;

	in[0] = d;
	memcpy(in + 1, run->saved, (size_t)b->nsaved * sizeof(*in));
	for (int i = 0; i < b->narguments; i++)
		if (b->has_gradient[i])
			out[n++] = b->argument[i];
	tape_call(t, b->backward, in, b->nsaved + 1, out, n);
	n = 0;
	for (int i = 0; i < b->narguments; i++)
		gradient[i] = b->has_gradient[i] ? out[n++] : none;
}

void tape_combiners(struct tape *t, const char *type)
{
	static const char *const names[2][2] = {{"add", "add"}, {"max", "maximum"}};

	for (int i = 0; i < 2; i++) {
		int a = t->terms++, b = t->terms++, c = t->terms++;

		text_printf(&t->done,
		            "%%%s_%s {\n  %%v%d = %s[] parameter(0)\n"
		            "  %%v%d = %s[] parameter(1)\n"
		            "  ROOT %%v%d = %s[] %s(%%v%d, %%v%d)\n}\n\n",
		            names[i][0], type, a, type, b, type, c, type, names[i][1],
		            a, b);
	}
}
