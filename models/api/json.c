#include "api/json.h"

#include "base/memory.h"
#include "plan/plan_json.h"

#include <pthread.h>
#include <string.h>

/*
 * Objects of jansson's that this thread makes while there is an arena lie in it: so
 * a want of memory is told from the rest and leaves nothing behind. What jansson
 * allocates otherwise goes where it went before.
 */
static _Thread_local struct arena *json_arena;

static json_malloc_t host_malloc;
static json_free_t host_free;

static void *json_get(size_t bytes)
{
	return json_arena ? arena_alloc(json_arena, 1, bytes) : host_malloc(bytes);
}

static void json_put(void *p)
{
	if (!json_arena)
		host_free(p);
}

static void take_over(void)
{
	json_get_alloc_funcs(&host_malloc, &host_free);
	json_set_alloc_funcs(json_get, json_put);
}

static void json_leave(void *outer)
{
	json_arena = outer;
}

/* Makes an arena for what follows up to json_close(); returns the one before. */
static struct arena *json_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct arena *outer = json_arena, *a;

	pthread_once(&once, take_over);
	a = arena_new();
	memory_undo(json_leave, outer);
	json_arena = a;
	return outer;
}

static void json_close(struct arena *outer)
{
	struct arena *a = json_arena;

	memory_undone();
	json_arena = outer;
	arena_free(a);
}

static int append(const char *bytes, size_t n, void *out)
{
	text_append(out, bytes, n);
	return 0;
}

void json_print_plan(struct text *out, const struct plan *p)
{
	struct arena *outer = json_open();
	json_t *o = json_object();

	json_object_set_new(o, "problem", problem_json(p->problem));
	json_object_set_new(o, "planner", json_text(p->planner));
	json_object_set_new(o, "steps", plan_json(p));
	json_object_set_new(o, "recv_bytes", json_integer(p->recv_bytes));
	json_object_set_new(o, "send_bytes", json_integer(p->send_bytes));
	json_object_set_new(o, "peak_array_bytes", json_integer(p->peak_array_bytes));
	json_object_set_new(o, "peak_live_bytes", json_integer(p->peak_live_bytes));
	json_dump_callback(o, append, out, JSON_INDENT(2));
	text_append(out, "\n", 1);
	json_close(outer);
}

enum status json_read_plan(struct plan **out, const struct problem *p, struct arena *a,
                           const char *text, struct error *e)
{
	struct arena *outer = json_open();
	struct where at = where_option("plan", text);
	json_error_t wrong;
	json_t *all = json_loads(text, JSON_REJECT_DUPLICATES, &wrong);
	const json_t *steps = json_is_object(all) ? json_object_get(all, "steps") : all;

	if (!all) {
		at.line = wrong.line > 0 ? (unsigned)wrong.line : 1;
		at.col = wrong.column > 0 ? (unsigned)wrong.column : 1;
		error_set(e, E_SYNTAX, at, "%s", wrong.text);
	} else if (!steps) {
		error_set(e, E_SYNTAX, at, "expected a member \"steps\"");
	} else {
		plan_parse_json(out, p, a, steps, "plan", e);
	}
	json_close(outer);
	return e->code;
}
