/* Windows of few elements of an array, far from the tiles that devices have. */
#include "program/partition/row.h"

#include <string.h>

/* Where a piece comes from besides a permute. */
enum { FROM_OWN = -1, FROM_OUTSIDE = -2 };

/* A piece of a tile's window that is of one tile. */
struct piece {
	int64_t start, end; /* in the tile that it is of */
	int64_t tile;       /* outside of the array: -1 */
	int64_t at;         /* in the window */
	int32_t by;         /* which permute brings it */
};

/* What a permute brings: the same part of all tiles that are sent. */
struct sent {
	int32_t value;
	int64_t start, end;
};

struct far {
	const struct row *r;
	struct arena *a;
	int64_t most;        /* pieces of a window at most */
	struct piece *piece; /* [tiles x most] */
	int64_t *n;          /* [tiles] */
	LIST(struct sent) sent;
};

/* Elements in front of the array are pieces, too, so that those behind them have their place. */
static void list_pieces(struct far *f, const struct halo *h)
{
	const struct row *r = f->r;

	for (int64_t i = 0; i < r->n; i++) {
		int64_t first = h->first + i * h->step, end = first + h->size, next;

		end = end < r->n * r->size ? end : r->n * r->size;
		for (int64_t from = first; from < end; from = next) {
			struct piece *p = &f->piece[i * f->most + f->n[i]++];
			int64_t in = (from % r->size + r->size) % r->size;

			next = from + r->size - in < end ? from + r->size - in : end;
			*p = (struct piece){in, in + next - from, -1, from - first,
			                    FROM_OUTSIDE};
			if (from < 0)
				continue;
			p->tile = from / r->size;
			p->by = FROM_OWN;
		}
	}
}

/* The pieces of a tile that others need, those first that come first in their windows. */
static int64_t list_users(const struct far *f, int64_t tile, int64_t *user)
{
	int64_t n = 0;

	for (int64_t k = 0; k < f->r->n * f->most; k++) {
		int64_t to = k / f->most, at = n;

		if (k % f->most >= f->n[to] || f->piece[k].tile != tile || to == tile)
			continue;
		while (at > 0 && f->piece[user[at - 1]].at > f->piece[k].at) {
			user[at] = user[at - 1];
			at--;
		}
		user[at] = k;
		n++;
	}
	return n;
}

/* Whether a piece at one end of a tile would make a permute of what is at the other end long. */
static bool stretches(const struct far *f, const struct sent *s, const struct piece *p)
{
	return (s->start > p->end && s->end == f->r->size && p->start == 0) ||
	       (s->end < p->start && s->start == 0 && p->end == f->r->size);
}

/*
 * Sends all pieces by permutes, in each of which a tile is sent once and received once. What does
 * not go with those before it in one waits for the next.
 */
static void send_pieces(struct far *f)
{
	const struct row *r = f->r;
	size_t all = (size_t)(r->n * f->most);
	int64_t *user = arena_alloc(f->a, (size_t)r->n * all, sizeof(*user));
	int64_t *n = arena_alloc(f->a, (size_t)r->n, sizeof(*n));
	int64_t *next = arena_alloc(f->a, (size_t)r->n, sizeof(*next));
	int64_t *from = arena_alloc(f->a, (size_t)r->n, sizeof(*from)), left = 0;

	for (int64_t i = 0; i < r->n; i++)
		left += n[i] = list_users(f, i, user + (size_t)i * all);
	while (left > 0) {
		struct sent s = {-1, r->size, 0};
		bool any = false;

		for (int64_t i = 0; i < r->n; i++)
			from[i] = -1;
		for (int64_t i = 0; i < r->n; i++) {
			int64_t k = next[i] < n[i]
			                    ? user[(size_t)i * all + (size_t)next[i]]
			                    : -1;
			struct piece *p = k >= 0 ? &f->piece[k] : NULL;

			if (!p || from[k / f->most] >= 0 || (any && stretches(f, &s, p)))
				continue;
			any = true;
			from[k / f->most] = i;
			p->by = (int32_t)f->sent.n;
			s.start = p->start < s.start ? p->start : s.start;
			s.end = p->end > s.end ? p->end : s.end;
			next[i]++;
			left--;
		}
		s.value = row_permute(r, row_cut(r, r->value, s.start, s.end), from);
		*list_add(&f->sent, f->a) = s;
	}
}

/* The k-th pieces of all windows while they are put together: of what range of what value. */
struct slot {
	int64_t size;  /* of the longest value */
	int64_t start; /* where that of the devices' own tiles begins */
};

static const struct piece *piece_of(const struct far *f, int64_t tile, int64_t k)
{
	return k < f->n[tile] ? &f->piece[tile * f->most + k] : NULL;
}

static struct slot slot_of(const struct far *f, int64_t k)
{
	struct slot s = {0, f->r->size};
	int64_t end = 0;

	for (int64_t i = 0; i < f->r->n; i++) {
		const struct piece *p = piece_of(f, i, k);
		int64_t size;

		if (!p)
			continue;
		size = p->end - p->start;
		if (p->by >= 0)
			size = f->sent.at[p->by].end - f->sent.at[p->by].start;
		if (p->by == FROM_OWN) {
			s.start = p->start < s.start ? p->start : s.start;
			end = p->end > end ? p->end : end;
			size = end - s.start;
		}
		s.size = size > s.size ? size : s.size;
	}
	s.start = end - s.size > 0 ? end - s.size : 0;
	return s;
}

/* A value as long as its slot: the first one of a window ends where the slot does. */
static int32_t fill_slot(const struct far *f, int32_t value, int64_t size,
                         const struct slot *s, bool first)
{
	int32_t piece[2] = {value, value};

	if (size == s->size)
		return value;
	piece[first ? 0 : 1] = row_nothing(f->r, s->size - size);
	return row_join(f->r, piece, 2, s->size);
}

/* What each device has in a slot. */
static int32_t choose(const struct far *f, const struct slot *s, int64_t k)
{
	const struct row *r = f->r;
	struct split *b = r->b;
	int64_t *which = arena_alloc(f->a, (size_t)b->s->mesh.ndevices, sizeof(*which));
	int32_t chosen = -1;

	for (int32_t by = FROM_OWN; by < f->sent.n; by++) {
		const struct sent *sent = by >= 0 ? &f->sent.at[by] : NULL;
		bool used = false;
		int32_t in[3];

		for (int32_t d = 0; d < b->s->mesh.ndevices; d++) {
			const struct piece *p = piece_of(f, r->tile[d], k);

			which[d] = p && p->by == by;
			used |= which[d];
		}
		if (!used)
			continue;
		in[1] = sent ? fill_slot(f, sent->value, sent->end - sent->start, s, !k)
		             : row_cut(r, r->value, s->start, s->start + s->size);
		if (chosen >= 0) {
			const struct value_type t = row_type(r, r->value, s->size);
			struct value_type at = t;

			at.dtype = dtype_find("s32", 3);
			in[0] = split_spread(b, r->like, split_table(b, r->like, which),
			                     &at);
			in[0] = split_inside(b, r->like, in[0], 1, 2);
			in[2] = chosen;
			in[1] = split_made(b, r->like, HLO_SELECT, &t, in, 3);
		}
		chosen = in[1];
	}
	return chosen >= 0 ? chosen : row_nothing(r, s->size);
}

/* Where the window of each device begins in what is put together. */
static int32_t places(const struct far *f, const struct slot *first, int64_t size,
                      int64_t *end)
{
	const struct row *r = f->r;
	int32_t n = r->b->s->mesh.ndevices;
	int64_t *at = arena_alloc(f->a, (size_t)n, sizeof(*at));

	for (int32_t d = 0; d < n; d++) {
		const struct piece *p = piece_of(f, r->tile[d], 0);

		if (p && p->by >= 0)
			at[d] = p->start - f->sent.at[p->by].end + first->size;
		else if (p && p->by == FROM_OWN)
			at[d] = p->start - first->start;
		else if (p)
			at[d] = first->size - (p->end - p->start);
		*end = at[d] + size > *end ? at[d] + size : *end;
	}
	return split_table(r->b, r->like, at);
}

int32_t row_far(const struct row *r, const struct halo *h)
{
	struct far f = {.r = r, .a = r->b->a, .most = h->size / r->size + 2};
	struct slot first = {0, 0}, s;
	int32_t *piece, place, n = 0;
	int64_t end = 0, whole;

	f.piece = arena_alloc(f.a, (size_t)(r->n * f.most), sizeof(*f.piece));
	f.n = arena_alloc(f.a, (size_t)r->n, sizeof(*f.n));
	piece = arena_alloc(f.a, (size_t)f.most + 1, sizeof(*piece));
	list_pieces(&f, h);
	send_pieces(&f);
	for (int64_t k = 0; k < f.most; k++) {
		s = slot_of(&f, k);
		if (!s.size)
			break;
		first = k ? first : s;
		piece[n++] = choose(&f, &s, k);
		end += s.size;
	}
	whole = end;
	place = places(&f, &first, h->size, &end);
	if (end > whole)
		piece[n++] = row_nothing(r, end - whole);
	return row_from(r, row_join(r, piece, n, end), place, h->size);
}
