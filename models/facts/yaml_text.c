#include "facts/yaml_text.h"

#include "base/input.h"
#include "base/memory.h"

#include <yaml.h>

enum { BYTES_MAX = 16 << 20, DEPTH_MAX = 64, ANCHORS_MAX = 1000 };

static const yaml_char_t *event_anchor(const yaml_event_t *event)
{
	return event->type == YAML_SCALAR_EVENT ? event->data.scalar.anchor
	       : event->type == YAML_SEQUENCE_START_EVENT
	               ? event->data.sequence_start.anchor
	       : event->type == YAML_MAPPING_START_EVENT
	               ? event->data.mapping_start.anchor
	               : NULL;
}

/*
 * Counts an event; false at one that is nested too deep, or an anchor too many: libyaml
 * takes the square of their number.
 */
static bool count_event(int *depth, int *anchors, const yaml_event_t *event)
{
	*depth += event->type == YAML_SEQUENCE_START_EVENT ||
	          event->type == YAML_MAPPING_START_EVENT;
	*depth -= event->type == YAML_SEQUENCE_END_EVENT ||
	          event->type == YAML_MAPPING_END_EVENT;
	*anchors += event_anchor(event) != NULL;
	return *depth <= DEPTH_MAX && *anchors <= ANCHORS_MAX;
}

/* Checks the limits without loading; what is no YAML is left to the loader. */
static enum status check_limits(const struct text *text, const char *path,
                                struct error *e)
{
	int depth = 0, anchors = 0;
	yaml_parser_t parser;
	bool ended = false;

	if (!yaml_parser_initialize(&parser))
		memory_end(MEMORY_OUT, "out of memory (the YAML parser)");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text->s,
	                             text->length);
	while (!ended) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event))
			break;
		ended = event.type == YAML_STREAM_END_EVENT;
		if (!count_event(&depth, &anchors, &event)) {
			ended = true;
			error_set(
				e, E_RANGE,
				(struct where){
					.file = path,
					.line = (unsigned)event.start_mark.line + 1,
					.col = (unsigned)event.start_mark.column + 1},
				depth > DEPTH_MAX
					? "nested too deep, expected at most %d levels"
					: "an anchor too many, expected at most %d",
				depth > DEPTH_MAX ? DEPTH_MAX : ANCHORS_MAX);
		}
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return e->code;
}

enum status yaml_text(struct text *out, const char *path, struct error *e)
{
	text_append(out, "", 0);
	if (input_read_most(out, path, BYTES_MAX, e) != OK)
		return e->code;
	return check_limits(out, path, e);
}
