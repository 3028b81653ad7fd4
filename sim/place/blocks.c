#include "place/blocks.h"

#include "collective/profile.h"
#include "placement/lshs.h"

#include <math.h>

/*
 * Tall arrays have four blocks of [65536, 256] for each device, packed: neighbouring
 * blocks lie together. Products have one block of [4096, 4096] of each matrix on every
 * device of a square grid. Elements have 8 bytes. Round-robin deals blocks out as it does
 * operations.
 */
static const double TALL_BYTES = 65536. * 256 * 8, COLUMN_BYTES = 65536. * 8;
static const double SQUARE_BYTES = 256. * 256 * 8, VECTOR_BYTES = 256. * 8;
static const double TILE_BYTES = 4096. * 4096 * 8;
enum { TALL_BLOCKS = 4 };

/* A collective of the sharded program, over groups of devices. */
struct sharded_step {
	enum op op;
	struct groups groups;
	double bytes;
};

enum { SHARDED_STEPS = 3 };
struct sharded {
	int n;
	struct sharded_step step[SHARDED_STEPS];
	double memory; /* that a device holds besides what it receives */
};

/* A study in the making. */
struct studying {
	const struct bench *bench;
	struct arena *arena;
	struct where at;
	struct error *error;
	int32_t ndevices, per_node, side; /* side * side devices */
};

/* --- the graphs ----------------------------------------------------------------------- */

static int32_t tall_device(const struct studying *s, int32_t block, bool packed)
{
	return packed ? block / TALL_BLOCKS : block % s->ndevices;
}

static struct block_graph graph_new(const struct studying *s)
{
	return (struct block_graph){
		.arena = s->arena, .ndevices = s->ndevices, .per_node = s->per_node};
}

/* X^T X: a product of every block with itself, and their sum on device 0. */
static struct block_graph squares(const struct studying *s, bool packed)
{
	struct block_graph g = graph_new(s);
	int32_t n = TALL_BLOCKS * s->ndevices;
	int32_t *part = arena_alloc(s->arena, (size_t)n, sizeof(*part));

	for (int32_t i = 0; i < n; i++) {
		int32_t x = block_there(&g, TALL_BYTES, tall_device(s, i, packed));

		part[i] = block_make(&g, SQUARE_BYTES, -1, false, &x, 1);
	}
	block_make(&g, SQUARE_BYTES, 0, true, part, n);
	return g;
}

/*
 * A step of Newton's method: the mean of every block of rows, its part of the gradient and
 * of the Hessian, both summed, and the new weights on device 0.
 */
static struct block_graph newton(const struct studying *s, bool packed)
{
	struct block_graph g = graph_new(s);
	int32_t n = TALL_BLOCKS * s->ndevices, sum[2];
	int32_t *gradient = arena_alloc(s->arena, (size_t)n, sizeof(*gradient));
	int32_t *hessian = arena_alloc(s->arena, (size_t)n, sizeof(*hessian));
	int32_t weights = block_there(&g, VECTOR_BYTES, 0);

	for (int32_t i = 0; i < n; i++) {
		int32_t device = tall_device(s, i, packed);
		int32_t x = block_there(&g, TALL_BYTES, device);
		int32_t y = block_there(&g, COLUMN_BYTES, device);
		int32_t in[3] = {x, weights, 0};

		/* The mean is of x and the weights, the rest of x and the mean. */
		in[1] = block_make(&g, COLUMN_BYTES, -1, false, in, 2);
		in[2] = y;
		hessian[i] = block_make(&g, SQUARE_BYTES, -1, false, in, 2);
		gradient[i] = block_make(&g, VECTOR_BYTES, -1, false, in, 3);
	}
	sum[0] = block_make(&g, VECTOR_BYTES, 0, true, gradient, n);
	sum[1] = block_make(&g, SQUARE_BYTES, 0, true, hessian, n);
	block_make(&g, VECTOR_BYTES, 0, false, sum, 2);
	return g;
}

/* C = A B on a square grid: block (i, j) of C is the sum of A(i, k) B(k, j). */
static struct block_graph product(const struct studying *s, bool packed)
{
	struct block_graph g = graph_new(s);
	int32_t p = s->side, n = p * p;
	int32_t *a = arena_alloc(s->arena, (size_t)n, sizeof(*a));
	int32_t *b = arena_alloc(s->arena, (size_t)n, sizeof(*b));
	int32_t *part = arena_alloc(s->arena, (size_t)p, sizeof(*part));

	(void)packed; /* one block of each on every device is dealt out alike */
	for (int32_t i = 0; i < n; i++)
		a[i] = block_there(&g, TILE_BYTES, i);
	for (int32_t i = 0; i < n; i++)
		b[i] = block_there(&g, TILE_BYTES, i);
	for (int32_t i = 0; i < p; i++)
		for (int32_t j = 0; j < p; j++) {
			for (int32_t k = 0; k < p; k++) {
				const int32_t in[] = {a[i * p + k], b[k * p + j]};

				part[k] = block_make(&g, TILE_BYTES, -1, false, in, 2);
			}
			block_make(&g, TILE_BYTES, i * p + j, true, part, p);
		}
	return g;
}

/* --- the sharded programs ------------------------------------------------------------- */

/* Returns groups of `size` devices that are `stride` apart, which cover all. */
static struct groups groups_of(const struct studying *s, int32_t size, int32_t stride)
{
	int32_t *ids = arena_alloc(s->arena, (size_t)s->ndevices, sizeof(*ids)), n = 0;

	for (int32_t first = 0; first < s->ndevices; first++)
		for (int32_t k = 0; first / stride % size == 0 && k < size; k++)
			ids[n++] = first + k * stride;
	return (struct groups){s->ndevices / size, size, ids};
}

/* Every device adds up what its blocks make, and a reduction adds up the devices. */
static struct sharded sharded_squares(const struct studying *s)
{
	struct groups all = groups_of(s, s->ndevices, 1);

	return (struct sharded){
		.n = 1,
		.step = {{OP_REDUCE, all, SQUARE_BYTES}},
		.memory = TALL_BLOCKS * TALL_BYTES + SQUARE_BYTES,
	};
}

static struct sharded sharded_newton(const struct studying *s)
{
	struct groups all = groups_of(s, s->ndevices, 1);

	return (struct sharded){
		.n = 3,
		.step = {{OP_BROADCAST, all, VECTOR_BYTES},
	                 {OP_REDUCE, all, VECTOR_BYTES},
	                 {OP_REDUCE, all, SQUARE_BYTES}},
		.memory = TALL_BLOCKS * (TALL_BYTES + 2 * COLUMN_BYTES) + SQUARE_BYTES +
	                  3 * VECTOR_BYTES,
	};
}

/* A device gathers its rows of A and its columns of B, and has its block of C. */
static struct sharded sharded_product(const struct studying *s)
{
	return (struct sharded){
		.n = 2,
		.step = {{OP_ALL_GATHER, groups_of(s, s->side, 1), TILE_BYTES},
	                 {OP_ALL_GATHER, groups_of(s, s->side, s->side), TILE_BYTES}},
		.memory = 3 * TILE_BYTES,
	};
}

static const struct {
	const char *name;
	struct block_graph (*graph)(const struct studying *s, bool packed);
	struct sharded (*sharded)(const struct studying *s);
} cases[BLOCK_GRAPHS] = {
	{"X^T X", squares, sharded_squares},
	{"logistic regression", newton, sharded_newton},
	{"matrix product", product, sharded_product},
};

/* --- what they put on the machine ----------------------------------------------------- */

/* What devices receive, and the load that is found from it. */
struct received {
	double *bytes; /* [ndevices] */
	struct block_load *load;
};

static void receive(struct received *r, const struct studying *s, int32_t src,
                    int32_t dst, double bytes)
{
	r->bytes[dst] += bytes;
	r->load->received = fmax(r->load->received, r->bytes[dst]);
	if (src / s->per_node != dst / s->per_node)
		r->load->between += bytes;
}

static double launch_of(const struct studying *s)
{
	return profile_launch_s(s->bench->machine, NULL, 1);
}

static enum status add_schedule(struct received *r, const struct studying *s,
                                const struct schedule *schedule, double launch_s)
{
	double time_s = model_schedule_s(s->bench->model, schedule);

	if (time_s < 0)
		return error_set(s->error, E_INFEASIBLE, s->at,
		                 "no fabric joins all devices");
	for (int64_t i = 0; i < schedule->nmessages; i++) {
		const struct message *m = &schedule->message[i];

		receive(r, s, m->src, m->dst, m->bytes);
	}
	r->load->time_s += time_s + launch_s;
	return OK;
}

/* Sends the copies level by level, all of one level at once. */
static enum status time_copies(struct received *r, const struct studying *s,
                               const struct block_run *run)
{
	for (int32_t level = 0; level < run->levels; level++) {
		struct schedule schedule = {.arena = s->arena};

		schedule_round(&schedule);
		for (int64_t i = 0; i < run->copy.n; i++) {
			const struct block_copy *c = &run->copy.at[i];
			int fabric;

			if (c->level != level)
				continue;
			fabric = machine_fabric(s->bench->machine, c->src, c->dst);
			if (fabric < 0)
				return error_set(s->error, E_INFEASIBLE, s->at,
				                 "no fabric joins all devices");
			schedule_task(&schedule, 1);
			schedule_message(&schedule, fabric, c->src, c->dst, c->bytes);
		}
		schedule_end(&schedule);
		if (schedule.nmessages &&
		    add_schedule(r, s, &schedule, launch_of(s)) != OK)
			return s->error->code;
	}
	return OK;
}

static enum status run_graph(struct block_load *out, const struct studying *s,
                             const struct block_graph *g, enum block_policy policy)
{
	struct received r = {arena_alloc(s->arena, (size_t)s->ndevices, sizeof(double)),
	                     out};
	struct block_run run;

	*out = (struct block_load){0};
	block_place(&run, g, policy, s->arena);
	for (int32_t d = 0; d < s->ndevices; d++)
		out->memory = fmax(out->memory, run.load[LOAD_MEMORY][d]);
	return time_copies(&r, s, &run);
}

static enum status run_sharded(struct block_load *out, const struct studying *s,
                               const struct sharded *sharded)
{
	struct received r = {arena_alloc(s->arena, (size_t)s->ndevices, sizeof(double)),
	                     out};
	struct text why = {0};

	*out = (struct block_load){0};
	for (int i = 0; i < sharded->n; i++) {
		const struct sharded_step *step = &sharded->step[i];
		struct lowered lowered;

		if (!lower_collective(&lowered, s->arena, s->bench->machine, step->op,
		                      step->groups, step->bytes, &why)) {
			error_set(s->error, E_INFEASIBLE, s->at, "%.200s", why.s);
			text_free(&why);
			return s->error->code;
		}
		if (add_schedule(&r, s, &lowered.schedule, lowered.launch_s) != OK)
			return s->error->code;
	}
	out->memory = sharded->memory + out->received;
	return OK;
}

/* Returns how many devices of fabric 0 are in a domain of it, where all have as many. */
static int32_t node_size(const struct machine *m)
{
	const struct fabric *f = &m->fabric[0];

	if (f->ndomains < 1 || m->ndevices % f->ndomains || m->nfabrics < 2)
		return 1;
	return m->ndevices / f->ndomains;
}

enum status block_study_run(struct block_study *out, const struct bench *b,
                            struct where at, struct arena *a, struct error *e)
{
	struct studying s = {.bench = b,
	                     .arena = a,
	                     .at = at,
	                     .error = e,
	                     .ndevices = b->machine->ndevices,
	                     .per_node = node_size(b->machine)};

	while (s.side * s.side < s.ndevices)
		s.side++;
	if (s.side * s.side != s.ndevices || s.ndevices > BLOCK_DEVICES_MAX)
		return error_set(e, E_TYPE, at,
		                 "%d devices, expected a square number of at most %d",
		                 (int)s.ndevices, BLOCK_DEVICES_MAX);
	out->machine = b->machine;
	for (int i = 0; i < BLOCK_GRAPHS; i++) {
		struct block_case *c = &out->graph[i];
		struct block_graph packed = cases[i].graph(&s, true);
		struct block_graph dealt = cases[i].graph(&s, false);
		struct sharded sharded = cases[i].sharded(&s);

		c->name = cases[i].name;
		if (run_graph(&c->way[0], &s, &packed, POLICY_LSHS) != OK ||
		    run_graph(&c->way[1], &s, &dealt, POLICY_ROUND_ROBIN) != OK ||
		    run_sharded(&c->way[2], &s, &sharded) != OK)
			return e->code;
	}
	return OK;
}
