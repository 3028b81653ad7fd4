#include "text/events.h"

#include "plan/plan_json.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

const char *events_quoted(const char *s, struct arena *a)
{
	json_t *json = json_text(s);
	char *text = json_dumps(json, JSON_ENCODE_ANY);
	const char *copy = arena_strdup(a, text);

	free(text);
	json_decref(json);
	return copy;
}

void events_start(struct text *out, const char *platform)
{
	struct arena *a = arena_new();

	text_printf(out,
	            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"platform\":%s},"
	            "\"traceEvents\":[",
	            events_quoted(platform, a));
	arena_free(a);
}

void events_end(struct text *out)
{
	text_printf(out, "\n]}\n");
}

/* Begins an event, behind a comma unless it is the first, up to and with its name. */
static void begin_event(struct text *out, const char *kind, int pid, int32_t tid,
                        const char *name)
{
	bool first = out->s[out->length - 1] == '[';

	text_printf(out, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"name\":%s",
	            first ? "" : ",", kind, pid, tid + 1, name);
}

void events_slice(struct text *out, int pid, int32_t tid, const char *name,
                  double from_s, double to_s)
{
	double from_ns = nearbyint(from_s * 1e9), to_ns = nearbyint(to_s * 1e9);

	begin_event(out, "X", pid, tid, name);
	text_printf(out, ",\"ts\":%.3f,\"dur\":%.3f,\"args\":{", from_ns / 1e3,
	            (to_ns - from_ns) / 1e3);
}

void events_row(struct text *out, int pid, int32_t tid, const char *name)
{
	begin_event(out, "M", pid, tid, "\"thread_name\"");
	text_printf(out, ",\"args\":{\"name\":%s}}", name);
	begin_event(out, "M", pid, tid, "\"thread_sort_index\"");
	text_printf(out, ",\"args\":{\"sort_index\":%d}}", tid);
}

void events_group(struct text *out, int pid, const char *name)
{
	begin_event(out, "M", pid, -1, "\"process_name\"");
	text_printf(out, ",\"args\":{\"name\":%s}}", name);
	begin_event(out, "M", pid, -1, "\"process_sort_index\"");
	text_printf(out, ",\"args\":{\"sort_index\":%d}}", pid);
}
