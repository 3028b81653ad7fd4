/* A mesh for problems that are given by HLO texts alone. */
#include "base/assert.h"
#include "base/list.h"
#include "notation/hlo.h"
#include "notation/notation.h"

#include <stdlib.h>
#include <string.h>

enum { CUTS_MAX = 256 };

/*
 * Places at which a text cuts the device number into digits: a digit of stride s and
 * size n cuts at s and s * n. A mesh whose axes lie between the cuts can say the text.
 */
struct cuts {
	int n;
	int32_t at[CUTS_MAX];
};

static void cuts_add(struct cuts *c, int32_t at)
{
	for (int i = 0; i < c->n; i++)
		if (c->at[i] == at)
			return;
	if (c->n < CUTS_MAX)
		c->at[c->n++] = at;
	qsort(c->at, (size_t)c->n, sizeof(*c->at), compare_int32);
}

/* Returns whether the cuts divide each other, so that axes fit between them. */
static bool cuts_chain(const struct cuts *c)
{
	for (int i = 1; i < c->n; i++)
		if (c->at[i] % c->at[i - 1] != 0)
			return false;
	return true;
}

/*
 * Finds the cuts of a tiling; returns false if its ids are no digits or a tile dim cuts
 * one askew.
 */
static bool cuts_of_tiling(struct cuts *c, const struct tiling *t)
{
	struct hlo_digit digit[HLO_DIGITS_MAX];
	int n = hlo_digits(digit, t->ids, t->ndevices);
	int32_t place = t->replicas;

	for (int j = 0; j < n; j++) {
		cuts_add(c, digit[j].stride);
		cuts_add(c, digit[j].stride * digit[j].size);
	}
	for (int i = t->rank; n >= 0 && i-- > 0; place *= t->tiles[i])
		for (int j = 0; j < n; j++) {
			int32_t end = digit[j].place * digit[j].size;

			if (place <= digit[j].place || place >= end)
				continue;
			if (place % digit[j].place != 0 || end % place != 0)
				return false;
			cuts_add(c, digit[j].stride * (place / digit[j].place));
		}
	return n >= 0 && cuts_chain(c);
}

static void mesh_of_cuts(struct mesh *out, struct arena *a, struct cuts *c)
{
	*out = (struct mesh){.ndevices = c->at[c->n - 1]};
	for (int i = c->n - 1; i > 0; i--) {
		out->axis[out->naxes].name = arena_printf(a, "axis_%d", out->naxes);
		out->axis[out->naxes++].size = c->at[i] / c->at[i - 1];
	}
	if (out->naxes)
		return;
	out->axis[out->naxes].name = arena_strdup(a, "axis_0");
	out->axis[out->naxes++].size = 1;
}

static void cuts_of_primes(struct cuts *c, int32_t n)
{
	int32_t at = 1;

	for (int32_t p = 2; at < n; p++)
		while (n / at % p == 0) {
			at *= p;
			cuts_add(c, at);
		}
}

/* Chooses the mesh for `n` devices; texts that are not tiled ask for nothing. */
static void choose_mesh(struct mesh *out, struct arena *a, const struct hlo text[2],
                        int32_t n)
{
	struct cuts all = {.n = 1, .at = {1}};
	int said = 0, tiled = 0;

	cuts_add(&all, n);
	for (int i = 0; i < 2; i++) {
		struct cuts one = {.n = 1, .at = {1}};

		if (text[i].kind != HLO_TILED)
			continue;
		tiled++;
		if (!cuts_of_tiling(&one, &text[i].tiling))
			continue;
		said++;
		for (int k = 0; k < one.n; k++)
			cuts_add(&all, one.at[k]);
	}
	if (tiled && !said)
		cuts_of_primes(&all, n);
	if (!cuts_chain(&all)) {
		/* Each text alone can be said in sub-axes of one axis. */
		all = (struct cuts){.n = 1, .at = {1}};
		cuts_add(&all, n);
	}
	mesh_of_cuts(out, a, &all);
}

static enum status read_text(struct hlo *out, struct arena *a, const char *text,
                             struct where at, int64_t *num_devices, const char *who,
                             struct error *e)
{
	struct scan s = scan_start(text, at, e);
	int64_t n;

	if (notation_detect(text) != NOTATION_HLO)
		return scan_fail(
			&s, E_TYPE,
			"this layout needs a mesh, expected one, or a layout such as "
			"{devices=[2,4]<=[8]} that lists its devices");
	if (hlo_scan(out, 0, -1, a, &s) != OK || scan_finish(&s) != OK)
		return e->code;
	n = out->kind == HLO_TILED ? out->tiling.ndevices : *num_devices;
	if (*num_devices && n != *num_devices) {
		s.pos = text;
		return scan_fail(&s, E_TYPE, "%lld devices, expected %lld as %s",
		                 (long long)n, (long long)*num_devices, who);
	}
	*num_devices = n;
	return OK;
}

/*
 * Returns "x=4,y=2" of {mesh['x'=4,'y'=2], ...}, or NULL if the text does not name its
 * mesh.
 */
static const char *named_mesh(struct arena *a, const char *text)
{
	struct error e = {0};
	struct scan s = scan_start(text, where_option("", text), &e);
	const char *end;
	char *axes;
	int n = 0;

	scan_take(&s, "sharding=");
	if (!scan_take(&s, "{") || !scan_word(&s, "mesh") || !scan_take(&s, "[") ||
	    !(end = strchr(s.pos, ']')))
		return NULL;
	axes = arena_strndup(a, s.pos, (size_t)(end - s.pos));
	for (const char *c = axes; *c; c++)
		if (*c != '\'' && *c != ' ')
			axes[n++] = *c;
	axes[n] = 0;
	return axes;
}

enum status hlo_mesh(struct mesh *out, struct arena *a, const char *from,
                     struct where from_at, const char *to, struct where to_at,
                     int64_t num_devices, struct error *e)
{
	struct hlo text[2];
	int64_t n = num_devices;
	struct scan s = scan_start(from, from_at, e);
	const char *named = named_mesh(a, from);

	if (n < 0 || n > MESH_DEVICES_MAX)
		return scan_fail(&s, E_RANGE,
		                 "%lld devices are out of range, expected 1 to %d",
		                 (long long)n, MESH_DEVICES_MAX);
	named = named ? named : named_mesh(a, to);
	if (named) {
		if (mesh_parse(out, a, named, where_option("mesh", named), e) == OK &&
		    n && n != out->ndevices)
			return scan_fail(
				&s, E_TYPE,
				"%d devices of mesh %s, expected %lld as asked "
				"for",
				(int)out->ndevices, named, (long long)n);
		return e->code;
	}
	if (read_text(&text[0], a, from, from_at, &n, "asked for", e) != OK)
		return e->code;
	if (read_text(&text[1], a, to, to_at, &n,
	              num_devices ? "asked for" : "the other layout has", e) != OK)
		return e->code;
	if (n == 0)
		return scan_fail(
			&s, E_TYPE,
			"neither layout lists its devices, expected their number "
			"or a mesh");
	choose_mesh(out, a, text, (int32_t)n);
	assert(out->ndevices == n);
	return OK;
}
