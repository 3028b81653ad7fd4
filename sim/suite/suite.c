#include "suite/reader.h"

#include "base/arena.h"
#include "facts/yaml_text.h"
#include "placement/hierarchy.h"

#include <stdlib.h>
#include <string.h>

static enum status read_scenario_fields(struct reader *r, const yaml_node_t *map,
                                        struct scenario *s, struct suite_list *list)
{
	const char *tags = NULL, *bytes = NULL;
	struct problem_text *t = &s->text;
	struct suite_step *step = &s->step;
	const char *parallel = NULL;
	const struct field fields[] = {
		{"name", &s->name, NULL, NULL},
		{"family", &s->family, NULL, NULL},
		{"array", &t->array, &t->array_at, NULL},
		{"mesh", &t->mesh, &t->mesh_at, &list->mesh},
		{"from", &t->from, &t->from_at, NULL},
		{"to", &t->to, &t->to_at, NULL},
		{"to_mesh", &t->to_mesh, &t->to_mesh_at, NULL},
		{"num_devices", &t->num_devices, &t->num_devices_at, NULL},
		{"devices", &t->devices, &t->devices_at, NULL},
		{"to_devices", &t->to_devices, &t->to_devices_at, NULL},
		{"memory_limit", &t->memory_limit, &t->memory_limit_at, NULL},
		{"vocabulary", &t->vocabulary, &t->vocabulary_at, NULL},
		{"source", &s->source, NULL, NULL},
		{"bytes", &bytes, NULL, &list->bytes},
		{"tags", &tags, NULL, NULL},
		{"weight", &list->weight, &list->weight_at, NULL},
		{"placement", &list->placement, &list->placement_at, NULL},
		{"hierarchy", &s->hierarchy, &s->hierarchy_at, NULL},
		{"model", &step->model, NULL, NULL},
		{"parallel", &parallel, NULL, &list->parallel},
		{"batch", &step->batch, &step->batch_at, NULL},
		{"micro_batch", &step->micro_batch, &step->micro_batch_at, NULL},
		{"seq", &step->seq, &step->seq_at, NULL},
		{"recompute", &step->recompute, &step->recompute_at, NULL},
		{NULL, NULL, NULL, NULL},
	};

	return reader_fields(r, map, fields);
}

static enum status read_weight(struct reader *r, struct scenario *s,
                               const struct suite_list *list)
{
	char *end;

	if (!list->weight)
		return OK;
	s->weight = strtod(list->weight, &end);
	if (list->weight[0] < '0' || list->weight[0] > '9' || *end ||
	    !(s->weight > 0 && s->weight <= 1e15))
		return error_set(r->error, E_RANGE, list->weight_at,
		                 "expected a number above 0");
	return OK;
}

/* Checks that a free placement has one mesh and no devices. */
static enum status read_placement(struct reader *r, struct scenario *s,
                                  const struct suite_list *list)
{
	const struct problem_text *t = &s->text;
	struct hierarchy h;

	if (s->hierarchy && hierarchy_parse(&h, r->suite->arena, s->hierarchy,
	                                    s->hierarchy_at, r->error) != OK)
		return r->error->code;
	if (!list->placement)
		return OK;
	if (strcmp(list->placement, "free") != 0)
		return error_set(r->error, E_SYNTAX, list->placement_at,
		                 "unknown placement '%.40s', expected free",
		                 list->placement);
	if (t->devices || t->to_devices || t->to_mesh || (!t->mesh && !list->mesh))
		return error_set(r->error, E_TYPE, list->placement_at,
		                 "a free placement takes one mesh and no devices");
	s->free = true;
	return OK;
}

static enum status read_scenario(struct reader *r, const yaml_node_t *map)
{
	struct scenario s = r->defaults;
	struct suite_list list = r->default_list;

	if (read_scenario_fields(r, map, &s, &list) != OK)
		return r->error->code;
	s.at = reader_mark(r, map->start_mark);
	if (s.step.model && s.name && s.name[0]) {
		if (!s.family)
			s.family = "none";
		return suite_vary_step(r, &s, &list);
	}
	if (list.parallel || s.step.batch || s.step.micro_batch || s.step.seq ||
	    s.step.recompute)
		return reader_bad(r, map, "a step needs name, model and parallel");
	if (!s.name || !s.text.array || !s.text.from || !s.text.to)
		return reader_bad(r, map, "a scenario needs name, array, from and to");
	if (!s.name[0])
		return reader_bad(r, map, "the name is empty, expected some letters");
	if (!s.family)
		s.family = "none";
	if (read_weight(r, &s, &list) != OK || read_placement(r, &s, &list) != OK)
		return r->error->code;
	return suite_vary(r, &s, &list);
}

/* Returns where the text of a section that is for `move` goes, NULL for other sections. */
static const char **move_section(struct suite_move *m, const char *name,
                                 struct where **at)
{
	const struct {
		const char *name, **text;
		struct where *at;
	} all[] = {
		{"concurrent", &m->concurrent, &m->concurrent_at},
		{"batch", &m->batch, &m->batch_at},
		{"memory_limit", &m->memory_limit, &m->memory_limit_at},
		{"source", &m->source, &m->source_at},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(name, all[i].name) == 0) {
			*at = all[i].at;
			return all[i].text;
		}
	return NULL;
}

static enum status read_suite_section(struct reader *r, const yaml_node_t *key,
                                      const yaml_node_t *value)
{
	struct where at, *move_at;
	const char *name = reader_scalar(r, key, &at), **move_text;

	if (!name)
		return r->error->code;
	move_text = move_section(&r->suite->move, name, &move_at);
	if (move_text) {
		*move_text = reader_scalar(r, value, move_at);
		return r->error->code;
	}
	if (strcmp(name, "defaults") == 0)
		return read_scenario_fields(r, value, &r->defaults, &r->default_list);
	if (strcmp(name, "scenarios") == 0) {
		if (value->type != YAML_SEQUENCE_NODE)
			return reader_bad(r, value, "expected a list of scenarios");
		return reader_list(r, value, read_scenario);
	}
	if (strcmp(name, "generate") == 0)
		return value->type == YAML_SEQUENCE_NODE
		               ? reader_list(r, value, suite_generate_block)
		               : suite_generate_block(r, value);
	if (strcmp(name, "platforms") == 0) {
		if (value->type != YAML_SEQUENCE_NODE)
			return reader_bad(r, value, "expected a list of platforms");
		r->machines = true;
		return suite_platforms(r, value);
	}
	if (strcmp(name, "set") == 0) {
		r->machines = true;
		return suite_settings(r, value);
	}
	return error_set(r->error, E_SYNTAX, at,
	                 "unknown section '%.60s', expected defaults, scenarios, "
	                 "generate, platforms or set",
	                 name);
}

static enum status read_suite_document(struct reader *r)
{
	const yaml_node_t *root = yaml_document_get_root_node(r->document);

	if (!root)
		return error_set(r->error, E_SYNTAX,
		                 (struct where){.file = r->path, .line = 1, .col = 1},
		                 "the file is empty, expected a map with scenarios or "
		                 "generate");
	if (root->type != YAML_MAPPING_NODE)
		return reader_bad(r, root, "expected a map with scenarios or generate");
	if (reader_check_keys(r, root) != OK)
		return r->error->code;
	for (yaml_node_pair_t *p = root->data.mapping.pairs.start;
	     p < root->data.mapping.pairs.top; p++)
		if (read_suite_section(r, yaml_document_get_node(r->document, p->key),
		                       yaml_document_get_node(r->document, p->value)) !=
		    OK)
			return r->error->code;
	return OK;
}

/* Loads the next document of the parser; its root is NULL after the last one. */
static enum status load_document(struct reader *r, yaml_parser_t *parser)
{
	const char *problem;

	if (yaml_parser_load(parser, r->document))
		return OK;
	problem = parser->problem ? parser->problem : "unreadable";
	return error_set(
		r->error, E_SYNTAX, reader_mark(r, parser->problem_mark),
		"not YAML: %s%s", problem,
		strstr(problem, "did not find expected") || strstr(problem, "':'")
			? "; a text with brackets, braces, commas or quotes in it "
			  "stands in double quotes, as in from: \"P('x', None)\""
			: "");
}

static enum status read_suite_file(struct reader *r, yaml_parser_t *parser)
{
	yaml_node_t *root;

	if (load_document(r, parser) != OK)
		return r->error->code;
	read_suite_document(r);
	yaml_document_delete(r->document);
	if (r->error->code != OK || load_document(r, parser) != OK)
		return r->error->code;
	root = yaml_document_get_root_node(r->document);
	if (root)
		reader_bad(r, root, "a second document, expected one per file");
	yaml_document_delete(r->document);
	return r->error->code;
}

enum status suite_read(struct suite *s, const char *path, struct error *e)
{
	struct where file = {.file = path};
	yaml_parser_t parser;
	yaml_document_t document;
	struct reader r = {.suite = s, .error = e, .path = path, .document = &document};
	struct text text = {0};
	int32_t before = s->n;

	if (s->nfiles == SUITE_FILES_MAX)
		return error_set(e, E_RANGE, file,
		                 "one suite too many, expected at most %d",
		                 SUITE_FILES_MAX);
	if (yaml_text(&text, path, e) != OK) {
		text_free(&text);
		return e->code;
	}
	s->nfiles++;
	if (!yaml_parser_initialize(&parser))
		abort();
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.s,
	                             text.length);
	s->path = path;
	if (read_suite_file(&r, &parser) == OK && s->n == before) {
		s->no_scenarios |= UINT64_C(1) << (s->nfiles - 1);
		if (!r.machines)
			error_set(e, E_SYNTAX,
			          (struct where){.file = path, .line = 1, .col = 1},
			          "no scenarios in it, expected a list of scenarios, a "
			          "generate block or platforms");
	}
	yaml_parser_delete(&parser);
	text_free(&text);
	return e->code;
}
