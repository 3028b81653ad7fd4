#include "collective_help.h"

#include <check.h>

#include <math.h>

const double W = 45e9, LAT = 1.5e-6, BLOCK = 48 * 1024 + 1;
const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1.5e-6};
const struct link nvlink = {.bandwidth_Bps = 240e9, .latency_s = 0.7e-6};
const struct link nic = {.bandwidth_Bps = 23e9, .latency_s = 2.5e-6};
const struct device device = {.memory_Bps = 1e12, .launch_s = 5e-6};
const enum op ops[4] = {OP_ALL_GATHER, OP_REDUCE_SCATTER, OP_ALL_REDUCE, OP_ALL_TO_ALL};

struct arena *arena;
struct model *model;

void setup(void)
{
	arena = arena_new();
	model = NULL;
}

void teardown(void)
{
	model_free(model);
	arena_free(arena);
}

struct machine *torus(int naxes, const int32_t *shape, bool wrap)
{
	bool wraps[TORUS_AXES_MAX] = {wrap, wrap, wrap, wrap, wrap, wrap};
	struct machine *m = machine_torus(arena, naxes, shape, wraps, ici, device);

	model_free(model);
	model = model_new(m);
	return m;
}

struct machine *cluster(int32_t nodes, int32_t gpus)
{
	struct machine *m = machine_gpu(arena, nodes, gpus, nvlink, nic, device);

	model_free(model);
	model = model_new(m);
	return m;
}

struct groups group_of(int32_t first, int32_t stride, int32_t n)
{
	int32_t *ids = arena_alloc(arena, (size_t)n, sizeof(*ids));

	for (int32_t i = 0; i < n; i++)
		ids[n - 1 - i] = first + i * stride;
	return (struct groups){.ngroups = 1, .size = n, .ids = ids};
}

struct groups groups_of(int32_t all, int32_t n)
{
	struct groups g = group_of(0, 1, all);

	g.ngroups = all / n;
	g.size = n;
	return g;
}

struct schedule built(const struct machine *m, const char *name, enum op op,
                      struct groups g, double bytes)
{
	struct schedule s = {.arena = arena};
	const struct algorithm *a = algorithm_choose(m, op, &g);

	ck_assert_ptr_nonnull(a);
	ck_assert_str_eq(a->name, name);
	a->build(&s, m, op, &g, bytes);
	return s;
}

double before(enum op op, int32_t n)
{
	return op == OP_ALL_GATHER ? BLOCK : BLOCK * n;
}

double received(const struct schedule *s, int32_t d)
{
	double sum = 0;

	for (int64_t i = 0; i < s->nmessages; i++)
		if (s->message[i].dst == d)
			sum += s->message[i].bytes;
	return sum;
}

double *link_bytes(const struct machine *m, const struct schedule *s)
{
	double *load = arena_alloc(arena, (size_t)m->nlinks, sizeof(*load));

	for (int64_t i = 0; i < s->nmessages; i++) {
		const struct message *msg = &s->message[i];
		int32_t links[64];
		int n = machine_route(m, msg->fabric, msg->src, msg->dst, links, 64);

		ck_assert_int_ge(n, 1);
		for (int k = 0; k < n; k++)
			load[links[k]] += msg->bytes;
	}
	return load;
}

double largest(const struct machine *m, const double *load)
{
	double most = 0;

	for (int32_t l = 0; l < m->nlinks; l++)
		most = fmax(most, load[l]);
	return most;
}

void near(double found, double wanted, const char *what)
{
	ck_assert_msg(fabs(found - wanted) <= 1e-12 * fabs(wanted),
	              "%s: found %.17g, wanted %.17g", what, found, wanted);
}
