#include "notation/xla_warning.h"

#include "array/array.h"
#include "notation/hlo.h"
#include "notation/notation.h"

#include <ctype.h>
#include <string.h>

/*
 * Returns what is behind the brace that closes the one at `open`, quoted text skipped;
 * NULL if none.
 */
static const char *close_brace(const char *open)
{
	int depth = 0;

	for (const char *p = open; *p; p++) {
		if (*p == '"' || *p == '\'') {
			char quote = *p;

			for (p++; *p && *p != quote; p++)
				p += *p == '\\' && p[1];
			if (!*p)
				return NULL;
		}
		depth += *p == '{';
		depth -= *p == '}';
		if (depth == 0)
			return p + 1;
	}
	return NULL;
}

/* Takes words, whatever white space is between them. */
static bool take_words(struct scan *s, const char *const *words)
{
	const char *start = s->pos;

	for (; *words; words++)
		if (!scan_word(s, *words)) {
			s->pos = start;
			return false;
		}
	return true;
}

/* Returns whether a sharding is in the form of newer XLA: {mesh['x'=4,'y'=2], [{'x'}, {}]}. */
static bool is_named(const char *text)
{
	struct error unread = {0};
	struct scan s = scan_start(text, (struct where){0}, &unread);

	return scan_take(&s, "{") && scan_word(&s, "mesh");
}

/*
 * Reads `{...}`: its text and place, and its tile counts unless it names its mesh, which
 * only both texts together tell.
 */
static enum status read_sharding(struct hlo *out, const char **text, struct where *at,
                                 struct arena *a, struct scan *s)
{
	const char *end;
	struct scan inner;

	if (scan_peek(s) != '{')
		return scan_fail(s, E_SYNTAX,
		                 "expected a sharding such as "
		                 "{devices=[2,4]<=[8]}");
	end = close_brace(s->pos);
	if (!end)
		return scan_fail(s, E_SYNTAX, "this sharding is not closed");
	*text = arena_strndup(a, s->pos, (size_t)(end - s->pos));
	*at = scan_where(s, s->pos);
	inner = scan_start(*text, *at, s->error);
	*out = (struct hlo){.kind = HLO_REPLICATED};
	if (!is_named(*text) && hlo_scan_led(out, a, &inner) != OK)
		return s->error->code;
	s->pos = end;
	return OK;
}

/* Stores in group[device] which manual group each device is in. */
static void find_groups(int32_t *group, const struct hlo *h)
{
	int32_t n = h->tiling.ndevices;

	for (int32_t k = 0; k < n; k++)
		group[h->tiling.ids[k]] = k / (n / h->manual);
}

/* Returns whether both are in the same manual region, or in none. */
static bool same_region(const struct hlo *from, const struct hlo *to, struct arena *a)
{
	int32_t *group[2], n = from->tiling.ndevices;

	if (!from->manual && !to->manual)
		return true;
	if (from->manual != to->manual || n != to->tiling.ndevices)
		return false;
	for (int i = 0; i < 2; i++) {
		group[i] = arena_alloc(a, (size_t)n, sizeof(*group[i]));
		find_groups(group[i], i ? to : from);
	}
	return memcmp(group[0], group[1], (size_t)n * sizeof(*group[0])) == 0;
}

/* Returns the text of a sharding that is led by the dimension of its manual groups. */
static const char *led_text(const struct hlo *h, struct arena *a)
{
	const struct mesh mesh = {.ndevices = h->tiling.ndevices};
	const struct layout l = layout_of_tiling(&h->tiling, a);
	struct text out = {0}, why = {0};

	layout_print_as(&out, NOTATION_HLO, &l, &mesh, NULL, &why);
	text_free(&why);
	return text_take(&out, a);
}

/* Finds "from sharding"; "sharding" may stand again before the second one. */
static bool find_start(struct scan *s)
{
	static const char *const from[] = {"from", "sharding", NULL};

	for (; *s->pos; s->pos++) {
		bool inside = s->pos > s->text && isalnum((unsigned char)s->pos[-1]);

		if (*s->pos == 'f' && !inside && take_words(s, from))
			return true;
	}
	return false;
}

/*
 * Moves behind " = " of an instruction after "HLO operation" or "for", and stores its name;
 * false if none.
 */
static bool find_result(struct scan *s, const char **start, size_t *length)
{
	const char *equals;

	/* Another warning may follow this one. */
	for (equals = s->pos; (equals = strchr(equals, '=')); equals++) {
		const char *name = equals, *next = strstr(s->pos, "from sharding");

		if (next && next < equals)
			return false;
		while (name > s->pos && isspace((unsigned char)name[-1]))
			name--;
		*length = (size_t)(name - s->text);
		if (name == equals || name == s->pos)
			continue;
		while (name > s->pos && !isspace((unsigned char)name[-1]))
			name--;
		if (*name != '%' && !isalpha((unsigned char)*name))
			continue;
		*start = name;
		*length -= (size_t)(name - s->text);
		s->pos = equals + 1;
		return true;
	}
	return false;
}

/* Finds what stands behind `key` up to `end` in this warning; false if it is not there. */
static bool find_value(const char **value, size_t *length, const char *text,
                       const char *key, const char *end)
{
	const char *next = strstr(text, "from sharding"), *found = strstr(text, key);

	if (!found || (next && next < found))
		return false;
	*value = found + strlen(key);
	*length = strcspn(*value, end);
	return *length > 0;
}

static const char *operation_words(struct arena *a, const char *name, size_t length,
                                   const char *rest)
{
	struct text out = {0};
	const char *value;
	size_t n;

	text_printf(&out, "%.*s", (int)length, name);
	if (find_value(&value, &n, rest, "op_name=\"", "\"\n"))
		text_printf(&out, ", %.*s", (int)n, value);
	if (find_value(&value, &n, rest, "source_file=\"", "\"\n")) {
		text_printf(&out, ", %.*s", (int)n, value);
		if (find_value(&value, &n, rest, "source_line=", " }\n,"))
			text_printf(&out, ":%.*s", (int)n, value);
	}
	return text_take(&out, a);
}

/* Finds the array whose shards, cut by `from`, are of this extent. */
static void find_array(struct xla_warning *out, struct arena *a, struct array *shard,
                       const struct hlo *from)
{
	struct text text = {0};
	struct shape *shape = &shard->shape;

	if (from->manual && shape->rank < RANK_MAX) {
		memmove(shape->dim + 1, shape->dim,
		        (size_t)shape->rank * sizeof(*shape->dim));
		shape->dim[0] = 1;
		shape->rank++;
	}
	if (from->kind == HLO_TILED && from->tiling.rank - from->unreduced != shape->rank)
		return;
	for (int d = 0; d < shape->rank && from->kind == HLO_TILED; d++) {
		if (shape->dim[d] > ((int64_t)1 << 62) / from->tiling.tiles[d])
			return;
		shape->dim[d] *= from->tiling.tiles[d];
	}
	array_print(&text, shard);
	out->array = text_take(&text, a);
}

/* Does so where one of the shardings names the mesh. */
static void find_named_array(struct xla_warning *out, struct arena *a,
                             struct array *shard)
{
	struct error unread = {0};
	struct shape *shape = &shard->shape;
	struct text text = {0};
	struct layout from;
	struct mesh mesh;

	if (hlo_mesh(&mesh, a, out->from, out->from_at, out->to, out->to_at, 0,
	             &unread) != OK ||
	    layout_parse(&from, &mesh, shape, a, out->from, out->from_at, &unread) != OK)
		return;
	for (int d = 0; d < shape->rank; d++) {
		int64_t shards = layout_shards(&from, d);

		if (shape->dim[d] > ((int64_t)1 << 62) / shards)
			return;
		shape->dim[d] *= shards;
	}
	array_print(&text, shard);
	out->array = text_take(&text, a);
}

static void read_shard(struct xla_warning *out, struct arena *a, struct scan *s,
                       const struct hlo *from)
{
	struct error unread = {0};
	struct array shard;
	struct scan inner;
	const char *name;
	size_t length;

	if (!find_result(s, &name, &length))
		return;
	out->operation = operation_words(a, name, length, s->pos);
	scan_peek(s);
	inner = scan_start(s->pos, scan_where(s, s->pos), &unread);
	if (array_scan(&shard, &inner) != OK)
		return;
	out->shard = arena_strndup(a, s->pos, (size_t)(inner.pos - s->pos));
	out->array_at = inner.at;
	if (is_named(out->from) || is_named(out->to))
		find_named_array(out, a, &shard);
	else
		find_array(out, a, &shard, from);
}

enum status xla_warning_parse(struct xla_warning *out, struct arena *a,
                              const char *text, struct where at, struct error *e)
{
	static const char *const to_sharding[] = {"to", "sharding", NULL};
	static const char *const to[] = {"to", NULL};
	struct scan s = scan_start(text, at, e);
	struct hlo from, target;

	*out = (struct xla_warning){0};
	if (!find_start(&s))
		return error_set(
			e, E_SYNTAX, at,
			"no warning of XLA here, expected '... go from sharding "
			"{...} to {...} ...'");
	if (read_sharding(&from, &out->from, &out->from_at, a, &s) != OK)
		return e->code;
	if (!take_words(&s, to_sharding) && !take_words(&s, to))
		return scan_fail(&s, E_SYNTAX, "expected 'to {...}'");
	if (read_sharding(&target, &out->to, &out->to_at, a, &s) != OK)
		return e->code;
	if (!same_region(&from, &target, a))
		return error_set(e, E_TYPE, out->to_at,
		                 "expected the same manual devices as in the source's "
		                 "sharding");
	read_shard(out, a, &s, &from);
	if (from.manual) {
		out->manual = from.manual;
		out->from = led_text(&from, a);
		out->to = led_text(&target, a);
	}
	return OK;
}

/* --- all of a text ----------------------------------------------------------------- */

/* What a warning may begin with, if it stands at `s`. */
enum beginning { BEGINS_NOT, BEGINS_WARNING, BEGINS_SHARDINGS };

static enum beginning begins(struct scan *s)
{
	static const char *const warning[] = {"Involuntary", "full",
	                                      "rematerialization", NULL};
	static const char *const from[] = {"from", "sharding", NULL};
	bool inside = s->pos > s->text && isalnum((unsigned char)s->pos[-1]);

	if (inside || (*s->pos != 'I' && *s->pos != 'f'))
		return BEGINS_NOT;
	if (take_words(s, warning))
		return BEGINS_WARNING;
	return take_words(s, from) ? BEGINS_SHARDINGS : BEGINS_NOT;
}

/* Returns whether this line begins as entries of logs do: W1015 18:20:08, 2022-09-16 03:44. */
static bool is_entry(const char *line)
{
	bool letter = *line && strchr("IWEF", *line);
	int n = 0;

	while (isdigit((unsigned char)line[letter + n]))
		n++;
	return n == 4 && line[letter + n] == (letter ? ' ' : '-');
}

const char *xla_warnings_next(struct xla_warnings *w, struct where *at, struct arena *a)
{
	struct error unread = {0};
	struct scan s = scan_start(w->rest, w->at, &unread);
	const char *start = NULL;
	bool sharded = false;

	while (*s.pos) {
		const char *here = s.pos;
		enum beginning b = begins(&s);

		if (b == BEGINS_NOT) {
			s.pos++;
			if (*here == '\n' && start && is_entry(s.pos))
				break;
		} else if (!start) {
			start = here;
			sharded = b == BEGINS_SHARDINGS;
		} else if (b == BEGINS_WARNING || sharded) {
			s.pos = here;
			break;
		} else {
			sharded = true;
		}
	}
	if (!start)
		return NULL;
	*at = scan_where(&s, start);
	w->at = scan_where(&s, s.pos);
	w->rest = s.pos;
	return arena_strndup(a, start, (size_t)(s.pos - start));
}
