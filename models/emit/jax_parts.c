#include "array/mesh.h"
#include "emit/jax.h"
#include "emit/put.h"

#include <stdlib.h>

const char jax_no_axes[] = "no axes of the source mesh say one of the layouts: "
			   "--emit stablehlo, torch or torch-p2p names devices";

void jax_names(struct jax *j, const int *piece, int n)
{
	text_printf(j->out, n == 1 ? "" : "(");
	for (int i = 0; i < n; i++)
		put_name(j->out, i, j->l.pieces.axis[piece[i]].name);
	text_printf(j->out, n == 1 ? "" : ")");
}

void jax_all_names(struct jax *j)
{
	int all[MESH_AXES_MAX];

	for (int i = 0; i < j->l.pieces.naxes; i++)
		all[i] = i;
	jax_names(j, all, j->l.pieces.naxes);
}

static void put_entry(struct jax *j, const struct part *part, int n)
{
	int piece[MESH_AXES_MAX], count = local_pieces(piece, &j->l, part, n);

	if (count == 0)
		text_printf(j->out, "None");
	else
		jax_names(j, piece, count);
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Contributions are numbered in mesh order. */
void jax_spec(struct jax *j, const struct layout *l)
{
	int piece[MESH_AXES_MAX], n;
	const struct part *part = layout_parts(l, l->rank, &n);

	text_printf(j->out, "P(");
	if (n > 0) {
		n = local_pieces(piece, &j->l, part, n);
		qsort(piece, (size_t)n, sizeof(*piece), by_number);
		jax_names(j, piece, n);
		text_printf(j->out, l->rank ? ", " : "");
	}
	for (int dim = 0; dim < l->rank; dim++) {
		part = layout_parts(l, dim, &n);
		text_printf(j->out, dim ? ", " : "");
		put_entry(j, part, n);
	}
	text_printf(j->out, ")");
}

/* Devices have the numbers that were given, if any were. */
void jax_begin(struct jax *j)
{
	const struct problem *q = j->l.plan->problem;
	const struct mesh *m = &j->l.pieces;
	bool plain = !m->ids && !q->from_devices;

	text_printf(j->out, "import jax\nimport jax.numpy as jnp\nimport numpy as np\n"
	                    "from jax import lax\nfrom jax.sharding import Mesh, "
	                    "NamedSharding, PartitionSpec as P\n\n");
	text_printf(j->out, "mesh = Mesh(np.array(jax.devices()");
	if (plain)
		text_printf(j->out, "[:%d])", m->ndevices);
	else
		text_printf(j->out, ")[[");
	for (int32_t i = 0; i < m->ndevices && !plain; i++) {
		int32_t d = mesh_device(m, i);

		text_printf(j->out, "%s%d", i ? ", " : "",
		            q->from_devices && q->platform ? q->platform[d] : d);
	}
	text_printf(j->out, plain ? ".reshape(" : "]].reshape(");
	for (int i = 0; i < m->naxes; i++)
		text_printf(j->out, "%s%d", i ? ", " : "", m->axis[i].size);
	text_printf(j->out, "), (");
	for (int i = 0; i < m->naxes; i++)
		put_name(j->out, i, m->axis[i].name);
	text_printf(j->out, m->naxes == 1 ? ",))\n" : "))\n");
}

void jax_note(struct jax *j)
{
	text_printf(j->out,
	            "# Before jax 0.6: jax.experimental.shard_map.shard_map, "
	            "check_rep=False. On a CPU:\n"
	            "# XLA_FLAGS=--xla_force_host_platform_device_count=%d\n",
	            j->l.plan->problem->ndevices);
}

void jax_map(struct jax *j, const char *name, const struct layout *from,
             const struct layout *to)
{
	text_printf(j->out, "jax.jit(jax.shard_map(%s, mesh=mesh, in_specs=", name);
	jax_spec(j, from);
	text_printf(j->out, ", out_specs=");
	jax_spec(j, to);
	text_printf(j->out, ", check_vma=False))");
}

void jax_check_array(struct jax *j, const struct shape *s, int32_t n)
{
	text_printf(j->out, "if __name__ == '__main__':  # the check: a small array\n"
	                    "    shape = ");
	put_tuple(j->out, s->dim, s->rank);
	text_printf(j->out,
	            "\n    size = int(np.prod(shape))\n"
	            "    a = want = np.arange(size, dtype=np.int32).reshape(shape)\n");
	if (n == 1)
		return;
	text_printf(j->out, "    a = np.stack([want + w * size for w in (");
	for (int32_t i = 0; i < n; i++)
		text_printf(j->out, "%s%lld", i ? ", " : "",
		            (long long)local_weight(i, n));
	text_printf(j->out, ")])  # what adds up\n    want = a.sum(axis=0)\n");
}

void jax_check_tiles(struct jax *j, int32_t n)
{
	if (n > 1)
		text_printf(j->out,
		            "    assert (np.asarray(got).sum(axis=0) == want).all()\n");
	else
		text_printf(j->out, "    for tile in got.addressable_shards:\n"
		                    "        assert (np.asarray(tile.data) == "
		                    "want[tile.index]).all(), tile.device\n");
	text_printf(j->out, "    print('every element is right')\n");
}
