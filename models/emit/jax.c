/*
 * JAX: the plan as the body of a jax.shard_map, in the collectives of jax.lax. Axes name the
 * groups, so that sub-axes need a mesh of pieces; its array of devices carries their order.
 *
 * A step of several moves is one collective over the axes of all, between local transposes.
 * A sum travels as an array with one more dimension in front, of its contributions.
 */
#include "emit/jax.h"

#include "emit/kinds.h"
#include "emit/put.h"

/* Appends the axes of moves `first` to `last` of a step, which are one collective's. */
static void put_axes(struct jax *j, const struct step *s, int first, int last)
{
	int piece[2 * MESH_AXES_MAX], n = 0;

	for (int k = first; k <= last; k++)
		n += local_pieces(piece + n, &j->l, s->move[k].parts, s->move[k].nparts);
	jax_names(j, piece, n);
}

/* --- steps -------------------------------------------------------------------------- */

static void put_slice(struct jax *j, const struct step *s)
{
	const struct mesh *m = &j->l.plan->problem->mesh;
	bool axes = local_step_axes(&j->l, s);

	for (int k = 0; k < s->nmoves; k++) {
		int dim = s->move[k].to_dim, factor = s->move[k].factor;

		text_printf(j->out, "    a = lax.dynamic_slice_in_dim(a, ");
		if (axes) {
			text_printf(j->out, "lax.axis_index(");
			put_axes(j, s, k, k);
			text_printf(j->out, ")");
		} else {
			text_printf(j->out, "jnp.array([");
			for (int32_t i = 0; i < m->ndevices; i++)
				text_printf(j->out, "%s%d", i ? ", " : "",
				            s->chunk[mesh_device(m, i) * s->nmoves + k]);
			text_printf(j->out, "])[lax.axis_index(");
			jax_all_names(j);
			text_printf(j->out, ")]");
		}
		text_printf(j->out,
		            " * (a.shape[%d] // %d), a.shape[%d] // %d, axis=%d)", dim,
		            factor, dim, factor, dim);
		text_printf(j->out, k + 1 < s->nmoves ? "\n" : "");
	}
}

/* The blocks that go to the members are put in front, as one dimension of all of them. */
static void put_pack(struct jax *j, const struct step *s)
{
	int rank = j->l.plan->shape.rank;
	struct rearrange r = local_pack(s, rank);

	text_printf(j->out, "    a = a.reshape(");
	for (int i = 0; i < r.nsplit; i++) {
		text_printf(j->out, i ? ", " : "");
		if (r.split[i].blocks)
			text_printf(j->out, "%d", r.split[i].blocks);
		else if (r.split[i].cut)
			text_printf(j->out, "a.shape[%d] // %d", r.split[i].dim,
			            r.split[i - 1].blocks);
		else
			text_printf(j->out, "a.shape[%d]", r.split[i].dim);
	}
	text_printf(j->out, ").transpose(");
	for (int i = 0; i < r.nsplit; i++)
		text_printf(j->out, "%s%d", i ? ", " : "", r.order[i]);
	text_printf(j->out, ")\n    a = a.reshape(%d, *a.shape[%d:])\n", s->groups.size,
	            s->nmoves);
}

/* The members' blocks, in front as one dimension, join the dimensions they belong to. */
static void put_unpack(struct jax *j, const struct step *s)
{
	int rank = j->l.plan->shape.rank, at = 0;
	struct rearrange r = local_unpack(s, rank);

	text_printf(j->out, "\n    a = a.reshape(");
	for (int k = 0; k < s->nmoves; k++)
		text_printf(j->out, "%d, ", s->move[k].factor);
	text_printf(j->out, "*a.shape[1:]).transpose(");
	for (int i = 0; i < s->nmoves + rank; i++)
		text_printf(j->out, "%s%d", i ? ", " : "", r.order[i]);
	text_printf(j->out, ")\n    a = a.reshape(");
	for (int dim = 0; dim < rank; dim++, at++) {
		text_printf(j->out, dim ? ", " : "");
		if (r.block[dim] >= 0)
			text_printf(j->out, "%d * ", s->move[r.block[dim]].factor), at++;
		text_printf(j->out, "a.shape[%d]", at);
	}
	text_printf(j->out, ")");
}

static void put_gather(struct jax *j, const struct step *s)
{
	text_printf(j->out, "    a = lax.all_gather(a, ");
	put_axes(j, s, 0, s->nmoves - 1);
	if (s->nmoves == 1) {
		text_printf(j->out, ", axis=%d, tiled=True)", s->move[0].from_dim);
		return;
	}
	text_printf(j->out, ", axis=0, tiled=False)");
	put_unpack(j, s);
}

static void put_all_to_all(struct jax *j, const struct step *s)
{
	bool one = s->nmoves == 1;

	if (!one)
		put_pack(j, s);
	text_printf(j->out, "    a = lax.all_to_all(a, ");
	put_axes(j, s, 0, s->nmoves - 1);
	text_printf(j->out, ", split_axis=%d, concat_axis=%d, tiled=True)",
	            one ? s->move[0].to_dim : 0, one ? s->move[0].from_dim : 0);
	if (!one)
		put_unpack(j, s);
}

static void put_reduce_scatter(struct jax *j, const struct step *s)
{
	bool one = s->nmoves == 1;

	if (!one)
		put_pack(j, s);
	text_printf(j->out, "    a = lax.psum_scatter(a, ");
	put_axes(j, s, 0, s->nmoves - 1);
	text_printf(j->out, ", scatter_dimension=%d, tiled=%s)",
	            one ? s->move[0].to_dim : 0, one ? "True" : "False");
}

static void put_partial(struct jax *j, const struct step *s)
{
	if (s->move[0].from_dim < 0) {
		text_printf(j->out, "    a = jnp.where(lax.axis_index(");
		put_axes(j, s, 0, s->nmoves - 1);
		text_printf(j->out, ") == 0, a, jnp.zeros_like(a))");
		return;
	}
	for (int k = 0; k < s->nmoves; k++) {
		int dim = s->move[k].from_dim;

		text_printf(
			j->out,
			"%s    zeros = jnp.zeros(a.shape[:%d] + (%d * a.shape[%d],) + "
			"a.shape[%d:], a.dtype)\n"
			"    a = lax.dynamic_update_slice_in_dim(zeros, a, "
			"lax.axis_index(",
			k ? "\n" : "", dim, s->move[k].factor, dim, dim + 1);
		put_axes(j, s, k, k);
		text_printf(j->out, ") * a.shape[%d], axis=%d)", dim, dim);
	}
}

/* Positions are those in the mesh, whatever its devices. A target without pair has zeros. */
static void put_permute(struct jax *j, const struct step *s)
{
	const int32_t *at = mesh_positions(&j->l.plan->problem->mesh, j->l.arena);

	text_printf(j->out, "    a = lax.ppermute(a, ");
	jax_all_names(j);
	text_printf(j->out, ", perm=[");
	for (int32_t i = 0; i < s->npairs; i++)
		text_printf(j->out, "%s(%d, %d)", i ? ", " : "", at[s->pairs[i].src],
		            at[s->pairs[i].dst]);
	text_printf(j->out, "])");
}

static void put_all_reduce(struct jax *j, const struct step *s)
{
	text_printf(j->out, "    a = lax.psum(a, ");
	put_axes(j, s, 0, s->nmoves - 1);
	text_printf(j->out, ")");
}

static bool check_step(struct jax *j, int i)
{
	const struct step *s = &j->l.plan->step[i];

	if (s->op == OP_SLICE || s->op == OP_PERMUTE || local_step_axes(&j->l, s))
		return true;
	text_printf(j->why,
	            "step %d is over groups of devices that are no axes of the mesh: "
	            "--emit stablehlo, torch or torch-p2p names devices",
	            i + 1);
	return false;
}

static void put_step(struct jax *j, int i)
{
	static void (*const put[OPS])(struct jax *, const struct step *) = LOCAL_PUTS;
	const struct step *s = &j->l.plan->step[i];
	struct shape tile = local_tile(&j->l, i + 1, false);

	put[s->op](j, s);
	text_printf(j->out, "  # ");
	put_array_type(j->out, j->l.plan->problem->array.dtype->name, &tile);
	text_printf(j->out, "\n");
}

/* --- the program -------------------------------------------------------------------- */

static bool put_pads(struct jax *j)
{
	int rank = j->l.plan->problem->array.shape.rank;
	bool any = false;

	for (int i = 0; i < rank; i++)
		any = any || j->l.pad[i] > 0;
	if (!any)
		return false;
	text_printf(j->out, "PAD = (");
	if (local_partials(&j->l, false) > 1)
		text_printf(j->out, "(0, 0), ");
	for (int i = 0; i < rank; i++)
		text_printf(j->out, "(0, %lld), ", (long long)j->l.pad[i]);
	text_printf(j->out,
	            ")  # so that tiles are equal\n\n\n"
	            "def reshard(a):\n"
	            "    return mapped(jnp.pad(a, PAD))[tuple(map(slice, "
	            "a.shape%s))]\n\n\n",
	            local_partials(&j->l, false) > 1 ? "[1:]" : "");
	return true;
}

/*
 * The check runs the same program on a small array, whose elements are numbered, and looks
 * at every device's tile. Contributions to a sum differ so that none can stand for others.
 */
static void put_check(struct jax *j, const struct layout *from)
{
	struct shape s = local_array(&j->l, true);

	jax_check_array(j, &s, local_partials(&j->l, false));
	text_printf(j->out, "    got = mapped(jax.device_put(a, NamedSharding(mesh, ");
	jax_spec(j, from);
	text_printf(j->out, ")))\n");
	jax_check_tiles(j, local_partials(&j->l, true));
}

static void put_program(struct jax *j, const struct layout *from,
                        const struct layout *to)
{
	const struct plan *p = j->l.plan;
	struct shape tile = local_tile(&j->l, 0, false);

	jax_begin(j);
	text_printf(j->out, "\n\ndef body(a):  # a tile, ");
	put_array_type(j->out, p->problem->array.dtype->name, &tile);
	text_printf(j->out, "\n");
	if (local_partials(&j->l, false) > 1)
		text_printf(j->out, "    a = a[0]  # of what adds up, numbered in "
		                    "front, a device has one\n");
	if (p->view)
		put_digits(j->out, &j->l, false);
	for (int i = 0; i < p->nsteps; i++)
		put_step(j, i);
	if (p->view)
		put_digits(j->out, &j->l, true);
	text_printf(j->out, local_partials(&j->l, true) > 1 ? "    return a[None]\n"
	                                                    : "    return a\n");
	text_printf(j->out, "\n\n");
	jax_note(j);
	text_printf(j->out, "mapped = ");
	jax_map(j, "body", from, to);
	text_printf(j->out, "\n");
	if (!put_pads(j))
		text_printf(j->out, "reshard = mapped\n\n\n");
	put_check(j, from);
}

static enum emitted emit_jax(struct text *out, const struct emission *what,
                             struct arena *scratch, struct text *why)
{
	struct jax j = {.out = out, .why = why};
	struct layout from, to;

	if (!local_make(&j.l, what->plan, scratch, why) || !local_cut(&j.l, why))
		return EMIT_CANNOT;
	if (!local_end(&from, &j.l, false) || !local_end(&to, &j.l, true)) {
		text_printf(why, "%s", jax_no_axes);
		return EMIT_CANNOT;
	}
	for (int i = 0; i < what->plan->nsteps; i++)
		if (!check_step(&j, i))
			return EMIT_CANNOT;
	emit_heading(out, &emitter_jax, what);
	put_program(&j, &from, &to);
	return EMITTED;
}

const struct emitter emitter_jax = {
	.name = "jax",
	.help = "a function of JAX: collectives in a shard_map",
	.comment = "# ",
	.comment_end = "",
	.emit = emit_jax,
};
