#include "automap/train.h"

#include "automap/train_layer.h"
#include "base/keys.h"

#include <string.h>

enum { STATES_MAX = 4 }; /* the parameter, a copy of it, two moments */

/* A parameter of the whole model. */
struct held {
	const char *name;
	struct term term, grad; /* grad.number -1: none so far */
	int argument;           /* of the program */
};

struct update {
	const char *name;
	struct term of; /* the type and shape of its parameter */
};

struct train {
	struct tape t;
	const struct architecture *m;
	LIST(struct held) held;
	struct keys names; /* numbers in `held` */
	LIST(struct update) update;
	struct text arguments;
	int narguments;
};

static struct term entry_argument(struct train *k, const char *name, struct term like)
{
	like.number = k->t.terms++;
	text_printf(&k->arguments, "  %%v%d = ", (int)like.number);
	term_print_type(&k->arguments, &like);
	text_printf(&k->arguments, " parameter(%d), metadata={op_name=\"%s\"}\n",
	            k->narguments++, name);
	return like;
}

/* The parameter of that name, an argument of the program from now on. */
static struct held *hold(struct train *k, const char *name, const struct term *like)
{
	bool fresh;
	int32_t at = keys_add(&k->names, name, strlen(name), &fresh);

	if (!fresh)
		return &k->held.at[at];
	*list_add(&k->held, k->t.a) = (struct held){
		name, entry_argument(k, name, *like), {.number = -1}, k->narguments - 1};
	return &k->held.at[k->held.n - 1];
}

/* Arguments of a block: its inputs, then its parameters, named behind `prefix`. */
static struct block_run run_block(struct train *k, const struct train_block *b,
                                  const char *prefix, const struct term *inputs)
{
	struct term argument[WEIGHTS_MAX + 2];

	memcpy(argument, inputs, (size_t)b->ninputs * sizeof(*inputs));
	for (int i = 0; i < b->n; i++)
		argument[b->ninputs + i] =
			hold(k, arena_printf(k->t.a, "%s%s", prefix, b->weight[i].name),
		             &b->weight[i].term)
				->term;
	return block_call(&k->t, &b->block, argument);
}

/* Its backward pass; returns the gradient of the first input. */
static struct term run_block_back(struct train *k, const struct train_block *b,
                                  const struct block_run *run, const char *prefix,
                                  struct term d)
{
	struct term grad[WEIGHTS_MAX + 2];

	block_call_back(&k->t, run, d, grad);
	for (int i = 0; i < b->n; i++) {
		const char *name =
			arena_printf(k->t.a, "%s%s", prefix, b->weight[i].name);
		struct held *h = hold(k, name, NULL);
		struct term g = grad[b->ninputs + i];

		h->grad =
			h->grad.number < 0 ? g : tape_element(&k->t, "add", h->grad, g);
	}
	return grad[0];
}

static int moments(const struct architecture *m)
{
	switch (m->train.optimizer) {
	case OPTIMIZER_SGD:
		return 0;
	case OPTIMIZER_MOMENTUM:
	case OPTIMIZER_LION:
		return 1;
	default:
		return 2;
	}
}

/* Names of what is held of a parameter: itself, then the states of the optimizer. */
static int states_of(const char **out, const char **type, struct train *k,
                     const struct term *w)
{
	const char *master =
		k->m->train.master_dtype ? k->m->train.master_dtype->name : w->type;
	int n = 0, of = moments(k->m);

	out[n] = "";
	type[n++] = w->type;
	if (of && strcmp(master, w->type)) {
		out[n] = ".master";
		type[n++] = master;
	}
	if (of > 0) {
		out[n] = ".mean";
		type[n++] = master;
	}
	if (of > 1) {
		out[n] = ".square";
		type[n++] = master;
	}
	return n;
}

static struct term blend(struct tape *t, struct term old, struct term with, double keep)
{
	return tape_element(t, "add", tape_scaled(t, old, keep),
	                    tape_scaled(t, with, 1 - keep));
}

/* The ops of an update: the gradient and the states in, the new states out. */
static void write_update(struct train *k, struct term *in, struct term *out, int n,
                         bool copy)
{
	struct tape *t = &k->t;
	struct term g = tape_convert(t, in[n], in[n - 1].type), p = in[copy];
	int of = moments(k->m);

	if (of > 0) {
		out[1 + copy] = blend(t, in[1 + copy], g, .9);
		if (of > 1) {
			out[2 + copy] = blend(t, in[2 + copy],
			                      tape_element(t, "multiply", g, g), .95);
			g = tape_element(t, "multiply", out[1 + copy],
			                 tape_unary(t, "rsqrt", out[2 + copy]));
		} else {
			g = out[1 + copy];
		}
	}
	out[copy] = tape_element(t, "subtract", p,
	                         tape_convert(t, tape_scaled(t, g, 1e-3), p.type));
	if (copy)
		out[0] = tape_convert(t, out[1], in[0].type);
}

/* The computation that updates parameters of this type and shape. */
static const char *update_of(struct train *k, const struct term *w, int n,
                             const char *const *type)
{
	struct term in[STATES_MAX + 1], out[STATES_MAX];
	struct text kept = k->t.body;
	const char *name;

	for (int64_t i = 0; i < k->update.n; i++) {
		struct term of = k->update.at[i].of;

		of.number = w->number;
		if (!memcmp(&of, w, sizeof(of)))
			return k->update.at[i].name;
	}
	k->t.body = (struct text){0};
	for (int i = 0; i <= n; i++) {
		in[i] = *w;
		in[i].type = i < n ? type[i] : w->type;
		in[i].number = k->t.terms++;
	}
	write_update(k, in, out, n, n > 1 && strcmp(type[0], type[1]) != 0);
	name = tape_finish(&k->t, "update", in, n + 1, out, n);
	k->t.body = kept;
	*list_add(&k->update, k->t.a) = (struct update){name, *w};
	return name;
}

/* Updates a parameter; appends its new states to the results. */
static int write_updates(struct train *k, const struct held *h, struct term *result)
{
	const char *suffix[STATES_MAX], *type[STATES_MAX], *name;
	struct term in[STATES_MAX + 1];
	int n = states_of(suffix, type, k, &h->term);

	name = update_of(k, &h->term, n, type);
	in[0] = h->term;
	for (int i = 1; i < n; i++) {
		struct term like = h->term;

		like.type = type[i];
		in[i] = entry_argument(
			k, arena_printf(k->t.a, "%s%s", h->name, suffix[i]), like);
	}
	in[n] = h->grad;
	memcpy(result, in, (size_t)n * sizeof(*in));
	tape_call(&k->t, name, in, n + 1, result, n);
	return n;
}

/* The passes; returns the loss. */
static struct term write_passes(struct train *k)
{
	const struct architecture *m = k->m;
	struct train_block kind[2], embedding, loss;
	struct block_run first, last, *run;
	struct term in[2], x, d;
	bool dense = !m->moe.experts || m->moe.first_dense;

	train_embedding(&embedding, &k->t, m);
	if (dense)
		train_layer(&kind[0], &k->t, m, false);
	if (m->moe.experts)
		train_layer(&kind[1], &k->t, m, true);
	train_loss(&loss, &k->t, m);
	k->t.body = (struct text){0};
	in[0] = entry_argument(k, "tokens", embedding.block.argument[0]);
	first = run_block(k, &embedding, "", in);
	x = first.result;
	run = arena_alloc(k->t.a, (size_t)m->layers + 1, sizeof(*run));
	for (int64_t i = 0; i < m->layers; i++) {
		run[i] = run_block(k, &kind[architecture_has_experts(m, i)],
		                   arena_printf(k->t.a, "layers.%lld.", (long long)i),
		                   &x);
		x = run[i].result;
	}
	in[0] = x;
	in[1] = entry_argument(k, "targets", loss.block.argument[1]);
	last = run_block(k, &loss, "", in);
	d = run_block_back(k, &loss, &last, "", tape_scalar(&k->t, "f32", 1));
	for (int64_t i = m->layers; i-- > 0;)
		d = run_block_back(k, &kind[architecture_has_experts(m, i)], &run[i],
		                   arena_printf(k->t.a, "layers.%lld.", (long long)i),
		                   d);
	run_block_back(k, &embedding, &first, "", d);
	return last.result;
}

/* Writes the entry, and which results take the place of which arguments. */
static void write_entry(struct train *k, struct text *aliases)
{
	struct term loss = write_passes(k), *result;
	int n = 1;

	result = arena_alloc(k->t.a, (size_t)k->held.n * STATES_MAX + 1,
	                     sizeof(*result));
	result[0] = loss;
	k->t.part = "update";
	for (int64_t i = 0; i < k->held.n; i++) {
		int first = k->narguments, of = k->held.at[i].argument, at = n;

		n += write_updates(k, &k->held.at[i], result + n);
		for (int j = at; j < n; j++)
			text_printf(aliases, "%s{%d}: (%d, {}, may-alias)",
			            j > 1 ? ", " : "", j,
			            j == at ? of : first + j - at - 1);
	}
	text_printf(&k->t.done, "ENTRY %%main {\n%s%s  ROOT %%v%d = (", k->arguments.s,
	            k->t.body.s, (int)k->t.terms++);
	terms_print(&k->t.done, result, n, true);
	text_printf(&k->t.done, ") tuple(");
	terms_print(&k->t.done, result, n, false);
	text_printf(&k->t.done, ")\n}\n");
	text_free(&k->t.body);
}

bool train_text(struct text *out, const struct architecture *m, struct text *why)
{
	struct train k = {.m = m};
	struct text aliases = {0};

	if (!m->train.seq || !m->train.global_batch || !m->train.dtype) {
		text_printf(why, "the model does not tell %s",
		            !m->train.seq ? "train.seq, expected it or --seq"
		            : !m->train.global_batch
		                    ? "train.global_batch, expected it "
		                      "or --batch"
		                    : "train.dtype, expected it");
		return false;
	}
	k.t = (struct tape){.a = arena_new(), .part = "forward"};
	k.names.arena = k.t.a;
	tape_combiners(&k.t, m->train.dtype->name);
	if (strcmp(m->train.dtype->name, "f32"))
		tape_combiners(&k.t, "f32");
	write_entry(&k, &aliases);
	text_printf(out, "HloModule step, input_output_alias={ %s }\n\n%s", aliases.s,
	            k.t.done.s);
	text_free(&aliases);
	text_free(&k.arguments);
	text_free(&k.t.done);
	arena_free(k.t.a);
	return true;
}
