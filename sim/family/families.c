#include "family/families.h"

#include "family/kind.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void family_describe(struct text *what, struct text *shapes, const struct family *f)
{
	kind_of(f)->describe(what, shapes, f);
}

enum status platform_data_path(const char **out, struct arena *a, const char *file,
                               struct error *e)
{
	static const char *const beside[] = {"platforms", "../platforms",
	                                     "../share/shardsim/platforms"};
	const char *data = getenv("SHARDSIM_DATA");
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (data && *data) {
		*out = arena_printf(a, "%s/%s", data, file);
		if (access(*out, R_OK) == 0)
			return OK;
		return error_set(
			e, E_IO, (struct where){.file = *out},
			"cannot be read: %s (SHARDSIM_DATA says to look there)",
			strerror(errno));
	}
	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	if (slash) {
		*slash = '\0';
		for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
			*out = arena_printf(a, "%s/%s/%s", exe, beside[i], file);
			if (access(*out, R_OK) == 0)
				return OK;
		}
	}
#ifdef SHARDSIM_DATADIR
	*out = arena_printf(a, "%s/%s", SHARDSIM_DATADIR, file);
	if (access(*out, R_OK) == 0)
		return OK;
#endif
	*out = arena_printf(a, "platforms/%s", file);
	if (access(*out, R_OK) == 0)
		return OK;
	return error_set(e, E_IO, (struct where){.file = file},
	                 "found neither beside the program nor in platforms/; "
	                 "SHARDSIM_DATA can name its folder");
}

static enum status family_find(struct family *out, struct arena *a, const char *name,
                               size_t length, struct where at, struct error *e)
{
	struct families all = {0};
	struct text known = {0};
	const char *path;

	if (platform_data_path(&path, a, "families.yaml", e) != OK ||
	    families_read(&all, a, path, e) != OK)
		return e->code;
	for (int i = 0; i < all.n; i++) {
		const char *other = all.family[i].name;

		if (strlen(other) == length && !memcmp(other, name, length)) {
			text_free(&known);
			*out = all.family[i];
			return OK;
		}
		text_printf(&known, "%s%s", i ? ", " : "", other);
	}
	return error_set(e, E_RANGE, at, "unknown family '%.*s'; known are %s",
	                 (int)length, name, text_take(&known, a));
}

enum status family_parse(struct family_machine *out, struct arena *a, const char *spec,
                         const char *const *set, int nset, struct error *e)
{
	struct where at = where_option("--platform", spec);
	const char *colon = strchr(spec, ':');
	struct error local = {0};
	struct scan s;

	if (!e)
		e = &local;
	*out = (struct family_machine){.slices = 1};
	if (!colon)
		return error_set(
			e, E_SYNTAX, at,
			"expected family:shape such as tpu-v4:4x4x8, or a file "
			"that ends in .xml");
	if (family_find(&out->family, a, spec, (size_t)(colon - spec), at, e) != OK)
		return e->code;
	s = scan_start(spec, at, e);
	if (kind_of(&out->family)->shape(out, &s, colon + 1) != OK)
		return e->code;
	for (int i = 0; i < nset; i++) {
		if (setting_structure(out, a, spec, set[i], e) != OK)
			return e->code;
		if (setting_is_structure(&out->family, set[i]))
			at = where_option("--set", set[i]);
	}
	for (int i = 0; i < nset; i++)
		if (setting_figure(out, a, spec, set[i], e) != OK)
			return e->code;
	return figures_complete(&out->family, at, e);
}

/*
 * Appends what the user typed, but for what no XML comment has: control bytes and "--".
 */
static void comment_append(struct text *out, const char *s)
{
	for (char before = ' '; *s; before = *s++) {
		bool plain = (unsigned char)*s >= ' ' && (*s != '-' || before != '-');

		text_append(out, plain ? s : " ", 1);
	}
}

enum status platform_generate(struct text *out, struct arena *a, const char *spec,
                              const char *const *set, int nset, bool brief,
                              struct error *e)
{
	struct family_machine m;
	struct text body = {0};
	struct error local = {0};

	if (!e)
		e = &local;
	if (family_parse(&m, a, spec, set, nset, e) == OK) {
		m.brief = brief;
		kind_of(&m.family)->generate(&body, &m, spec, e);
	}
	if (e->code == OK) {
		text_printf(out, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
		                 "\"https://simgrid.org/simgrid.dtd\">\n<!-- ");
		comment_append(out, spec);
		for (int i = 0; i < nset; i++) {
			text_append(out, " ", 1);
			comment_append(out, set[i]);
		}
		text_printf(out, " -->\n<platform version=\"4.1\">\n"
		                 "  <zone id=\"machine\" routing=\"Full\">\n");
		text_append(out, body.s, body.length);
		text_printf(out, "  </zone>\n</platform>\n");
	}
	text_free(&body);
	return e->code;
}
