#include "facts/families.h"

#include "facts/kind.h"

#include "base/suggest.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

/* Puts a family in the place of one with its name, or behind all. */
static void families_add(struct families *all, const struct family *f)
{
	int i = 0;

	while (i < all->n && strcmp(all->family[i].name, f->name) != 0)
		i++;
	all->family[i] = *f;
	all->n += i == all->n;
}

enum status families_known(struct families *out, struct arena *a, struct error *e)
{
	const char *more = getenv(FAMILIES_MORE), *path;
	struct families shipped = {0}, own = {0};

	if (platform_data_path(&path, a, "families.yaml", e) != OK ||
	    families_read(&shipped, a, path, e) != OK ||
	    (more && *more && families_read(&own, a, more, e) != OK))
		return e->code;
	out->n = shipped.n;
	out->family = arena_alloc(a, (size_t)(shipped.n + own.n), sizeof(*out->family));
	memcpy(out->family, shipped.family, (size_t)shipped.n * sizeof(*out->family));
	for (int i = 0; i < own.n; i++)
		families_add(out, &own.family[i]);
	return OK;
}

/*
 * Returns the machine that may be meant, in quotes: the shape as it is, or for a number of
 * devices behind a part of the name of a family of nodes as many nodes as have them.
 */
static const char *machine_meant(struct arena *a, const struct family *f,
                                 const char *shape, bool part)
{
	char *end;
	long n = strtol(shape, &end, 10);

	if (f->kind != FAMILY_NODES || end == shape || *end || n < 1)
		return arena_printf(a, "'%s:%.100s'", f->name, shape);
	if (part && n % f->gpus == 0)
		n /= f->gpus;
	return arena_printf(a, "'%s:%ld' (%lld GPUs)", f->name, n,
	                    (long long)n * f->gpus);
}

/* Returns whether a shape has the number of axes that the family's shapes have. */
static bool shape_suits(const struct family *f, const char *shape)
{
	int axes = 1;

	for (; *shape; shape++)
		axes += *shape == 'x';
	return f->kind == FAMILY_NODES ? axes == 1 : !f->naxes || axes == f->naxes;
}

static enum status family_refuse(const struct families *all, struct arena *a,
                                 const char *name, size_t length, struct where at,
                                 struct error *e)
{
	struct suggestion near = suggest_start(name, length);
	const char *shape = name + length + 1;
	struct text known = {0};

	for (int all_forms = 0; all_forms < 2 && !near.nearest; all_forms++)
		for (int i = 0; i < all->n; i++)
			if (all_forms || shape_suits(&all->family[i], shape))
				suggest_offer(&near, all->family[i].name);
	for (int i = 0; i < all->n; i++) {
		text_printf(&known, "%s%s", i ? ", " : "", all->family[i].name);
		if (all->family[i].name == near.nearest)
			error_set(e, E_RANGE, at,
			          "unknown family '%.*s'; did you mean %s? 'shardsim "
			          "list "
			          "platforms' prints all",
			          (int)length, name,
			          machine_meant(a, &all->family[i], shape, near.part));
	}
	error_set(e, E_RANGE, at, "unknown family '%.*s'; known are %s", (int)length,
	          name, text_take(&known, a));
	return e->code;
}

enum status family_find(struct family *out, struct arena *a, const char *path,
                        const char *name, size_t length, struct where at,
                        struct error *e)
{
	struct families all = {0};
	enum status status =
		path ? families_read(&all, a, path, e) : families_known(&all, a, e);

	if (status != OK)
		return status;
	for (int i = 0; i < all.n; i++) {
		const char *other = all.family[i].name;

		if (strlen(other) == length && !memcmp(other, name, length)) {
			*out = all.family[i];
			return OK;
		}
	}
	return family_refuse(&all, a, name, length, at, e);
}

/* A machine as it is named: `spec` is family:shape alone, settings are apart. */
struct named {
	const char *spec;
	unsigned moved; /* the shape stands so many columns further right as it is named */
	const char **set;
	int nset;
};

/*
 * Takes the settings out of `cluster:nodes=64,gpus=4,nics=2` or `torus:6x6,wrap=10`, which
 * come before those of `set`. The shape is the word without a '=', or that of `nodes`.
 */
static enum status name_split(struct named *out, struct arena *a, const char *spec,
                              const char *const *set, int nset, struct error *e)
{
	static const char nodes[] = "nodes=";
	const char *word = strchr(spec, ':') + 1, *shape = NULL;
	size_t n, commas = 1;

	for (const char *p = word; *p; p++)
		commas += *p == ',';
	*out = (struct named){.spec = spec};
	out->set = arena_alloc(a, commas + (size_t)nset, sizeof(*out->set));
	for (; strchr(spec, '=') && *word; word += n + (word[n] == ',')) {
		n = strcspn(word, ",");
		if (memchr(word, '=', n) && strncmp(word, nodes, strlen(nodes)) != 0) {
			out->set[out->nset++] = arena_strndup(a, word, n);
			continue;
		}
		if (shape)
			return error_set(e, E_SYNTAX, where_option("--platform", spec),
			                 "'%.*s' is a second shape, expected key=value",
			                 (int)n, word);
		shape = memchr(word, '=', n) ? word + strlen(nodes) : word;
		out->spec =
			arena_printf(a, "%.*s%.*s", (int)(strchr(spec, ':') + 1 - spec),
		                     spec, (int)(word + n - shape), shape);
		out->moved = (unsigned)(shape - strchr(spec, ':') - 1);
	}
	if (!shape && out->nset)
		return error_set(e, E_SYNTAX, where_option("--platform", spec),
		                 "expected a shape too, such as nodes=4 or 4x4");
	for (int i = 0; i < nset; i++)
		out->set[out->nset++] = set[i];
	return OK;
}

/* A setting counts once, be it in the machine's name or behind --set. */
static enum status settings_once(const struct named *m, struct error *e)
{
	for (int i = 0; i < m->nset; i++)
		for (int k = 0; k < i; k++)
			if (!strncmp(m->set[i], m->set[k], strcspn(m->set[k], "=") + 1))
				return error_set(e, E_TYPE,
				                 where_option("--set", m->set[i]),
				                 "is set before: %s", m->set[k]);
	return OK;
}

/* Returns the error of a machine's name at its place in the name as it was given. */
static enum status error_as_named(const struct named *m, const char *spec,
                                  struct error *e)
{
	if (e->at.source == m->spec) {
		e->at.source = spec;
		if (e->at.col > (unsigned)(strchr(spec, ':') - spec) + 1)
			e->at.col += m->moved;
	}
	return e->code;
}

/* Returns a machine of the family: one node, or the first shape that is offered. */
static const char *machine_example(struct arena *a, const struct family *f)
{
	struct text out = {0};

	text_printf(&out, "%s:", f->name);
	if (f->kind == FAMILY_NODES)
		text_printf(&out, "%d", f->apart ? 2 : 1);
	for (int i = 0; f->kind != FAMILY_NODES && i < (f->naxes ? f->naxes : 3); i++)
		text_printf(&out, "%s%d", i ? "x" : "",
		            f->noffered ? (int)f->offered[i] : 4);
	return text_take(&out, a);
}

/* Says what stands behind the name of a family, or which families are meant. */
static enum status shape_missing(struct arena *a, const char *path, const char *spec,
                                 struct where at, struct error *e)
{
	struct families all = {0};
	struct text like = {0};
	size_t n = strlen(spec);

	if ((path ? families_read(&all, a, path, e) : families_known(&all, a, e)) != OK)
		return e->code;
	for (int i = 0; i < all.n; i++) {
		const struct family *f = &all.family[i];

		if (strcmp(f->name, spec) == 0)
			return error_set(e, E_SYNTAX, at,
			                 "%s has no shape, expected such as %s", spec,
			                 machine_example(a, f));
		for (const char *p = f->name; n > 1 && *p; p++)
			if (strncasecmp(p, spec, n) == 0) {
				text_printf(&like, "%s%s", like.length ? ", " : "",
				            f->name);
				break;
			}
	}
	if (like.length)
		return error_set(e, E_SYNTAX, at,
		                 "expected family:shape, and families like it are %s",
		                 text_take(&like, a));
	return error_set(e, E_SYNTAX, at,
	                 "expected family:shape such as tpu-v4:4x4x8, or a file that "
	                 "ends in .xml");
}

/* White space would be of the machine's name, and two names then of one machine. */
static enum status space_none(const char *spec, struct where at, struct error *e)
{
	size_t n = strcspn(spec, SPACES);

	if (!spec[n])
		return OK;
	at.col += (unsigned)n;
	return error_set(e, E_SYNTAX, at,
	                 "white space, expected none in the name of a machine");
}

enum status family_parse(struct family_machine *out, struct arena *a, const char *path,
                         const char *spec, const char *const *set, int nset,
                         struct error *e)
{
	struct where at = where_option("--platform", spec);
	const char *colon = strchr(spec, ':');
	struct error local = {0};
	struct named named;
	struct scan s;

	if (!e)
		e = &local;
	*out = (struct family_machine){.slices = 1};
	if (!colon)
		return shape_missing(a, path, spec, at, e);
	if (family_find(&out->family, a, path, spec, (size_t)(colon - spec), at, e) !=
	            OK ||
	    name_split(&named, a, spec, set, nset, e) != OK ||
	    settings_once(&named, e) != OK)
		return e->code;
	if (space_none(spec, at, e) != OK)
		return e->code;
	at = where_option("--platform", named.spec);
	s = scan_start(named.spec, at, e);
	if (kind_of(&out->family)->shape(out, &s, strchr(named.spec, ':') + 1) != OK ||
	    settings_structure(out, a, spec, named.set, named.nset, &at, e) != OK)
		return error_as_named(&named, spec, e);
	for (int i = 0; i < named.nset; i++)
		if (setting_figure(out, a, spec, named.set[i], e) != OK)
			return e->code;
	return figures_complete(&out->family, at, e);
}
