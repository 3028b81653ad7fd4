#include "families.h"

#include "base/units.h"
#include "collective/collective.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

struct reader {
	struct arena *arena;
	const char *path;
	yaml_document_t doc;
	struct error *error;
};

static struct where node_where(const struct reader *r, const yaml_node_t *node)
{
	return (struct where){.file = r->path,
	                      .line = (unsigned)node->start_mark.line + 1,
	                      .col = (unsigned)node->start_mark.column + 1};
}

static const char *node_text(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
	                                      : NULL;
}

/* The value of `key` in a mapping; NULL with an error where it is missing. */
static yaml_node_t *map_get(struct reader *r, yaml_node_t *map, const char *key)
{
	yaml_node_pair_t *pair;

	if (map->type != YAML_MAPPING_NODE) {
		error_set(r->error, E_SYNTAX, node_where(r, map),
		          "expected a mapping with '%s'", key);
		return NULL;
	}
	for (pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top;
	     pair++) {
		const char *name = node_text(yaml_document_get_node(&r->doc, pair->key));

		if (name && !strcmp(name, key))
			return yaml_document_get_node(&r->doc, pair->value);
	}
	error_set(r->error, E_SYNTAX, node_where(r, map), "'%s' is missing", key);
	return NULL;
}

/* Every key of the mapping must be one of `known`, a list that ends with NULL. */
static enum status map_check(struct reader *r, yaml_node_t *map,
                             const char *const *known)
{
	yaml_node_pair_t *pair;

	for (pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top;
	     pair++) {
		yaml_node_t *key = yaml_document_get_node(&r->doc, pair->key);
		const char *name = node_text(key);
		int i = 0;

		while (known[i] && (!name || strcmp(name, known[i]) != 0))
			i++;
		if (!known[i])
			return error_set(r->error, E_SYNTAX, node_where(r, key),
			                 "unknown key '%s'", name ? name : "");
	}
	return OK;
}

/* The text of `key`; NULL with an error where it is missing or not a text. */
static const char *map_text(struct reader *r, yaml_node_t *map, const char *key,
                            struct where *at)
{
	yaml_node_t *node = map_get(r, map, key);

	if (!node)
		return NULL;
	*at = node_where(r, node);
	if (!node_text(node) || !*node_text(node)) {
		error_set(r->error, E_SYNTAX, *at, "'%s' must be a text", key);
		return NULL;
	}
	return arena_strdup(r->arena, node_text(node));
}

static int32_t map_int(struct reader *r, yaml_node_t *map, const char *key, int32_t hi)
{
	struct where at;
	const char *text = map_text(r, map, key, &at);
	struct scan s;
	int64_t value;

	if (!text)
		return 0;
	s = scan_start(text, at, r->error);
	if (!scan_int(&s, key, 1, hi, &value) || scan_finish(&s) != OK)
		return 0;
	return (int32_t)value;
}

static enum status read_shape(struct reader *r, yaml_node_t *map, struct family *f)
{
	static const char *const keys[] = {"value", "source", NULL};
	yaml_node_t *largest = map_get(r, map, "largest");
	struct where at, source_at;
	const char *text;
	struct scan s;

	if (!largest || !(text = map_text(r, largest, "value", &at)) ||
	    !map_text(r, largest, "source", &source_at))
		return r->error->code;
	s = scan_start(text, at, r->error);
	if (shape_scan(&s, f->largest, f->naxes) != OK)
		return r->error->code;
	shape_sort(f->largest, f->naxes);
	return map_check(r, largest, keys);
}

static enum status read_wrap(struct reader *r, yaml_node_t *map, struct family *f)
{
	static const char *const keys[] = {"rule", "length", "source", NULL};
	yaml_node_t *wrap = map_get(r, map, "wrap");
	struct where at, source_at;
	const char *rule;

	if (!wrap || !(rule = map_text(r, wrap, "rule", &at)) ||
	    !map_text(r, wrap, "source", &source_at) || map_check(r, wrap, keys) != OK)
		return r->error->code;
	if (!strcmp(rule, "never")) {
		f->wrap = WRAP_NEVER;
		return OK;
	}
	if (!strcmp(rule, "multiples"))
		f->wrap = WRAP_MULTIPLES;
	else if (!strcmp(rule, "full"))
		f->wrap = WRAP_FULL;
	else
		return error_set(r->error, E_SYNTAX, at,
		                 "unknown rule '%s', expected multiples, full or never",
		                 rule);
	f->wrap_length = map_int(r, wrap, "length", INT32_MAX);
	return r->error->code;
}

static enum status read_figures(struct reader *r, yaml_node_t *map, struct family *f)
{
	static const char *const keys[] = {"value", "source", NULL};
	yaml_node_t *all = map_get(r, map, "figures");
	const char *known[FIGURES + 1];
	int n = 0;

	if (!all)
		return r->error->code;
	for (int i = 0; i < FIGURES; i++) {
		struct where at, source_at;
		yaml_node_t *one;
		const char *text;

		if (!figure_of(i, f->kind))
			continue;
		known[n++] = figure_name(i);
		if (!(one = map_get(r, all, figure_name(i))) ||
		    !(text = map_text(r, one, "value", &at)) ||
		    !(f->source[i] = map_text(r, one, "source", &source_at)) ||
		    map_check(r, one, keys) != OK ||
		    figure_parse(&f->figure[i], i, text, at, r->error) != OK)
			return r->error->code;
	}
	known[n] = NULL;
	return map_check(r, all, known);
}

static enum status read_family(struct reader *r, yaml_node_t *map, struct family *f)
{
	static const char *const torus_keys[] = {
		"kind", "axes", "largest", "wrap", "profile", "figures", NULL};
	static const char *const nodes_keys[] = {"kind",    "gpus",    "largest",
	                                         "profile", "figures", NULL};
	struct where at, profile_at;
	const char *kind = map_text(r, map, "kind", &at);

	if (!kind || !(f->profile = map_text(r, map, "profile", &profile_at)) ||
	    profile_check(f->profile, profile_at, r->error) != OK)
		return r->error->code;
	if (!strcmp(kind, "torus")) {
		f->kind = FAMILY_TORUS;
		f->naxes = map_int(r, map, "axes", TORUS_AXES_MAX);
		if (r->error->code != OK || read_wrap(r, map, f) != OK)
			return r->error->code;
	} else if (!strcmp(kind, "nodes")) {
		f->kind = FAMILY_NODES;
		f->naxes = 1;
		f->gpus = map_int(r, map, "gpus", 1024);
	} else {
		return error_set(r->error, E_SYNTAX, at,
		                 "unknown kind '%s', expected torus or nodes", kind);
	}
	if (r->error->code != OK || read_shape(r, map, f) != OK ||
	    read_figures(r, map, f) != OK)
		return r->error->code;
	return map_check(r, map, f->kind == FAMILY_TORUS ? torus_keys : nodes_keys);
}

static enum status read_document(struct reader *r, struct families *out)
{
	yaml_node_t *root = yaml_document_get_root_node(&r->doc);
	yaml_node_pair_t *pair;

	if (!root || root->type != YAML_MAPPING_NODE)
		return error_set(r->error, E_SYNTAX,
		                 (struct where){.file = r->path, .line = 1, .col = 1},
		                 "expected a mapping of families");
	out->n = 0;
	out->family = arena_alloc(r->arena,
	                          (size_t)(root->data.mapping.pairs.top -
	                                   root->data.mapping.pairs.start) +
	                                  1,
	                          sizeof(*out->family));
	for (pair = root->data.mapping.pairs.start; pair < root->data.mapping.pairs.top;
	     pair++) {
		yaml_node_t *key = yaml_document_get_node(&r->doc, pair->key);
		yaml_node_t *value = yaml_document_get_node(&r->doc, pair->value);
		struct family *f = &out->family[out->n];

		if (!node_text(key))
			return error_set(r->error, E_SYNTAX, node_where(r, key),
			                 "expected the name of a family");
		f->name = arena_strdup(r->arena, node_text(key));
		for (int i = 0; i < out->n; i++)
			if (!strcmp(out->family[i].name, f->name))
				return error_set(r->error, E_SYNTAX, node_where(r, key),
				                 "family '%s' is there twice", f->name);
		if (read_family(r, value, f) != OK)
			return r->error->code;
		out->n++;
	}
	return OK;
}

enum status families_read(struct families *out, struct arena *a, const char *path,
                          struct error *e)
{
	struct error local = {0};
	struct reader r = {.arena = a, .path = path, .error = e ? e : &local};
	struct where at = {.file = path};
	yaml_parser_t parser;
	FILE *in = fopen(path, "rb");

	if (!in)
		return error_set(e, E_IO, at, "cannot be read: %s", strerror(errno));
	if (!yaml_parser_initialize(&parser)) {
		fclose(in);
		return error_set(e, E_IO, at, "no memory for the YAML parser");
	}
	yaml_parser_set_input_file(&parser, in);
	if (yaml_parser_load(&parser, &r.doc)) {
		read_document(&r, out);
		yaml_document_delete(&r.doc);
	} else {
		at.line = (unsigned)parser.problem_mark.line + 1;
		at.col = (unsigned)parser.problem_mark.column + 1;
		error_set(r.error, E_SYNTAX, at, "%s",
		          parser.problem ? parser.problem : "not YAML");
	}
	yaml_parser_delete(&parser);
	fclose(in);
	return r.error->code;
}
