#include "notation/xla_warning.h"

#include "array/array.h"
#include "notation/hlo.h"

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

/* Reads `{...}`: its text and place, and its tile counts. */
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
	if (hlo_scan(out, 0, -1, a, &inner) != OK)
		return s->error->code;
	s->pos = end;
	return OK;
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
 * Moves behind " = " of an instruction after "HLO operation" or "for"; false if none.
 */
static bool find_result(struct scan *s)
{
	const char *equals;

	/* Another warning may follow this one. */
	for (equals = s->pos; (equals = strchr(equals, '=')); equals++) {
		const char *name = equals, *next = strstr(s->pos, "from sharding");

		if (next && next < equals)
			return false;
		while (name > s->pos && isspace((unsigned char)name[-1]))
			name--;
		if (name == equals || name == s->pos)
			continue;
		while (name > s->pos && !isspace((unsigned char)name[-1]))
			name--;
		if (*name != '%' && !isalpha((unsigned char)*name))
			continue;
		s->pos = equals + 1;
		return true;
	}
	return false;
}

/* Finds the array whose shards, cut by `from`, are of this extent. */
static void find_array(struct xla_warning *out, struct arena *a, struct array *shard,
                       const struct hlo *from)
{
	struct text text = {0};
	int rank = shard->shape.rank;

	if (from->kind == HLO_TILED && from->tiling.rank - from->unreduced != rank)
		return;
	for (int d = 0; d < rank && from->kind == HLO_TILED; d++) {
		if (shard->shape.dim[d] > ((int64_t)1 << 62) / from->tiling.tiles[d])
			return;
		shard->shape.dim[d] *= from->tiling.tiles[d];
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

	if (!find_result(s))
		return;
	scan_peek(s);
	inner = scan_start(s->pos, scan_where(s, s->pos), &unread);
	if (array_scan(&shard, &inner) != OK)
		return;
	out->shard = arena_strndup(a, s->pos, (size_t)(inner.pos - s->pos));
	out->array_at = inner.at;
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
	read_shard(out, a, &s, &from);
	return OK;
}
