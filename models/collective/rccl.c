/*
 * AMD's library: NCCL's algorithms, whose rings on fully connected GPUs use every link
 * (nccl_inside) unless it finds few of them (nccl_few_rings), and direct ones that all devices
 * of one node run with each other, where each two of them are linked. Of these it has kernels
 * for four, eight and sixteen devices (tools/msccl-algorithms of the library); that there are
 * such of gathers for four, and of scatters, is assumed.
 *
 * one-shot: all-reduce of V; each sends all it has to each other and adds up.
 *   rounds  one, one step;  bytes V on every link;  cost step l + w + 2 sqrt(w fill)
 * direct: all-reduce of V in two shots, reduce-scatter and all-gather; those alone in
 * one. Each sends V/n to each other per shot.
 *   rounds  one, one or two steps;  bytes V/n or 2V/n on every link
 *   cost    step l per shot + w + 2 sqrt(w fill)
 *   need    one-shot nV, direct V on every device
 * Source: RCCL (models/README.md, "Collectives").
 */
#include "collective/nccl.h"
#include "collective/nccl_data.h"

/* Returns whether the library has kernels in which all devices of the group talk at once. */
static bool has_kernels(const struct nccl_group *g)
{
	return g->nodes == 1 && (g->n == 4 || g->n == 8 || g->n == 16) && nccl_paired(g);
}

static bool one_shot_applies(const struct nccl_group *g, enum op op, enum protocol p)
{
	(void)p;
	return op == OP_ALL_REDUCE && has_kernels(g);
}

static bool direct_applies(const struct nccl_group *g, enum op op, enum protocol p)
{
	(void)p;
	return (op == OP_ALL_REDUCE || op == OP_ALL_GATHER || op == OP_REDUCE_SCATTER) &&
	       has_kernels(g);
}

static void all_pairs(struct schedule *out, const struct nccl_group *g, double bytes)
{
	for (int32_t i = 0; i < g->n; i++)
		for (int32_t k = 0; k < g->n; k++)
			if (k != i)
				schedule_message(out,
				                 machine_fabric(g->machine, g->ids[i],
				                                g->ids[k]),
				                 g->ids[i], g->ids[k], bytes);
}

static void one_shot_messages(struct schedule *out, const struct nccl_group *g,
                              enum op op, double bytes)
{
	(void)op;
	all_pairs(out, g, bytes);
}

static void direct_messages(struct schedule *out, const struct nccl_group *g,
                            enum op op, double bytes)
{
	all_pairs(out, g, bytes / g->n * (op == OP_ALL_REDUCE ? 2 : 1));
}

/*
 * Returns the seconds of so many shots: each is a step of a ring, as the devices are as
 * near.
 */
static double shots_s(const struct nccl_group *g, int shots, enum protocol p)
{
	const struct nccl_data *d = &nccl_data;

	return 1e-6 * (d->base_us[NCCL_RING][p] - d->base_us[NCCL_RING][PROTOCOL_LL] +
	               shots * nccl_inside_us(g, NCCL_RING, p));
}

static double one_shot_steps_s(const struct nccl_group *g, enum op op, enum protocol p)
{
	(void)op;
	return shots_s(g, 1, p);
}

static double direct_steps_s(const struct nccl_group *g, enum op op, enum protocol p)
{
	return shots_s(g, op == OP_ALL_REDUCE ? 2 : 1, p);
}

static const struct nccl_algorithm one_shot = {
	.name = "one-shot",
	.help = "all-reduce in which each sends everything to each other",
	.kind = NCCL_NONE,
	.applies = one_shot_applies,
	.messages = one_shot_messages,
	.steps_s = one_shot_steps_s,
};

static const struct nccl_algorithm direct = {
	.name = "direct",
	.help = "each sends each other its part; all-reduce in two such shots",
	.kind = NCCL_NONE,
	.applies = direct_applies,
	.messages = direct_messages,
	.steps_s = direct_steps_s,
};

extern const struct nccl_algorithm nccl_ring, nccl_tree, nccl_pat, nccl_sends;

const struct nccl_algorithm *const rccl_algorithms[] = {
	&nccl_ring, &nccl_tree, &nccl_pat, &one_shot, &direct, &nccl_sends, NULL,
};

bool rccl_passes_over(const struct nccl_algorithm *a, const struct nccl_group *g,
                      double bytes)
{
	return a->kind == NCCL_TREE && g->nodes == 2 &&
	       bytes >= nccl_data.rccl_ring_bytes;
}
