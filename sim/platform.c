#include "platform_loader.h"

#include "base/input.h"
#include "families.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_file(const char *spec)
{
	size_t n = strlen(spec);

	return strchr(spec, '/') || (n > 4 && !strcmp(spec + n - 4, ".xml"));
}

/* The text of `spec`, unchecked. */
static enum status take_text(struct text *out, struct arena *a, const char *spec,
                             const char *const *set, int nset, struct error *e)
{
	if (!is_file(spec))
		return platform_generate(out, a, spec, set, nset, true, e);
	if (nset)
		return error_set(e, E_TYPE, where_option("--set", set[0]),
		                 "settings are for family:shape, but %s is a file",
		                 spec);
	return input_read(out, spec, e);
}

/* What a platform was made of, for its whole text when SimGrid is started. */
static void keep_spec(struct loader *l, struct arena *a, const char *spec,
                      const char *const *set, int nset)
{
	const char **kept = arena_alloc(a, (size_t)nset, sizeof(*kept));

	for (int i = 0; i < nset; i++)
		kept[i] = arena_strdup(a, set[i]);
	l->spec = arena_strdup(a, spec);
	l->set = kept;
	l->nset = nset;
}

/*
 * The file's text and what our reader makes of it. A generated one is brief, for most
 * machines are never started.
 */
static enum status read_loader(struct loader *l, struct arena *a, const char *spec,
                               const char *const *set, int nset)
{
	struct text text = {0};
	enum status status = take_text(&text, a, spec, set, nset, l->error);
	size_t length = text.length;

	l->platform = arena_alloc(a, 1, sizeof(*l->platform));
	*l->platform = (struct platform){.arena = a, .loader = l};
	l->generated = !is_file(spec);
	keep_spec(l, a, spec, set, nset);
	if (status == OK)
		status = platform_xml_read(&l->xml, a, l->spec, text_take(&text, a),
		                           length, l->error);
	text_free(&text);
	if (status != OK)
		return status;
	return platform_xml_machine(&l->platform->machine, &l->graph, &l->xml, l->spec,
	                            l->error);
}

enum status platform_machine(struct machine **out, struct arena *a, const char *spec,
                             const char *const *set, int nset, struct error *e)
{
	struct error local = {0};
	struct loader *l = arena_alloc(a, 1, sizeof(*l)); /* the routes look into it */

	l->error = e ? e : &local;
	if (read_loader(l, a, spec, set, nset) == OK)
		*out = l->platform->machine;
	return l->error->code;
}

enum status platform_text(struct text *out, struct arena *a, const char *spec,
                          const char *const *set, int nset, bool brief, struct error *e)
{
	struct error local = {0};
	struct loader l = {.error = e ? e : &local};

	if (!is_file(spec))
		return platform_generate(out, a, spec, set, nset, brief, e);
	if (read_loader(&l, a, spec, set, nset) == OK)
		text_append(out, l.xml.text, l.xml.length);
	return l.error->code;
}

enum status platform_read(struct platform **out, struct arena *a, const char *spec,
                          const char *const *set, int nset, struct error *e)
{
	struct loader *l = arena_alloc(a, 1, sizeof(*l));
	struct error local = {0};
	enum status status;

	l->error = e ? e : &local;
	status = read_loader(l, a, spec, set, nset);
	l->error = NULL;
	if (status == OK)
		*out = l->platform;
	return status;
}

enum status platform_begin(struct platform *p, bool simgrid, struct error *e)
{
	struct loader *l = p->loader;

	return (simgrid && !l->generated) || l->graph->open ? platform_start(p, e) : OK;
}

bool platform_is_stated(const struct platform *p)
{
	return p->loader->generated ||
	       (p->loader->graph->stated && !p->loader->graph->open);
}

enum status platform_open(struct platform **out, struct arena *a, const char *spec,
                          const char *const *set, int nset, bool simgrid,
                          struct error *e)
{
	struct platform *p;
	enum status status = platform_read(&p, a, spec, set, nset, e);

	if (status == OK)
		status = platform_begin(p, simgrid, e);
	if (status == OK)
		*out = p;
	return status;
}

enum status platform_start(struct platform *p, struct error *e)
{
	struct loader *l = p->loader;
	struct error local = {0};
	enum status status = OK;

	if (p->host)
		return OK;
	l->error = e ? e : &local;
	if (!l->generated)
		status = platform_trial(l);
	if (status == OK)
		status = platform_engine_start(l);
	l->error = NULL;
	return status;
}

enum status platform_start_traced(struct platform *p, const char *path,
                                  const struct schedule *s, struct error *e)
{
	struct loader *l = p->loader;
	enum status status;

	l->error = e;
	l->trace = path;
	l->traced = s;
	status = platform_engine_start(l);
	l->error = NULL;
	return status;
}

enum status platform_start_flows(struct platform *p, struct error *e)
{
	struct loader *l = p->loader;
	enum status status = OK;

	if (p->host)
		return OK;
	l->error = e;
	l->flows = true;
	status = platform_engine_start(l);
	l->error = NULL;
	return status;
}

enum status platform_load(struct platform **out, struct arena *a, const char *spec,
                          const char *const *set, int nset, struct error *e)
{
	struct platform *p;
	enum status status = platform_open(&p, a, spec, set, nset, true, e);

	if (status == OK)
		status = platform_start(p, e);
	if (status == OK)
		*out = p;
	return status;
}
