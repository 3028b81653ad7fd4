#include "planner/send/relative.h"

#include "planner/send/places.h"

#include <string.h>

/*
 * The most choices that are looked at, and the least where that would be to look at more than so
 * many boxes, which takes some tenths of a second. With 256 of them no row of
 * scenarios/layouts.yaml is cheaper.
 */
enum { CHOICES_MAX = 64, CHOICES_MIN = 8, LOOKS_MAX = 1 << 24 };

/*
 * What comes to the receiver's own coordinate: factor times the distance along a place that
 * cuts, or that distance divided.
 */
struct option {
	int place; /* -1: nothing */
	int32_t factor, divisor;
};

struct copy {
	struct place place;
	int noptions;
	struct option option[1 + 2 * LAYOUT_PARTS_MAX];
	/* Of the choice that is filled in: coordinates here and, of both ends, where it cuts. */
	int32_t *receiver, *receiver_cut, *tile_cut;
	int32_t ncut, *add; /* [2 * ncut - 1]: what distances add, from 1 - ncut on */
};

struct relative {
	const struct transfer *box;
	int64_t n;
	const struct holders *holders;
	const struct mesh *mesh;
	struct places places;
	struct copy *copy; /* [places.ncopies] */
	int count;
	const int32_t *position; /* of devices */
	int32_t *first;          /* position of a tile's first copy */
	int64_t *all, *largest;  /* elements of a tile's boxes */
	int64_t *sent;           /* by device */
};

static void add_option(struct copy *c, int place, int32_t factor, int32_t divisor)
{
	c->option[c->noptions++] = (struct option){place, factor, divisor};
}

static void list_options(struct copy *c, const struct places *places)
{
	int next = 0;

	add_option(c, -1, 0, 1);
	for (int i = 0; i < places->n; i++) {
		int32_t size = places->place[i].size;

		if (next < places->ncopies && places->copy[next] == i) {
			next++;
			continue;
		}
		add_option(c, i, 1, 1);
		if (c->place.size > size && c->place.size % size == 0)
			add_option(c, i, c->place.size / size, 1);
		if (size > c->place.size && size % c->place.size == 0)
			add_option(c, i, 1, size / c->place.size);
	}
}

static void make_copies(struct relative *r, struct arena *a)
{
	int ncopies = r->places.ncopies;
	size_t n = (size_t)mesh_nids(r->mesh);
	int64_t most = LOOKS_MAX / r->n, count = 1;

	r->copy = arena_alloc(a, (size_t)ncopies, sizeof(*r->copy));
	for (int k = 0; k < ncopies; k++) {
		struct copy *c = &r->copy[k];

		c->place = r->places.place[r->places.copy[k]];
		list_options(c, &r->places);
		count *= c->noptions;
		count = count < CHOICES_MAX ? count : CHOICES_MAX;
		c->receiver = arena_alloc(a, n, sizeof(*c->receiver));
		c->receiver_cut = arena_alloc(a, n, sizeof(*c->receiver_cut));
		c->tile_cut = arena_alloc(a, (size_t)r->holders->ntiles,
		                          sizeof(*c->tile_cut));
		c->add = arena_alloc(a, 2 * n, sizeof(*c->add));
	}
	most = most > CHOICES_MIN ? most : CHOICES_MIN;
	r->count = (int)(count < most ? count : most);
}

/* Finds where the first copy of each tile is. */
static void find_tiles(struct relative *r, struct arena *a)
{
	r->first = arena_alloc(a, (size_t)r->holders->ntiles, sizeof(*r->first));
	for (int64_t t = 0; t < r->holders->ntiles; t++) {
		int64_t holder = r->holders->first[t];
		int32_t at;

		if (holder == r->holders->first[t + 1])
			continue;
		at = r->position[r->holders->device[holder]];
		r->first[t] = at;
		for (int k = 0; k < r->places.ncopies; k++)
			r->first[t] -= place_coordinate(r->copy[k].place, at) *
			               r->copy[k].place.stride;
	}
}

/* Counts what is sent of each tile. Returns false if a receiver is not in the mesh. */
static bool count_boxes(struct relative *r, struct arena *a)
{
	int32_t ndevices = mesh_nids(r->mesh);

	r->all = arena_alloc(a, (size_t)r->holders->ntiles, sizeof(*r->all));
	r->largest = arena_alloc(a, (size_t)r->holders->ntiles, sizeof(*r->largest));
	r->sent = arena_alloc(a, (size_t)ndevices, sizeof(*r->sent));
	for (int64_t i = 0; i < r->n; i++) {
		const struct transfer *box = &r->box[i];
		int32_t tile = r->holders->tile[box->src];

		if (box->dst >= ndevices || r->position[box->dst] < 0)
			return false;
		r->all[tile] += box->elements;
		if (box->elements > r->largest[tile])
			r->largest[tile] = box->elements;
	}
	return true;
}

const struct relative *relative_new(const struct transfer *box, int64_t n,
                                    const struct holders *holders,
                                    const struct problem *p, struct arena *a)
{
	struct relative *r = arena_alloc(a, 1, sizeof(*r));

	if (p->from.kind != LAYOUT_AXES)
		return NULL;
	*r = (struct relative){.box = box, .n = n, .holders = holders, .mesh = &p->mesh};
	r->places = places_joined(&p->mesh, &p->from);
	r->position = mesh_positions(&p->mesh, a);
	if (r->places.ncopies == 0 || !count_boxes(r, a))
		return NULL;
	make_copies(r, a);
	find_tiles(r, a);
	return r;
}

int relative_count(const struct relative *r)
{
	return r->count;
}

/* Finds the coordinates of both ends, and what comes to a copy's, by one of its options. */
static void find_coordinates(const struct relative *r, struct copy *c,
                             struct option option)
{
	struct place cut = {1, 1};

	if (option.place >= 0)
		cut = r->places.place[option.place];
	for (int32_t d = 0; d < mesh_nids(r->mesh); d++) {
		if (r->position[d] < 0)
			continue;
		c->receiver[d] = place_coordinate(c->place, r->position[d]);
		c->receiver_cut[d] = place_coordinate(cut, r->position[d]);
	}
	for (int64_t t = 0; t < r->holders->ntiles; t++)
		c->tile_cut[t] = place_coordinate(cut, r->first[t]);
	c->ncut = cut.size;
	for (int32_t i = 1 - cut.size; i < cut.size; i++) {
		int64_t distance = i < 0 ? i + cut.size : i;

		c->add[i + cut.size - 1] = (int32_t)(distance * option.factor /
		                                     option.divisor % c->place.size);
	}
}

/* Returns where the copy of a tile is that sends to a device. */
static int32_t sender_at(const struct relative *r, int32_t tile, int32_t device)
{
	int32_t at = r->first[tile];

	for (int k = 0; k < r->places.ncopies; k++) {
		const struct copy *c = &r->copy[k];
		int32_t distance = c->receiver_cut[device] - c->tile_cut[tile];
		int32_t to = c->receiver[device] + c->add[distance + c->ncut - 1];

		at += (to < c->place.size ? to : to - c->place.size) * c->place.stride;
	}
	return at;
}

static bool is_even(const struct relative *r)
{
	for (int64_t t = 0; t < r->holders->ntiles; t++) {
		int64_t n = r->holders->first[t + 1] - r->holders->first[t];

		for (int64_t i = r->holders->first[t]; i < r->holders->first[t + 1]; i++)
			if ((double)r->sent[r->holders->device[i]] * (double)n >
			    (double)r->all[t] + (double)r->largest[t] * (double)(n - 1))
				return false;
	}
	return true;
}

bool relative_senders(int32_t *sender, const struct relative *r, int choice)
{
	for (int k = 0; k < r->places.ncopies; k++) {
		struct copy *c = &r->copy[k];

		find_coordinates(r, c, c->option[choice % c->noptions]);
		choice /= c->noptions;
	}
	memset(r->sent, 0, (size_t)mesh_nids(r->mesh) * sizeof(*r->sent));
	for (int64_t i = 0; i < r->n; i++) {
		const struct transfer *box = &r->box[i];
		int32_t at = sender_at(r, r->holders->tile[box->src], box->dst);

		sender[i] = mesh_device(r->mesh, at);
		r->sent[sender[i]] += box->elements;
	}
	return is_even(r);
}
