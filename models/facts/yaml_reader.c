#include "facts/yaml_reader.h"

#include "facts/yaml_text.h"

#include "base/memory.h"
#include "base/scan.h"
#include "base/suggest.h"

#include <string.h>

struct where node_where(const struct reader *r, const yaml_node_t *node)
{
	return (struct where){.file = r->path,
	                      .line = (unsigned)node->start_mark.line + 1,
	                      .col = (unsigned)node->start_mark.column + 1};
}

const char *node_text(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
	                                      : NULL;
}

yaml_node_t *map_find(struct reader *r, yaml_node_t *map, const char *key)
{
	yaml_node_pair_t *pair;

	for (pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top;
	     pair++) {
		const char *name = node_text(yaml_document_get_node(&r->doc, pair->key));

		if (name && !strcmp(name, key))
			return yaml_document_get_node(&r->doc, pair->value);
	}
	return NULL;
}

yaml_node_t *map_get(struct reader *r, yaml_node_t *map, const char *key)
{
	yaml_node_t *value;

	if (map->type != YAML_MAPPING_NODE) {
		error_set(r->error, E_SYNTAX, node_where(r, map),
		          "expected a mapping with '%s'", key);
		return NULL;
	}
	value = map_find(r, map, key);
	if (!value)
		error_set(r->error, E_SYNTAX, node_where(r, map), "'%s' is missing",
		          key);
	return value;
}

/* Says which key may be meant, or which there are. */
static enum status unknown_key(struct reader *r, yaml_node_t *key,
                               const char *const *known)
{
	const char *name = node_text(key);
	struct suggestion near =
		suggest_among(name ? name : "", name ? strlen(name) : 0, known);
	struct text all = {0};

	for (int i = 0; known[i] && !near.nearest; i++)
		text_printf(&all, "%s%s",
		            !i             ? ", expected "
		            : known[i + 1] ? ", "
		                           : " or ",
		            known[i]);
	error_set(r->error, E_SYNTAX, node_where(r, key), "unknown key '%.64s'%s",
	          name ? name : "", all.s ? all.s : suggest_ask(&near, ""));
	text_free(&all);
	return r->error->code;
}

enum status map_check(struct reader *r, yaml_node_t *map, const char *const *known)
{
	yaml_node_pair_t *pair;

	for (pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top;
	     pair++) {
		yaml_node_t *key = yaml_document_get_node(&r->doc, pair->key);
		const char *name = node_text(key);
		int i = 0;

		while (known[i] && (!name || strcmp(name, known[i]) != 0))
			i++;
		if (known[i] && map_find(r, map, name) ==
		                        yaml_document_get_node(&r->doc, pair->value))
			continue;
		if (known[i])
			return error_set(r->error, E_SYNTAX, node_where(r, key),
			                 "this key is there twice");
		return unknown_key(r, key, known);
	}
	return OK;
}

const char *map_text(struct reader *r, yaml_node_t *map, const char *key,
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

int32_t map_int(struct reader *r, yaml_node_t *map, const char *key, int32_t hi)
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

/* What libyaml holds of a file that is being read. */
struct source {
	yaml_parser_t parser;
	struct reader *reader; /* with a document, else NULL */
};

static void source_close(void *self)
{
	struct source *s = self;

	if (s->reader)
		yaml_document_delete(&s->reader->doc);
	yaml_parser_delete(&s->parser);
}

/* Reads from the start of the text; a call that jumps closes the source too. */
static void source_read(struct source *s, struct reader *r, const struct text *text,
                        enum status (*read)(struct reader *r, void *out), void *out)
{
	struct where at = {.file = r->path};

	memory_undo(source_close, s);
	yaml_parser_set_input_string(&s->parser, (const unsigned char *)text->s,
	                             text->length);
	if (yaml_parser_load(&s->parser, &r->doc)) {
		s->reader = r;
		read(r, out);
	} else if (s->parser.error == YAML_MEMORY_ERROR) {
		memory_end(MEMORY_OUT, "out of memory (reading YAML)");
	} else {
		at.line = (unsigned)s->parser.problem_mark.line + 1;
		at.col = (unsigned)s->parser.problem_mark.column + 1;
		error_set(r->error, E_SYNTAX, at, "%s",
		          s->parser.problem ? s->parser.problem : "not YAML");
	}
	memory_undone();
}

enum status yaml_read(struct arena *a, const char *path,
                      enum status (*read)(struct reader *r, void *out), void *out,
                      struct error *e)
{
	struct error local = {0};
	struct reader r = {.arena = a, .path = path, .error = e ? e : &local};
	struct source s = {0};
	struct text text = {0};

	if (yaml_text(&text, path, r.error) == OK) {
		if (!yaml_parser_initialize(&s.parser))
			memory_end(MEMORY_OUT, "out of memory (the YAML parser)");
		source_read(&s, &r, &text, read, out);
		source_close(&s);
	}
	text_free(&text);
	return r.error->code;
}
