#include "cli/trace_options.h"

#include "measure/trace.h"
#include "system/file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS_DEFAULT = 5, LINKS_MOST = 1000000 };

static int32_t read_count(const char *arg, struct argp_state *state)
{
	long n = 0;
	char *end = NULL;

	if (!arg)
		return LINKS_DEFAULT;
	if (isdigit((unsigned char)*arg))
		n = strtol(arg, &end, 10);
	if (!end || *end || n < 1 || n > LINKS_MOST)
		argp_error(state, "--links has '%s', expected a number from 1 to %d",
		           arg, LINKS_MOST);
	return (int32_t)n;
}

bool trace_option(struct trace_options *o, int key, const char *arg,
                  struct argp_state *state)
{
	switch (key) {
	case KEY_TRACE:
		o->trace = arg;
		return true;
	case KEY_PAJE:
		o->paje = arg;
		return true;
	case KEY_LINKS:
		o->links = read_count(arg, state);
		return true;
	default:
		return false;
	}
}

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
		if (!strncmp(list, word, n) && (!list[n] || list[n] == ','))
			return true;
	return false;
}

enum status trace_options_check(const struct trace_options *o, const char *platform,
                                const char *clocks, int nplanners, struct error *e)
{
	const char *option = o->trace ? "--trace" : o->paje ? "--paje" : "--links";
	const char *arg = o->trace ? o->trace : o->paje;
	struct where nowhere = {0};

	if (!o->trace && !o->paje && !o->links)
		return OK;
	if (!platform)
		return error_set(e, E_TYPE, arg ? where_option(option, arg) : nowhere,
		                 "%s needs --platform", option);
	if (!o->paje)
		return OK;
	if (o->trace && !strcmp(o->trace, o->paje))
		return error_set(e, E_TYPE, where_option("--paje", o->paje),
		                 "is the file of --trace, expected another");
	if (!has_word(clocks, "fluid"))
		return error_set(e, E_TYPE, where_option("--paje", o->paje),
		                 "is what SimGrid traces, expected --clock fluid");
	if (nplanners > 1)
		return error_set(e, E_TYPE, where_option("--paje", o->paje),
		                 "traces one plan, but there are %d planners",
		                 nplanners);
	return OK;
}

const struct links_report *trace_links(const struct trace_options *o,
                                       const struct bench *b, const struct timed *t,
                                       int n, struct arena *a)
{
	struct links_report *report;

	if (!o->links)
		return NULL;
	report = arena_alloc(a, (size_t)n, sizeof(*report));
	for (int i = 0; i < n; i++)
		links_measure(&report[i], b, &t[i], o->links, a);
	return report;
}

enum status trace_write(const struct trace_options *o, struct bench *b,
                        const struct placement *devices, const struct timed *t, int n,
                        struct error *e)
{
	struct text out = {0};
	enum status status;

	if (!o->trace)
		return OK;
	trace_print(&out, b, devices, t, n);
	status = file_write(o->trace, out.s, out.length, e);
	text_free(&out);
	return status;
}
