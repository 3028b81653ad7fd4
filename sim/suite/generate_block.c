/* The section `generate` of a suite. */
#include "suite/reader.h"

#include "base/units.h"

#include <string.h>

/* Reads "2..3", or "4" for 4..4, up to `limit`; where that is 0 the ends are sizes. */
static enum status read_generate_range(struct reader *r, const char *text,
                                       struct where at, int64_t limit, int64_t out[2])
{
	struct scan s = scan_start(text, at, r->error);

	for (int i = 0; i < 2; i++) {
		if (!limit)
			units_scan_bytes(&s, &out[i]);
		else
			scan_int(&s, NULL, 1, limit, &out[i]);
		if (i == 0 && !scan_take(&s, "..")) {
			out[1] = out[0];
			break;
		}
	}
	if (scan_finish(&s) == OK && out[0] > out[1])
		scan_fail_at(&s, text, E_RANGE, "expected the lower end first");
	if (!limit && (out[0] < 1 || out[1] > GENERATED_BYTES_MAX))
		scan_fail_at(&s, text, E_RANGE, "expected 1 byte to 2^58");
	return r->error->code;
}

/*
 * The texts of a generate block as they stand there; the ranges are rank, axes, devices
 * and bytes.
 */
struct generate_text {
	const char *kind, *count, *sample, *seed, *sub_axes, *uneven, *range[4];
	struct where count_at, seed_at, sub_axes_at, uneven_at, range_at[4];
};

static enum status read_generate_flag(struct reader *r, const char *text,
                                      struct where at, bool *out)
{
	*out = strcmp(text, "yes") == 0;
	if (!*out && strcmp(text, "no") != 0)
		return error_set(r->error, E_SYNTAX, at, "'%.60s', expected yes or no",
		                 text);
	return OK;
}

/* Reads sizes "1MiB,64MiB", and keeps their texts for the names of families. */
static enum status read_sizes(struct reader *r, struct generate *g, const char *list,
                              struct where at)
{
	struct scan s = scan_start(list, at, r->error);

	do {
		const char *start;
		int64_t bytes = 0;

		scan_peek(&s); /* skips white space */
		start = s.pos;
		if (g->nsizes == GENERATED_SIZES_MAX)
			return scan_fail_at(&s, start, E_RANGE,
			                    "expected at most %d sizes",
			                    GENERATED_SIZES_MAX);
		units_scan_bytes(&s, &bytes);
		if (r->error->code == OK && (bytes < 1 || bytes > GENERATED_BYTES_MAX))
			return scan_fail_at(&s, start, E_RANGE,
			                    "expected 1 byte to 2^58");
		for (int i = 0; i < g->nsizes && r->error->code == OK; i++)
			if (g->size_bytes[i] == bytes)
				return scan_fail_at(&s, start, E_TYPE,
				                    "%.*s is there already as %.60s",
				                    (int)(s.pos - start), start,
				                    g->size_text[i]);
		g->size_bytes[g->nsizes] = bytes;
		g->size_text[g->nsizes++] =
			arena_strndup(r->suite->arena, start, (size_t)(s.pos - start));
	} while (r->error->code == OK && scan_take(&s, ","));
	return scan_finish(&s);
}

static enum status read_generate_fields(struct reader *r, const yaml_node_t *map,
                                        struct generate *g, struct generate_text *t)
{
	const struct field fields[] = {
		{"kind", &t->kind, NULL, NULL},
		{"family", &g->family, NULL, NULL},
		{"mesh", &g->mesh, &g->mesh_at, NULL},
		{"array", &g->array, &g->array_at, NULL},
		{"dtype", &g->dtype, NULL, NULL},
		{"count", &t->count, &t->count_at, NULL},
		{"sample", &t->sample, &t->count_at, NULL},
		{"seed", &t->seed, &t->seed_at, NULL},
		{"sub_axes", &t->sub_axes, &t->sub_axes_at, NULL},
		{"uneven", &t->uneven, &t->uneven_at, NULL},
		{"rank", &t->range[0], &t->range_at[0], NULL},
		{"axes", &t->range[1], &t->range_at[1], NULL},
		{"devices", &t->range[2], &t->range_at[2], NULL},
		{"bytes", &t->range[3], &t->range_at[3], NULL},
		{NULL, NULL, NULL, NULL},
	};

	return reader_fields(r, map, fields);
}

/* Reads the fields that only blocks of `kind: layouts` have. */
static enum status read_layouts(struct reader *r, const yaml_node_t *map,
                                struct generate *g, const struct generate_text *t)
{
	if (!g->mesh || (!g->array && !t->range[3]))
		return reader_bad(
			r, map,
			"kind: layouts needs mesh and array, or mesh, rank and "
			"bytes");
	if (g->array && t->range[3])
		return error_set(r->error, E_TYPE, t->range_at[3],
		                 "the array has its size already");
	if (!g->array && g->rank[0] != g->rank[1])
		return error_set(r->error, E_RANGE, t->range_at[0], "expected one rank");
	if (g->uneven)
		return error_set(r->error, E_TYPE, t->uneven_at,
		                 "only random problems can be uneven");
	if (g->sub_axes && !g->count)
		return error_set(r->error, E_TYPE, t->sub_axes_at,
		                 "layouts with sub-axes are many, expected a sample");
	return g->array ? OK : read_sizes(r, g, t->range[3], t->range_at[3]);
}

enum status suite_generate_block(struct reader *r, const yaml_node_t *map)
{
	static const char *const range[4] = {"2..3", "2..3", "4..64", "1MiB..8GiB"};
	static const int64_t limit[4] = {GENERATED_RANK_MAX, GENERATED_AXES_MAX,
	                                 MESH_DEVICES_MAX, 0};
	struct where at = reader_mark(r, map->start_mark);
	struct generate g = {.at = at, .dtype = "bf16"};
	struct generate_text t = {.count = "0",
	                          .seed = "1",
	                          .sub_axes = "no",
	                          .uneven = "no",
	                          .count_at = at,
	                          .seed_at = at,
	                          .range_at = {at, at, at, at}};
	int64_t *ends[4] = {g.rank, g.axes, g.devices, g.bytes}, number[2];

	if (read_generate_fields(r, map, &g, &t) != OK)
		return r->error->code;
	g.random = t.kind && strcmp(t.kind, "random") == 0;
	if (!g.random && (!t.kind || strcmp(t.kind, "layouts") != 0))
		return reader_bad(
			r, map, "a generate block needs kind: random or kind: layouts");
	if (!g.family)
		g.family = t.kind;
	for (int i = 0; i < 3 + g.random; i++)
		if (read_generate_range(r, t.range[i] ? t.range[i] : range[i],
		                        t.range_at[i], limit[i], ends[i]) != OK)
			return r->error->code;
	if (t.sample)
		t.count = t.sample;
	if (strcmp(t.count, "0") != 0) {
		if (read_generate_range(r, t.count, t.count_at, GENERATED_MAX,
		                        number) != OK)
			return r->error->code;
		g.count = number[0];
	}
	if (read_generate_range(r, t.seed, t.seed_at, INT32_MAX, number) != OK)
		return r->error->code;
	g.seed = number[0];
	if (read_generate_flag(r, t.uneven, t.uneven_at, &g.uneven) == OK &&
	    read_generate_flag(r, t.sub_axes, t.sub_axes_at, &g.sub_axes) == OK &&
	    !g.random)
		read_layouts(r, map, &g, &t);
	if (g.random && g.sub_axes)
		return error_set(r->error, E_TYPE, t.sub_axes_at,
		                 "random problems have whole axes only");
	return r->error->code == OK ? suite_generate(r->suite, &g, r->error)
	                            : r->error->code;
}
