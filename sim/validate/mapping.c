#include "validate/mapping.h"

#include "facts/yaml_reader.h"

#include <string.h>

static const char *const keys[] = {
	"set",      "system",   "devices", "platform", "units",     "stride",
	"order",    "mesh",     "axis",    "launch",   "algorithm", "protocol",
	"settings", "unmapped", "source",  "note",     "cluster",   NULL};

/* Returns the text of a key that need not be there, NULL where it is not. */
static const char *optional(struct reader *r, yaml_node_t *map, const char *key)
{
	struct where at;

	return map_find(r, map, key) ? map_text(r, map, key, &at) : NULL;
}

static int32_t optional_int(struct reader *r, yaml_node_t *map, const char *key,
                            int32_t standard)
{
	return map_find(r, map, key) ? map_int(r, map, key, INT32_MAX) : standard;
}

static enum status settings_read(struct reader *r, yaml_node_t *map,
                                 struct mapping_entry *m)
{
	yaml_node_t *all = map_find(r, map, "settings");
	yaml_node_pair_t *pair;

	if (!all)
		return OK;
	if (all->type != YAML_MAPPING_NODE)
		return error_set(r->error, E_SYNTAX, node_where(r, all),
		                 "expected a mapping of settings");
	for (pair = all->data.mapping.pairs.start; pair < all->data.mapping.pairs.top;
	     pair++) {
		yaml_node_t *key = yaml_document_get_node(&r->doc, pair->key);
		struct where at;
		const char *value;

		if (!node_text(key) || m->nsettings == MAPPING_SETTINGS_MAX)
			return error_set(r->error, E_RANGE, node_where(r, key),
			                 "expected at most %d settings KEY: VALUE",
			                 (int)MAPPING_SETTINGS_MAX);
		value = map_text(r, all, node_text(key), &at);
		if (!value)
			return r->error->code;
		m->setting[m->nsettings++] =
			arena_printf(r->arena, "%s=%s", node_text(key), value);
	}
	return OK;
}

static enum status entry_read(struct reader *r, yaml_node_t *map,
                              struct mapping_entry *m)
{
	struct where at;

	*m = (struct mapping_entry){.at = node_where(r, map)};
	m->set = map_text(r, map, "set", &at);
	if (!m->set || map_check(r, map, keys) != OK)
		return r->error->code;
	m->system = optional(r, map, "system");
	m->platform = optional(r, map, "platform");
	m->unmapped = optional(r, map, "unmapped");
	m->order = optional(r, map, "order");
	m->mesh = optional(r, map, "mesh");
	m->axis = optional(r, map, "axis");
	m->launch = optional(r, map, "launch");
	m->untold = m->launch && !strcmp(m->launch, "untold");
	if (m->untold)
		m->launch = NULL;
	m->algorithm = optional(r, map, "algorithm");
	m->protocol = optional(r, map, "protocol");
	m->note = optional(r, map, "note");
	m->cluster = optional(r, map, "cluster");
	m->devices = optional_int(r, map, "devices", 0);
	m->units = optional_int(r, map, "units", 0);
	m->stride = optional_int(r, map, "stride", 1);
	if (r->error->code != OK || settings_read(r, map, m) != OK)
		return r->error->code;
	if (!m->platform == !m->unmapped)
		return error_set(r->error, E_SYNTAX, m->at,
		                 "expected one of 'platform' and 'unmapped'");
	if (!m->mesh != !m->axis)
		return error_set(r->error, E_SYNTAX, m->at,
		                 "'mesh' and 'axis' go together");
	return OK;
}

static enum status document_read(struct reader *r, void *out)
{
	yaml_node_t *root = yaml_document_get_root_node(&r->doc);
	struct mapping *m = out;
	yaml_node_item_t *i;

	if (!root || root->type != YAML_SEQUENCE_NODE)
		return error_set(r->error, E_SYNTAX,
		                 (struct where){.file = r->path, .line = 1, .col = 1},
		                 "expected a list of entries");
	m->entry = arena_alloc(r->arena,
	                       (size_t)(root->data.sequence.items.top -
	                                root->data.sequence.items.start) +
	                               1,
	                       sizeof(*m->entry));
	for (i = root->data.sequence.items.start; i < root->data.sequence.items.top;
	     i++) {
		yaml_node_t *node = yaml_document_get_node(&r->doc, *i);

		if (entry_read(r, node, &m->entry[m->n]) != OK)
			return r->error->code;
		m->n++;
	}
	return OK;
}

enum status mapping_read(struct mapping *out, struct arena *a, const char *path,
                         struct error *e)
{
	*out = (struct mapping){0};
	return yaml_read(a, path, document_read, out, e);
}

const char *mapping_beside(struct arena *a, const char *timings)
{
	const char *slash = strrchr(timings, '/'), *dot = strrchr(timings, '.');
	size_t n = dot && (!slash || dot > slash) ? (size_t)(dot - timings)
	                                          : strlen(timings);

	return arena_printf(a, "%.*s.yaml", (int)n, timings);
}

/* Returns whether the text matches a pattern, at whose end a * stands for any rest. */
static bool matches(const char *pattern, const char *text)
{
	size_t n = strlen(pattern);

	if (n && pattern[n - 1] == '*')
		return strncmp(pattern, text, n - 1) == 0;
	return strcmp(pattern, text) == 0;
}

/* Returns whether the entry is of the mapping beside the row's own file. */
static bool is_beside(const struct mapping_entry *entry, const struct measured *row)
{
	const char *end = row->at.file ? strrchr(row->at.file, '.') : NULL;
	size_t stem = end ? (size_t)(end - row->at.file) : 0;

	return stem && entry->at.file &&
	       strncmp(entry->at.file, row->at.file, stem) == 0 &&
	       entry->at.file[stem] == '.';
}

const struct mapping_entry *mapping_find(const struct mapping *m,
                                         const struct measured *row)
{
	const struct mapping_entry *found = NULL;

	for (int i = 0; i < m->n; i++) {
		const struct mapping_entry *entry = &m->entry[i];

		if (!matches(entry->set, row->set) ||
		    (entry->system && !strstr(row->system, entry->system)) ||
		    (entry->devices && entry->devices != row->devices))
			continue;
		if (is_beside(entry, row))
			return entry;
		found = found ? found : entry;
	}
	return found;
}

const char *mapping_platform(const struct mapping_entry *m, const struct measured *row,
                             struct arena *a)
{
	const char *mark = strstr(m->platform, "{nodes}");

	if (!mark)
		return m->platform;
	return arena_printf(a, "%.*s%d%s", (int)(mark - m->platform), m->platform,
	                    (int)row->nodes, mark + strlen("{nodes}"));
}
