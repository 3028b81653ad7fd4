#include "automap/load.h"

#include "automap/train.h"
#include "facts/model.h"
#include "program/step.h"

#include <math.h>
#include <string.h>

static bool is_yaml(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

/* The program of a model's step; `path` names the model in errors. */
static enum status read_step(struct automap_program *out, struct arena *a,
                             const char *path, const struct architecture *m,
                             struct error *e)
{
	struct where at = {.file = path, .line = 1, .col = 1};
	struct text why = {0};
	struct error inner = {0};

	out->name = m->name;
	out->tokens = (double)m->train.global_batch * (double)m->train.seq;
	out->model_flops = step_model_flops(m);
	if (!train_text(&out->text, m, &why))
		error_set(e, E_TYPE, at, "%s", why.s);
	text_free(&why);
	if (e->code != OK)
		return e->code;
	if (program_of_text(&out->program, a, out->text.s, out->text.length, path,
	                    &inner) == OK) {
		out->program.name = (struct span){m->name, (int32_t)strlen(m->name)};
		return OK;
	}
	return error_set(e, inner.code, at, "its step is no program: %s", inner.text);
}

enum status automap_of_model(struct automap_program *out, struct arena *a,
                             const struct architecture *m, const char *path,
                             struct error *e)
{
	*out = (struct automap_program){0};
	if (read_step(out, a, path, m, e) != OK)
		return e->code;
	return graph_make(&out->graph, a, &out->program, true, NULL, 0, e);
}

static enum status load_model(struct automap_program *out, struct arena *a,
                              const char *path, struct automap_train train,
                              struct error *e)
{
	struct architecture m;

	if (architecture_read(&m, a, path, e) != OK)
		return e->code;
	if (train.batch)
		m.train.global_batch = train.batch;
	if (train.seq)
		m.train.seq = train.seq;
	if (train.micro_batches > 1 && m.train.global_batch % train.micro_batches)
		return error_set(
			e, E_TYPE, (struct where){.file = path},
			"a batch of %lld does not divide into %lld micro batches",
			(long long)m.train.global_batch, (long long)train.micro_batches);
	if (train.micro_batches > 1)
		m.train.global_batch /= train.micro_batches;
	return read_step(out, a, path, &m, e);
}

static enum status load_program(struct automap_program *out, struct arena *a,
                                const char *path, struct error *e)
{
	out->tokens = out->model_flops = NAN;
	if (program_read(&out->program, a, path, e) != OK)
		return e->code;
	shardings_start(&out->given, a, &out->program);
	return shardings_read(&out->given, a, &out->program, e);
}

/*
 * Returns whether ops of the forward pass are in layers, which alone can be computed
 * again.
 */
static bool has_layers(const struct graph *g)
{
	for (int64_t i = 0; i < g->op.n; i++)
		if (g->op.at[i].phase == PHASE_FORWARD &&
		    g->repeats->run_of[g->op.at[i].step] >= 0)
			return true;
	return false;
}

enum status automap_load(struct automap_program *out, struct arena *a, const char *path,
                         struct automap_train train, const char *const *like, int nlike,
                         struct error *e)
{
	*out = (struct automap_program){0};
	if (!is_yaml(path) && (train.batch || train.seq))
		return error_set(
			e, E_TYPE, (struct where){.file = path},
			"a program, whose text tells its batch and seq; expected "
			"a model to change them");
	if (!is_yaml(path) && train.micro_batches > 1)
		return error_set(
			e, E_TYPE, (struct where){.file = path},
			"a program, whose text tells its batch; expected a model "
			"to cut it into micro batches");
	if (is_yaml(path) ? load_model(out, a, path, train, e) != OK
	                  : load_program(out, a, path, e) != OK)
		return e->code;
	if (!out->name)
		out->name = arena_strndup(a, out->program.name.at,
		                          (size_t)out->program.name.length);
	if (graph_make(&out->graph, a, &out->program, true, like, nlike, e) != OK)
		return e->code;
	if (train.recompute && !has_layers(&out->graph))
		return error_set(
			e, E_TYPE, (struct where){.file = path},
			"no layers that are alike are in a forward pass of it, "
			"expected some to compute again");
	return OK;
}
