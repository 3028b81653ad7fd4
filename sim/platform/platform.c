#include "platform/loader.h"

#include "base/input.h"
#include "facts/families.h"
#include "family/xml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Returns whether `spec` is a file. A slash behind a brace or '=' belongs to a value:
 * 25GB/s.
 */
static bool is_file(const char *spec)
{
	size_t n = strlen(spec);

	return memchr(spec, '/', strcspn(spec, "{=")) ||
	       (n > 4 && !strcmp(spec + n - 4, ".xml"));
}

/* Returns what is wrong with the setting number n, NULL if nothing. */
static const char *setting_wrong(const char *const *set, int n, const char *text)
{
	size_t length = strcspn(text, ",}"), key = strcspn(text, "=,}");

	if (strcspn(text, SPACES) < length)
		return "white space, expected none in the name of a machine";
	if (key == 0 || key >= length)
		return "expected key=value";
	if (n == PLATFORM_SETTINGS_MAX)
		return "more than 16 settings";
	for (int i = 0; i < n; i++)
		if (strncmp(set[i], text, key + 1) == 0)
			return "is set twice";
	return NULL;
}

/*
 * Splits "key=value,...}" into the settings of `out`. Returns what is wrong with it, and
 * where, or NULL.
 */
static const char *split_settings(struct platform_name *out, struct arena *a,
                                  const char **text)
{
	for (;; ++*text) {
		size_t length = strcspn(*text, ",}");
		const char *wrong = setting_wrong(out->set, out->nset, *text);

		if (wrong)
			return wrong;
		out->set[out->nset++] = arena_strndup(a, *text, length);
		*text += length;
		if (!**text)
			return "expected a , or }";
		if (**text == '}')
			return *++*text ? "expected nothing behind the }" : NULL;
	}
}

/*
 * Returns the length of what stands before the braces with settings. Those of a size
 * belong to it, up to the brace that ends it.
 */
static size_t base_length(const char *spec)
{
	size_t n = strcspn(spec, "{");

	if (!family_sized(spec) || n == 0 || spec[n - 1] != ':')
		return n;
	n += strcspn(spec + n, "}");
	return spec[n] ? n + 1 : n;
}

bool platform_sized(const char *spec)
{
	return !is_file(spec) && family_sized(spec);
}

enum status platform_split(struct platform_name *out, struct arena *a, const char *spec,
                           struct where at, struct error *e)
{
	size_t n = base_length(spec);
	const char *text = spec + n + 1, *wrong;

	*out = (struct platform_name){.base = spec};
	if (!spec[n] || is_file(spec))
		return OK;
	wrong = n ? split_settings(out, a, &text) : "there is no name";
	if (wrong) {
		if (n && at.col)
			at.col += (unsigned)(text - spec);
		return error_set(e, E_SYNTAX, at,
		                 "%s; settings are family:shape{key=value,...}", wrong);
	}
	out->base = arena_strndup(a, spec, n);
	return OK;
}

/* Reads or generates the text of `spec`, without checking it. */
static enum status take_text(struct text *out, const char **note, struct arena *a,
                             const char *spec, const char *const *set, int nset,
                             struct error *e)
{
	if (!is_file(spec))
		return platform_generate(out, note, a, spec, set, nset, true, e);
	if (nset)
		return error_set(e, E_TYPE, where_option("--set", set[0]),
		                 "settings are for family:shape, but %s is a file",
		                 spec);
	return input_read(out, spec, e);
}

/* A platform's name without braces, and all its settings: those in braces first. */
struct parts {
	const char *base;
	int nset;
	const char **set;
};

/*
 * Takes `spec` and its settings apart. Texts stay the caller's where that is possible,
 * since an error shows them when `a` is gone.
 */
static enum status take_apart(struct parts *out, struct arena *a, const char *spec,
                              const char *const *set, int nset, struct error *e)
{
	struct platform_name name;

	if (platform_split(&name, a, spec, where_option("--platform", spec), e) != OK)
		return e->code;
	out->base = name.base;
	out->nset = name.nset + nset;
	out->set = arena_alloc(a, (size_t)out->nset, sizeof(*out->set));
	for (int i = 0; i < name.nset; i++)
		out->set[i] = name.set[i];
	for (int i = 0; i < nset; i++) {
		size_t key = strcspn(set[i], "=") + 1;

		for (int k = 0; k < name.nset; k++)
			if (strncmp(set[i], name.set[k], key) == 0)
				return error_set(
					e, E_TYPE, where_option("--set", set[i]),
					"is set in the platform's name too: %s",
					name.set[k]);
		out->set[name.nset + i] = set[i];
	}
	return OK;
}

enum status platform_size(struct family_size *out, struct arena *a, const char *spec,
                          const char *const *set, int nset, int64_t n, struct error *e)
{
	struct parts parts;

	if (take_apart(&parts, a, spec, set, nset, e) == OK &&
	    family_size(out, a, NULL, parts.base, parts.set, parts.nset, n, e) == OK)
		out->spec = arena_printf(a, "%s%s", out->spec, spec + base_length(spec));
	return e->code;
}

/* Keeps what a platform was made of; its whole text is made when SimGrid is started. */
static void keep_spec(struct loader *l, struct arena *a, const struct parts *p)
{
	const char **kept = arena_alloc(a, (size_t)p->nset, sizeof(*kept));

	for (int i = 0; i < p->nset; i++)
		kept[i] = arena_strdup(a, p->set[i]);
	l->spec = arena_strdup(a, p->base);
	l->set = kept;
	l->nset = p->nset;
}

enum status platform_resize(const char **spec, struct arena *a, const char *const *set,
                            int nset, int64_t n, struct error *e)
{
	struct family_size size;

	if (!platform_sized(*spec))
		return OK;
	if (platform_size(&size, a, *spec, set, nset, n, e) == OK)
		*spec = size.spec;
	return e->code;
}

void platform_point(struct error *e, const char *spec, const char *const *set, int nset)
{
	const char *place, *source = e->at.source, *file = e->at.file;
	unsigned col = e->at.col;

	if (!source || !file ||
	    (strcmp(file, "--set") != 0 && strcmp(file, "--platform") != 0))
		return;
	for (int i = 0; i < nset; i++)
		if (set[i] == source)
			return;
	place = strstr(spec, source);
	if (!place)
		return;
	e->at = where_option("--platform", spec);
	e->at.col = (unsigned)(place - spec) + col;
}

/* Returns whether a setting names devices, whose numbers follow from the size. */
static bool names_devices(const char *set)
{
	static const char *const key[] = {"slow_link=", "slow_device=", "no_link="};

	for (size_t i = 0; i < sizeof(key) / sizeof(*key); i++)
		if (strncmp(set, key[i], strlen(key[i])) == 0)
			return true;
	return false;
}

enum status platform_check_any_size(struct arena *a, const char *spec,
                                    const char *const *set, int nset, struct error *e)
{
	struct family_machine unused;
	struct family_size size;
	struct parts parts;
	int kept = 0;

	if (take_apart(&parts, a, spec, set, nset, e) != OK ||
	    family_size(&size, a, NULL, parts.base, parts.set, parts.nset, INT32_MAX,
	                e) != OK) {
		platform_point(e, spec, set, nset);
		return e->code;
	}
	for (int i = 0; i < parts.nset; i++)
		if (!names_devices(parts.set[i]))
			parts.set[kept++] = parts.set[i];
	if (family_parse(&unused, a, NULL, size.spec, parts.set, kept, e) != OK)
		platform_point(e, spec, set, nset);
	return e->code;
}

/* Returns whether a setting is launch_s. */
static bool gives_launch(const struct parts *p)
{
	static const char key[] = "launch_s=";

	for (int i = 0; i < p->nset; i++)
		if (strncmp(p->set[i], key, sizeof(key) - 1) == 0)
			return true;
	return false;
}

/*
 * Takes the file's text and makes the machine of it with our reader. A generated text
 * is brief, since most machines are never started.
 */
static enum status read_loader(struct loader *l, struct arena *a, const char *spec,
                               const char *const *set, int nset)
{
	struct text text = {0};
	struct parts parts;
	enum status status;
	const char *note = NULL, *given = spec;
	size_t length;

	status = platform_resize(&spec, a, set, nset, 0, l->error);
	if (status == OK)
		status = take_apart(&parts, a, spec, set, nset, l->error);
	l->platform = arena_alloc(a, 1, sizeof(*l->platform));
	*l->platform = (struct platform){.arena = a, .loader = l};
	if (status != OK)
		return status;
	status = take_text(&text, &note, a, parts.base, parts.set, parts.nset, l->error);
	platform_point(l->error, given, set, nset);
	length = text.length;
	l->generated = !is_file(spec);
	keep_spec(l, a, &parts);
	if (status == OK)
		status = platform_xml_read(&l->xml, a, l->spec, text_take(&text, a),
		                           length, l->generated, l->error);
	text_free(&text);
	if (status != OK)
		return status;
	status = platform_xml_machine(&l->platform->machine, &l->graph, &l->xml,
	                              arena_strdup(a, spec), l->error);
	if (status != OK)
		return status;
	l->platform->machine->note = note ? note : l->xml.note;
	l->platform->machine->launch_given = gives_launch(&parts);
	return OK;
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
	struct parts parts;
	const char *given = spec;

	if (is_file(spec)) {
		if (read_loader(&l, a, spec, set, nset) == OK)
			text_append(out, l.xml.text, l.xml.length);
	} else if (platform_resize(&spec, a, set, nset, 0, l.error) == OK &&
	           take_apart(&parts, a, spec, set, nset, l.error) == OK) {
		platform_generate(out, NULL, a, parts.base, parts.set, parts.nset,
		                  brief, l.error);
		platform_point(l.error, given, set, nset);
	}
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

void platform_prepare(void)
{
	struct error ignored = {0};

	platform_simgrid_load(&ignored);
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
