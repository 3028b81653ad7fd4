/* YAML nodes as texts with places. */
#include "suite/reader.h"

#include "base/suggest.h"

#include <string.h>

struct where reader_mark(const struct reader *r, yaml_mark_t mark)
{
	return (struct where){.file = r->path,
	                      .line = (unsigned)mark.line + 1,
	                      .col = (unsigned)mark.column + 1};
}

enum status reader_bad(struct reader *r, const yaml_node_t *node, const char *reason)
{
	return error_set(r->error, E_SYNTAX, reader_mark(r, node->start_mark), "%s",
	                 reason);
}

const char *reader_scalar(struct reader *r, const yaml_node_t *node, struct where *at)
{
	bool quoted;

	if (node->type != YAML_SCALAR_NODE) {
		bool flow =
			node->type == YAML_MAPPING_NODE
				? node->data.mapping.style == YAML_FLOW_MAPPING_STYLE
				: node->data.sequence.style == YAML_FLOW_SEQUENCE_STYLE;

		reader_bad(r, node,
		           flow ? "expected a text; one that begins with [ or { stands "
		                  "in quotes"
		                : "expected a text");
		return NULL;
	}
	quoted = node->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
	         node->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	*at = reader_mark(r, node->start_mark);
	at->col += quoted;
	if (memchr(node->data.scalar.value, '\0', node->data.scalar.length)) {
		reader_bad(r, node, "a zero byte, expected a text");
		return NULL;
	}
	return arena_strndup(r->suite->arena, (const char *)node->data.scalar.value,
	                     node->data.scalar.length);
}

enum status reader_check_keys(struct reader *r, const yaml_node_t *map)
{
	yaml_node_pair_t *start = map->data.mapping.pairs.start;

	for (yaml_node_pair_t *p = start; p < map->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = yaml_document_get_node(r->document, p->key);
		struct where at;
		const char *name = reader_scalar(r, key, &at);

		for (yaml_node_pair_t *q = start; name && q < p; q++)
			if (strcmp(name, reader_scalar(r,
			                               yaml_document_get_node(
							       r->document, q->key),
			                               &at)) == 0)
				return reader_bad(r, key, "this key is there twice");
		if (!name)
			return r->error->code;
	}
	return OK;
}

/*
 * Says that there is no such field. In {...} a comma ends a text without quotes, and what
 * is left of P('x', None) looks like a field that has no value.
 */
static enum status unknown_field(struct reader *r, const yaml_node_t *map,
                                 const yaml_node_pair_t *pair, const char *name,
                                 const struct field *fields, struct where at)
{
	const yaml_node_t *value = yaml_document_get_node(r->document, pair->value);
	struct suggestion near = suggest_start(name, strlen(name));
	struct text known = {0};
	struct where before_at;

	if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")] &&
	    map->data.mapping.style == YAML_FLOW_MAPPING_STYLE &&
	    pair > map->data.mapping.pairs.start && value->type == YAML_SCALAR_NODE &&
	    value->data.scalar.length == 0 &&
	    value->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		return error_set(
			r->error, E_SYNTAX, at,
			"'%.60s' is no field: the comma in front of it ends the text "
			"of '%.40s', which has no quotes; expected quotes around it, "
			"as "
			"in from: \"P('x', None)\"",
			name,
			reader_scalar(r,
		                      yaml_document_get_node(r->document, pair[-1].key),
		                      &before_at));
	for (const struct field *f = fields; f->key; f++) {
		suggest_offer(&near, f->key);
		text_printf(&known, "%s%s", f == fields ? "" : ", ", f->key);
	}
	error_set(r->error, E_SYNTAX, at, "unknown field '%.60s', expected one of %s%s",
	          name, known.s, suggest_ask(&near, ""));
	text_free(&known);
	return r->error->code;
}

enum status reader_fields(struct reader *r, const yaml_node_t *map,
                          const struct field *fields)
{
	if (map->type != YAML_MAPPING_NODE)
		return reader_bad(r, map, "expected a map of fields");
	if (reader_check_keys(r, map) != OK)
		return r->error->code;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start;
	     p < map->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = yaml_document_get_node(r->document, p->key);
		const yaml_node_t *value = yaml_document_get_node(r->document, p->value);
		const struct field *f = fields;
		struct where at;
		const char *name = reader_scalar(r, key, &at);

		if (!name)
			return r->error->code;
		while (f->key && strcmp(f->key, name) != 0)
			f++;
		if (!f->key)
			return unknown_field(r, map, p, name, fields, at);
		if (f->node)
			*f->node = value;
		if (f->node && value->type != YAML_SCALAR_NODE)
			continue;
		*f->text = reader_scalar(r, value, f->at ? f->at : &at);
		if (!*f->text)
			return r->error->code;
	}
	return OK;
}

enum status reader_list(struct reader *r, const yaml_node_t *list,
                        enum status (*item)(struct reader *, const yaml_node_t *))
{
	for (yaml_node_item_t *i = list->data.sequence.items.start;
	     i < list->data.sequence.items.top; i++)
		if (item(r, yaml_document_get_node(r->document, *i)) != OK)
			return r->error->code;
	return OK;
}
