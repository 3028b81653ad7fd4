#include "price/shifts.h"

#include <string.h>

/* An axis that the members of a group count along; the lowest digit is that of the next member. */
struct digit {
	int axis;
	int32_t size, stride; /* stride: from one member to the next, along the axis */
	const struct link *link;
	/* [size + 1], by how many places on messages go: */
	double *busy_s_per_byte; /* on the busiest link of a line, for each byte of a message */
	double *route_s[2]; /* the longest route, where digits do not carry, and do; -1 */
};

struct box {
	const struct machine *m;
	const struct translates *t;
	const struct fabric *torus;
	const struct groups *few;
	struct arena *a;
	int n;
	struct digit digit[TORUS_AXES_MAX];
};

static int32_t place(const struct box *b, int32_t member, int axis)
{
	return translates_coordinate(b->t, b->few->ids[member], axis);
}

/* The link of all devices that have one along an axis; NULL: there is none, or its directions differ. */
static const struct link *link_along(const struct box *b, int axis)
{
	const struct link *found = NULL;

	for (int32_t d = 0; d < b->m->ndevices; d++)
		for (int way = 0; way < 2; way++) {
			int32_t at = ((int64_t)d * b->torus->naxes + axis) * 2 + way;
			const struct link *link =
				b->torus->port[at] < 0 ? NULL
						       : &b->m->link[b->torus->port[at]];

			if (link && found &&
			    (link->bandwidth_Bps != found->bandwidth_Bps ||
			     link->latency_s != found->latency_s))
				return NULL;
			found = link ? link : found;
		}
	return found;
}

/* Adds the digit above those that count `below` members; false: there is none. */
static bool add_digit(struct box *b, int32_t below)
{
	struct digit *d = &b->digit[b->n];
	int axis = 0;

	while (axis < b->torus->naxes && place(b, below, axis) == place(b, 0, axis))
		axis++;
	for (int i = 0; i < b->n; i++)
		if (b->digit[i].axis == axis)
			return false;
	if (axis == b->torus->naxes)
		return false;
	*d = (struct digit){.axis = axis, .size = 1, .link = link_along(b, axis)};
	d->stride = place(b, below, axis) - place(b, 0, axis);
	while ((int64_t)below * d->size < b->few->size &&
	       place(b, below * d->size, axis) == place(b, 0, axis) + d->stride * d->size)
		d->size++;
	b->n++;
	return d->link;
}

/* Whether all members of the first group are where their digits say. */
static bool counts_up(struct box *b)
{
	int32_t n = 1;

	for (; n < b->few->size; n *= b->digit[b->n - 1].size)
		if (!add_digit(b, n))
			return false;
	for (int32_t i = 0; i < b->few->size && n == b->few->size; i++) {
		int32_t at[TORUS_AXES_MAX], rest = i;

		for (int axis = 0; axis < b->torus->naxes; axis++)
			at[axis] = place(b, 0, axis);
		for (int k = 0; k < b->n; k++) {
			at[b->digit[k].axis] +=
				rest % b->digit[k].size * b->digit[k].stride;
			rest /= b->digit[k].size;
		}
		for (int axis = 0; axis < b->torus->naxes; axis++)
			if (at[axis] != place(b, i, axis))
				return false;
	}
	return n == b->few->size;
}

/* Whether a group has the lines of an axis in common with the first one. */
static bool shares_lines(const struct box *b, int32_t group, int axis)
{
	for (int i = 0; i < b->torus->naxes; i++)
		if (i != axis && place(b, group * b->few->size, i) != place(b, 0, i))
			return false;
	return true;
}

/* Puts the messages of one group on a line, each `on` places on; notes the longest routes. */
static void load_line(const struct box *b, const struct digit *d, int32_t first,
                      int32_t on, int32_t *load)
{
	int32_t length = b->torus->shape[d->axis];

	for (int32_t i = 0; i < d->size; i++) {
		int32_t at = first + i * d->stride;
		int32_t to = first + (i + on) % d->size * d->stride;
		int dir = 1, hops = fabric_hops(b->torus, d->axis, at, to, &dir);
		double *route_s = &d->route_s[i + on >= d->size][on];

		if (hops * d->link->latency_s > *route_s)
			*route_s = hops * d->link->latency_s;
		for (; hops > 0; hops--) {
			load[2 * at + (dir < 0)]++;
			at = (at + dir + length) % length;
		}
	}
}

static void fill_digit(struct box *b, struct digit *d)
{
	size_t links = 2 * (size_t)b->torus->shape[d->axis];
	int32_t *load = arena_alloc(b->a, links, sizeof(*load));

	d->busy_s_per_byte = arena_alloc(b->a, (size_t)d->size + 1, sizeof(double));
	for (int k = 0; k < 2; k++)
		d->route_s[k] = arena_alloc(b->a, (size_t)d->size + 1, sizeof(double));
	for (int32_t on = 0; on <= d->size; on++) {
		int32_t most = 0;

		memset(load, 0, links * sizeof(*load));
		d->route_s[0][on] = d->route_s[1][on] = -1;
		for (int32_t g = 0; g < b->few->ngroups; g++)
			if (shares_lines(b, g, d->axis))
				load_line(b, d, place(b, g * b->few->size, d->axis), on,
				          load);
		for (size_t i = 0; i < links; i++)
			most = load[i] > most ? load[i] : most;
		d->busy_s_per_byte[on] = most / d->link->bandwidth_Bps;
	}
}

/* Adds the round in which members send to the k-th behind them. */
static void add_round(struct shifts *out, const struct box *b, int32_t k)
{
	double busy = 0, route_s[2] = {0, -1};
	bool carries = false;

	for (int i = 0; i < b->n; i++) {
		const struct digit *d = &b->digit[i];
		int32_t on = k % d->size;
		double next_s[2] = {-1, -1};

		for (int c = 0; c <= carries; c++) {
			if (d->busy_s_per_byte[on + c] > busy)
				busy = d->busy_s_per_byte[on + c];
			for (int to = 0; to < 2; to++) {
				double s = route_s[c] + d->route_s[to][on + c];

				if (route_s[c] >= 0 && d->route_s[to][on + c] >= 0 &&
				    s > next_s[to])
					next_s[to] = s;
			}
		}
		memcpy(route_s, next_s, sizeof(next_s));
		carries |= on > 0;
		k /= d->size;
	}
	out->s += route_s[0] > route_s[1] ? route_s[0] : route_s[1];
	out->s_per_byte += busy / b->few->size;
}

bool shifts_find(struct shifts *out, const struct machine *m,
                 const struct translates *t, const struct groups *few)
{
	struct box b = {.m = m,
	                .t = t,
	                .torus = translates_torus(t),
	                .few = few,
	                .a = arena_new()};
	bool found = b.torus->share == 1 && counts_up(&b);

	*out = (struct shifts){0, 0};
	for (int i = 0; i < b.n && found; i++)
		fill_digit(&b, &b.digit[i]);
	for (int32_t k = 1; k < few->size && found; k++)
		add_round(out, &b, k);
	arena_free(b.a);
	return found;
}
