#include "automap/load.h"

#include "automap/train.h"
#include "facts/model.h"

#include <string.h>

static bool is_yaml(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

static enum status load_model(struct automap_program *out, struct arena *a,
                              const char *path, struct automap_train train,
                              struct error *e)
{
	struct architecture m;
	struct text why = {0};
	struct error inner = {0};

	if (architecture_read(&m, a, path, e) != OK)
		return e->code;
	out->name = m.name;
	if (train.batch)
		m.train.global_batch = train.batch;
	if (train.seq)
		m.train.seq = train.seq;
	if (!train_text(&out->text, &m, &why))
		error_set(e, E_TYPE, (struct where){.file = path, .line = 1, .col = 1},
		          "%s", why.s);
	text_free(&why);
	if (e->code != OK)
		return e->code;
	if (program_of_text(&out->program, a, out->text.s, out->text.length, path,
	                    &inner) == OK)
		return OK;
	return error_set(e, inner.code, (struct where){.file = path, .line = 1, .col = 1},
	                 "its step is no program: %s", inner.text);
}

enum status automap_load(struct automap_program *out, struct arena *a, const char *path,
                         struct automap_train train, const char *const *like, int nlike,
                         struct error *e)
{
	*out = (struct automap_program){0};
	if (!is_yaml(path) && (train.batch || train.seq))
		return error_set(e, E_TYPE, (struct where){.file = path},
		                 "a program, whose text tells its batch and seq; expected "
		                 "a model to change them");
	if (is_yaml(path) ? load_model(out, a, path, train, e) != OK
	                  : program_read(&out->program, a, path, e) != OK)
		return e->code;
	if (!out->name)
		out->name = arena_strndup(a, out->program.name.at,
		                          (size_t)out->program.name.length);
	return graph_make(&out->graph, a, &out->program, true, like, nlike, e);
}
