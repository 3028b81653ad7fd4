/* The section `platforms` of a suite, and platforms with settings behind their name. */
#include "platform/platform.h"
#include "suite/reader.h"

#include "base/list.h"

#include <string.h>

static bool same_settings(const struct suite_platform *p, int nset,
                          const char *const *key, const char *const *value)
{
	if (p->nset != nset)
		return false;
	for (int i = 0; i < nset; i++) {
		size_t n = strlen(key[i]);

		if (strncmp(p->set[i], key[i], n) != 0 || p->set[i][n] != '=' ||
		    strcmp(p->set[i] + n + 1, value[i]) != 0)
			return false;
	}
	return true;
}

int suite_platform(struct suite *s, const char *machine, const char *base, int nset,
                   const char *const *key, const char *const *value, struct where at)
{
	struct text name = {0}, varied = {0};
	const char **set = arena_alloc(s->arena, (size_t)nset + 1, sizeof(*set));
	struct suite_platform *p;

	for (int i = 0; i < s->nplatforms; i++)
		if (strcmp(s->platform[i].base, base) == 0 &&
		    strcmp(s->platform[i].machine,
		           machine ? machine : s->platform[i].name) == 0 &&
		    same_settings(&s->platform[i], nset, key, value))
			return i;
	text_printf(&name, "%s", base);
	for (int i = 0; i < nset; i++) {
		set[i] = arena_printf(s->arena, "%s=%s", key[i], value[i]);
		text_printf(&name, "%s%s", i ? "," : "{", set[i]);
		text_printf(&varied, "%s%s", i ? " " : "", set[i]);
	}
	text_printf(&name, "%s", nset ? "}" : "");
	s->platform = list_grow(s->arena, s->platform, s->nplatforms, 1,
	                        &s->platform_room, sizeof(*p));
	p = &s->platform[s->nplatforms++];
	*p = (struct suite_platform){
		.base = arena_strdup(s->arena, base), .nset = nset, .set = set, .at = at};
	p->name = text_take(&name, s->arena);
	p->machine = machine ? arena_strdup(s->arena, machine) : p->name;
	p->varied = text_take(&varied, s->arena);
	return s->nplatforms - 1;
}

enum status suite_platform_parse(int *out, struct suite *s, const char *name,
                                 struct where at, struct error *e)
{
	const char *key[PLATFORM_SETTINGS_MAX], *value[PLATFORM_SETTINGS_MAX];
	struct platform_name parts;

	if (!name[0])
		return error_set(e, E_SYNTAX, at,
		                 "expected a platform such as tpu-v4:8x8x8");
	if (platform_split(&parts, s->arena, name, at, e) != OK)
		return e->code;
	for (int i = 0; i < parts.nset; i++) {
		size_t n = strcspn(parts.set[i], "=");

		key[i] = arena_strndup(s->arena, parts.set[i], n);
		value[i] = parts.set[i] + n + 1;
	}
	*out = suite_platform(s, NULL, parts.base, parts.nset, key, value, at);
	return OK;
}

/* --- the section --------------------------------------------------------------------- */

struct suite_settings {
	int n;
	const char *key[PLATFORM_SETTINGS_MAX];
	struct where key_at[PLATFORM_SETTINGS_MAX];
	struct suite_value *value[PLATFORM_SETTINGS_MAX];
	int nvalues[PLATFORM_SETTINGS_MAX];
};

static enum status check_values(const struct suite_settings *s, int i, struct error *e)
{
	for (int v = 0; v < s->nvalues[i]; v++)
		if (!s->value[i][v].text[0] || strpbrk(s->value[i][v].text, " ,{}"))
			return error_set(e, E_SYNTAX, s->value[i][v].at,
			                 "expected a value without spaces, commas and "
			                 "braces");
	return OK;
}

static enum status read_settings(struct suite_settings *s, struct reader *r,
                                 const yaml_node_t *map)
{
	if (map->type != YAML_MAPPING_NODE)
		return reader_bad(r, map, "expected a map of settings");
	if (reader_check_keys(r, map) != OK)
		return r->error->code;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start;
	     p < map->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = yaml_document_get_node(r->document, p->key);
		int i = s->n;

		if (i == PLATFORM_SETTINGS_MAX)
			return reader_bad(r, key, "more than 16 settings");
		s->n++;
		s->key[i] = reader_scalar(r, key, &s->key_at[i]);
		if (suite_values(&s->value[i], &s->nvalues[i], r,
		                 yaml_document_get_node(r->document, p->value),
		                 varied_unit(s->key[i])) != OK)
			return r->error->code;
		if (check_values(s, i, r->error) != OK)
			return r->error->code;
	}
	return OK;
}

/* Lets the scenarios of this file run on platform number `p`. */
static enum status ask_for(struct reader *r, int p, struct where at)
{
	struct suite *suite = r->suite;
	uint64_t bit = UINT64_C(1) << (suite->nfiles - 1);

	if (suite->platform[p].files & bit)
		return error_set(r->error, E_TYPE, at, "platform '%.80s' is there twice",
		                 suite->platform[p].name);
	suite->platform[p].files |= bit;
	if (suite->nplatforms > SUITE_PLATFORMS_MAX)
		return error_set(r->error, E_RANGE, at, "more than %d platforms",
		                 SUITE_PLATFORMS_MAX);
	return OK;
}

/*
 * Adds the platform with the chosen values. Of a machine that the suite names, the values
 * that vary stand behind the name, so that each has a label of its own.
 */
static enum status add_platform(struct reader *r, const char *machine, const char *base,
                                const struct suite_settings *s, const int *chosen,
                                struct where at)
{
	const char *value[PLATFORM_SETTINGS_MAX];
	struct text label = {0};
	int p;

	if (machine)
		text_printf(&label, "%s", machine);
	for (int i = 0; i < s->n; i++) {
		value[i] = s->value[i][chosen[i]].text;
		if (machine && s->nvalues[i] > 1)
			text_printf(&label, " %s=%s", s->key[i], value[i]);
	}
	p = suite_platform(r->suite, label.s, base, s->n, s->key, value, at);
	text_free(&label);
	return ask_for(r, p, at);
}

/*
 * Adds every combination of the settings' values, the last setting's changing fastest.
 */
static enum status add_all(struct reader *r, const char *machine, const char *base,
                           const struct suite_settings *s, struct where at)
{
	int chosen[PLATFORM_SETTINGS_MAX] = {0}, i;

	do {
		if (add_platform(r, machine, base, s, chosen, at) != OK)
			return r->error->code;
		for (i = s->n - 1; i >= 0 && ++chosen[i] == s->nvalues[i]; i--)
			chosen[i] = 0;
	} while (i >= 0);
	return OK;
}

static enum status read_suite_platform(struct reader *r, const yaml_node_t *node)
{
	const char *machine = NULL, *base = NULL, *unused = NULL;
	const yaml_node_t *base_node = NULL, *set = NULL;
	struct where machine_at;
	const struct field fields[] = {
		{"base", &base, NULL, &base_node},
		{"set", &unused, NULL, &set},
		{"name", &machine, &machine_at, NULL},
		{NULL, NULL, NULL, NULL},
	};
	struct suite_settings settings = {0};
	struct where at;
	int p = 0;

	if (node->type == YAML_SCALAR_NODE) {
		base = reader_scalar(r, node, &at);
		if (!base)
			return r->error->code;
		if (suite_platform_parse(&p, r->suite, base, at, r->error) != OK)
			return r->error->code;
		return ask_for(r, p, at);
	}
	if (reader_fields(r, node, fields) != OK)
		return r->error->code;
	if (!base || !base[0])
		return reader_bad(r, node,
		                  "expected a platform such as tpu-v4:8x8x8, or "
		                  "{name: ..., base: ..., set: {...}}");
	if (machine && !machine[0])
		return error_set(r->error, E_SYNTAX, machine_at,
		                 "expected the name of a machine, such as TPU v4");
	if (set && read_settings(&settings, r, set) != OK)
		return r->error->code;
	return add_all(r, machine, base, &settings,
	               reader_mark(r, base_node->start_mark));
}

enum status suite_platforms(struct reader *r, const yaml_node_t *list)
{
	if (list->data.sequence.items.start == list->data.sequence.items.top)
		return reader_bad(r, list, "an empty list, expected some platforms");
	return reader_list(r, list, read_suite_platform);
}

/* --- settings of all platforms -------------------------------------------------------- */

static int settings_find(const struct suite_settings *s, const char *key)
{
	for (int i = 0; i < s->n; i++)
		if (strcmp(s->key[i], key) == 0)
			return i;
	return -1;
}

enum status suite_settings(struct reader *r, const yaml_node_t *map)
{
	struct suite *suite = r->suite;
	struct suite_settings own = {0};

	if (read_settings(&own, r, map) != OK)
		return r->error->code;
	if (!suite->settings)
		suite->settings = arena_alloc(suite->arena, 1, sizeof(own));
	for (int i = 0; i < own.n; i++) {
		struct suite_settings *all = suite->settings;

		if (settings_find(all, own.key[i]) >= 0)
			return error_set(r->error, E_TYPE, own.key_at[i],
			                 "'%.60s' is set in a suite before", own.key[i]);
		if (all->n == PLATFORM_SETTINGS_MAX)
			return error_set(r->error, E_RANGE, own.key_at[i],
			                 "more than %d settings", PLATFORM_SETTINGS_MAX);
		all->key[all->n] = own.key[i];
		all->key_at[all->n] = own.key_at[i];
		all->value[all->n] = own.value[i];
		all->nvalues[all->n++] = own.nvalues[i];
	}
	return OK;
}

/* Takes `--set KEY=VALUES`, which counts in the place of what suites set. */
static enum status take_setting(struct suite_settings *s, struct reader *r,
                                const char *text)
{
	struct where at = where_option("--set", text);
	size_t n = strcspn(text, "=");
	const char *key = arena_strndup(r->suite->arena, text, n);
	int i = settings_find(s, key);

	if (!n || !text[n])
		return error_set(r->error, E_SYNTAX, at,
		                 "expected key=value, or key={value,value}");
	if (i < 0 && s->n == PLATFORM_SETTINGS_MAX)
		return error_set(r->error, E_RANGE, at, "more than %d settings",
		                 PLATFORM_SETTINGS_MAX);
	if (i < 0)
		i = s->n++;
	s->key[i] = key;
	s->key_at[i] = at;
	at.col += (unsigned)n + 1;
	if (suite_values_text(&s->value[i], &s->nvalues[i], r, text + n + 1, at,
	                      varied_unit(key)) != OK)
		return r->error->code;
	return check_values(s, i, r->error);
}

/*
 * Adds a platform with its own settings and one value of each of `s`. What the suite calls
 * a machine of its own is called so here, with the values that vary behind.
 */
static enum status add_set(struct suite *suite, const struct suite_platform *p,
                           const struct suite_settings *s, const int *chosen,
                           struct error *e)
{
	const char *key[2 * PLATFORM_SETTINGS_MAX], *value[2 * PLATFORM_SETTINGS_MAX];
	struct where *set_at =
		arena_alloc(suite->arena, (size_t)(p->nset + s->n), sizeof(*set_at));
	struct text label = {0};
	int n = 0, made;

	if (strcmp(p->machine, p->name) != 0)
		text_printf(&label, "%s", p->machine);
	for (; n < p->nset; n++) {
		size_t length = strcspn(p->set[n], "=");

		key[n] = arena_strndup(suite->arena, p->set[n], length);
		value[n] = p->set[n] + length + 1;
	}
	for (int i = 0; i < s->n; i++, n++) {
		for (int k = 0; k < p->nset; k++)
			if (strcmp(key[k], s->key[i]) == 0) {
				text_free(&label);
				return error_set(e, E_TYPE, s->key_at[i],
				                 "'%.60s' is set in platform %.80s too",
				                 s->key[i], p->name);
			}
		key[n] = s->key[i];
		set_at[n] = s->key_at[i];
		value[n] = s->value[i][chosen[i]].text;
		if (label.length && s->nvalues[i] > 1)
			text_printf(&label, " %s=%s", key[n], value[n]);
	}
	made = suite_platform(suite, label.s, p->base, n, key, value, p->at);
	suite->platform[made].files |= p->files;
	suite->platform[made].set_at = set_at;
	text_free(&label);
	if (n > PLATFORM_SETTINGS_MAX)
		return error_set(e, E_RANGE, s->key_at[0], "more than %d settings",
		                 PLATFORM_SETTINGS_MAX);
	if (suite->nplatforms > SUITE_PLATFORMS_MAX)
		return error_set(e, E_RANGE, s->key_at[0], "more than %d platforms",
		                 SUITE_PLATFORMS_MAX);
	return OK;
}

enum status suite_set(struct suite *suite, const char *const *set, int nset,
                      struct error *e)
{
	struct reader r = {.suite = suite, .error = e};
	struct suite_settings s = {0};
	struct suite asked = *suite;

	if (suite->settings)
		s = *suite->settings;
	for (int i = 0; i < nset; i++)
		if (take_setting(&s, &r, set[i]) != OK)
			return e->code;
	if (!s.n)
		return OK;
	suite->nplatforms = 0;
	suite->platform_room = 0;
	suite->platform = NULL;
	for (int p = 0; p < asked.nplatforms; p++) {
		int chosen[PLATFORM_SETTINGS_MAX] = {0}, i;

		do {
			if (add_set(suite, &asked.platform[p], &s, chosen, e) != OK)
				return e->code;
			for (i = s.n - 1; i >= 0 && ++chosen[i] == s.nvalues[i]; i--)
				chosen[i] = 0;
		} while (i >= 0);
	}
	return OK;
}

void suite_take_machines(struct suite *s)
{
	int n = 0;

	for (int p = 0; p < s->nplatforms; p++)
		if (s->platform[p].files & s->no_scenarios)
			s->platform[n++] = s->platform[p];
	if (!n)
		return;
	s->nplatforms = n;
	for (int p = 0; p < n; p++)
		s->platform[p].files = UINT64_MAX;
}
