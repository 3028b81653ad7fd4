/* `shardsim list`: the names users can type. */
#include "cli/command.h"
#include "cli/parse.h"
#include "facts/families.h"
#include "measure/measure.h"
#include "text/columns.h"

#include "base/suggest.h"

#include <argp.h>
#include <string.h>

static const char *const kinds[] = {"planners", "platforms", "clocks", "dtypes", NULL};

static void refuse_kind(struct argp_state *state, const char *arg)
{
	struct suggestion near = suggest_among(arg, strlen(arg), kinds);

	argp_error(state,
	           "cannot list '%s', expected planners, platforms, clocks or dtypes%s",
	           arg, suggest_ask(&near, ""));
}

static error_t parse_list_option(int key, char *arg, struct argp_state *state)
{
	const char **kind = state->input;

	if (key == ARGP_KEY_ARG && state->arg_num == 0) {
		for (int i = 0; kinds[i]; i++)
			if (strcmp(arg, kinds[i]) == 0)
				*kind = kinds[i];
		if (!*kind)
			refuse_kind(state, arg);
		return 0;
	}
	if (key == ARGP_KEY_NO_ARGS)
		argp_error(state, "expected planners, platforms, clocks or dtypes");
	return ARGP_ERR_UNKNOWN;
}

static void list_dtypes(struct columns *t)
{
	for (const struct dtype *d = dtypes; d->name; d++) {
		char bits[16];

		snprintf(bits, sizeof(bits), "%d bits", d->bits);
		columns_row(t, (const char *const[]){d->name, d->long_name, bits});
	}
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
	if (strcmp(kind, "dtypes") == 0)
		list_dtypes(t);
	return OK;
}

int command_list(int argc, char **argv)
{
	const struct argp argp = {NULL,
	                          parse_list_option,
	                          "planners|platforms|clocks|dtypes",
	                          "List what can be named on the command line.",
	                          NULL,
	                          NULL,
	                          NULL};
	struct arena *a = arena_new();
	struct error e = {0};
	struct text out = {0};
	const char *kind = NULL;
	struct columns t;
	int status = EXIT_DONE;

	command_parse_machines(&argp, argc, argv, &kind);
	columns_start(&t, a, 3, 2);
	if (list_rows(&t, kind, a, &e) != OK) {
		status = command_misuse(&e);
	} else {
		columns_print(&out, &t, 0);
		fputs(out.s, stdout);
	}
	text_free(&out);
	arena_free(a);
	return status;
}
