#include "planner/advise/hops.h"

#include "notation/notation.h"
#include "plan/memory.h"

#include <math.h>
#include <string.h>

/*
 * The work of a hop: a planner takes some time at any size, and more on more devices. All
 * together are to take 50 ms at most on 128 devices, but so many hops are looked at on any
 * number. On a thirtieth of scenarios/layouts.yaml on machines of tpu-v5p and dgx-a100 chains
 * of two close 97.3 and 101.9 % of the gap between XLA and `best-portable`
 * (models/README.md, "Advice"); with a quarter of the work 1 point less, with four times as
 * much 0.5 points more, in up to 160 ms.
 */
enum { HOP_WORK = 40, DEVICES_PER_WORK = 4, MOST_WORK = 20000, HOPS_LEAST = 100 };

/* No plan that the machine can run costs this much. */
static const double HOP_IMPOSSIBLE = 1e29;

enum { KEY_SIZE = 2 + RANK_MAX + LAYOUT_PARTS_MAX * sizeof(struct part) };

/* --- layouts ----------------------------------------------------------------------- */

/* Writes what tells layouts apart, and returns its size; `key` has room for it. */
static size_t write_key(uint8_t *key, const struct layout *l, int side)
{
	size_t n = 0;
	int parts = 0;

	key[n++] = (uint8_t)side;
	key[n++] = l->kind == LAYOUT_AXES;
	for (int dim = 0; dim < l->rank && l->kind == LAYOUT_AXES; dim++) {
		key[n++] = l->nparts[dim];
		parts += l->nparts[dim];
	}
	for (int i = 0; i < parts; i++) {
		memcpy(key + n, &l->part[i], sizeof(l->part[i]));
		n += sizeof(l->part[i]);
	}
	return n;
}

static const struct mesh *side_mesh(const struct hops *h, int side)
{
	return side ? &h->problem->to_mesh : &h->problem->mesh;
}

static int count_sub_axes(const struct layout *l, const struct mesh *m)
{
	int n, count = 0;

	for (int dim = 0; dim < l->rank; dim++) {
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++)
			count += part[k].size != m->axis[part[k].axis].size;
	}
	return count;
}

/* Returns whether every dimension lists whole axes in the order of the mesh. */
static bool is_in_mesh_order(const struct layout *l)
{
	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 1; k < n; k++)
			if (part[k].axis <= part[k - 1].axis)
				return false;
	}
	return true;
}

/* Returns whether the layout leaves the dimensions alone that are to stay as they are. */
static bool is_held(const struct hops *h, const struct layout *l)
{
	for (int dim = 0; dim < h->held; dim++) {
		int n, m;
		const struct part *a = layout_parts(l, dim, &n);
		const struct part *b = layout_parts(&h->problem->from, dim, &m);

		if (n != m || memcmp(a, b, (size_t)n * sizeof(*a)) != 0)
			return false;
	}
	return true;
}

/* Gives the layout its type, if the pieces of its side say it. */
static void find_type(struct hops *h, struct stop *stop)
{
	const struct types_between *t = &h->side[stop->side];
	uint8_t key[2][KEY_SIZE];
	struct layout again;

	if (!t->mesh || stop->layout.kind != LAYOUT_AXES)
		return;
	stop->type = type_of_layout(&stop->layout, t->mesh, &t->pieces);
	stop->typed = layout_of_type(&again, &stop->type, &t->pieces, t->mesh);
	if (stop->typed) {
		size_t size = write_key(key[0], &again, 0);

		stop->typed = size == write_key(key[1], &stop->layout, 0) &&
		              memcmp(key[0], key[1], size) == 0;
	}
}

static struct stop *add_stop(struct hops *h, const struct layout *l, int side)
{
	struct stop *stop = &h->stop[h->nstops++];

	*stop = (struct stop){
		.layout = *l, .side = side, .in = INFINITY, .out = INFINITY};
	if (l->kind == LAYOUT_AXES)
		layout_normalise(&stop->layout);
	find_type(h, stop);
	return stop;
}

int hops_stop(struct hops *h, const struct layout *l, int side, bool *fresh)
{
	uint8_t key[KEY_SIZE];
	int sub_axes = count_sub_axes(l, side_mesh(h, side)), number;
	size_t size;

	*fresh = false;
	if (!is_held(h, l) || (h->mesh_order && (sub_axes || !is_in_mesh_order(l))))
		return -1;
	size = write_key(key, l, side);
	number = keys_find(&h->known, key, size);
	if (number >= 0 || h->nstops == STOPS_MAX)
		return number;
	keys_add(&h->known, key, size, fresh);
	add_stop(h, l, side)->sub_axes = sub_axes;
	return h->nstops - 1;
}

/* --- near layouts ------------------------------------------------------------------ */

struct looker {
	struct hops *hops;
	int side;
	void (*visit)(void *self, int stop);
	void *self;
};

static void look_at(void *self, const struct type *type)
{
	const struct looker *l = self;
	const struct types_between *t = &l->hops->side[l->side];
	struct layout layout;
	bool fresh;
	int stop;

	if (!layout_of_type(&layout, type, &t->pieces, t->mesh))
		return;
	stop = hops_stop(l->hops, &layout, l->side, &fresh);
	if (fresh)
		l->visit(l->self, stop);
}

void hops_look_around(struct hops *h, int stop, void (*visit)(void *self, int stop),
                      void *self)
{
	const struct stop *s = &h->stop[stop];
	struct looker looker = {h, s->side, visit, self};

	if (s->typed)
		type_neighbours(&h->side[s->side], &s->type, look_at, &looker);
}

/* --- hops -------------------------------------------------------------------------- */

double hops_least(const struct hops *h, int from, int to)
{
	const struct stop *a = &h->stop[from], *b = &h->stop[to];
	double bytes = 0;

	if (a->typed && b->typed && a->side == b->side)
		bytes = (double)dtype_bytes(
			h->problem->array.dtype,
			type_lacks(&h->side[a->side], &a->type, &b->type));
	if (!h->prices->least)
		return bytes;
	return h->prices->least(h->prices->self, h->problem, bytes).cost;
}

struct problem *hops_problem(const struct hops *h, int from, int to, struct arena *a)
{
	const struct stop *s = &h->stop[from], *t = &h->stop[to];
	struct problem *q;

	if (from == STOP_FROM && to == STOP_TO)
		return arena_dup(a, h->problem, 1, sizeof(*q));
	q = arena_dup(a, h->problem, 1, sizeof(*q));
	q->arena = a;
	q->from = s->layout;
	q->mesh = *side_mesh(h, s->side);
	q->to = t->layout;
	q->to_mesh = *side_mesh(h, t->side);
	q->two_meshes = s->side != t->side;
	problem_finish(q);
	return q;
}

static int64_t hop_work(const struct problem *p)
{
	return HOP_WORK + p->ndevices / DEVICES_PER_WORK;
}

/* Asks the compiler. */
static struct hop plan_hop(struct hops *h, int from, int to)
{
	struct hop hop = {.price = {.cost = INFINITY}};
	struct text why = {0};
	struct plan *plan = NULL;
	struct problem *q;

	h->work += hop_work(h->problem);
	arena_reset(h->scratch);
	q = hops_problem(h, from, to, h->scratch);
	if (planner_run(h->compiler, &plan, q, h->prices, h->scratch, &why) ==
	    ANSWER_PLAN) {
		hop.price = h->prices->plan(h->prices->self, plan);
		hop.peak_live_bytes = from == STOP_FROM
		                              ? plan->peak_live_bytes
		                              : plan_live_beside(plan, h->source_bytes);
		hop.can = hop.price.cost < HOP_IMPOSSIBLE &&
		          !memory_exceeded(h->problem, plan->peak_array_bytes,
		                           hop.peak_live_bytes);
	}
	text_free(&why);
	if (!hop.can)
		hop.price.cost = INFINITY;
	return hop;
}

const struct hop *hops_price(struct hops *h, int from, int to)
{
	const int32_t key[2] = {from, to};
	bool fresh;
	int32_t number = keys_add(&h->priced, key, sizeof(key), &fresh);

	if (fresh)
		*list_add(&h->hop, h->arena) = plan_hop(h, from, to);
	return &h->hop.at[number];
}

/* --- start and end ----------------------------------------------------------------- */

/* Finds the pieces of one end alone. */
static void find_side(struct hops *h, int side, const struct layout *l,
                      const struct mesh *m)
{
	const struct types_ends ends = {m, m, &h->problem->array.shape, l, l, false};

	if (!types_between(&h->side[side], &ends))
		h->side[side].mesh = NULL;
}

static void add_end(struct hops *h, const struct layout *l, int side)
{
	uint8_t key[KEY_SIZE];
	bool fresh;

	keys_add(&h->known, key, write_key(key, l, side), &fresh);
	add_stop(h, l, side);
}

void hops_start(struct hops *h, const struct advise_ask *ask)
{
	const struct problem *p = ask->problem;
	const struct types_ends ends = {&p->mesh, &p->to_mesh, &p->array.shape,
	                                &p->from, &p->to,      false};
	struct shape local = layout_local(&p->from, &p->padded);

	*h = (struct hops){.problem = p,
	                   .compiler = ask->compiler,
	                   .prices = ask->prices,
	                   .held = ask->held};
	h->arena = arena_new();
	h->scratch = arena_new();
	h->known.arena = h->priced.arena = h->arena;
	h->most = HOPS_LEAST * hop_work(p);
	if (h->most < MOST_WORK)
		h->most = MOST_WORK;
	h->source_bytes = dtype_bytes(p->array.dtype, shape_elements(&local));
	h->stop = arena_alloc(h->arena, STOPS_MAX, sizeof(*h->stop));
	h->mesh_order = strncmp(h->compiler->name, "dtensor", 7) == 0;
	h->two_sides = !types_between(&h->side[0], &ends);
	if (h->two_sides) {
		find_side(h, 0, &p->from, &p->mesh);
		find_side(h, 1, &p->to, &p->to_mesh);
	}
	add_end(h, &p->from, 0);
	add_end(h, &p->to, h->two_sides);
}

void hops_end(struct hops *h)
{
	arena_free(h->scratch);
	arena_free(h->arena);
}
