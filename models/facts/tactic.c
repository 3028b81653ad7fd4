#include "facts/tactic.h"

#include "base/pattern.h"
#include "facts/yaml_reader.h"

#include <stdlib.h>
#include <string.h>

struct into {
	struct tactic *tactic;
	const struct mesh *mesh;
};

static enum status read_dim(struct reader *r, yaml_node_t *map, struct tactic_rule *rule)
{
	yaml_node_t *node = map_get(r, map, "dim");
	const char *text = node ? node_text(node) : NULL;
	char *end;
	long dim;

	if (!node)
		return r->error->code;
	dim = text ? strtol(text, &end, 10) : 0;
	if (!text || !*text || *end || dim < -64 || dim > 63)
		return error_set(r->error, E_SYNTAX, node_where(r, node),
		                 "expected the number of a dimension");
	rule->dim = (int32_t)dim;
	return OK;
}

static enum status read_atomic(struct reader *r, yaml_node_t *map,
                               struct tactic_rule *rule)
{
	yaml_node_t *node = map_find(r, map, "atomic");
	const char *text = node ? node_text(node) : "false";

	if (!text || (strcmp(text, "true") && strcmp(text, "false")))
		return error_set(r->error, E_SYNTAX, node_where(r, node),
		                 "expected true or false");
	rule->atomic = !strcmp(text, "true");
	return OK;
}

static enum status read_rule(struct reader *r, yaml_node_t *map,
                             struct tactic_rule *rule, const struct mesh *mesh)
{
	static const char *const known[] = {"match", "dim", "axis", "atomic", NULL};
	struct where match_at, axis_at;
	const char *match, *axis;
	regex_t re;

	if (map->type != YAML_MAPPING_NODE)
		return error_set(r->error, E_SYNTAX, node_where(r, map),
		                 "expected a rule: {match: REGEX, dim: N, axis: NAME}");
	if (map_check(r, map, known) != OK ||
	    !(match = map_text(r, map, "match", &match_at)) ||
	    !(axis = map_text(r, map, "axis", &axis_at)) ||
	    read_atomic(r, map, rule) != OK ||
	    (!rule->atomic && read_dim(r, map, rule) != OK))
		return r->error->code;
	if (pattern_compile(&re, match, match_at, r->error) != OK)
		return r->error->code;
	regfree(&re);
	rule->match = arena_strdup(r->arena, match);
	rule->axis = mesh_axis(mesh, axis, strlen(axis));
	if (rule->axis < 0)
		return error_set(r->error, E_TYPE, axis_at, "the mesh has no axis '%s'",
		                 axis);
	return OK;
}

static enum status read_rules(struct reader *r, void *out)
{
	struct into *into = out;
	yaml_node_t *root = yaml_document_get_root_node(&r->doc);
	struct tactic_rule *rule;
	int n = 0;

	if (!root || root->type != YAML_SEQUENCE_NODE)
		return error_set(r->error, E_SYNTAX,
		                 root ? node_where(r, root)
		                      : (struct where){.file = r->path},
		                 "expected a list of rules");
	if (root->data.sequence.items.top == root->data.sequence.items.start)
		return error_set(r->error, E_SYNTAX, node_where(r, root),
		                 "an empty list, expected some rules");
	rule = arena_alloc(r->arena,
	                   (size_t)(root->data.sequence.items.top -
	                            root->data.sequence.items.start) +
	                           1,
	                   sizeof(*rule));
	for (yaml_node_item_t *i = root->data.sequence.items.start;
	     i < root->data.sequence.items.top; i++)
		if (read_rule(r, yaml_document_get_node(&r->doc, *i), &rule[n++],
		              into->mesh) != OK)
			return r->error->code;
	into->tactic->rule = rule;
	into->tactic->nrules = n;
	return OK;
}

enum status tactic_read(struct tactic *out, struct arena *a, const char *path,
                        const struct mesh *mesh, struct error *e)
{
	struct into into = {out, mesh};

	*out = (struct tactic){.kind = TACTIC_USER, .name = path};
	return yaml_read(a, path, read_rules, &into, e);
}
