#include "cli/trace_options.h"

#include "cli/command.h"
#include "measure/trace.h"
#include "system/file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS_MOST = 1000000 };

const struct option_row trace_table[] = {
	{"trace", 0, "FILE", "write a time line as Chrome trace events, for Perfetto",
         .at = offsetof(struct trace_options, trace)},
	{"links", 0, "N", "print the N busiest links of every step (default 5)",
         .at = offsetof(struct trace_options, count), .alone = "5"},
	{0},
};

void trace_options_take(struct trace_options *o, const struct argp_state *state)
{
	char *end = NULL;
	long n = 0;

	if (!o->count)
		return;
	if (isdigit((unsigned char)*o->count))
		n = strtol(o->count, &end, 10);
	if (!end || *end || n < 1 || n > LINKS_MOST)
		argp_error(state, "--links has '%s', expected a number from 1 to %d",
		           o->count, LINKS_MOST);
	o->links = (int32_t)n;
}

enum status trace_options_check(const struct trace_options *o, const char *platform,
                                struct error *e)
{
	const char *option = o->trace ? "--trace" : "--links";

	if (platform || (!o->trace && !o->links))
		return OK;
	return error_set(e, E_TYPE,
	                 o->trace ? where_option(option, o->trace) : (struct where){0},
	                 "%s needs --platform", option);
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
	if (status == OK && trace_hides_overlap(b, t, n))
		command_note("--trace",
		             "by the clock flow steps overlap; they are drawn one "
		             "behind the other, each until it ends");
	return status;
}
