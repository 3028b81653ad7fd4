#include "place/study.h"

#include "base/units.h"
#include "facts/yaml_reader.h"
#include "measure/library.h"
#include "place/place.h"
#include "place/placing.h"
#include "suite/suite.h"

#include <string.h>

/* --- reading ------------------------------------------------------------------------- */

enum { CASES_MAX = 100000 };

struct entry {
	const char *family, *platform, *hierarchy, *bytes;
	struct where platform_at, hierarchy_at, bytes_at;
	yaml_node_t *axes, *reduce;
};

/*
 * Returns number `i` of a text or a list of texts; NULL behind the last, or on an
 * error.
 */
static const char *text_of(struct reader *r, yaml_node_t *node, int i, struct where *at)
{
	yaml_node_t *one = node;
	const char *text;

	if (node->type == YAML_SEQUENCE_NODE) {
		yaml_node_item_t *item = node->data.sequence.items.start + i;

		if (item >= node->data.sequence.items.top)
			return NULL;
		one = yaml_document_get_node(&r->doc, *item);
	} else if (i > 0) {
		return NULL;
	}
	*at = node_where(r, one);
	text = node_text(one);
	if (!text)
		error_set(r->error, E_SYNTAX, *at, "expected a text");
	return text ? arena_strdup(r->arena, text) : NULL;
}

static enum status add_study_case(struct study *s, struct reader *r,
                                  const struct entry *entry, const char *axes,
                                  struct where axes_at, const char *reduce,
                                  struct where reduce_at)
{
	struct study_case *one;
	struct placement_case *c;
	int64_t bytes = PLACEMENT_PAYLOAD_BYTES;

	if (s->n == CASES_MAX)
		return error_set(r->error, E_RANGE, axes_at, "more than %d cases",
		                 CASES_MAX);
	if (!(s->n & (s->n - 1))) {
		struct study_case *more =
			arena_alloc(r->arena, 2 * (size_t)s->n + 1, sizeof(*more));

		if (s->n)
			memcpy(more, s->of, (size_t)s->n * sizeof(*more));
		s->of = more;
	}
	one = &s->of[s->n++];
	c = &one->c;
	*one = (struct study_case){.family = entry->family,
	                           .platform = entry->platform,
	                           .axes = axes,
	                           .reduce = reduce};
	c->limit = PROGRAM_STEPS;
	c->orders = 1u << ORDER_ROW | 1u << ORDER_LEVEL;
	c->at = axes_at;
	if (hierarchy_parse(&c->hierarchy, r->arena, entry->hierarchy,
	                    entry->hierarchy_at, r->error) != OK ||
	    axes_parse(&c->axes, r->arena, axes, axes_at, r->error) != OK ||
	    reduce_parse(&c->reduce, &c->axes, reduce, reduce_at, r->error) != OK ||
	    (entry->bytes &&
	     units_bytes(entry->bytes, entry->bytes_at, &bytes, r->error) != OK))
		return r->error->code;
	if (bytes == 0)
		return error_set(r->error, E_RANGE, entry->bytes_at,
		                 "no data, expected one byte or more");
	c->payload_bytes = (double)bytes;
	return OK;
}

static enum status read_entry(struct study *s, struct reader *r, yaml_node_t *map)
{
	static const char *const keys[] = {"family", "platform", "hierarchy", "axes",
	                                   "reduce", "bytes",    "source",    NULL};
	struct entry entry = {0};
	struct where at, reduce_at;
	const char *axes, *reduce;

	if (map->type != YAML_MAPPING_NODE)
		return error_set(r->error, E_SYNTAX, node_where(r, map),
		                 "expected a map of fields");
	if (map_check(r, map, keys) != OK ||
	    !(entry.family = map_text(r, map, "family", &at)) ||
	    !(entry.platform = map_text(r, map, "platform", &entry.platform_at)) ||
	    !(entry.hierarchy = map_text(r, map, "hierarchy", &entry.hierarchy_at)) ||
	    !(entry.axes = map_get(r, map, "axes")) ||
	    !(entry.reduce = map_get(r, map, "reduce")) ||
	    (map_find(r, map, "bytes") &&
	     !(entry.bytes = map_text(r, map, "bytes", &entry.bytes_at))))
		return r->error->code;
	for (int i = 0; (axes = text_of(r, entry.axes, i, &at)); i++)
		for (int k = 0; (reduce = text_of(r, entry.reduce, k, &reduce_at)); k++)
			if (add_study_case(s, r, &entry, axes, at, reduce, reduce_at) !=
			    OK)
				return r->error->code;
	return r->error->code;
}

static enum status read_study_document(struct reader *r, void *study)
{
	static const char *const keys[] = {"placements", NULL};
	yaml_node_t *root = yaml_document_get_root_node(&r->doc), *list;

	if (!root || root->type != YAML_MAPPING_NODE)
		return error_set(r->error, E_SYNTAX,
		                 (struct where){.file = r->path, .line = 1, .col = 1},
		                 "expected a map with a list of placements");
	if (map_check(r, root, keys) != OK || !(list = map_get(r, root, "placements")))
		return r->error->code;
	if (list->type != YAML_SEQUENCE_NODE)
		return error_set(r->error, E_SYNTAX, node_where(r, list),
		                 "expected a list of placements");
	for (yaml_node_item_t *i = list->data.sequence.items.start;
	     i < list->data.sequence.items.top; i++)
		if (read_entry(study, r, yaml_document_get_node(&r->doc, *i)) != OK)
			return r->error->code;
	return OK;
}

enum status study_read(struct study *out, struct arena *a, const char *const *path,
                       int n, struct error *e)
{
	*out = (struct study){0};
	for (int i = 0; i < n; i++) {
		int before = out->n;

		if (yaml_read(a, path[i], read_study_document, out, e) != OK)
			return e->code;
		if (out->n == before)
			return error_set(e, E_SYNTAX, (struct where){.file = path[i]},
			                 "no placements in it");
	}
	return OK;
}

/* --- running ------------------------------------------------------------------------- */

/*
 * Finds the machine of a case, which is that of the case before on the same platform.
 */
static enum status open_machine(struct machine **out, const struct study_case *of,
                                struct arena *a, struct error *e)
{
	const struct library_text nobody = {0};
	struct suite names = {.arena = a};
	struct error fault = {0};
	const struct suite_platform *name;
	const char *spec;
	int p;

	if (suite_platform_parse(&p, &names, of->platform, of->c.at, e) != OK)
		return e->code;
	name = &names.platform[p];
	spec = name->base;
	if (platform_resize(&spec, a, name->set, name->nset, of->c.hierarchy.ndevices,
	                    &fault) != OK ||
	    platform_machine(out, a, spec, name->set, name->nset, &fault) != OK ||
	    library_of_plans(*out, &nobody, NULL, &fault) != OK)
		return error_set(e, fault.code, of->c.at, "platform %.60s: %s",
		                 of->platform, fault.text);
	return OK;
}

static enum status check_fit(const struct study_case *of, const struct machine *m,
                             struct error *e)
{
	if (m->ndevices < of->c.hierarchy.ndevices)
		return error_set(
			e, E_RANGE, of->c.at, "%d devices do not fit on the %d of %s",
			(int)of->c.hierarchy.ndevices, (int)m->ndevices, of->platform);
	return OK;
}

/* Machines of a size are the same for equal numbers of devices only. */
static bool same_machine(const struct study_case *x, const struct study_case *y)
{
	return strcmp(x->platform, y->platform) == 0 &&
	       (!platform_sized(x->platform) ||
	        x->c.hierarchy.ndevices == y->c.hierarchy.ndevices);
}

enum status study_run(struct study *s, struct arena *a, struct error *e)
{
	for (int i = 0, next; i < s->n && e->code == OK; i = next) {
		struct reduction_clock clock;
		struct place_model *model;
		struct bench bench;
		struct machine *m;

		next = i + 1;
		if (open_machine(&m, &s->of[i], a, e) != OK)
			break;
		bench_init(&bench, m);
		model = place_model_new(&bench);
		clock = place_model_clock(model);
		for (next = i; next < s->n && e->code == OK; next++) {
			struct study_case *of = &s->of[next];

			if (!same_machine(of, &s->of[i]))
				break;
			if (check_fit(of, m, e) != OK)
				break;
			placing_take(&of->c.hierarchy, m, a);
			placement_search(&of->placed, &of->n, a, &of->c, &clock, e);
		}
		place_model_free(model);
		bench_free(&bench);
	}
	return e->code;
}
