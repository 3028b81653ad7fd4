/*
 * Workloads that say both ends of a move of a model:
 *
 *   name: nightly refit
 *   model: models/llama-3-8b.yaml        # or tensors: list.json
 *   from: "fsdp=64"
 *   to: {mesh: "data=2,tensor=8", devices: "64-79", rules: [{match: "norm", layout: "P()"}]}
 *   concurrent: 4
 */
#include "move/read.h"

#include "facts/yaml_reader.h"

#include <string.h>

static const char *const keys[] = {"name",         "model",  "tensors",    "dtype",
                                   "from",         "to",     "concurrent", "batch",
                                   "memory_limit", "source", NULL};

/* What is read, and where it goes. */
struct transfer {
	struct move_work *work;
	const struct move_ends *ends;
};

/* Stores the text of a key that need not be there; true unless it is wrong. */
static bool text_of(const char **out, struct where *at, struct reader *r,
                    yaml_node_t *map, const char *key)
{
	if (!map_find(r, map, key))
		return true;
	*out = map_text(r, map, key, at);
	return *out != NULL;
}

static enum status read_rules(struct scheme *s, struct reader *r, yaml_node_t *list)
{
	static const char *const known[] = {"match", "layout", NULL};

	if (list->type != YAML_SEQUENCE_NODE)
		return error_set(r->error, E_SYNTAX, node_where(r, list),
		                 "expected a list of rules {match: ..., layout: ...}");
	for (yaml_node_item_t *i = list->data.sequence.items.start;
	     i < list->data.sequence.items.top; i++) {
		yaml_node_t *rule = yaml_document_get_node(&r->doc, *i);
		struct where match_at, layout_at;
		const char *match = map_text(r, rule, "match", &match_at), *layout;

		if (!match || !(layout = map_text(r, rule, "layout", &layout_at)) ||
		    map_check(r, rule, known) != OK ||
		    scheme_rule_add(s, match, match_at, layout, layout_at, r->error) !=
		            OK)
			return r->error->code;
	}
	return OK;
}

static enum status read_side(struct scheme *s, struct reader *r, yaml_node_t *map,
                             const char *key)
{
	static const char *const known[] = {"mesh", "devices", "rules", NULL};
	yaml_node_t *node = map_get(r, map, key), *rules;

	if (!node)
		return r->error->code;
	s->arena = r->arena;
	if (node->type == YAML_SCALAR_NODE) {
		s->text = map_text(r, map, key, &s->at);
		return s->text ? scheme_make(s, r->error) : r->error->code;
	}
	s->text = map_text(r, node, "mesh", &s->at);
	if (!s->text || map_check(r, node, known) != OK ||
	    !text_of(&s->devices, &s->devices_at, r, node, "devices"))
		return r->error->code;
	rules = map_find(r, node, "rules");
	if (rules && read_rules(s, r, rules) != OK)
		return r->error->code;
	return scheme_make(s, r->error);
}

/* Returns the path of a file that is named relative to the one that names it. */
static const char *path_beside(struct reader *r, const char *name)
{
	const char *slash = strrchr(r->path, '/');

	if (name[0] == '/' || !slash)
		return name;
	return arena_printf(r->arena, "%.*s/%s", (int)(slash - r->path), r->path, name);
}

static enum status read_dtype(struct move_sides *sides, struct reader *r,
                              yaml_node_t *map, const char *option)
{
	const char *text = option;
	struct where at = where_option("--dtype", option ? option : "");

	if (!text && !text_of(&text, &at, r, map, "dtype"))
		return r->error->code;
	if (!text)
		return OK;
	sides->dtype = dtype_find(text, strlen(text));
	if (!sides->dtype)
		error_set(r->error, E_SYNTAX, at,
		          "unknown type '%.40s', expected one of those that 'shardsim "
		          "list dtypes' prints",
		          text);
	return r->error->code;
}

static enum status read_settings(struct move_work *w, struct reader *r, yaml_node_t *map)
{
	struct move_texts t = {0};

	if (!text_of(&t.concurrent, &t.concurrent_at, r, map, "concurrent") ||
	    !text_of(&t.batch, &t.batch_at, r, map, "batch") ||
	    !text_of(&t.memory_limit, &t.memory_limit_at, r, map, "memory_limit") ||
	    !text_of(&t.source, &t.source_at, r, map, "source"))
		return r->error->code;
	return move_settings(w, &t, r->error);
}

static enum status read_map(struct move_sides *sides, struct transfer *t,
                            struct reader *r, yaml_node_t *map)
{
	struct where name_at, path_at;
	const char *model = NULL, *tensors = NULL;

	if (map_check(r, map, keys) != OK ||
	    !text_of(&t->work->name, &name_at, r, map, "name") ||
	    !text_of(&model, &path_at, r, map, "model") ||
	    !text_of(&tensors, &path_at, r, map, "tensors") ||
	    read_settings(t->work, r, map) != OK ||
	    read_dtype(sides, r, map, t->ends->dtype) != OK ||
	    read_side(&sides->from, r, map, "from") != OK ||
	    read_side(&sides->to, r, map, "to") != OK)
		return r->error->code;
	if (model && tensors)
		return error_set(r->error, E_TYPE, path_at,
		                 "model and tensors, expected one of them");
	sides->given = true;
	return model ? move_add_model(t->work, sides, path_beside(r, model), r->error)
	             : move_add_list(t->work, sides, path_beside(r, tensors), r->error);
}

static enum status read_transfer(struct reader *r, void *into)
{
	struct move_sides sides = {.given = false};

	read_map(&sides, into, r, yaml_document_get_root_node(&r->doc));
	scheme_free(&sides.from);
	scheme_free(&sides.to);
	return r->error->code;
}

enum status move_read_transfer(struct move_work *w, const char *path,
                               const struct move_ends *ends, struct error *e)
{
	struct transfer t = {w, ends};

	return yaml_read(w->arena, path, read_transfer, &t, e);
}
