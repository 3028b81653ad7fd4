#include "facts/families.h"

#include "facts/kind.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void family_describe(struct text *what, struct text *shapes, const struct family *f)
{
	kind_of(f)->describe(what, shapes, f);
}

/* Returns whether the data file is near the folder of a program or library. */
static bool data_near(const char **out, struct arena *a, const char *path,
                      const char *file)
{
	static const char *const beside[] = {"platforms", "../platforms",
	                                     "../share/shardsim/platforms"};
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; slash && i < sizeof(beside) / sizeof(*beside); i++) {
		*out = arena_printf(a, "%.*s/%s/%s", (int)(slash - path), path,
		                    beside[i], file);
		if (access(*out, R_OK) == 0)
			return true;
	}
	return false;
}

/*
 * Returns whether it is near the program, or the shared library that has this function.
 */
static bool data_installed(const char **out, struct arena *a, const char *file)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	Dl_info library;

	exe[n > 0 ? n : 0] = '\0';
	return data_near(out, a, exe, file) ||
	       (dladdr((void *)(uintptr_t)platform_data_path, &library) &&
	        data_near(out, a, library.dli_fname, file));
}

enum status platform_data_path(const char **out, struct arena *a, const char *file,
                               struct error *e)
{
	const char *data = getenv("SHARDSIM_DATA");

	if (data && *data) {
		*out = arena_printf(a, "%s/%s", data, file);
		if (access(*out, R_OK) == 0)
			return OK;
		return error_set(
			e, E_IO, (struct where){.file = *out},
			"cannot be read: %s (SHARDSIM_DATA says to look there)",
			strerror(errno));
	}
	if (data_installed(out, a, file))
		return OK;
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

enum status family_find(struct family *out, struct arena *a, const char *path,
                        const char *name, size_t length, struct where at,
                        struct error *e)
{
	struct families all = {0};
	struct text known = {0};

	if ((!path && platform_data_path(&path, a, "families.yaml", e) != OK) ||
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

enum status family_parse(struct family_machine *out, struct arena *a, const char *path,
                         const char *spec, const char *const *set, int nset,
                         struct error *e)
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
	if (family_find(&out->family, a, path, spec, (size_t)(colon - spec), at, e) != OK)
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
