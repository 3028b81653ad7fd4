#include "bound/box.h"

#include "base/list.h"
#include "base/table.h"

#include <math.h>

enum {
	BOXES_MAX = 4096,    /* of a family */
	KNOWN_MAX = 1 << 14, /* gates that are remembered for the problems asked later */
	LENGTHS_MAX = 1024   /* of one axis; of a longer one divisors alone */
};

/* Gates that took long to find. */
struct known {
	struct box box;
	struct gate in, out;
};

/* The lengths that runs of an axis have, rising, and where they begin. */
struct runs {
	int32_t n, *len;
	bool all;    /* at every place, else at multiples of the length */
	bool corner; /* at place 0 alone */
};

struct box_cuts {
	const struct machine *machine;
	const struct fabric *f;
	struct ports *ports;
	int fabric;
	const int32_t *at; /* devices by place of the domain */
	const int32_t *number;
	int32_t share, inner[TORUS_AXES_MAX];
	struct runs runs[TORUS_AXES_MAX];
	int32_t *device,
		*member; /* room for the devices of a box: platform's, problem's */
	/* Links along each axis are alike, as are both ways, and there is no more: */
	bool alike;
	struct gate link[TORUS_AXES_MAX];
	struct table table; /* of `known`, by box */
	LIST(struct known) known;
};

/* --- families --------------------------------------------------------------------- */

/* Returns how many runs of an axis begin somewhere. */
static int64_t count_runs(const struct box_cuts *c, int axis, bool all)
{
	int32_t size = c->f->shape[axis];
	int64_t n = 1;

	for (int32_t len = 1; len < size; len++) {
		if (all)
			n += c->f->wrap[axis] ? size : size - len + 1;
		else if (size % len == 0)
			n += size / len;
	}
	return n;
}

static int64_t count_boxes(const struct box_cuts *c, bool all)
{
	int64_t n = 1;

	for (int x = 0; x < c->f->naxes && n <= BOXES_MAX; x++) {
		if (all && c->f->shape[x] > LENGTHS_MAX)
			return BOXES_MAX + 1;
		n *= count_runs(c, x, all);
	}
	return n;
}

static void choose_family(struct box_cuts *c)
{
	bool all = count_boxes(c, true) <= BOXES_MAX;
	bool corner = !all && count_boxes(c, false) > BOXES_MAX;

	for (int x = 0; x < c->f->naxes; x++) {
		struct runs *r = &c->runs[x];
		int32_t size = c->f->shape[x];

		*r = (struct runs){.all = all, .corner = corner};
		r->len = xmalloc((size_t)size, sizeof(*r->len));
		for (int32_t len = 1; len <= size; len++)
			if (all || size % len == 0)
				r->len[r->n++] = len;
	}
}

/*
 * Moves a run of an axis on, to the next place where one of its length begins; returns
 * false where that was the last, and begins anew.
 */
static bool next_place(const struct box_cuts *c, struct box *b, int axis)
{
	const struct runs *r = &c->runs[axis];
	int32_t size = c->f->shape[axis], len = b->len[axis];
	int32_t last = r->corner || len == size     ? 0
	               : r->all && c->f->wrap[axis] ? size - 1
	                                            : size - len;

	b->lo[axis] += r->all ? 1 : len;
	if (b->lo[axis] <= last)
		return true;
	b->lo[axis] = 0;
	return false;
}

/* Makes the next box of the same lengths; returns false where there is none. */
static bool next_position(const struct box_cuts *c, struct box *b)
{
	for (int x = c->f->naxes - 1; x >= 0; x--)
		if (next_place(c, b, x))
			return true;
	return false;
}

/* Makes the next lengths, numbers `at` of those of each axis; false: there are none. */
static bool next_lengths(const struct box_cuts *c, struct box *b, int32_t *at)
{
	for (int x = c->f->naxes - 1; x >= 0; x--) {
		bool more = ++at[x] < c->runs[x].n;

		at[x] = more ? at[x] : 0;
		b->len[x] = c->runs[x].len[at[x]];
		if (more)
			return true;
	}
	return false;
}

/* Returns how many axes the box does not fill. */
static int open_axes(const struct box_cuts *c, const struct box *b)
{
	int n = 0;

	for (int x = 0; x < c->f->naxes; x++)
		n += b->len[x] < c->f->shape[x];
	return n;
}

static int32_t volume(const struct box_cuts *c, const struct box *b)
{
	int32_t n = 1;

	for (int x = 0; x < c->f->naxes; x++)
		n *= b->len[x];
	return n;
}

/* --- making ----------------------------------------------------------------------- */

/* Finds whether links along each axis are alike, both ways. */
static bool links_alike(struct box_cuts *c, struct axis_cuts *const *axis)
{
	if (c->machine->nfabrics > 1)
		return false;
	for (int x = 0; x < c->f->naxes; x++)
		if (axis[x] && !axis_cuts_link(&c->link[x], axis[x]))
			return false;
	return true;
}

struct box_cuts *box_cuts_make(const struct machine *m, struct ports *ports,
                               const int32_t *number, int fabric, int32_t domain,
                               struct axis_cuts *const *axis)
{
	const struct fabric *f = &m->fabric[fabric];
	size_t room = (size_t)fabric_places(f);
	struct box_cuts *c;
	int axes = 0;

	for (int x = 0; x < f->naxes; x++)
		axes += f->shape[x] > 1;
	if (axes < 2 || f->twist)
		return NULL;
	c = xmalloc(1, sizeof(*c));
	*c = (struct box_cuts){.machine = m,
	                       .f = f,
	                       .ports = ports,
	                       .fabric = fabric,
	                       .at = f->at + (int64_t)domain * fabric_places(f),
	                       .number = number,
	                       .share = f->share > 1 ? f->share : 1};
	for (int x = f->naxes - 1, inner = 1; x >= 0; x--) {
		c->inner[x] = inner;
		inner *= f->shape[x];
	}
	room *= (size_t)c->share;
	c->device = xmalloc(room, sizeof(*c->device));
	c->member = xmalloc(room, sizeof(*c->member));
	c->alike = links_alike(c, axis);
	choose_family(c);
	return c;
}

void box_cuts_free(struct box_cuts *c)
{
	if (!c)
		return;
	for (int x = 0; x < c->f->naxes; x++)
		xfree(c->runs[x].len);
	xfree(c->device);
	xfree(c->member);
	table_free(&c->table);
	xfree(c->known.at);
	xfree(c);
}

/* --- gates ------------------------------------------------------------------------ */

/* Lists the platform devices of a box, and returns their number. */
static int32_t list_devices(struct box_cuts *c, const struct box *b)
{
	int last = c->f->naxes - 1;
	int32_t at[TORUS_AXES_MAX] = {0}, n = 0, size = c->f->shape[last];

	for (int x = 0; x >= 0;) {
		int32_t line = 0;

		for (x = 0; x < last; x++)
			line += (b->lo[x] + at[x]) % c->f->shape[x] * c->inner[x];
		for (int32_t i = b->lo[last]; i < b->lo[last] + b->len[last]; i++) {
			int32_t device = c->at[line + (i < size ? i : i - size)];

			for (int32_t nth = 0; nth < c->share; nth++)
				c->device[n++] = device + nth;
		}
		for (x = last - 1; x >= 0 && ++at[x] == b->len[x]; x--)
			at[x] = 0;
	}
	return n;
}

/* Adds the links through the faces of a box across an axis. */
static void face_gates(struct gate *in, struct gate *out, const struct box_cuts *c,
                       const struct box *b, int axis, int32_t n)
{
	int32_t size = c->f->shape[axis], first = b->lo[axis];
	int32_t last = (first + b->len[axis] - 1) % size;

	for (int32_t i = 0; i < n; i += c->share) {
		int32_t d = c->device[i];
		int32_t place = c->f->place[d] / c->inner[axis] % size;

		if (place == first)
			ports_neighbour(in, out, c->ports, c->fabric, d, axis, -1);
		if (place == last)
			ports_neighbour(in, out, c->ports, c->fabric, d, axis, 1);
	}
}

/* Finds the gates of a box on all fabrics. */
static void find_gates(struct known *k, struct box_cuts *c)
{
	int32_t n = list_devices(c, &k->box);

	ports_gates(&k->in, &k->out, c->ports, c->device, n, c->fabric);
	for (int x = 0; x < c->f->naxes; x++)
		if (k->box.len[x] < c->f->shape[x])
			face_gates(&k->in, &k->out, c, &k->box, x, n);
}

/* Returns the gate, in or out, of a box where all links along an axis are alike. */
static struct gate alike_gate(const struct box_cuts *c, const struct box *b)
{
	struct gate gate = {.latency_s = INFINITY};
	int32_t places = volume(c, b);

	for (int x = 0; x < c->f->naxes; x++) {
		int32_t size = c->f->shape[x], len = b->len[x];
		int ends = c->f->wrap[x] ? 2 : (b->lo[x] > 0) + (b->lo[x] + len < size);

		if (len < size && ends && c->link[x].bandwidth_Bps > 0)
			gate_add(&gate, places / len * ends * c->link[x].bandwidth_Bps,
			         c->link[x].latency_s);
	}
	return gate;
}

static bool box_equal(const struct box_cuts *c, const struct box *a, const struct box *b)
{
	for (int x = 0; x < c->f->naxes; x++)
		if (a->lo[x] != b->lo[x] || a->len[x] != b->len[x])
			return false;
	return true;
}

static struct known gates(struct box_cuts *c, const struct box *b)
{
	struct known k = {.box = *b};
	uint64_t hash = 0;
	size_t at;

	if (c->alike) {
		k.in = k.out = alike_gate(c, b);
		return k;
	}
	for (int x = 0; x < c->f->naxes; x++)
		hash = (hash ^ (uint64_t)(b->lo[x] * 4096 + b->len[x])) *
		       0x9e3779b97f4a7c15;
	for (int32_t i = table_first(&c->table, hash, &at); i >= 0;
	     i = table_next(&c->table, hash, &at))
		if (box_equal(c, &c->known.at[i].box, b))
			return c->known.at[i];
	find_gates(&k, c);
	if (c->known.n < KNOWN_MAX) {
		table_add(&c->table, hash, (int32_t)c->known.n);
		*list_add(&c->known, NULL) = k;
	}
	return k;
}

/* --- a search --------------------------------------------------------------------- */

/* Lists those devices of a box that the problem has in `member`; returns their number. */
static int32_t list_members(struct box_cuts *c, const struct box *b)
{
	int32_t n = list_devices(c, b), members = 0;

	for (int32_t i = 0; i < n; i++)
		if (c->number[c->device[i]] >= 0)
			c->member[members++] = c->number[c->device[i]];
	return members;
}

/* Returns whether n devices may have a larger bound through these gates. */
static bool may_win(const struct bound_asked *q, double best_s, int32_t n,
                    const struct gate *in, const struct gate *out)
{
	int64_t come =
		most_elements(q->single.most_in, n, q->all - q->single.least_kept);

	return gate_s(in, come, q->bits) > best_s ||
	       gate_s(out, most_elements(q->have, n, q->all), q->bits) > best_s;
}

static void consider(struct box_bound *best, const struct box *b, bool in, double s)
{
	if (s > best->s)
		*best = (struct box_bound){s, *b, in};
}

/* Returns whether the box may have a larger bound through its gates, wherever it is. */
static bool box_may_win(const struct box_bound *best, const struct box_cuts *c,
                        const struct bound_asked *q, const struct box *b,
                        const struct known *k)
{
	int32_t n = volume(c, b) * c->share;

	return may_win(q, best->s, n < q->ndevices ? n : q->ndevices, &k->in, &k->out);
}

static void look_at(struct box_bound *best, struct box_cuts *c,
                    const struct bound_asked *q, const struct box *b,
                    const struct known *k)
{
	struct crossing crossing;
	int32_t n = list_members(c, b);

	if (n == 0 || n == q->ndevices)
		return;
	if (n < volume(c, b) * c->share && !may_win(q, best->s, n, &k->in, &k->out))
		return;
	crossing = cells_crossing(q->cells, c->member, n);
	consider(best, b, true, gate_s(&k->in, crossing.in, q->bits));
	consider(best, b, false, gate_s(&k->out, crossing.out, q->bits));
}

/* Returns whether the gates of a box of these lengths are the same wherever it is. */
static bool same_gates(const struct box_cuts *c, const struct box *b)
{
	for (int x = 0; x < c->f->naxes; x++)
		if (b->len[x] < c->f->shape[x] && !c->f->wrap[x])
			return false;
	return c->alike;
}

/*
 * Looks at the boxes of these lengths, from the one at place 0 on. Where links are alike it is
 * told without looking at each whether one may have a larger bound: where an axis ends, a box
 * at its end, as the first one is, has the fewest links.
 */
static void search_places(struct box_bound *best, struct box_cuts *c,
                          const struct bound_asked *q, struct box b)
{
	bool same = same_gates(c, &b);
	struct known k = gates(c, &b);

	if (c->alike && !box_may_win(best, c, q, &b, &k))
		return;
	do {
		if (!same)
			k = gates(c, &b);
		if (box_may_win(best, c, q, &b, &k))
			look_at(best, c, q, &b, &k);
		else if (same)
			return;
	} while (next_position(c, &b));
}

bool box_cuts_search(struct box_bound *best, struct box_cuts *c,
                     const struct bound_asked *asked)
{
	double before_s = best->s;
	int32_t at[TORUS_AXES_MAX] = {0};
	struct box b = {0};

	for (int x = 0; x < c->f->naxes; x++)
		b.len[x] = c->runs[x].len[0];
	do {
		if (open_axes(c, &b) >= 2)
			search_places(best, c, asked, b);
	} while (next_lengths(c, &b, at));
	return best->s > before_s;
}
