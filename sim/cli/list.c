/* `shardsim list`: the names users can type. */
#include "cli/command.h"
#include "cli/options.h"
#include "collective/profile.h"
#include "emit/emit.h"
#include "facts/families.h"
#include "measure/measure.h"
#include "text/columns.h"

#include "base/suggest.h"

#include <string.h>

static const char *const kinds[] = {"planners", "platforms",  "clocks", "dtypes",
                                    "emitters", "algorithms", NULL};

/* The words of the command, and the one of them that is listed. */
struct listed {
	struct command_words words;
	const char *kind;
};

static void check_kind(void *self, const struct argp_state *state)
{
	struct listed *l = self;
	const char *word = l->words.at[0];
	struct suggestion near = suggest_among(word, strlen(word), kinds);

	for (int i = 0; kinds[i]; i++)
		if (strcmp(word, kinds[i]) == 0)
			l->kind = kinds[i];
	if (!l->kind)
		argp_error(state,
		           "cannot list '%s', expected planners, platforms, clocks, "
		           "dtypes, emitters or algorithms%s",
		           word, suggest_ask(&near, ""));
}

static void list_dtypes(struct columns *t)
{
	for (const struct dtype *d = dtypes; d->name; d++) {
		char bits[16];

		snprintf(bits, sizeof(bits), "%d bits", d->bits);
		columns_row(t, (const char *const[]){d->name, d->long_name, bits});
	}
}

/* Adds a library's own algorithms. */
static void list_library(struct columns *t, const struct nccl_algorithm *const *of,
                         const char *library)
{
	for (int i = 0; of[i]; i++)
		columns_row(t, (const char *const[]){of[i]->name, of[i]->help, library});
}

/* Lists what --algorithm takes: the same name may mean another thing to another library. */
static void list_algorithms(struct columns *t)
{
	for (int i = 0; algorithms[i]; i++)
		columns_row(t, (const char *const[]){algorithms[i]->name,
		                                     algorithms[i]->help, "tpu, plain"});
	for (int i = 0; profiles[i]; i++)
		if (profiles[i]->library)
			list_library(t, profiles[i]->library, profiles[i]->name);
	columns_row(t, (const char *const[]){"tuner",
	                                     "the choice of the library's own model",
	                                     "nccl, rccl"});
	columns_row(t, (const char *const[]){"scheduled",
	                                     "forces none; exchanges may be schedules",
	                                     ""});
}

static enum status list_platforms(struct columns *t, struct arena *a, struct error *e)
{
	struct families all;

	if (families_known(&all, a, e) != OK)
		return e->code;
	for (int i = 0; i < all.n; i++) {
		const struct family *f = &all.family[i];
		struct text what = {0}, shapes = {0};

		family_describe(&what, &shapes, f);
		columns_row(t, (const char *const[]){f->name, text_take(&what, a),
		                                     text_take(&shapes, a)});
	}
	return OK;
}

static enum status list_rows(struct columns *t, const char *kind, struct arena *a,
                             struct error *e)
{
	if (strcmp(kind, "platforms") == 0)
		return list_platforms(t, a, e);
	for (int i = 0; strcmp(kind, "planners") == 0 && planners[i]; i++)
		columns_row(t, (const char *const[]){planners[i]->name,
		                                     planners[i]->help, ""});
	for (int i = 0; strcmp(kind, "clocks") == 0 && clock_kinds[i].name; i++)
		columns_row(t, (const char *const[]){clock_kinds[i].name,
		                                     clock_kinds[i].help, ""});
	for (int i = 0; strcmp(kind, "emitters") == 0 && emitters[i]; i++)
		columns_row(t, (const char *const[]){emitters[i]->name,
		                                     emitters[i]->help, ""});
	if (strcmp(kind, "dtypes") == 0)
		list_dtypes(t);
	if (strcmp(kind, "algorithms") == 0)
		list_algorithms(t);
	return OK;
}

int command_list(int argc, char **argv)
{
	struct listed l = {0};
	const struct command_syntax syntax = {
		.usage = "planners|platforms|clocks|dtypes|emitters|algorithms",
		.doc = "List what can be named on the command line.",
		.machines = true,
		.words = &l.words,
		.most = 1,
		.expected =
			"planners, platforms, clocks, dtypes, emitters or algorithms",
		.check = check_kind,
		.self = &l,
	};
	struct arena *a = arena_new();
	struct error e = {0};
	struct text out = {0};
	struct columns t;
	int status = EXIT_DONE;

	command_parse(&syntax, argc, argv);
	columns_start(&t, a, 3, 2);
	if (list_rows(&t, l.kind, a, &e) != OK) {
		status = command_misuse(&e);
	} else {
		columns_print(&out, &t, 0);
		fputs(out.s, stdout);
	}
	text_free(&out);
	arena_free(a);
	return status;
}
