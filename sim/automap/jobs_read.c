#include "automap/jobs_suite.h"

#include "automap/study.h"
#include "facts/yaml_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool jobs_suite_is(const char *path)
{
	return automap_begins_with(path, "jobs:");
}

static enum status read_kind(struct reader *r, yaml_node_t *map, struct job_kind *k,
                             struct jobs_file_kind *f)
{
	static const char *const known[] = {"name",  "file", "steps",
	                                    "batch", "seq",  NULL};
	struct where at;
	const char *file;

	if (map->type != YAML_MAPPING_NODE)
		return error_set(r->error, E_SYNTAX, node_where(r, map),
		                 "expected a kind of jobs: {name: ..., file: ..., "
		                 "steps: ...}");
	if (map_check(r, map, known) != OK ||
	    !(k->name = map_text(r, map, "name", &at)) ||
	    !(file = map_text(r, map, "file", &f->file_at)) ||
	    !(k->steps = map_int(r, map, "steps", INT32_MAX)))
		return r->error->code;
	k->name = arena_strdup(r->arena, k->name);
	f->file = automap_beside(r, file);
	if (map_find(r, map, "batch") &&
	    !(f->train.batch = map_int(r, map, "batch", INT32_MAX)))
		return r->error->code;
	if (map_find(r, map, "seq"))
		f->train.seq = map_int(r, map, "seq", INT32_MAX);
	return r->error->code;
}

/* The items of a list under a key, at least one; NULL with an error. */
static yaml_node_t *list_of(struct reader *r, yaml_node_t *map, const char *key, int *n)
{
	yaml_node_t *list = map_get(r, map, key);

	if (!list)
		return NULL;
	*n = list->type == YAML_SEQUENCE_NODE ? (int)(list->data.sequence.items.top -
	                                              list->data.sequence.items.start)
	                                      : 0;
	if (*n)
		return list;
	error_set(r->error, E_SYNTAX, node_where(r, list), "expected a list of %s", key);
	return NULL;
}

static yaml_node_t *item(struct reader *r, const yaml_node_t *list, int i)
{
	return yaml_document_get_node(&r->doc, list->data.sequence.items.start[i]);
}

/* Reads a list of numbers above 0, at most `most`. */
static const double *read_numbers(struct reader *r, yaml_node_t *map, const char *key,
                                  double most, int *n)
{
	yaml_node_t *list = list_of(r, map, key, n);
	double *out = list ? arena_alloc(r->arena, (size_t)*n, sizeof(*out)) : NULL;

	for (int i = 0; list && i < *n; i++) {
		const char *text = node_text(item(r, list, i));
		char *end = NULL;

		out[i] = text ? strtod(text, &end) : 0;
		if (text && *text && !*end && out[i] > 0 && out[i] <= most)
			continue;
		error_set(r->error, E_RANGE, node_where(r, item(r, list, i)),
		          "expected a number above 0, at most %g", most);
		return NULL;
	}
	return out;
}

static enum status read_requirements(struct reader *r, yaml_node_t *root,
                                     struct jobs_suite *s)
{
	static const char *const known[] = {"name", "accept", NULL};
	yaml_node_t *list = list_of(r, root, "requirements", &s->nrequirements);

	if (!list)
		return r->error->code;
	s->requirement = arena_alloc(r->arena, (size_t)s->nrequirements,
	                             sizeof(*s->requirement));
	for (int i = 0; i < s->nrequirements; i++) {
		struct jobs_requirement *q = &s->requirement[i];
		yaml_node_t *map = item(r, list, i);
		struct where at;

		if (map->type != YAML_MAPPING_NODE)
			return error_set(r->error, E_SYNTAX, node_where(r, map),
			                 "expected {name: ..., accept: [...]}");
		if (map_check(r, map, known) != OK ||
		    !(q->name = map_text(r, map, "name", &at)) ||
		    !(q->accept = read_numbers(r, map, "accept", 1e6, &q->n)))
			return r->error->code;
		q->name = arena_strdup(r->arena, q->name);
	}
	return OK;
}

static enum status read_kinds(struct reader *r, yaml_node_t *root, struct jobs_suite *s)
{
	yaml_node_t *list = list_of(r, root, "jobs", &s->nkinds);

	if (!list)
		return r->error->code;
	s->kind = arena_alloc(r->arena, (size_t)s->nkinds, sizeof(*s->kind));
	s->file = arena_alloc(r->arena, (size_t)s->nkinds, sizeof(*s->file));
	for (int i = 0; i < s->nkinds; i++)
		if (read_kind(r, item(r, list, i), &s->kind[i], &s->file[i]) != OK)
			return r->error->code;
	return OK;
}

static enum status read_suite(struct reader *r, void *out)
{
	static const char *const known[] = {
		"jobs", "platform", "requirements", "load", "count", "seed", NULL};
	struct jobs_suite *s = out;
	yaml_node_t *root = yaml_document_get_root_node(&r->doc);

	if (!root || root->type != YAML_MAPPING_NODE)
		return error_set(r->error, E_SYNTAX, (struct where){.file = r->path},
		                 "expected a mapping with the key jobs");
	if (map_check(r, root, known) != OK || read_kinds(r, root, s) != OK ||
	    !(s->platform = map_text(r, root, "platform", &s->platform_at)) ||
	    read_requirements(r, root, s) != OK ||
	    !(s->load = read_numbers(r, root, "load", 1e6, &s->nloads)) ||
	    !(s->count = map_int(r, root, "count", 1000000)) ||
	    !(s->seed = map_int(r, root, "seed", INT32_MAX)))
		return r->error->code;
	s->platform = arena_strdup(r->arena, s->platform);
	return OK;
}

enum status jobs_suite_read(struct jobs_suite *out, struct arena *a, const char *path,
                            struct error *e)
{
	*out = (struct jobs_suite){0};
	return yaml_read(a, path, read_suite, out, e);
}
