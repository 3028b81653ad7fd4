#include "cost/bound.h"

#include "collective/local.h"
#include "cost/bound_cells.h"
#include "cost/bound_ports.h"

#include <assert.h>
#include <math.h>

/* A set of devices, as it is named. */
struct cut {
	enum { CUT_DEVICE, CUT_DOMAIN, CUT_AXIS } kind;
	int32_t number; /* the platform device or the domain */
	int fabric, axis;
	int32_t lo, hi; /* of an axis: the places [lo, hi), mod its length */
	bool in;
};

struct search {
	const struct problem *problem;
	const struct machine *machine;
	struct ports *ports;
	struct cells *cells;
	int32_t *number;  /* [machine devices] the problem's, -1 for none */
	int32_t *member;  /* [machine devices] room for a set */
	int32_t *members; /* [problem devices] those of them that the problem has */
	struct cut cut;   /* the best so far */
	double s;
};

static void consider(struct search *s, const struct cut *cut, bool in, int64_t elements,
                     const struct gate *gate)
{
	double bytes = (double)elements * s->problem->array.dtype->bits / 8, time_s;

	if (elements == 0 || gate->bandwidth_Bps == 0)
		return;
	time_s = bytes / gate->bandwidth_Bps + gate->latency_s;
	if (time_s <= s->s)
		return;
	s->s = time_s;
	s->cut = *cut;
	s->cut.in = in;
}

/* Both bounds of a set of `n` devices whose gates are known. */
static void consider_set(struct search *s, const struct cut *cut, const int32_t *device,
                         int32_t n, const struct gate *in, const struct gate *out)
{
	struct crossing crossing;
	int32_t nmembers = 0;

	for (int32_t i = 0; i < n; i++)
		if (s->number[device[i]] >= 0)
			s->members[nmembers++] = s->number[device[i]];
	if (nmembers == 0 || nmembers == s->problem->ndevices)
		return;
	crossing = cells_crossing(s->cells, s->members, nmembers);
	consider(s, cut, true, crossing.in, in);
	consider(s, cut, false, crossing.out, out);
}

static void cut_devices(struct search *s)
{
	for (int32_t d = 0; d < s->machine->ndevices; d++) {
		struct cut cut = {.kind = CUT_DEVICE, .number = d};
		struct gate in, out;

		if (s->number[d] < 0)
			continue;
		ports_gates(&in, &out, s->ports, &d, 1, -1);
		consider_set(s, &cut, &d, 1, &in, &out);
	}
}

/* Every domain of more than one device. */
static void cut_domains(struct search *s, int fabric)
{
	const struct machine *m = s->machine;

	for (int32_t j = 0; j < m->fabric[fabric].ndomains; j++) {
		struct cut cut = {.kind = CUT_DOMAIN, .number = j, .fabric = fabric};
		int32_t n;
		const int32_t *device = ports_domain(&n, s->ports, fabric, j);
		struct gate in, out;

		if (n < 2 || n == m->ndevices)
			continue;
		ports_gates(&in, &out, s->ports, device, n, fabric);
		consider_set(s, &cut, device, n, &in, &out);
	}
}

/* The places [lo, hi) of an axis of a domain against the others. */
static void cut_axis(struct search *s, struct cut cut, int32_t lo, int32_t hi)
{
	const struct fabric *f = &s->machine->fabric[cut.fabric];
	const int32_t *at = f->at + (int64_t)cut.number * fabric_places(f);
	int32_t size = f->shape[cut.axis], inner = 1, lines, n = 0;
	int32_t share = f->share > 1 ? f->share : 1;
	struct gate in, out;

	for (int a = f->naxes - 1; a > cut.axis; a--)
		inner *= f->shape[a];
	lines = fabric_places(f) / size;
	for (int32_t c = lo; c < hi; c++)
		for (int32_t i = 0; i < lines * share; i++) {
			int32_t line = i / share;

			s->member[n++] =
				at[(line / inner * size + c % size) * inner + line % inner] +
				i % share;
		}
	/* other axes of a twisted torus lead out of the places as well */
	ports_gates(&in, &out, s->ports, s->member, n, f->twist ? -1 : cut.fabric);
	for (int32_t i = 0; i < lines * share && !f->twist; i += share) {
		ports_neighbour(&in, &out, s->ports, cut.fabric, s->member[i], cut.axis,
		                -1);
		ports_neighbour(&in, &out, s->ports, cut.fabric,
		                s->member[n - lines * share + i], cut.axis, 1);
	}
	cut.lo = lo;
	cut.hi = hi;
	consider_set(s, &cut, s->member, n, &in, &out);
}

static void cut_torus(struct search *s, int fabric)
{
	const struct fabric *f = &s->machine->fabric[fabric];

	for (int32_t j = 0; j < f->ndomains; j++)
		for (int axis = 0; axis < f->naxes; axis++) {
			struct cut cut = {CUT_AXIS, j, fabric, axis, 0, 0, false};
			int32_t size = f->shape[axis];

			/* The smaller side stands for both: in for out. */
			for (int32_t c = 1; c < size && !f->wrap[axis]; c++)
				cut_axis(s, cut, c <= size / 2 ? 0 : c,
				         c <= size / 2 ? c : size);
			for (int32_t n = 1; n <= size / 2 && f->wrap[axis]; n++)
				for (int32_t c = 0; c < (2 * n == size ? n : size); c++)
					cut_axis(s, cut, c, c + n);
		}
}

static const char *describe(const struct search *s, struct arena *a)
{
	const struct cut *c = &s->cut;
	const struct fabric *f = &s->machine->fabric[c->fabric];
	const char *way = c->in ? "into" : "out of";
	const char *kind = f->geometry == GEOMETRY_TORUS ? "pod" : "node";

	switch (c->kind) {
	case CUT_DEVICE:
		return arena_printf(a, "%s of device %d", c->in ? "receive" : "send",
		                    (int)c->number);
	case CUT_DOMAIN:
		return arena_printf(a, "%s %s %d of %s", way, kind, (int)c->number,
		                    f->name);
	case CUT_AXIS:
		break;
	}
	return arena_printf(a, "%s places %d to %d of axis %d of %s %d", way,
	                    (int)c->lo, (int)((c->hi - 1) % f->shape[c->axis]), c->axis,
	                    kind, (int)c->number);
}

static void search(struct search *s, const struct problem *p, const struct machine *m,
                   const struct placement *place, struct arena *a)
{
	size_t n = (size_t)m->ndevices;

	*s = (struct search){.problem = p, .machine = m};
	s->cells = cells_make(p, a);
	s->number = arena_alloc(a, n, sizeof(*s->number));
	s->member = arena_alloc(a, n, sizeof(*s->member));
	s->members = arena_alloc(a, (size_t)p->ndevices, sizeof(*s->members));
	for (size_t d = 0; d < n; d++)
		s->number[d] = -1;
	for (int32_t d = 0; d < p->ndevices; d++) {
		assert(placement_device(place, d) < m->ndevices);
		s->number[placement_device(place, d)] = d;
	}
	s->ports = ports_make(m, a);
	ports_restrict(s->ports, s->number, a);
	cut_devices(s);
	for (int k = 0; k < m->nfabrics; k++)
		cut_domains(s, k);
	for (int k = 0; k < m->nfabrics; k++)
		if (m->fabric[k].geometry == GEOMETRY_TORUS)
			cut_torus(s, k);
}

struct bound bound_find(const struct problem *p, const struct machine *m,
                        const struct placement *place, struct arena *a)
{
	struct arena *scratch = arena_new();
	struct search s;

	search(&s, p, m, place, scratch);
	arena_free(scratch);
	return (struct bound){s.s, s.s > 0 ? describe(&s, a) : NULL};
}

double bound_s(const struct problem *p, const struct machine *m,
               const struct placement *place)
{
	struct arena *scratch = arena_new();
	struct search s;

	search(&s, p, m, place, scratch);
	arena_free(scratch);
	return s.s;
}
