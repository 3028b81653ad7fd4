#include "plan_random.h"

#include "plan/check.h"
#include "plan/plan_text.h"
#include "planner/planner.h"

#include <check.h>

#include <string.h>

/* Digits of the axes of a mesh that are still free, or all that it has. */
struct digits {
	int n;
	struct part part[LAYOUT_PARTS_MAX];
};

struct mesh random_mesh(struct rng *r, int32_t most)
{
	static const char *const name[] = {"x", "y", "z"};
	struct mesh m = {.ndevices = 1};
	int naxes = 1 + (int)rng_below(r, 3);

	for (int i = 0; i < naxes; i++) {
		int32_t size = 2 + (int32_t)rng_below(r, 5);

		if (m.ndevices * size > most)
			continue;
		m.axis[m.naxes] = (struct axis){.name = name[m.naxes], .size = size};
		m.naxes++;
		m.ndevices *= size;
	}
	return m;
}

const int32_t *random_order(struct rng *r, int32_t ndevices, struct arena *a)
{
	int32_t *ids = arena_alloc(a, (size_t)ndevices, sizeof(*ids));

	for (int32_t i = 0; i < ndevices; i++) {
		int32_t j = (int32_t)rng_below(r, (uint32_t)i + 1);

		ids[i] = ids[j];
		ids[j] = i;
	}
	return ids;
}

/* Cut [pre, pre * size) of an axis into digits at random divisors. */
static void cut(struct rng *r, struct digits *d, int axis, int32_t pre, int32_t size)
{
	while (size > 1) {
		int32_t digit = 2 + (int32_t)rng_below(r, (uint32_t)size - 1);

		if (size % digit)
			continue;
		d->part[d->n++] = (struct part){axis, pre, digit};
		pre *= digit;
		size /= digit;
	}
}

static void shuffle(struct rng *r, struct digits *d)
{
	for (int i = d->n - 1; i > 0; i--) {
		int j = (int)rng_below(r, (uint32_t)i + 1);
		struct part p = d->part[i];

		d->part[i] = d->part[j];
		d->part[j] = p;
	}
}

struct layout random_layout(struct rng *r, const struct mesh *m, int rank)
{
	struct layout l = layout_replicated(rank);
	struct digits d = {0};

	for (int x = 0; x < m->naxes; x++)
		cut(r, &d, x, 1, m->axis[x].size);
	shuffle(r, &d);
	for (int i = 0; i < d.n; i++) {
		int dim = (int)rng_below(r, (uint32_t)rank + 1);

		if (dim < rank)
			layout_append(&l, dim, d.part[i]);
	}
	layout_normalise(&l);
	return l;
}

/* What the layout leaves unused, in random order. */
static struct digits free_digits(struct rng *r, const struct layout *l,
                                 const struct mesh *m)
{
	struct digits d = {0};
	int n = 0;

	for (int dim = 0; dim < l->rank; dim++)
		n += l->nparts[dim];
	for (int x = 0; x < m->naxes; x++) {
		int32_t pre = 1;

		while (pre < m->axis[x].size) {
			int32_t end = m->axis[x].size, after = end;

			for (int k = 0; k < n; k++)
				if (l->part[k].axis == x && l->part[k].pre >= pre &&
				    l->part[k].pre < end) {
					end = l->part[k].pre;
					after = end * l->part[k].size;
				}
			cut(r, &d, x, pre, end / pre);
			pre = after;
		}
	}
	shuffle(r, &d);
	return d;
}

/* Minor-most parts of a dimension, perhaps cutting one: at least a factor of 2. */
static struct move suffix_of(struct rng *r, const struct layout *l, int dim,
                             struct arena *a)
{
	int n;
	const struct part *part = layout_parts(l, dim, &n);
	struct digits d = {0};
	int take;
	struct move m = {.from_dim = dim, .to_dim = -1, .factor = 1};

	for (int k = 0; k < n; k++)
		cut(r, &d, part[k].axis, part[k].pre, part[k].size);
	take = 1 + (int)rng_below(r, (uint32_t)d.n);
	m.nparts = take;
	m.parts = arena_dup(a, d.part + d.n - take, (size_t)take, sizeof(struct part));
	for (int k = 0; k < take; k++)
		m.factor *= m.parts[k].size;
	return m;
}

static void add_slice(struct rng *r, struct plan *p)
{
	struct digits d = free_digits(r, plan_layout(p), &p->problem->mesh);
	struct shape local = plan_local(p);
	struct move move[RANK_MAX];
	struct part part[RANK_MAX];
	int n = 0;

	for (int dim = 0; dim < local.rank && n < d.n; dim++) {
		part[n] = d.part[n];
		if (rng_below(r, 2) || local.dim[dim] % part[n].size)
			continue;
		move[n] = (struct move){.from_dim = -1,
		                        .to_dim = dim,
		                        .factor = part[n].size,
		                        .nparts = 1,
		                        .parts = &part[n]};
		n++;
	}
	if (n > 0)
		plan_axes_step(p, OP_SLICE, move, n);
}

static void add_gather(struct rng *r, struct plan *p)
{
	const struct layout *l = plan_layout(p);
	struct move move[RANK_MAX];
	int n = 0;

	for (int dim = 0; dim < l->rank; dim++)
		if (l->nparts[dim] && rng_below(r, 2))
			move[n++] = suffix_of(r, l, dim, p->arena);
	if (n > 0)
		plan_axes_step(p, OP_ALL_GATHER, move, n);
}

/* One or two moves between distinct dimensions. */
static void add_all_to_all(struct rng *r, struct plan *p)
{
	const struct layout *l = plan_layout(p);
	struct shape local = plan_local(p);
	bool used[RANK_MAX] = {false};
	struct move move[2];
	int n = 0;

	for (int attempt = 0; attempt < 8 && n < 2; attempt++) {
		int from = (int)rng_below(r, (uint32_t)l->rank);
		int to = (int)rng_below(r, (uint32_t)l->rank);

		if (from == to || used[from] || used[to] || !l->nparts[from])
			continue;
		move[n] = suffix_of(r, l, from, p->arena);
		move[n].to_dim = to;
		if (local.dim[to] % move[n].factor)
			continue;
		used[from] = used[to] = true;
		n++;
	}
	if (n > 0)
		plan_axes_step(p, OP_ALL_TO_ALL, move, n);
}

static bool same_shards(const struct layout *a, const struct layout *b)
{
	for (int dim = 0; dim < a->rank; dim++)
		if (layout_shards(a, dim) != layout_shards(b, dim))
			return false;
	return true;
}

static void add_permute(struct rng *r, struct plan *p)
{
	for (int attempt = 0; attempt < 40; attempt++) {
		struct layout l =
			random_layout(r, &p->problem->mesh, plan_layout(p)->rank);

		if (!same_shards(&l, plan_layout(p)))
			continue;
		plan_permute(p, &l);
		return;
	}
}

/* Shorten the real shape; the padded one must stay as it is. */
static void shorten(struct rng *r, struct problem *q)
{
	struct shape padded = q->padded, real = q->array.shape;

	for (int attempt = 0; attempt < 4; attempt++) {
		for (int dim = 0; dim < real.rank; dim++)
			q->array.shape.dim[dim] -=
				(int64_t)rng_below(r, (uint32_t)(real.dim[dim] + 1) / 2);
		problem_finish(q);
		if (q->padded_ok && memcmp(&q->padded, &padded, sizeof(padded)) == 0)
			return;
		q->array.shape = real;
	}
	problem_finish(q);
}

static struct problem *new_problem(struct rng *r, struct arena *a, int32_t most_devices)
{
	struct problem *q = arena_alloc(a, 1, sizeof(*q));
	int kinds = 0;

	while (dtypes[kinds].name)
		kinds++;
	*q = (struct problem){.arena = a, .memory_limit_bytes = -1};
	q->mesh = random_mesh(r, most_devices);
	if (rng_below(r, 3) == 0)
		q->mesh.ids = random_order(r, q->mesh.ndevices, a);
	q->to_mesh = q->mesh;
	q->array.dtype = &dtypes[rng_below(r, (uint32_t)kinds)];
	q->array.shape.rank = 1 + (int)rng_below(r, 3);
	q->from = random_layout(r, &q->mesh, q->array.shape.rank);
	return q;
}

/* Every dimension takes every axis, and in lower ranks an odd factor besides. */
static void set_shape(struct rng *r, struct problem *q)
{
	int64_t odd = q->array.shape.rank < 3 ? 1 + 2 * (int64_t)rng_below(r, 2) : 1;

	for (int dim = 0; dim < q->array.shape.rank; dim++)
		q->array.shape.dim[dim] = q->mesh.ndevices * (dim ? 1 : odd);
}

struct problem *random_problem(struct rng *r, struct arena *a, int32_t most_devices)
{
	struct problem *q = new_problem(r, a, most_devices);

	set_shape(r, q);
	q->to = random_layout(r, &q->mesh, q->array.shape.rank);
	problem_finish(q);
	if (rng_below(r, 3) == 0)
		shorten(r, q);
	return q;
}

struct plan *random_plan(struct rng *r, struct arena *a, int32_t most_devices, int steps)
{
	static void (*const add[])(struct rng *, struct plan *) = {
		add_slice, add_gather, add_all_to_all, add_permute};
	struct problem *q = new_problem(r, a, most_devices);
	struct plan *p;

	set_shape(r, q);
	q->to = q->from;
	problem_finish(q);
	ck_assert(q->padded_ok);
	p = plan_new(a, q, "random");
	for (int i = 0; i < steps; i++)
		add[rng_below(r, 4)](r, p);
	p->to = q->to = *plan_layout(p);
	problem_finish(q);
	if (rng_below(r, 2))
		shorten(r, q);
	plan_finish(p);
	return p;
}

/* "{devices=[2,1,3]4,1,5,2,0,3 last_tile_dim_replicate}" over n devices. */
static const char *random_list(struct rng *r, struct arena *a, int rank, int32_t n)
{
	const int32_t *ids = random_order(r, n, a);
	bool ordered = rng_below(r, 2);
	struct text t = {0};
	int32_t left = n;

	text_printf(&t, "{devices=[");
	for (int dim = 0; dim < rank; dim++) {
		int32_t tiles = 1 + (int32_t)rng_below(r, (uint32_t)left);

		while (left % tiles)
			tiles--;
		left /= tiles;
		text_printf(&t, "%d,", tiles);
	}
	text_printf(&t, "%d]", left);
	for (int32_t i = 0; i < n && !ordered; i++)
		text_printf(&t, "%s%d", i ? "," : "", ids[i]);
	if (ordered)
		text_printf(&t, "<=[%d]", n);
	text_printf(&t, " last_tile_dim_replicate}");
	return text_take(&t, a);
}

struct problem *random_listed_problem(struct rng *r, struct arena *a,
                                      int32_t most_devices)
{
	struct problem *p = arena_alloc(a, 1, sizeof(*p));
	int32_t n = 2 + (int32_t)rng_below(r, (uint32_t)most_devices - 1);
	int rank = 1 + (int)rng_below(r, 3);
	struct problem_text t = {.from = random_list(r, a, rank, n)};
	struct text array = {0};
	struct error e = {0};

	text_printf(&array, "f32[%d", n);
	for (int dim = 1; dim < rank; dim++)
		text_printf(&array, ",%d", n);
	text_printf(&array, "]");
	t.array = text_take(&array, a);
	t.to = random_list(r, a, rank, n);
	ck_assert_msg(problem_make(p, a, &t, &e) == OK, "%s", e.text);
	return p;
}

/* Groups back to front: another text, the same plan. */
static void reverse_groups(struct step *s, struct arena *a)
{
	int32_t size = s->groups.size, count = s->groups.ngroups;
	int32_t *ids = arena_alloc(a, (size_t)(size * count), sizeof(*ids));

	for (int32_t g = 0; g < count; g++)
		memcpy(ids + g * size, s->groups.ids + (count - 1 - g) * size,
		       (size_t)size * sizeof(*ids));
	s->groups.ids = ids;
}

struct plan *plan_of_any_kind(struct rng *r, struct arena *a, int k)
{
	struct problem *q =
		k % 3 ? random_problem(r, a, 24) : random_listed_problem(r, a, 12);
	struct text why = {0};
	struct plan *p;
	int n = 0;

	while (planners[n])
		n++;
	if (k % (n + 1) < n && planner_run(planners[k % (n + 1)], &p, q, &prices_bytes,
	                                   a, &why) == ANSWER_PLAN)
		return p;
	text_free(&why);
	p = random_plan(r, a, 24, 5);
	for (int i = 0; i < p->nsteps; i++)
		if (p->step[i].groups.ids && rng_below(r, 2))
			reverse_groups(&p->step[i], a);
	return p;
}

bool plan_implies_boxes(const struct plan *p)
{
	for (int i = 0; i < p->nsteps; i++)
		if (!step_implies_boxes(p, i))
			return false;
	return true;
}

bool same_plan_json(const json_t *a, const json_t *b)
{
	static const char *const over_digits[] = {"digits", "blocks", "operand_shape",
	                                          "boxes"};
	bool same = json_array_size(a) == json_array_size(b);

	for (size_t i = 0; same && i < json_array_size(a); i++) {
		json_t *x = json_deep_copy(json_array_get(a, i));
		json_t *y = json_deep_copy(json_array_get(b, i));
		bool strided =
			json_object_get(x, "digits") || json_object_get(y, "digits");

		for (size_t k = 0; strided && k < 4; k++) {
			json_object_del(x, over_digits[k]);
			json_object_del(y, over_digits[k]);
		}
		same = json_equal(x, y);
		json_decref(x);
		json_decref(y);
	}
	return same;
}

static void check_same_step(const struct step *a, const struct step *b, const char *text)
{
	ck_assert_msg(a->op == b->op && a->nmoves == b->nmoves && a->npairs == b->npairs,
	              "%s", text);
	/* Over other digits the tiles are the same if the texts are. */
	ck_assert_msg(a->after.rank != b->after.rank ||
	                      layout_same_tiles(&a->after, a->mesh, &b->after, b->mesh),
	              "%s", text);
	ck_assert_msg(shape_elements(&a->local) == shape_elements(&b->local) &&
	                      !a->start == !b->start && a->part == b->part &&
	                      a->gathers == b->gathers,
	              "%s", text);
	ck_assert_msg(a->ntransfers == b->ntransfers, "%s", text);
	for (int64_t i = 0; i < a->ntransfers; i++)
		ck_assert_msg(a->transfers[i].src == b->transfers[i].src &&
		                      a->transfers[i].dst == b->transfers[i].dst &&
		                      a->transfers[i].elements ==
		                              b->transfers[i].elements,
		              "%s", text);
	ck_assert_msg(a->groups.size == b->groups.size &&
	                      a->groups.ngroups == b->groups.ngroups,
	              "%s", text);
	for (int32_t i = 0; i < a->groups.ngroups * a->groups.size; i++)
		ck_assert_msg(a->groups.ids[i] == b->groups.ids[i], "%s", text);
	for (int32_t i = 0; i < a->npairs; i++)
		ck_assert_msg(a->pairs[i].src == b->pairs[i].src &&
		                      a->pairs[i].dst == b->pairs[i].dst,
		              "%s", text);
	ck_assert_msg(a->recv_bytes == b->recv_bytes && a->send_bytes == b->send_bytes &&
	                      a->padding_bytes == b->padding_bytes,
	              "%s", text);
}

void check_same_plan(const struct plan *a, const struct plan *b, const char *text)
{
	struct text why = {0};

	ck_assert_msg(a->nsteps == b->nsteps, "%s", text);
	for (int i = 0; i < a->nsteps; i++)
		check_same_step(&a->step[i], &b->step[i], text);
	ck_assert_msg(a->recv_bytes == b->recv_bytes && a->send_bytes == b->send_bytes,
	              "%s", text);
	ck_assert_msg(a->peak_array_bytes == b->peak_array_bytes &&
	                      a->peak_live_bytes == b->peak_live_bytes &&
	                      a->full_remat == b->full_remat,
	              "%s", text);
	ck_assert_msg(plan_check(b, &why), "%s\n%s", why.s, text);
}
