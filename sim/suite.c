#include "suite.h"

#include "base/units.h"
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reader {
	struct suite *suite;
	struct error *error;
	const char *path;
	yaml_document_t *document;
	struct scenario defaults;
};

static struct where at_mark(const struct reader *r, yaml_mark_t mark)
{
	return (struct where){.file = r->path,
	                      .line = (unsigned)mark.line + 1,
	                      .col = (unsigned)mark.column + 1};
}

static enum status bad(struct reader *r, const yaml_node_t *node, const char *reason)
{
	return error_set(r->error, E_SYNTAX, at_mark(r, node->start_mark), "%s", reason);
}

/* The text of a scalar; its place is that of its first byte, inside quotes. */
static const char *scalar(struct reader *r, const yaml_node_t *node, struct where *at)
{
	bool quoted;

	if (node->type != YAML_SCALAR_NODE) {
		bad(r, node, "expected a text");
		return NULL;
	}
	quoted = node->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
	         node->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	*at = at_mark(r, node->start_mark);
	at->col += quoted;
	if (memchr(node->data.scalar.value, '\0', node->data.scalar.length)) {
		bad(r, node, "a zero byte, expected a text");
		return NULL;
	}
	return arena_strndup(r->suite->arena, (const char *)node->data.scalar.value,
	                     node->data.scalar.length);
}

/* YAML lets the last of two equal keys win; here it is an error. */
static enum status check_keys(struct reader *r, const yaml_node_t *map)
{
	yaml_node_pair_t *start = map->data.mapping.pairs.start;

	for (yaml_node_pair_t *p = start; p < map->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = yaml_document_get_node(r->document, p->key);
		struct where at;
		const char *name = scalar(r, key, &at);

		for (yaml_node_pair_t *q = start; name && q < p; q++)
			if (strcmp(name,
			           scalar(r, yaml_document_get_node(r->document, q->key),
			                  &at)) == 0)
				return bad(r, key, "this key is there twice");
		if (!name)
			return r->error->code;
	}
	return OK;
}

struct field {
	const char *key;
	const char **text;
	struct where *at; /* NULL: not kept */
};

/* Set the fields that a map has; other keys are errors that list the known ones. */
static enum status read_fields(struct reader *r, const yaml_node_t *map,
                               const struct field *fields)
{
	if (map->type != YAML_MAPPING_NODE)
		return bad(r, map, "expected a map of fields");
	if (check_keys(r, map) != OK)
		return r->error->code;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start;
	     p < map->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = yaml_document_get_node(r->document, p->key);
		const yaml_node_t *value = yaml_document_get_node(r->document, p->value);
		const struct field *f = fields;
		struct where at;
		const char *name = scalar(r, key, &at);

		if (!name)
			return r->error->code;
		while (f->key && strcmp(f->key, name) != 0)
			f++;
		if (!f->key) {
			struct text known = {0};

			for (f = fields; f->key; f++)
				text_printf(&known, "%s%s", f == fields ? "" : ", ",
				            f->key);
			error_set(r->error, E_SYNTAX, at,
			          "unknown field '%.60s', expected one of %s", name,
			          known.s);
			text_free(&known);
			return r->error->code;
		}
		*f->text = scalar(r, value, f->at ? f->at : &at);
		if (!*f->text)
			return r->error->code;
	}
	return OK;
}

static enum status read_scenario_fields(struct reader *r, const yaml_node_t *map,
                                        struct scenario *s)
{
	const char *tags = NULL;
	struct problem_text *t = &s->text;
	const struct field fields[] = {
		{"name", &s->name, NULL},
		{"family", &s->family, NULL},
		{"array", &t->array, &t->array_at},
		{"mesh", &t->mesh, &t->mesh_at},
		{"from", &t->from, &t->from_at},
		{"to", &t->to, &t->to_at},
		{"to_mesh", &t->to_mesh, &t->to_mesh_at},
		{"num_devices", &t->num_devices, &t->num_devices_at},
		{"devices", &t->devices, &t->devices_at},
		{"to_devices", &t->to_devices, &t->to_devices_at},
		{"memory_limit", &t->memory_limit, &t->memory_limit_at},
		{"source", &s->source, NULL},
		{"tags", &tags, NULL},
		{NULL, NULL, NULL},
	};

	return read_fields(r, map, fields);
}

static enum status check_problem(struct reader *r, const struct scenario *s)
{
	struct arena *scratch = arena_new();
	struct problem p;
	enum status status = problem_make(&p, scratch, &s->text, r->error);

	/* The place may borrow a text of the arena's; places in files show none. */
	arena_free(scratch);
	return status;
}

static enum status read_scenario(struct reader *r, const yaml_node_t *map)
{
	struct scenario s = r->defaults;

	if (read_scenario_fields(r, map, &s) != OK)
		return r->error->code;
	if (!s.name || !s.text.array || !s.text.from || !s.text.to)
		return bad(r, map, "a scenario needs name, array, from and to");
	if (!s.name[0])
		return bad(r, map, "the name is empty, expected some letters");
	if (!s.family)
		s.family = "none";
	if (check_problem(r, &s) != OK)
		return r->error->code;
	s.at = at_mark(r, map->start_mark);
	suite_add(r->suite, &s);
	return OK;
}

/* "2..3", or "4" for 4..4, up to `limit`; 0: the ends are sizes. */
static enum status read_range(struct reader *r, const char *text, struct where at,
                              int64_t limit, int64_t out[2])
{
	struct scan s = scan_start(text, at, r->error);

	for (int i = 0; i < 2; i++) {
		if (!limit)
			units_scan_bytes(&s, &out[i]);
		else
			scan_int(&s, "a number", 1, limit, &out[i]);
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

/* The texts of a generate block as they stand there; ranges: rank, axes, devices, bytes. */
struct generate_text {
	const char *kind, *count, *sample, *seed, *sub_axes, *uneven, *range[4];
	struct where count_at, seed_at, sub_axes_at, uneven_at, range_at[4];
};

static enum status read_flag(struct reader *r, const char *text, struct where at,
                             bool *out)
{
	*out = strcmp(text, "yes") == 0;
	if (!*out && strcmp(text, "no") != 0)
		return error_set(r->error, E_SYNTAX, at, "'%.60s', expected yes or no",
		                 text);
	return OK;
}

/* "1MiB,64MiB": sizes, kept as they are written for the names of families. */
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
		{"kind", &t->kind, NULL},
		{"family", &g->family, NULL},
		{"mesh", &g->mesh, &g->mesh_at},
		{"array", &g->array, &g->array_at},
		{"dtype", &g->dtype, NULL},
		{"count", &t->count, &t->count_at},
		{"sample", &t->sample, &t->count_at},
		{"seed", &t->seed, &t->seed_at},
		{"sub_axes", &t->sub_axes, &t->sub_axes_at},
		{"uneven", &t->uneven, &t->uneven_at},
		{"rank", &t->range[0], &t->range_at[0]},
		{"axes", &t->range[1], &t->range_at[1]},
		{"devices", &t->range[2], &t->range_at[2]},
		{"bytes", &t->range[3], &t->range_at[3]},
		{NULL, NULL, NULL},
	};

	return read_fields(r, map, fields);
}

/* What only layouts have. */
static enum status read_layouts(struct reader *r, const yaml_node_t *map,
                                struct generate *g, const struct generate_text *t)
{
	if (!g->mesh || (!g->array && !t->range[3]))
		return bad(r, map,
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

static enum status read_generate(struct reader *r, const yaml_node_t *map)
{
	static const char *const range[4] = {"2..3", "2..3", "4..64", "1MiB..8GiB"};
	static const int64_t limit[4] = {GENERATED_RANK_MAX, GENERATED_AXES_MAX,
	                                 MESH_DEVICES_MAX, 0};
	struct where at = at_mark(r, map->start_mark);
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
		return bad(r, map,
		           "a generate block needs kind: random or kind: layouts");
	if (!g.family)
		g.family = t.kind;
	for (int i = 0; i < 3 + g.random; i++)
		if (read_range(r, t.range[i] ? t.range[i] : range[i], t.range_at[i],
		               limit[i], ends[i]) != OK)
			return r->error->code;
	if (t.sample)
		t.count = t.sample;
	if (strcmp(t.count, "0") != 0) {
		if (read_range(r, t.count, t.count_at, GENERATED_MAX, number) != OK)
			return r->error->code;
		g.count = number[0];
	}
	if (read_range(r, t.seed, t.seed_at, INT32_MAX, number) != OK)
		return r->error->code;
	g.seed = number[0];
	if (read_flag(r, t.uneven, t.uneven_at, &g.uneven) == OK &&
	    read_flag(r, t.sub_axes, t.sub_axes_at, &g.sub_axes) == OK && !g.random)
		read_layouts(r, map, &g, &t);
	if (g.random && g.sub_axes)
		return error_set(r->error, E_TYPE, t.sub_axes_at,
		                 "random problems have whole axes only");
	return r->error->code == OK ? suite_generate(r->suite, &g, r->error)
	                            : r->error->code;
}

static enum status read_list(struct reader *r, const yaml_node_t *list,
                             enum status (*item)(struct reader *, const yaml_node_t *))
{
	for (yaml_node_item_t *i = list->data.sequence.items.start;
	     i < list->data.sequence.items.top; i++)
		if (item(r, yaml_document_get_node(r->document, *i)) != OK)
			return r->error->code;
	return OK;
}

static enum status read_section(struct reader *r, const yaml_node_t *key,
                                const yaml_node_t *value)
{
	struct where at;
	const char *name = scalar(r, key, &at);

	if (!name)
		return r->error->code;
	if (strcmp(name, "defaults") == 0)
		return read_scenario_fields(r, value, &r->defaults);
	if (strcmp(name, "scenarios") == 0) {
		if (value->type != YAML_SEQUENCE_NODE)
			return bad(r, value, "expected a list of scenarios");
		return read_list(r, value, read_scenario);
	}
	if (strcmp(name, "generate") == 0)
		return value->type == YAML_SEQUENCE_NODE
		               ? read_list(r, value, read_generate)
		               : read_generate(r, value);
	return error_set(r->error, E_SYNTAX, at,
	                 "unknown section '%.60s', expected defaults, scenarios or "
	                 "generate",
	                 name);
}

static enum status read_document(struct reader *r)
{
	const yaml_node_t *root = yaml_document_get_root_node(r->document);

	if (!root)
		return error_set(r->error, E_SYNTAX,
		                 (struct where){.file = r->path, .line = 1, .col = 1},
		                 "the file is empty, expected a map with scenarios or "
		                 "generate");
	if (root->type != YAML_MAPPING_NODE)
		return bad(r, root, "expected a map with scenarios or generate");
	if (check_keys(r, root) != OK)
		return r->error->code;
	for (yaml_node_pair_t *p = root->data.mapping.pairs.start;
	     p < root->data.mapping.pairs.top; p++)
		if (read_section(r, yaml_document_get_node(r->document, p->key),
		                 yaml_document_get_node(r->document, p->value)) != OK)
			return r->error->code;
	return OK;
}

/* The next document of the parser; its root is NULL after the last one. */
static enum status load(struct reader *r, yaml_parser_t *parser, FILE *f)
{
	errno = 0;
	if (yaml_parser_load(parser, r->document))
		return OK;
	if (ferror(f))
		return error_set(r->error, E_IO, (struct where){.file = r->path},
		                 "cannot read it: %s", strerror(errno));
	return error_set(r->error, E_SYNTAX, at_mark(r, parser->problem_mark),
	                 "not YAML: %s",
	                 parser->problem ? parser->problem : "unreadable");
}

static enum status read_documents(struct reader *r, yaml_parser_t *parser, FILE *f)
{
	yaml_node_t *root;

	if (load(r, parser, f) != OK)
		return r->error->code;
	read_document(r);
	yaml_document_delete(r->document);
	if (r->error->code != OK || load(r, parser, f) != OK)
		return r->error->code;
	root = yaml_document_get_root_node(r->document);
	if (root)
		bad(r, root, "a second document, expected one per file");
	yaml_document_delete(r->document);
	return r->error->code;
}

enum status suite_read(struct suite *s, const char *path, struct error *e)
{
	struct where file = {.file = path};
	yaml_parser_t parser;
	yaml_document_t document;
	struct reader r = {.suite = s, .error = e, .path = path, .document = &document};
	FILE *f = fopen(path, "rb");
	int32_t before = s->n;

	if (!f)
		return error_set(e, E_IO, file, "cannot read it: %s", strerror(errno));
	if (!yaml_parser_initialize(&parser))
		abort();
	yaml_parser_set_input_file(&parser, f);
	if (read_documents(&r, &parser, f) == OK && s->n == before)
		error_set(e, E_SYNTAX, (struct where){.file = path, .line = 1, .col = 1},
		          "no scenarios in it, expected a list of scenarios or a "
		          "generate block");
	yaml_parser_delete(&parser);
	fclose(f);
	return e->code;
}

void suite_add(struct suite *s, const struct scenario *sc)
{
	if (s->n == s->capacity) {
		struct scenario *old = s->scenario;

		s->capacity = s->capacity ? 2 * s->capacity : 64;
		s->scenario = arena_alloc(s->arena, (size_t)s->capacity,
		                          sizeof(*s->scenario));
		if (s->n)
			memcpy(s->scenario, old, (size_t)s->n * sizeof(*old));
	}
	s->scenario[s->n++] = *sc;
}

static int by_name(const void *a, const void *b)
{
	const struct scenario *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

enum status suite_check_names(const struct suite *s, struct error *e)
{
	const struct scenario **sorted = xmalloc((size_t)s->n, sizeof(*sorted));

	for (int32_t i = 0; i < s->n; i++)
		sorted[i] = &s->scenario[i];
	qsort(sorted, (size_t)s->n, sizeof(*sorted), by_name);
	for (int32_t i = 1; i < s->n; i++)
		if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
			error_set(e, E_TYPE, sorted[i]->at,
			          "scenario '%.80s' is there twice", sorted[i]->name);
	free(sorted);
	return e->code;
}
