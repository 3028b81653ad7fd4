/* Settings `key=value` of a family. */
#include "facts/kind.h"

#include "base/suggest.h"
#include "base/units.h"
#include "collective/profile.h"

#include <string.h>

bool figure_settable(const struct family *f, enum figure g)
{
	return figure_used(f, g) && g != ICI_PEAK && g != DCN_PEAK && g != LINK_PEAK &&
	       g != NIC_PEAK;
}

static bool is_key(const char *set, size_t n, const char *key)
{
	return strlen(key) == n && !memcmp(set, key, n);
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n > k && !strcmp(name + n - k, end);
}

/*
 * Refuses a number without a unit by hand: that the key has one, launch_s, is easily
 * overlooked, and seconds are a million times what was meant.
 */
static enum status unit_given(const char *key, const char *text, struct where at,
                              struct error *e)
{
	if (!units_missing(text))
		return OK;
	if (ends_with(key, "_s"))
		return error_set(e, E_SYNTAX, at,
		                 "%s has no unit, expected such as %sus, %sns or %sms",
		                 text, text, text, text);
	if (ends_with(key, "_bytes"))
		return error_set(e, E_SYNTAX, at,
		                 "%s has no unit, expected such as %sGB or %sGiB", text,
		                 text, text);
	if (ends_with(key, "_Bps"))
		return error_set(e, E_SYNTAX, at,
		                 "%s has no unit, expected such as %sGB/s, %sGiB/s, or "
		                 "%sGb/s in bits",
		                 text, text, text, text);
	return OK;
}

/* Reads a peak by hand or of a family; that it is not known is said by leaving it out. */
static enum status flops_parse(double *out, const char *name, const char *text,
                               struct where at, struct error *e)
{
	if (units_flops(text, at, out, e) == OK && *out == 0)
		error_set(e, E_RANGE, at, "%s must be above 0", name);
	return e->code;
}

enum status tuning_value_parse(double *out, enum tuning_key key, const char *text,
                               struct where at, struct error *e)
{
	const char *name = tuning_name(key);
	struct tuning one;
	struct text pair = {0};
	struct error inner = {0};
	int64_t bytes;

	if (ends_with(name, "_bytes")) {
		if (units_bytes(text, at, &bytes, e) == OK)
			*out = (double)bytes;
		return e->code;
	}
	if (ends_with(name, "_s"))
		return units_time(text, at, out, e);
	if (ends_with(name, "_Bps"))
		return units_rate(text, at, out, e);
	if (ends_with(name, "_flops"))
		return flops_parse(out, name, text, at, e);
	text_printf(&pair, "%s=%s", name, text);
	tuning_parse(&one, pair.s, (struct where){0}, &inner);
	text_free(&pair);
	if (inner.code == E_RANGE &&
	    (ends_with(name, "_share") || ends_with(name, "_channels") ||
	     tuning_is_switch(key)))
		return error_set(e, E_RANGE, at, "%s", inner.text);
	if (inner.code != OK || strchr(text, ' '))
		return error_set(e, E_SYNTAX, at, "expected a number of 0 or more");
	*out = one.value[key];
	return OK;
}

static void known_append(struct text *known, struct suggestion *near, const char *name)
{
	suggest_offer(near, name);
	text_printf(known, "%s%s", known->length ? ", " : "", name);
}

/* Says that a figure has no meaning with the structure that the family has. */
static enum status figure_unused(const struct family *f, enum figure g, struct where at,
                                 struct error *e)
{
	bool net = g >= NIC_PEAK && g <= NET_LOCAL;
	bool pcie = g == PCIE_BANDWIDTH || g == BRIDGE_BANDWIDTH;

	return error_set(e, E_TYPE, at,
	                 "'%s' has no meaning with %s of %s; set another, such as %s",
	                 figure_name(f, g), net ? "the net" : "the inside of a node",
	                 f->name,
	                 net    ? "net=fat-tree"
	                 : pcie ? "inside=pcie"
	                        : "inside=switch");
}

static enum status key_unknown(const struct family *f, struct arena *a, const char *set,
                               size_t n, struct where at, struct error *e)
{
	struct suggestion near = suggest_start(set, n);
	struct text known = {0};

	for (int g = 0; g < FIGURES; g++)
		if (figure_known(f, g) && !figure_used(f, g) &&
		    is_key(set, n, figure_name(f, g)))
			return figure_unused(f, g, at, e);
	for (int g = 0; g < FIGURES; g++)
		if (figure_settable(f, g))
			known_append(&known, &near, figure_name(f, g));
	for (int k = 0; kind_of(f)->settings[k]; k++)
		known_append(&known, &near, kind_of(f)->settings[k]);
	for (int k = 0; k < OVERLAYS; k++)
		known_append(&known, &near, overlay_name(k));
	known_append(&known, &near, "profile");
	/* They are too many for a line. */
	for (int k = 0; k < TUNINGS; k++)
		suggest_offer(&near, tuning_name(k));
	return error_set(e, E_RANGE, at,
	                 "%s has no figure '%.*s'%s %s %s, and the constants of "
	                 "platforms/README.md",
	                 f->name, (int)n, set,
	                 near.nearest ? suggest_ask(&near, "") : ";",
	                 near.nearest ? "It has" : "it has", text_take(&known, a));
}

bool setting_of_net(const char *set)
{
	return !strncmp(set, "nic", 3) || !strncmp(set, "net", 3) ||
	       !strncmp(set, "dcn", 3);
}

/*
 * Checks that a setting counts: settings of the network change nothing where one node
 * or one slice has none.
 */
static enum status setting_counts(const struct family_machine *m, const char *spec,
                                  const char *set, size_t n, struct error *e)
{
	bool net = m->family.kind == FAMILY_NODES ? m->shape[0] > 1 || m->family.apart
	                                          : m->slices > 1;

	if (net || !setting_of_net(set))
		return OK;
	return error_set(e, E_TYPE, where_option("--set", set),
	                 "%s has no net, %.*s changes nothing", spec, (int)n, set);
}

static int overlay_find(const char *set, size_t n)
{
	for (int k = 0; k < OVERLAYS; k++)
		if (is_key(set, n, overlay_name(k)))
			return k;
	return -1;
}

static int setting_structure_key(const struct family *f, const char *set, size_t n)
{
	const char *const *keys = kind_of(f)->settings;

	for (int k = 0; keys[k]; k++)
		if (is_key(set, n, keys[k]))
			return k;
	return -1;
}

/* Sets what one setting changes of the structure: keys[key] of the kind. */
static enum status structure_set(struct family_machine *m, struct arena *a,
                                 const char *spec, const char *set, int key,
                                 struct where *at, struct error *e)
{
	size_t n = strcspn(set, "=");
	struct where value_at = where_option("--set", set);

	*at = value_at;
	value_at.col = (unsigned)n + 2;
	if (kind_of(&m->family)->set(&m->family, a, key, set + n + 1, value_at, e) != OK)
		return e->code;
	return setting_counts(m, spec, set, n, e);
}

enum status settings_structure(struct family_machine *m, struct arena *a,
                               const char *spec, const char *const *set, int nset,
                               struct where *at, struct error *e)
{
	const struct kind *k = kind_of(&m->family);

	for (int i = 0; i < nset; i++) {
		struct where here = where_option("--set", set[i]);
		size_t n = strcspn(set[i], "=");

		if (!set[i][n])
			return error_set(e, E_SYNTAX, here, "expected key=value");
		here.col = (unsigned)n + 2;
		if (!is_key(set[i], n, "profile"))
			continue;
		m->family.profile = set[i] + n + 1;
		if (profile_check(m->family.profile, here, e) != OK)
			return e->code;
	}
	for (int key = 0; k->settings[key]; key++)
		for (int i = 0; i < nset; i++)
			if (is_key(set[i], strcspn(set[i], "="), k->settings[key]) &&
			    structure_set(m, a, spec, set[i], key, at, e) != OK)
				return e->code;
	return k->settle(m, a, *at, e);
}

enum status setting_figure(struct family_machine *m, struct arena *a, const char *spec,
                           const char *set, struct error *e)
{
	struct where at = where_option("--set", set), value_at = at;
	struct family *f = &m->family;
	size_t n = strcspn(set, "=");
	int key = tuning_find(set, n);

	if (is_key(set, n, "profile") || setting_structure_key(f, set, n) >= 0)
		return OK;
	value_at.col = (unsigned)n + 2;
	if (overlay_find(set, n) >= 0)
		return overlay_read(m, a, overlay_find(set, n), set + n + 1, value_at,
		                    e);
	if (key >= 0) {
		f->tuning_source[key] = "set by hand";
		if (unit_given(tuning_name(key), set + n + 1, value_at, e) != OK ||
		    tuning_value_parse(&f->tuning.value[key], key, set + n + 1,
		                       value_at, e) != OK)
			return e->code;
		return setting_counts(m, spec, set, n, e);
	}
	for (int g = 0; g < FIGURES; g++) {
		if (!figure_settable(f, g) || !is_key(set, n, figure_name(f, g)))
			continue;
		f->source[g] = "set by hand";
		if (unit_given(figure_name(f, g), set + n + 1, value_at, e) != OK ||
		    figure_parse(&f->figure[g], g, set + n + 1, value_at, e) != OK)
			return e->code;
		return setting_counts(m, spec, set, n, e);
	}
	return key_unknown(f, a, set, n, at, e);
}
