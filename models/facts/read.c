#include "facts/kind.h"

#include "collective/profile.h"

#include <string.h>

static enum status read_family_shape(struct reader *r, yaml_node_t *map,
                                     struct family *f)
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
	if (shape_scan(&s, f->largest, f->naxes ? f->naxes : 1) != OK)
		return r->error->code;
	for (int a = 1; a < TORUS_AXES_MAX && !f->naxes; a++)
		f->largest[a] = f->largest[0];
	shape_sort(f->largest, f->naxes);
	return map_check(r, largest, keys);
}

/*
 * Reads `{value, source}` of one figure or constant, and returns its text and stores
 * its place.
 */
static const char *read_one(struct reader *r, yaml_node_t *one, const char **source,
                            struct where *at)
{
	static const char *const keys[] = {"value", "source", NULL};
	struct where source_at;
	const char *text = map_text(r, one, "value", at);

	if (!text || !(*source = map_text(r, one, "source", &source_at)) ||
	    map_check(r, one, keys) != OK)
		return NULL;
	return text;
}

static enum status read_figures(struct reader *r, yaml_node_t *map, struct family *f)
{
	yaml_node_t *all = map_get(r, map, "figures"), *one;
	const char *known[FIGURES + TUNINGS + 1], *text;
	struct where at;
	int n = 0;

	if (!all)
		return r->error->code;
	if (all->type != YAML_MAPPING_NODE)
		return error_set(r->error, E_SYNTAX, node_where(r, all),
		                 "expected a mapping of figures");
	for (int g = 0; g < FIGURES; g++) {
		if (!figure_known(f, g))
			continue;
		known[n++] = figure_name(f, g);
		one = map_find(r, all, known[n - 1]);
		if (one && (!(text = read_one(r, one, &f->source[g], &at)) ||
		            figure_parse(&f->figure[g], g, text, at, r->error) != OK))
			return r->error->code;
	}
	for (int k = 0; k < TUNINGS; k++) {
		known[n++] = tuning_name(k);
		one = map_find(r, all, known[n - 1]);
		if (one && (!(text = read_one(r, one, &f->tuning_source[k], &at)) ||
		            tuning_value_parse(&f->tuning.value[k], k, text, at,
		                               r->error) != OK))
			return r->error->code;
	}
	known[n] = NULL;
	if (map_check(r, all, known) != OK)
		return r->error->code;
	return figures_complete(f, node_where(r, all), r->error);
}

static enum status read_family(struct reader *r, yaml_node_t *map, struct family *f)
{
	static const char *const common[] = {"kind", "largest", "profile", "figures"};
	const char *known[32];
	const struct kind *k;
	struct where at, profile_at;
	const char *kind = map_text(r, map, "kind", &at);
	int n = 0;

	if (!kind || !(f->profile = map_text(r, map, "profile", &profile_at)) ||
	    profile_check(f->profile, profile_at, r->error) != OK)
		return r->error->code;
	f->kind = strcmp(kind, "torus") ? FAMILY_NODES : FAMILY_TORUS;
	k = kind_of(f);
	if (strcmp(kind, k->name))
		return error_set(r->error, E_SYNTAX, at,
		                 "unknown kind '%s', expected torus or nodes", kind);
	f->tuning = tuning_default;
	if (k->read(r, map, f) != OK || read_family_shape(r, map, f) != OK ||
	    read_figures(r, map, f) != OK)
		return r->error->code;
	for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++)
		known[n++] = common[i];
	for (int i = 0; k->keys[i]; i++)
		known[n++] = k->keys[i];
	known[n] = NULL;
	return map_check(r, map, known);
}

static enum status read_document(struct reader *r, void *families)
{
	struct families *out = families;
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
		f->path = r->path;
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
	return yaml_read(a, path, read_document, out, e);
}
