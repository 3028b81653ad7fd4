/*
 * JAX, point to point: the plan as rounds in which every device cuts a box out of its tile,
 * passes it on by a ppermute, and puts what it gets into the new tile. So tiles of unequal
 * size and exchanges of boxes are one program for all devices, of tables by position in the
 * mesh. Boxes of one round have one size; rounds are found by colouring the copies of a stage,
 * so that a device sends and gets one box at most in each.
 *
 * Tiles are padded to one extent, and so is the array: its shape is a multiple of what the
 * axes cut. Tables count in cells, as in torch_p2p.c.
 */
#include "emit/copies.h"
#include "emit/jax.h"
#include "emit/kinds.h"
#include "emit/put.h"

#include <string.h>

struct p2p {
	struct jax j;
	struct copies c;
	int64_t unit[RANK_MAX]; /* of the check */
	const int32_t *place;   /* [ndevices] position of a device in the mesh */
};

static void put_cells(struct p2p *t, const int64_t *value)
{
	int64_t cell[RANK_MAX];

	for (int i = 0; i < t->c.plan->shape.rank; i++)
		cell[i] = value[i] / t->c.unit[i];
	put_tuple(t->j.out, cell, t->c.plan->shape.rank);
}

/* --- rounds ------------------------------------------------------------------------- */

/* Appends, of each dimension, the corners by position. */
static void put_corners(struct p2p *t, const struct copy *const *by_place, bool to)
{
	int32_t n = t->j.l.pieces.ndevices;

	text_printf(t->j.out, "[");
	for (int i = 0; i < t->c.plan->shape.rank; i++) {
		text_printf(t->j.out, i ? ", [" : "[");
		for (int32_t d = 0; d < n; d++) {
			const struct copy *c = by_place[d];
			int64_t at = c ? (to ? c->to : c->from)[i] / t->c.unit[i] : 0;

			text_printf(t->j.out, "%s%lld", d ? ", " : "", (long long)at);
		}
		text_printf(t->j.out, "]");
	}
	text_printf(t->j.out, "]");
}

/* Takes the copies of one round out of a stage, all of the size of the first one left. */
static void put_round(struct p2p *t, const struct stage *s, bool *done, int64_t first)
{
	int32_t n = t->j.l.pieces.ndevices;
	size_t rank = (size_t)t->c.plan->shape.rank;
	const struct copy *const one = &s->copies.at[first];
	const struct copy **from =
		arena_alloc(t->c.arena, (size_t)n, sizeof(struct copy *));
	const struct copy **to =
		arena_alloc(t->c.arena, (size_t)n, sizeof(struct copy *));
	const char *comma = "";

	text_printf(t->j.out, "        (");
	put_cells(t, one->size);
	text_printf(t->j.out, ", [");
	for (int64_t i = first; i < s->copies.n; i++) {
		const struct copy *c = &s->copies.at[i];
		int32_t src = t->place[c->src], dst = t->place[c->dst];

		if (done[i] || from[src] || to[dst] ||
		    memcmp(c->size, one->size, rank * sizeof(*c->size)) != 0)
			continue;
		done[i] = true;
		from[src] = to[dst] = c;
		text_printf(t->j.out, "%s(%d, %d)", comma, src, dst);
		comma = ", ";
	}
	text_printf(t->j.out, "],\n         ");
	put_corners(t, from, false);
	text_printf(t->j.out, ",\n         ");
	put_corners(t, to, true);
	text_printf(t->j.out, ", [");
	for (int32_t d = 0; d < n; d++)
		text_printf(t->j.out, "%s%d", d ? ", " : "", to[d] != NULL);
	text_printf(t->j.out, "]),\n");
}

static void put_stage(struct p2p *t, const struct stage *s)
{
	bool *done = arena_alloc(t->c.arena, (size_t)s->copies.n + 1, sizeof(*done));

	text_printf(t->j.out, "    (");
	put_cells(t, s->after.dim);
	text_printf(t->j.out, ", %s, [  # step %d, %s\n", s->adds ? "True" : "False",
	            s->step + 1, op_name(t->c.plan->step[s->step].op));
	for (int64_t i = 0; i < s->copies.n; i++)
		if (!done[i])
			put_round(t, s, done, i);
	text_printf(t->j.out, "    ]),\n");
}

/* --- the program -------------------------------------------------------------------- */

static const char table[] = "  # elements of a cell, in which the tables count\n"
			    "# Cells of the new tile; whether what comes is added; "
			    "then the rounds: size of the "
			    "box; who passes\n# it on to whom; by dimension and "
			    "position the corners there and "
			    "here; who gets one.\nSTEPS = [\n";

static const char body[] =
	"    for after, adds, rounds in STEPS:\n"
	"        new = jnp.zeros([n * u for n, u in zip(after, unit)], a.dtype)\n"
	"        for size, pairs, there, here, gets in rounds:\n"
	"            size = [n * u for n, u in zip(size, unit)]\n"
	"            there = [jnp.array(c)[me] * u for c, u in zip(there, unit)]\n"
	"            here = [jnp.array(c)[me] * u for c, u in zip(here, unit)]\n"
	"            part = lax.ppermute(lax.dynamic_slice(a, there, size), AXES, "
	"pairs)\n"
	"            if adds:\n"
	"                part = part + lax.dynamic_slice(new, here, size)\n"
	"            put = lax.dynamic_update_slice(new, part, here)\n"
	"            new = jnp.where(jnp.array(gets)[me] == 1, put, new)\n"
	"        a = new\n";

/* Appends extents of the array's dimensions that those of a tile of the plan make. */
static void put_joined(struct p2p *t, const char *value)
{
	const struct plan *p = t->c.plan;

	text_printf(t->j.out, "[");
	for (int dim = 0, k = 0; dim < p->problem->array.shape.rank; dim++) {
		text_printf(t->j.out, dim ? ", 1" : "1");
		for (; k < p->shape.rank && (p->view ? p->view->dim[k] : k) == dim; k++)
			text_printf(t->j.out, " * %s[%d]", value, k);
	}
	text_printf(t->j.out, "]");
}

static void put_body(struct p2p *t)
{
	const struct plan *p = t->c.plan;
	struct shape from = layout_local(&p->from, &p->shape);

	text_printf(t->j.out, "\n\ndef body(a, unit):  # a tile\n"
	                      "    me = lax.axis_index(AXES)\n");
	if (local_partials(&t->j.l, false) > 1)
		text_printf(t->j.out, "    a = a[0]  # of what adds up, numbered in "
		                      "front, a device has one\n");
	text_printf(t->j.out, "    a = a.reshape([n * u for n, u in zip(");
	put_cells(t, from.dim);
	text_printf(t->j.out, ", unit)])\n%s", body);
	if (p->view) {
		text_printf(t->j.out, "    a = a.reshape(");
		put_joined(t, "a.shape");
		text_printf(t->j.out, ")\n");
	}
	text_printf(t->j.out, local_partials(&t->j.l, true) > 1 ? "    return a[None]\n"
	                                                        : "    return a\n");
}

/* Finds the extent of the padded source or target array, in cells of the check or not. */
static struct shape padded(const struct p2p *t, bool target, bool small)
{
	const struct plan *p = t->c.plan;
	const struct layout *l = target ? &p->to : &p->from;
	struct shape tile = layout_local(l, &p->shape);
	struct shape out = {.rank = p->problem->array.shape.rank};

	for (int i = 0; i < out.rank; i++)
		out.dim[i] = 1;
	for (int k = 0; k < p->shape.rank; k++) {
		int64_t unit = small ? t->unit[k] : t->c.unit[k];

		out.dim[p->view ? p->view->dim[k] : k] *=
			tile.dim[k] / t->c.unit[k] * unit * layout_shards(l, k);
	}
	return out;
}

/* Finds the extent of the array of the check: what it has of the padded ones is real. */
static struct shape real(const struct p2p *t, bool small)
{
	const struct plan *p = t->c.plan;
	const struct problem *q = p->problem;
	struct shape out = q->array.shape, whole = padded(t, false, true);

	for (int i = 0; i < out.rank && small; i++)
		out.dim[i] = p->view ? whole.dim[i] - (q->padded.dim[i] - out.dim[i])
		                     : out.dim[i] / t->c.unit[i] * t->unit[i];
	return out;
}

static void put_widths(struct p2p *t, bool target, bool small, bool sum)
{
	struct shape whole = padded(t, target, small), s = real(t, small);

	text_printf(t->j.out, sum ? "[(0, 0), " : "[");
	for (int i = 0; i < s.rank; i++)
		text_printf(t->j.out, "%s(0, %lld)", i ? ", " : "",
		            (long long)(whole.dim[i] - s.dim[i]));
	text_printf(t->j.out, "]");
}

static void put_check(struct p2p *t, const struct layout *from)
{
	struct shape s = real(t, true);
	bool sum = local_partials(&t->j.l, false) > 1;

	text_printf(t->j.out, "\n\n");
	jax_check_array(&t->j, &s, local_partials(&t->j.l, false));
	text_printf(t->j.out, "    a = np.pad(a, ");
	put_widths(t, false, true, sum);
	text_printf(t->j.out, ")\n    want = np.pad(want, ");
	put_widths(t, true, true, false);
	text_printf(t->j.out, ")\n    got = mapped(");
	put_tuple(t->j.out, t->unit, t->c.plan->shape.rank);
	text_printf(t->j.out, ")(jax.device_put(a, NamedSharding(mesh, ");
	jax_spec(&t->j, from);
	text_printf(t->j.out, ")))\n");
	jax_check_tiles(&t->j, local_partials(&t->j.l, true));
}

static void put_program(struct p2p *t, const struct layout *from,
                        const struct layout *to)
{
	bool sum = local_partials(&t->j.l, false) > 1;

	jax_begin(&t->j);
	text_printf(t->j.out, "AXES = ");
	jax_all_names(&t->j);
	text_printf(t->j.out, "\nUNIT = ");
	put_tuple(t->j.out, t->c.unit, t->c.plan->shape.rank);
	text_printf(t->j.out, "%s", table);
	for (int64_t i = 0; i < t->c.stages.n; i++)
		put_stage(t, &t->c.stages.at[i]);
	text_printf(t->j.out, "]\n");
	put_body(t);
	text_printf(t->j.out, "\n\n");
	jax_note(&t->j);
	text_printf(t->j.out, "def mapped(unit):\n    return ");
	jax_map(&t->j, "lambda a: body(a, unit)", from, to);
	text_printf(t->j.out, "\n\n\nwith_units = mapped(UNIT)\n\n\ndef reshard(a):\n  "
	                      "  whole = jnp.pad(a, ");
	put_widths(t, false, false, sum);
	text_printf(t->j.out,
	            ")\n    return with_units(whole)[tuple(map(slice, a.shape%s))]\n",
	            sum ? "[1:]" : "");
	put_check(t, from);
}

static bool can_say(struct p2p *t, struct text *why)
{
	const struct problem *q = t->c.plan->problem;

	if (!q->same_devices || q->mesh.ndevices != q->ndevices) {
		text_printf(
			why,
			"the plan is between two sets of devices, and a shard_map has "
			"one mesh: --emit torch-p2p says every plan");
		return false;
	}
	for (int64_t i = 0; i < t->c.stages.n; i++)
		if (t->c.stages.at[i].holds) {
			text_printf(why,
			            "step %d leaves boxes beside tiles: --emit "
			            "torch-p2p says "
			            "every plan",
			            t->c.stages.at[i].step + 1);
			return false;
		}
	return true;
}

static enum emitted emit_jax_p2p(struct text *out, const struct emission *what,
                                 struct arena *scratch, struct text *why)
{
	struct p2p t = {.j = {.out = out, .why = why}};
	struct layout from, to;

	if (!copies_make(&t.c, what->plan, scratch, why) || !can_say(&t, why))
		return EMIT_CANNOT;
	local_open(&t.j.l, what->plan, scratch);
	if (!local_cut(&t.j.l, why))
		return EMIT_CANNOT;
	if (!local_end(&from, &t.j.l, false) || !local_end(&to, &t.j.l, true)) {
		text_printf(why, "%s", jax_no_axes);
		return EMIT_CANNOT;
	}
	for (int i = 0; i < what->plan->shape.rank; i++)
		t.unit[i] = t.c.unit[i] < 2 ? t.c.unit[i] : 2;
	t.place = mesh_positions(&what->plan->problem->mesh, scratch);
	emit_heading(out, &emitter_jax_p2p, what);
	put_program(&t, &from, &to);
	return EMITTED;
}

const struct emitter emitter_jax_p2p = {
	.name = "jax-p2p",
	.help = "a function of JAX: boxes passed on in rounds of ppermute",
	.comment = "# ",
	.comment_end = "",
	.emit = emit_jax_p2p,
};
