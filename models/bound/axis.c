#include "bound/axis.h"

#include "base/list.h"
#include "base/table.h"

#include <stdlib.h>

/* No more gates than this are remembered for the problems that are asked later. */
enum { KNOWN_MAX = 1 << 16 };

/* Gates that took long to find, of cut number `order`. */
struct known {
	int64_t order;
	struct gate in, out;
};

struct axis_cuts {
	const struct machine *machine;
	const struct fabric *f;
	struct ports *ports;
	int fabric, axis;
	const int32_t *at; /* devices by place of the domain */
	int32_t size, lines, inner;
	int32_t *first,
		*device; /* the problem's at place c: device[first[c]..first[c + 1]) */
	int32_t crowd;   /* most of them at one place */
	int32_t *member; /* room for the platform devices of a set */
	/* Links along the axis are alike, so that these are the gates through them: */
	bool alike;
	struct gate link, own_in, own_out;
	struct table table; /* of `known`, by order */
	LIST(struct known) known;
};

/* --- places ----------------------------------------------------------------------- */

/* Returns the first of the devices that share the port at place c of a line. */
static int32_t device_at(const struct axis_cuts *c, int32_t place, int32_t line)
{
	int32_t outer = line / c->inner * c->size + place % c->size;

	return c->at[outer * c->inner + line % c->inner];
}

static int32_t share(const struct axis_cuts *c)
{
	return c->f->share > 1 ? c->f->share : 1;
}

static void list_devices(struct axis_cuts *c, const int32_t *number)
{
	int32_t n = 0;

	c->first = xmalloc((size_t)c->size + 1, sizeof(*c->first));
	c->device = xmalloc((size_t)c->size * (size_t)c->lines * (size_t)share(c),
	                    sizeof(*c->device));
	for (int32_t place = 0; place < c->size; place++) {
		c->first[place] = n;
		for (int32_t line = 0; line < c->lines; line++)
			for (int32_t nth = 0; nth < share(c); nth++) {
				int32_t d = device_at(c, place, line) + nth;

				if (number[d] >= 0)
					c->device[n++] = number[d];
			}
		if (n - c->first[place] > c->crowd)
			c->crowd = n - c->first[place];
	}
	c->first[c->size] = n;
}

/* Returns how many devices of the problem are at the places [lo, hi). */
static int32_t count_devices(const struct axis_cuts *c, int32_t lo, int32_t hi)
{
	return hi <= c->size ? c->first[hi] - c->first[lo]
	                     : c->first[c->size] - c->first[lo] + c->first[hi - c->size];
}

/* --- gates ------------------------------------------------------------------------ */

/* Adds the links along the axis out of the places [lo, hi) and into them. */
static void own_gates(struct gate *in, struct gate *out, const struct axis_cuts *c,
                      int32_t lo, int32_t hi)
{
	for (int32_t line = 0; line < c->lines; line++) {
		ports_neighbour(in, out, c->ports, c->fabric, device_at(c, lo, line),
		                c->axis, -1);
		ports_neighbour(in, out, c->ports, c->fabric,
		                device_at(c, hi - 1, line), c->axis, 1);
	}
}

static bool gate_equal(const struct gate *a, const struct gate *b)
{
	return a->bandwidth_Bps == b->bandwidth_Bps && a->latency_s == b->latency_s;
}

/* Returns whether all links between neighbours are alike, both ways, and stores one. */
static bool links_alike(struct gate *first, const struct axis_cuts *c)
{

	for (int32_t place = 0; place < c->size - !c->f->wrap[c->axis]; place++)
		for (int32_t line = 0; line < c->lines; line++) {
			struct gate in = {.latency_s = INFINITY}, out = in;

			ports_neighbour(&in, &out, c->ports, c->fabric,
			                device_at(c, place, line), c->axis, 1);
			if (place == 0 && line == 0)
				*first = in;
			if (!gate_equal(&in, first) || !gate_equal(&out, first))
				return false;
		}
	return true;
}

struct axis_cuts *axis_cuts_make(const struct machine *m, struct ports *ports,
                                 const int32_t *number, int fabric, int32_t domain,
                                 int axis)
{
	const struct fabric *f = &m->fabric[fabric];
	struct axis_cuts *c = xmalloc(1, sizeof(*c));

	*c = (struct axis_cuts){.machine = m,
	                        .f = f,
	                        .ports = ports,
	                        .fabric = fabric,
	                        .axis = axis,
	                        .at = f->at + (int64_t)domain * fabric_places(f),
	                        .size = f->shape[axis],
	                        .inner = 1};
	for (int a = f->naxes - 1; a > axis; a--)
		c->inner *= f->shape[a];
	c->lines = fabric_places(f) / c->size;
	list_devices(c, number);
	/* other axes of a twisted torus lead out of the places as well */
	c->alike = c->size > 1 && f->twist == 0 && links_alike(&c->link, c);
	c->own_in = c->own_out = (struct gate){.latency_s = INFINITY};
	if (c->alike)
		own_gates(&c->own_in, &c->own_out, c, 0, 1);
	return c;
}

void axis_cuts_free(struct axis_cuts *c)
{
	xfree(c->first);
	xfree(c->device);
	xfree(c->member);
	table_free(&c->table);
	xfree(c->known.at);
	xfree(c);
}

bool axis_cuts_link(struct gate *link, const struct axis_cuts *c)
{
	*link = c->link;
	return c->alike;
}

/* Finds the gates of the places [lo, hi) on all fabrics. */
static void find_gates(struct known *k, struct axis_cuts *c, int32_t lo, int32_t hi)
{
	int32_t n = 0;

	if (!c->member)
		c->member =
			xmalloc((size_t)c->size * (size_t)c->lines * (size_t)share(c),
		                sizeof(*c->member));
	for (int32_t place = lo; place < hi; place++)
		for (int32_t line = 0; line < c->lines; line++)
			for (int32_t nth = 0; nth < share(c); nth++)
				c->member[n++] = device_at(c, place, line) + nth;
	ports_gates(&k->in, &k->out, c->ports, c->member, n,
	            c->f->twist ? -1 : c->fabric);
	if (!c->f->twist)
		own_gates(&k->in, &k->out, c, lo, hi);
}

/*
 * Returns the gates through links along the axis where these are alike: of a run at an
 * end of the axis, where it has one, and twice as much of one between.
 */
static struct known alike_gates(const struct axis_cuts *c, bool between)
{
	struct known k = {.in = c->own_in, .out = c->own_out};

	if (between) {
		k.in.bandwidth_Bps *= 2;
		k.out.bandwidth_Bps *= 2;
	}
	return k;
}

/* Returns whether a run ends at no end of its axis, though this has ends. */
static bool is_between(const struct axis_cuts *c, int32_t lo, int32_t hi)
{
	return !c->f->wrap[c->axis] && lo > 0 && hi < c->size;
}

/* Returns the gates of cut number `order`, the places [lo, hi). */
static struct known gates(struct axis_cuts *c, int64_t order, int32_t lo, int32_t hi)
{
	struct known k = alike_gates(c, is_between(c, lo, hi));
	uint64_t hash = (uint64_t)order * 0x9e3779b97f4a7c15;
	size_t at;

	k.order = order;
	if (c->alike && c->machine->nfabrics == 1)
		return k;
	for (int32_t i = table_first(&c->table, hash, &at); i >= 0;
	     i = table_next(&c->table, hash, &at))
		if (c->known.at[i].order == order)
			return c->known.at[i];
	find_gates(&k, c, lo, hi);
	if (c->known.n < KNOWN_MAX) {
		table_add(&c->table, hash, (int32_t)c->known.n);
		*list_add(&c->known, NULL) = k;
	}
	return k;
}

/* --- a search --------------------------------------------------------------------- */

struct search {
	struct axis_cuts *cuts;
	const struct bound_asked *asked;
	int64_t none_in, none_out; /* elements that cross for no set */
	int64_t most_in;           /* that come into one place, at most */
	int32_t lo, hi; /* the places whose devices are in the set of cells */
	struct axis_bound best;
	int64_t order; /* of the best: twice its cut's number, 1 more for out; -1: before */
};

static void put_place(struct search *s, int32_t place)
{
	const struct axis_cuts *c = s->cuts;
	int32_t at = place % c->size;

	for (int32_t i = c->first[at]; i < c->first[at + 1]; i++)
		cells_put(s->asked->cells, c->device[i]);
}

static void take_place(struct search *s, int32_t place)
{
	const struct axis_cuts *c = s->cuts;
	int32_t at = place % c->size;

	for (int32_t i = c->first[at]; i < c->first[at + 1]; i++)
		cells_take(s->asked->cells, c->device[i]);
}

/* Makes the set of cells that of the devices at the places [lo, hi). */
static void move_to(struct search *s, int32_t lo, int32_t hi)
{
	if (abs(lo - s->lo) + abs(hi - s->hi) >= hi - lo) {
		cells_clear(s->asked->cells);
		s->lo = s->hi = lo;
	}
	while (s->hi < hi)
		put_place(s, s->hi++);
	while (s->lo > lo)
		put_place(s, --s->lo);
	while (s->lo < lo)
		take_place(s, s->lo++);
	while (s->hi > hi)
		take_place(s, --s->hi);
}

/* Finds what single places say of all sets. */
static void look_at_places(struct search *s)
{
	const struct axis_cuts *c = s->cuts;
	int64_t all = s->asked->all;

	s->none_in = s->none_out = all;
	for (int32_t place = 0; place < c->size; place++) {
		struct crossing cross, kept;

		if (c->first[place] == c->first[place + 1])
			continue;
		move_to(s, place, place + 1);
		cross = cells_cross(s->asked->cells);
		kept = cells_kept(s->asked->cells);
		s->none_in = kept.in < s->none_in ? kept.in : s->none_in;
		s->none_out = kept.out < s->none_out ? kept.out : s->none_out;
		s->most_in = cross.in > s->most_in ? cross.in : s->most_in;
	}
}

/* Returns whether a bound of so many seconds would be the best. */
static bool wins(const struct search *s, double time_s, int64_t order)
{
	return time_s > s->best.s || (time_s == s->best.s && order < s->order);
}

/*
 * Returns whether a set of n devices at `places` places can have the best bound through
 * these gates, if no cut before number `order` can. What comes in is no more than what
 * comes into its places one by one; of the array neither what some place of it holds comes
 * in, nor goes out what only one of them wants.
 */
static bool may_win(const struct search *s, int32_t places, int32_t n, int64_t order,
                    const struct gate *in, const struct gate *out)
{
	const struct bound_asked *q = s->asked;
	int64_t come = most_elements(q->want, n, q->all - s->none_in);
	int64_t go = most_elements(q->have, n, q->all - s->none_out);

	come = most_elements(s->most_in, places, come);
	return wins(s, gate_s(in, come, q->bits), 2 * order) ||
	       wins(s, gate_s(out, go, q->bits), 2 * order + 1);
}

static void consider(struct search *s, int32_t lo, int32_t hi, int64_t order, bool in,
                     double time_s)
{
	order = 2 * order + !in;
	if (!wins(s, time_s, order))
		return;
	s->best = (struct axis_bound){time_s, lo, hi, in};
	s->order = order;
}

/* Looks at one cut, the places [lo, hi). */
static void look_at(struct search *s, int32_t lo, int32_t hi, int64_t order)
{
	struct axis_cuts *c = s->cuts;
	int32_t n = count_devices(c, lo, hi);
	struct known k = alike_gates(c, is_between(c, lo, hi));
	struct crossing crossing;

	if (n == 0 || n == s->asked->ndevices)
		return;
	if (c->alike && c->own_in.bandwidth_Bps > 0 &&
	    !may_win(s, hi - lo, n, order, &k.in, &k.out))
		return;
	k = gates(c, order, lo, hi);
	if (!may_win(s, hi - lo, n, order, &k.in, &k.out))
		return;
	move_to(s, lo, hi);
	crossing = cells_cross(s->asked->cells);
	consider(s, lo, hi, order, true, gate_s(&k.in, crossing.in, s->asked->bits));
	consider(s, lo, hi, order, false, gate_s(&k.out, crossing.out, s->asked->bits));
}

/* Returns whether some set of `places` places may have the best bound. */
static bool length_may_win(const struct search *s, int32_t places, int64_t order,
                           bool between)
{
	const struct axis_cuts *c = s->cuts;
	struct known k = alike_gates(c, between);
	int64_t n = (int64_t)places * c->crowd;

	if (n > s->asked->ndevices)
		n = s->asked->ndevices;
	return !c->alike || c->own_in.bandwidth_Bps == 0 ||
	       (n > 0 && may_win(s, places, (int32_t)n, order, &k.in, &k.out));
}

/*
 * Looks at all runs of up to half of the places of an axis that wraps, the longest first,
 * for these have the largest bounds where much crosses.
 */
static void look_at_runs(struct search *s)
{
	int32_t size = s->cuts->size;

	for (int32_t n = size / 2; n > 0; n--) {
		int64_t order = (int64_t)(n - 1) * size;

		if (!length_may_win(s, n, order, false))
			continue;
		for (int32_t lo = 0; lo < (2 * n == size ? n : size); lo++)
			look_at(s, lo, lo + n, order + lo);
	}
}

/*
 * Looks at both sides of all places where an axis that does not wrap can be cut: the
 * smaller stands for both, for what goes into it comes out of the other.
 */
static void look_at_ends(struct search *s)
{
	int32_t size = s->cuts->size;

	for (int32_t cut = size / 2; cut > 0; cut--)
		if (length_may_win(s, cut, cut, false))
			look_at(s, 0, cut, cut);
	for (int32_t cut = size / 2 + 1; cut < size; cut++)
		if (length_may_win(s, size - cut, cut, false))
			look_at(s, cut, size, cut);
}

/*
 * Looks at all runs that end at no end of an axis: these say more than the cuts on either
 * side where what they lack is held on both.
 */
static void look_between(struct search *s)
{
	int32_t size = s->cuts->size;

	for (int32_t n = size - 2; n > 0; n--) {
		int64_t order = (int64_t)n * size;

		if (!length_may_win(s, n, order, true))
			continue;
		for (int32_t lo = 1; lo + n < size; lo++)
			look_at(s, lo, lo + n, order + lo);
	}
}

bool axis_cuts_search(struct axis_bound *best, struct axis_cuts *c,
                      const struct bound_asked *asked)
{
	struct search s = {.cuts = c,
	                   .asked = asked,
	                   .most_in = asked->all,
	                   .best = *best,
	                   .order = -1};

	if (!length_may_win(&s, c->size / 2, 0, false) &&
	    (c->f->wrap[c->axis] || !length_may_win(&s, c->size - 2, 0, true)))
		return false;
	cells_clear(asked->cells);
	s.most_in = 0;
	look_at_places(&s);
	if (c->f->wrap[c->axis]) {
		look_at_runs(&s);
	} else {
		look_at_ends(&s);
		look_between(&s);
	}
	*best = s.best;
	return s.order >= 0;
}
