#include "platform/reader.h"

#include "base/units.h"
#include "collective/profile.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHARE_MAX = 1024, /* devices of a host */
	DOMAIN_DEVICES_MAX = 1 << 24
};

struct xml_place reader_place(struct reader *r, const xmlNode *node)
{
	const char *name = (const char *)node->name;

	if (!r->element || strcmp(r->element, name) != 0)
		r->element = arena_strdup(r->xml->arena, name);
	return (struct xml_place){.element = r->element,
	                          .line = (unsigned)xmlGetLineNo((xmlNode *)node)};
}

const char *reader_attribute(struct reader *r, const xmlNode *node, const char *name)
{
	xmlChar *value = xmlGetProp(node, (const xmlChar *)name);
	const char *copy;

	if (!value)
		return NULL;
	copy = arena_strdup(r->xml->arena, (const char *)value);
	xmlFree(value);
	return copy;
}

const char *reader_peek(struct reader *r, const xmlNode *node, const char *name)
{
	const xmlAttr *a = xmlHasProp((xmlNode *)node, (const xmlChar *)name);

	if (a && a->type == XML_ATTRIBUTE_NODE && a->children && !a->children->next &&
	    a->children->type == XML_TEXT_NODE)
		return (const char *)a->children->content;
	return reader_attribute(r, node, name);
}

const char *reader_required(struct reader *r, const xmlNode *node, const char *name)
{
	const char *value = reader_attribute(r, node, name);

	if (!value)
		reader_fail(r, E_SYNTAX, node, "<%s> has no attribute '%s'",
		            (const char *)node->name, name);
	return value;
}

enum status reader_steady(struct reader *r, const xmlNode *node)
{
	for (const xmlAttr *at = node->properties; at; at = at->next) {
		const char *name = (const char *)at->name;
		size_t n = strlen(name);

		if (n > 5 && !strcmp(name + n - 5, "_file"))
			return reader_fail(
				r, E_TYPE, node,
				"%s: times are of machines that do not change; "
				"expected none",
				name);
	}
	return OK;
}

enum status reader_quantity(struct reader *r, const xmlNode *node, const char *name,
                            bool rate, double *out)
{
	const char *text = reader_required(r, node, name);
	char *end;
	double factor;

	if (!text)
		return r->error->code;
	*out = strtod(text, &end);
	while (isspace((unsigned char)*end))
		end++;
	if (end != text && platform_xml_unit(&factor, end, rate))
		*out *= factor;
	else
		*out = NAN;
	if (!isfinite(*out))
		return reader_fail(r, E_SYNTAX, node,
		                   "%s=\"%s\" is not a %s such as %s", name, text,
		                   rate ? "bandwidth" : "time", rate ? "45GBps" : "1us");
	if (*out < 0 || (rate && *out == 0))
		return reader_fail(r, E_RANGE, node, "%s=\"%s\" is not above 0", name,
		                   text);
	if (!units_in_range(*out))
		return reader_fail(r, E_RANGE, node,
		                   "%s=\"%s\" is out of range, expected 1e-18 to 1e24 "
		                   "%s",
		                   name, text, rate ? "B/s" : "s");
	return OK;
}

/*
 * Returns a plain number of a property; -1 and an error where it is not one, or below
 * 0.
 */
static double prop_number(struct reader *r, const xmlNode *node, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end != text && !*end && units_in_range(value))
		return value;
	if (end != text && !*end && isfinite(value) && value > 0) {
		reader_fail(r, E_RANGE, node,
		            "'%s' is out of range, expected 0 or 1e-18 to 1e24", text);
		return -1;
	}
	reader_fail(r, E_SYNTAX, node, "'%s' is not a number of at least 0", text);
	return -1;
}

/* Returns a whole number from `least` to `most` of the property `what`. */
static int32_t prop_whole(struct reader *r, const xmlNode *node, const char *text,
                          const char *what, int32_t least, int32_t most)
{
	double value = prop_number(r, node, text);

	if (value >= 0 && (value < least || value > most || value != floor(value)))
		reader_fail(r, E_RANGE, node, "%s is a whole number from %d to %d",
		            what, (int)least, (int)most);
	return r->error->code == OK ? (int32_t)value : least;
}

static enum status prop_constants(struct reader *r, const xmlNode *node,
                                  const char *text, struct tuning *out)
{
	struct error inner = {0};

	if (tuning_parse(out, text, (struct where){0}, &inner) == OK)
		return OK;
	return reader_fail(r, inner.code, node, "constants: %s", inner.text);
}

/* The place is looked for where it is needed: that takes the whole text before it. */
static enum status prop_profile(struct reader *r, const xmlNode *node, const char *name)
{
	struct error inner = {0};

	if (profile_check(name, (struct where){0}, &inner) == OK)
		return OK;
	return reader_fail(r, inner.code, node, "%s", inner.text);
}

static enum status read_prop(struct reader *r, const xmlNode *node, struct xml_props *p)
{
	const char *id = reader_required(r, node, "id"),
		   *value = reader_required(r, node, "value");

	if (!id || !value)
		return r->error->code;
	if (!strcmp(id, "fabric"))
		p->fabric = value;
	else if (!strcmp(id, "domain"))
		p->domain = value;
	else if (!strcmp(id, "profile")) {
		p->profile = value;
		prop_profile(r, node, value);
	} else if (!strcmp(id, "geometry"))
		p->geometry = value;
	else if (!strcmp(id, "memory_bytes"))
		p->memory_bytes = prop_number(r, node, value);
	else if (!strcmp(id, "memory_Bps"))
		p->memory_Bps = prop_number(r, node, value);
	else if (!strcmp(id, "launch_s"))
		p->launch_s = prop_number(r, node, value);
	else if (!strcmp(id, "priority"))
		p->priority = prop_whole(r, node, value, "the priority", 0, 1000);
	else if (!strcmp(id, "devices"))
		p->share = prop_whole(r, node, value, "devices of a host", 1, SHARE_MAX);
	else if (!strcmp(id, "domain_devices"))
		p->domain_devices = prop_whole(r, node, value, "domain_devices", 1,
		                               DOMAIN_DEVICES_MAX);
	else if (!strcmp(id, "constants"))
		prop_constants(r, node, value, &p->tuning);
	return r->error->code;
}

/* Records which properties the hosts must have and do not, all of them at once. */
static enum status props_whole(struct reader *r, const xmlNode *node,
                               const struct xml_props *p)
{
	const struct {
		const char *name;
		bool there;
	} needed[] = {{"fabric", p->fabric},
	              {"domain", p->domain},
	              {"priority", p->priority >= 0},
	              {"profile", p->profile},
	              {"geometry", p->geometry},
	              {"memory_bytes", p->memory_bytes >= 0},
	              {"memory_Bps", p->memory_Bps >= 0},
	              {"launch_s", p->launch_s >= 0}};
	struct text missing = {0};

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!needed[i].there)
			text_printf(&missing, "%s'%s'", missing.length ? ", " : "",
			            needed[i].name);
	if (missing.length)
		reader_fail(r, E_SYNTAX, node, "the hosts of <%s> have no property %s",
		            (const char *)node->name, missing.s);
	text_free(&missing);
	return r->error->code;
}

/* Returns whether a <prop> is one of those that hosts must have here. */
static bool is_ours(struct reader *r, const xmlNode *prop)
{
	static const char *const names[] = {"fabric",   "domain",    "priority",
	                                    "profile",  "geometry",  "memory_bytes",
	                                    "launch_s", "memory_Bps"};
	const char *id = reader_peek(r, prop, "id");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(id, names[i]))
			return true;
	return false;
}

/*
 * Returns the properties of all hosts of a file that states none; what is assumed of them
 * plain.c settles.
 */
static const struct xml_props *plain_props(struct reader *r)
{
	if (!r->plain) {
		r->plain = arena_alloc(r->xml->arena, 1, sizeof(*r->plain));
		*r->plain = (struct xml_props){.fabric = "net",
		                               .domain = "all",
		                               .profile = "plain",
		                               .geometry = "graph",
		                               .share = 1,
		                               .tuning = tuning_default};
	}
	r->nplain++;
	return r->plain;
}

const struct xml_props *reader_props(struct reader *r, const xmlNode *node)
{
	struct xml_props *p = arena_alloc(r->xml->arena, 1, sizeof(*p));
	bool ours = false;

	*p = (struct xml_props){.priority = -1,
	                        .memory_bytes = -1,
	                        .memory_Bps = -1,
	                        .launch_s = -1,
	                        .share = 1,
	                        .tuning = tuning_default};
	for (const xmlNode *c = node->children; c; c = c->next) {
		if (c->type != XML_ELEMENT_NODE ||
		    strcmp((const char *)c->name, "prop"))
			continue;
		if (read_prop(r, c, p) != OK)
			return NULL;
		ours = ours || is_ours(r, c);
	}
	if (!ours && !r->stated)
		return plain_props(r);
	r->stated = true;
	if (r->plain) {
		reader_fail(
			r, E_TYPE,
			node, "has properties that hosts before it lack, expected them on all");
		return NULL;
	}
	return props_whole(r, node, p) == OK ? p : NULL;
}
