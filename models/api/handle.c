#include "api/handle.h"

#include "base/memory.h"

#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *shardsim_version(void)
{
	return SHARDSIM_VERSION;
}

/* The status that the first error of the library amounts to. */
static enum shardsim_status status_of(enum status code)
{
	switch (code) {
	case OK:
		return SHARDSIM_OK;
	case E_SYNTAX:
		return SHARDSIM_SYNTAX;
	case E_TYPE:
		return SHARDSIM_TYPE;
	case E_RANGE:
		return SHARDSIM_RANGE;
	case E_INFEASIBLE:
		return SHARDSIM_NOT_APPLICABLE;
	case E_IO:
	case E_WRITE:
		break;
	}
	return SHARDSIM_IO;
}

static void report(struct shardsim_error *out, const struct api *api)
{
	const char *of = api->error.at.file ? api->error.at.file : "";

	*out = (struct shardsim_error){.status = api->status,
	                               .line = api->error.at.line,
	                               .column = api->error.at.col};
	snprintf(out->of, sizeof(out->of), "%s", of);
	snprintf(out->text, sizeof(out->text), "%s",
	         api->status == SHARDSIM_OK ? "" : api->error.text);
}

/* A call's way through memory_call(): places of errors may be in what it gives back. */
struct way {
	struct api *api;
	bool (*body)(void *self);
	void *self;
	struct shardsim_error *error;
};

static bool go(void *self)
{
	struct way *w = self;
	bool keep = w->body(w->self);

	if (w->api->status == SHARDSIM_OK)
		w->api->status = status_of(w->api->error.code);
	if (w->error)
		report(w->error, w->api);
	return keep;
}

enum shardsim_status api_call(struct api *api, bool (*body)(void *self), void *self,
                              struct shardsim_error *error)
{
	struct way way = {api, body, self, error};
	char why[sizeof(api->error.text)];
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), host = uselocale(c);
	enum memory_end end = memory_call(go, &way, why, sizeof(why));

	uselocale(host);
	if (c)
		freelocale(c);
	if (end == MEMORY_DONE)
		return api->status;
	api->error = (struct error){0};
	snprintf(api->error.text, sizeof(api->error.text), "%s", why);
	api->status = end == MEMORY_OUT ? SHARDSIM_NO_MEMORY : SHARDSIM_FAULT;
	if (error)
		report(error, api);
	return api->status;
}

bool api_fail(struct api *api, enum shardsim_status status, const char *fmt, ...)
{
	va_list ap;

	api->status = status;
	va_start(ap, fmt);
	vsnprintf(api->error.text, sizeof(api->error.text), fmt, ap);
	va_end(ap);
	return false;
}

bool api_needs(struct api *api, const void *handle, enum handle_kind kind)
{
	static const char *const names[] = {"mesh", "layout", "machine", "problem",
	                                    "plan"};
	const struct handle *h = handle;

	if (h && h->kind == kind)
		return true;
	return api_fail(api, SHARDSIM_MISUSE, "expected a %s, not %s",
	                names[kind - HANDLE_MESH], h ? "another handle" : "NULL");
}

bool api_needs_text(struct api *api, const char *text, const char *of)
{
	if (text)
		return true;
	api->error.at.file = of;
	return api_fail(api, SHARDSIM_MISUSE, "expected a text, not NULL");
}

bool api_needs_out(struct api *api, const void *out)
{
	return out || api_fail(api, SHARDSIM_MISUSE,
	                       "expected a place for the result, not NULL");
}

void *handle_new(enum handle_kind kind, size_t size)
{
	struct arena *a = arena_new();
	struct handle *h = arena_alloc(a, 1, size);

	h->kind = kind;
	h->arena = a;
	atomic_init(&h->holders, 1);
	return h;
}

/*
 * The holder's own holding: it changes nothing that a caller sees. The count is raised
 * last in a call, when nothing can fail any more.
 */
void handle_hold(struct handle *holder, const struct handle *held)
{
	int i = holder->held[0] != NULL;

	holder->held[i] = (struct handle *)held;
	atomic_fetch_add_explicit(&holder->held[i]->holders, 1, memory_order_relaxed);
}

static void handle_drop(struct handle *h)
{
	struct handle *held[2];

	if (!h || atomic_fetch_sub_explicit(&h->holders, 1, memory_order_acq_rel) > 1)
		return;
	memcpy(held, h->held, sizeof(held));
	h->kind = 0;
	arena_free(h->arena);
	handle_drop(held[0]);
	handle_drop(held[1]);
}

void shardsim_free(void *handle)
{
	struct handle *h = handle;

	if (h && h->kind >= HANDLE_MESH && h->kind <= HANDLE_PLAN)
		handle_drop(h);
}

char *text_give(struct text *t)
{
	char *s;

	text_append(t, "", 0);
	s = t->s;
	*t = (struct text){0};
	return s;
}
