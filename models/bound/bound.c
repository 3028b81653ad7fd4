#include "bound/bound.h"

#include "base/assert.h"
#include "base/list.h"
#include "bound/axis.h"
#include "bound/box.h"
#include "bound/cells.h"
#include "bound/ports.h"
#include "bound/sums.h"
#include "collective/local.h"

#include <stdlib.h>

/* Sets of domains less a device are looked at on machines of at most so many devices. */
enum { LESS_MAX = 1024 };

/* A set of devices, as it is named. */
struct cut {
	enum { CUT_DEVICE, CUT_DOMAIN, CUT_LESS, CUT_AXIS, CUT_BOX, CUT_SUMS } kind;
	int32_t number; /* the platform device, also that is left out, or the domain */
	int fabric, axis;
	int32_t lo, hi; /* of an axis: the places [lo, hi), mod its length */
	struct box box;
	bool in;
};

/*
 * A set of devices, and what can pass into and out of it; `n` of its members are the
 * problem's.
 */
struct set {
	struct cut cut;
	int32_t n;
	struct gate in, out;
};

/* The cuts of an axis. */
struct line_cuts {
	struct cut cut; /* which axis */
	struct axis_cuts *cuts;
};

/* The boxes of a domain of a torus. */
struct boxes {
	struct cut cut; /* which domain */
	struct box_cuts *cuts;
};

struct bounds {
	const struct machine *machine;
	int32_t ndevices; /* the problem's */
	struct arena *arena;
	struct ports *ports;
	int32_t *number;  /* [machine devices] the problem's, -1 for none */
	int32_t *members; /* [problem devices] those of them that the problem has */
	int32_t *less;    /* [machine devices] room for a domain less a device */
	LIST(struct set) sets;
	LIST(struct line_cuts) axes;
	LIST(struct boxes) boxes;
	struct sums *sums;
};

/* --- the sets --------------------------------------------------------------------- */

/* Lists the devices of a domain less one in `less`, and returns their number. */
static int32_t list_less(struct bounds *b, int fabric, int32_t without)
{
	int32_t n, rest = 0;
	const int32_t *device = ports_domain(
		&n, b->ports, fabric, b->machine->fabric[fabric].domain[without]);

	for (int32_t i = 0; i < n; i++)
		if (device[i] != without)
			b->less[rest++] = device[i];
	return rest;
}

/* Returns the devices of a set that is no cut of an axis and stores their number in *n. */
static const int32_t *list_devices(int32_t *n, struct bounds *b, const struct cut *cut)
{
	*n = 1;
	if (cut->kind == CUT_DEVICE)
		return &cut->number;
	if (cut->kind == CUT_DOMAIN)
		return ports_domain(n, b->ports, cut->fabric, cut->number);
	*n = list_less(b, cut->fabric, cut->number);
	return b->less;
}

/*
 * Lists those devices of a set that the problem has in `members`, and returns their
 * number.
 */
static int32_t list_members(struct bounds *b, const struct cut *cut)
{
	int32_t n, nmembers = 0;
	const int32_t *device = list_devices(&n, b, cut);

	for (int32_t i = 0; i < n; i++)
		if (b->number[device[i]] >= 0)
			b->members[nmembers++] = b->number[device[i]];
	return nmembers;
}

/* Adds a set whose gates are known, unless nothing can cross them. */
static void add_set(struct bounds *b, const struct cut *cut, const struct gate *in,
                    const struct gate *out)
{
	int32_t n = list_members(b, cut);

	if (n == 0 || n == b->ndevices)
		return;
	*list_add(&b->sets, NULL) = (struct set){*cut, n, *in, *out};
}

static void cut_devices(struct bounds *b)
{
	for (int32_t d = 0; d < b->machine->ndevices; d++) {
		struct cut cut = {.kind = CUT_DEVICE, .number = d};
		struct gate in, out;

		if (b->number[d] < 0)
			continue;
		ports_gates(&in, &out, b->ports, &d, 1, -1);
		add_set(b, &cut, &in, &out);
	}
}

/* Adds every domain of a fabric that has more than one device. */
static void cut_domains(struct bounds *b, int fabric)
{
	const struct machine *m = b->machine;

	for (int32_t j = 0; j < m->fabric[fabric].ndomains; j++) {
		struct cut cut = {.kind = CUT_DOMAIN, .number = j, .fabric = fabric};
		int32_t n;
		const int32_t *device = ports_domain(&n, b->ports, fabric, j);
		struct gate in, out;

		if (n < 2 || n == m->ndevices)
			continue;
		ports_gates(&in, &out, b->ports, device, n, fabric);
		add_set(b, &cut, &in, &out);
	}
}

/*
 * Adds every domain of a fabric less a device of the problem, where other fabrics join
 * domains: what its fellows have to get from it or from elsewhere.
 */
static void cut_less(struct bounds *b, int fabric)
{
	const struct machine *m = b->machine;
	const struct fabric *f = &m->fabric[fabric];

	if (f->naxes || f->ndomains < 2 || m->ndevices > LESS_MAX)
		return;
	for (int32_t d = 0; d < m->ndevices; d++) {
		struct cut cut = {.kind = CUT_LESS, .number = d, .fabric = fabric};
		struct gate in, out;
		int32_t n;

		if (b->number[d] < 0 || f->domain[d] < 0)
			continue;
		n = list_less(b, fabric, d);
		if (n < 2)
			continue;
		ports_gates(&in, &out, b->ports, b->less, n, -1);
		add_set(b, &cut, &in, &out);
	}
}

static void cut_torus(struct bounds *b, int fabric)
{
	const struct fabric *f = &b->machine->fabric[fabric];

	for (int32_t j = 0; j < f->ndomains; j++) {
		struct cut cut = {.kind = CUT_BOX, .number = j, .fabric = fabric};
		struct axis_cuts *of_axis[TORUS_AXES_MAX] = {0};
		struct box_cuts *boxes;

		for (int axis = 0; axis < f->naxes; axis++) {
			if (f->shape[axis] < 2)
				continue;
			of_axis[axis] = axis_cuts_make(b->machine, b->ports, b->number,
			                               fabric, j, axis);
			*list_add(&b->axes, NULL) = (struct line_cuts){
				{CUT_AXIS, j, fabric, axis, 0, 0, {{0}, {0}}, false},
				of_axis[axis]};
		}
		boxes = box_cuts_make(b->machine, b->ports, b->number, fabric, j,
		                      of_axis);
		if (boxes)
			*list_add(&b->boxes, NULL) = (struct boxes){cut, boxes};
	}
}

struct bounds *bounds_new(const struct machine *m, const struct placement *place,
                          int32_t ndevices)
{
	struct bounds *b = xmalloc(1, sizeof(*b));
	size_t n = (size_t)m->ndevices;

	*b = (struct bounds){.machine = m, .ndevices = ndevices, .arena = arena_new()};
	b->number = arena_alloc(b->arena, n, sizeof(*b->number));
	b->members = arena_alloc(b->arena, (size_t)ndevices, sizeof(*b->members));
	b->less = arena_alloc(b->arena, n, sizeof(*b->less));
	for (size_t d = 0; d < n; d++)
		b->number[d] = -1;
	for (int32_t d = 0; d < ndevices; d++) {
		assert(placement_device(place, d) < m->ndevices);
		b->number[placement_device(place, d)] = d;
	}
	b->ports = ports_make(m, b->arena);
	ports_restrict(b->ports, b->number, b->arena);
	cut_devices(b);
	for (int k = 0; k < m->nfabrics; k++)
		cut_domains(b, k);
	for (int k = 0; k < m->nfabrics; k++)
		cut_less(b, k);
	for (int k = 0; k < m->nfabrics; k++)
		if (m->fabric[k].naxes && m->fabric[k].port)
			cut_torus(b, k);
	b->sums = sums_make(m, b->ports, b->number, ndevices, b->arena);
	return b;
}

void bounds_free(struct bounds *b)
{
	if (!b)
		return;
	for (int64_t i = 0; i < b->axes.n; i++)
		axis_cuts_free(b->axes.at[i].cuts);
	for (int64_t i = 0; i < b->boxes.n; i++)
		box_cuts_free(b->boxes.at[i].cuts);
	arena_free(b->arena);
	xfree(b->sets.at);
	xfree(b->axes.at);
	xfree(b->boxes.at);
	xfree(b);
}

/* --- of one problem --------------------------------------------------------------- */

/* The largest bound so far. */
struct search {
	struct bound_asked asked;
	struct cut cut;
	double s;
};

static void consider(struct search *s, const struct cut *cut, bool in, int64_t elements,
                     const struct gate *gate)
{
	double time_s = gate_s(gate, elements, s->asked.bits);

	if (time_s <= s->s)
		return;
	s->s = time_s;
	s->cut = *cut;
	s->cut.in = in;
}

static void search_sets(struct search *s, struct bounds *b)
{
	const struct bound_asked *q = &s->asked;

	for (int64_t i = 0; i < b->sets.n; i++) {
		const struct set *set = &b->sets.at[i];
		int64_t in = most_elements(q->want, set->n, q->all);
		int64_t out = most_elements(q->have, set->n, q->all);
		struct crossing crossing;
		int32_t n;

		/*
		 * Most sets turn out to bound less before their exact crossing has to
		 * be found.
		 */
		if (gate_s(&set->in, in, q->bits) <= s->s &&
		    gate_s(&set->out, out, q->bits) <= s->s)
			continue;
		n = list_members(b, &set->cut);
		crossing = cells_crossing(q->cells, b->members, n);
		consider(s, &set->cut, true, crossing.in, &set->in);
		consider(s, &set->cut, false, crossing.out, &set->out);
	}
}

static void search_axes(struct search *s, struct bounds *b)
{
	for (int64_t i = 0; i < b->axes.n; i++) {
		const struct line_cuts *axis = &b->axes.at[i];
		struct axis_bound best = {.s = s->s};

		if (!axis_cuts_search(&best, axis->cuts, &s->asked))
			continue;
		s->s = best.s;
		s->cut = axis->cut;
		s->cut.lo = best.lo;
		s->cut.hi = best.hi;
		s->cut.in = best.in;
	}
}

static void search_boxes(struct search *s, struct bounds *b)
{
	if (b->boxes.n)
		s->asked.single = cells_singles(s->asked.cells, b->ndevices);
	for (int64_t i = 0; i < b->boxes.n; i++) {
		const struct boxes *boxes = &b->boxes.at[i];
		struct box_bound best = {.s = s->s};

		if (!box_cuts_search(&best, boxes->cuts, &s->asked))
			continue;
		s->s = best.s;
		s->cut = boxes->cut;
		s->cut.box = best.box;
		s->cut.in = best.in;
	}
}

static void search_sums(struct search *s, const struct bounds *b, struct arena *scratch)
{
	struct sums_bound best = {.s = s->s};

	if (!sums_search(&best, b->sums, &s->asked, scratch))
		return;
	s->s = best.s;
	s->cut = (struct cut){.kind = CUT_SUMS, .fabric = best.fabric, .in = best.in};
}

static struct search search(struct bounds *b, const struct problem *p)
{
	struct arena *scratch = arena_new();
	const struct shape *shape = &p->array.shape;
	struct search s = {
		.asked = {.cells = cells_make(p, scratch),
	                  .ndevices = p->ndevices,
	                  .bits = p->array.dtype->bits,
	                  .want = layout_local_elements(&p->to, shape),
	                  .have = layout_local_elements(&p->from, shape),
	                  .all = shape_elements(shape)},
	};

	if (!cells_free(s.asked.cells)) {
		search_sets(&s, b);
		search_axes(&s, b);
		search_boxes(&s, b);
		search_sums(&s, b, scratch);
	}
	arena_free(scratch);
	return s;
}

double bounds_s(struct bounds *b, const struct problem *p)
{
	assert(p->ndevices == b->ndevices);
	return search(b, p).s;
}

/* Names a box by the axes that it does not fill. */
static const char *describe_box(const struct fabric *f, const struct cut *c,
                                struct arena *a)
{
	const char *text = c->in ? "into places" : "out of places", *and = "";

	for (int x = 0; x < f->naxes; x++) {
		int32_t last = (c->box.lo[x] + c->box.len[x] - 1) % f->shape[x];

		if (c->box.len[x] == f->shape[x])
			continue;
		text = arena_printf(a, "%s%s %d to %d of axis %d", text, and,
		                    (int)c->box.lo[x], (int)last, x);
		and = " and";
	}
	return text;
}

static const char *describe(const struct machine *m, const struct cut *c,
                            struct arena *a)
{
	const struct fabric *f = &m->fabric[c->fabric < 0 ? 0 : c->fabric];
	const char *way = c->in ? "into" : "out of";
	const char *kind = f->naxes ? "pod" : "node";

	switch (c->kind) {
	case CUT_SUMS:
		if (c->fabric < 0)
			return arena_printf(a, "sums %s all devices", way);
		return arena_printf(a, "sums %s all %ss of %s", way, kind, f->name);
	case CUT_DEVICE:
		return arena_printf(a, "%s of device %d", c->in ? "receive" : "send",
		                    (int)c->number);
	case CUT_DOMAIN:
		return arena_printf(a, "%s %s %d of %s", way, kind, (int)c->number,
		                    f->name);
	case CUT_LESS:
		return arena_printf(a, "%s %s %d of %s without device %d", way, kind,
		                    (int)f->domain[c->number], f->name, (int)c->number);
	case CUT_BOX:
		return arena_printf(a, "%s of %s %d", describe_box(f, c, a), kind,
		                    (int)c->number);
	case CUT_AXIS:
		break;
	}
	return arena_printf(a, "%s places %d to %d of axis %d of %s %d", way,
	                    (int)c->lo, (int)((c->hi - 1) % f->shape[c->axis]), c->axis,
	                    kind, (int)c->number);
}

struct bound bound_find(const struct problem *p, const struct machine *m,
                        const struct placement *place, struct arena *a)
{
	struct bounds *b = bounds_new(m, place, p->ndevices);
	struct search s = search(b, p);
	struct bound out = {s.s, s.s > 0 ? describe(m, &s.cut, a) : NULL};

	bounds_free(b);
	return out;
}

double bound_s(const struct problem *p, const struct machine *m,
               const struct placement *place)
{
	struct bounds *b = bounds_new(m, place, p->ndevices);
	double s = bounds_s(b, p);

	bounds_free(b);
	return s;
}
