#include "placement/hierarchy.h"

#include "array/mesh.h"
#include "base/assert.h"
#include "base/scan.h"

#include <string.h>

void hierarchy_add(struct hierarchy *h, const char *name, int32_t size)
{
	assert(h->nlevels < HIERARCHY_FACTORS_MAX && size >= 1);
	h->ndevices = h->nlevels ? h->ndevices * size : size;
	h->level[h->nlevels++] = (struct level){name, size};
}

int32_t hierarchy_stride(const struct hierarchy *h, int level)
{
	int32_t stride = 1;

	for (int j = level + 1; j < h->nlevels; j++)
		stride *= h->level[j].size;
	return stride;
}

int hierarchy_level(const struct hierarchy *h, const char *name, size_t length)
{
	for (int j = 0; j < h->nlevels; j++)
		if (h->level[j].name && strlen(h->level[j].name) == length &&
		    !memcmp(h->level[j].name, name, length))
			return j;
	return -1;
}

/* Returns the name in front of a size, if there is one. */
static enum status scan_level_name(const char **out, struct scan *s, struct arena *a,
                                   const struct hierarchy *h)
{
	const char *name;
	size_t length;

	*out = NULL;
	scan_peek(s);
	if (scan_name(s, &name, &length)) {
		if (length == 4 && !memcmp(name, "root", 4))
			return scan_fail_at(
				s, name, E_TYPE,
				"'root' names the level above all, expected "
				"another name");
		if (hierarchy_level(h, name, length) >= 0)
			return scan_fail_at(s, name, E_TYPE, "level '%.*s' twice",
			                    (int)length, name);
		*out = arena_strndup(a, name, length);
	}
	if (h->nlevels && !*out != !h->level[0].name)
		return scan_fail(s, E_SYNTAX,
		                 "expected a name for every level or for none");
	return OK;
}

enum status hierarchy_parse(struct hierarchy *out, struct arena *a, const char *text,
                            struct where at, struct error *e)
{
	struct scan s = scan_start(text, at, e);

	*out = (struct hierarchy){0};
	do {
		int64_t size, max = MESH_DEVICES_MAX;
		const char *name;

		if (out->nlevels == HIERARCHY_LEVELS_MAX)
			return scan_fail(&s, E_RANGE, "more than %d levels",
			                 HIERARCHY_LEVELS_MAX);
		if (scan_level_name(&name, &s, a, out) != OK)
			return e->code;
		if (out->nlevels)
			max /= out->ndevices;
		if (!scan_int(&s, "the size of a level", 1, max, &size))
			return e->code;
		hierarchy_add(out, name, (int32_t)size);
	} while (scan_take(&s, ","));
	return scan_finish(&s);
}

void hierarchy_print(struct text *out, const struct hierarchy *h)
{
	for (int j = 0; j < h->nlevels; j++) {
		if (h->level[j].name)
			text_printf(out, "%s%s ", j ? ", " : "", h->level[j].name);
		else if (j)
			text_printf(out, ",");
		text_printf(out, "%d", (int)h->level[j].size);
	}
}
