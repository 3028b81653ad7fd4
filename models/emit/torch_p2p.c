/*
 * PyTorch, point to point: the plan as a table of boxes that ranks send each other, and the
 * few lines that run it with batch_isend_irecv. It can say every plan, for it knows nothing
 * of collectives. Rank r is device r of the plan.
 *
 * Corners and sizes are in cells of UNIT elements, which the check makes smaller.
 */
#include "emit/kinds.h"

#include "array/tile.h"
#include "emit/copies.h"
#include "emit/local.h"
#include "emit/put.h"

#include <string.h>

struct p2p {
	struct text *out;
	struct copies c;
	int64_t unit[RANK_MAX]; /* of the check */
};

/* --- tables ------------------------------------------------------------------------- */

static void put_cells(struct p2p *t, const int64_t *value)
{
	int64_t cell[RANK_MAX];
	int rank = t->c.plan->shape.rank;

	for (int i = 0; i < rank; i++)
		cell[i] = value[i] / t->c.unit[i];
	put_tuple(t->out, cell, rank);
}

static void put_stage(struct p2p *t, const struct stage *s)
{
	const struct step *step = &t->c.plan->step[s->step];

	text_printf(t->out, "    (");
	put_cells(t, s->before.dim);
	text_printf(t->out, ", ");
	put_cells(t, s->after.dim);
	text_printf(t->out, ", %s, %s, [  # step %d, %s\n", s->adds ? "True" : "False",
	            s->holds ? "True" : "False", s->step + 1, op_name(step->op));
	for (int64_t i = 0; i < s->copies.n; i++) {
		const struct copy *c = &s->copies.at[i];

		text_printf(t->out, "        (%d, %d, ", c->src, c->from_buffer);
		put_cells(t, c->from);
		text_printf(t->out, ", %d, %d, ", c->dst, c->to_buffer);
		put_cells(t, c->to);
		text_printf(t->out, ", ");
		put_cells(t, c->size);
		text_printf(t->out, "),\n");
	}
	text_printf(t->out, "    ]),\n");
}

static void put_tables(struct p2p *t)
{
	text_printf(t->out, "\nUNIT = ");
	put_tuple(t->out, t->c.unit, t->c.plan->shape.rank);
	text_printf(
		t->out,
		"  # elements of a cell, in which the table counts\n"
		"# Cells of a tile before and after; whether what comes is added, and "
		"whether it is held\n# beside the tile; then the boxes: rank, which "
		"box "
		"that it holds (0: its tile), corner there;\n# to rank, which box "
		"held, corner here; size.\nSTEPS = [\n");
	for (int64_t i = 0; i < t->c.stages.n; i++)
		put_stage(t, &t->c.stages.at[i]);
	text_printf(t->out, "]\n");
}

/* --- the check ---------------------------------------------------------------------- */

/* Returns the extent of the array dimensions that extents of the plan make, in the check. */
static struct shape small_shape(const struct p2p *t, const struct shape *s, int rank)
{
	const struct plan *p = t->c.plan;
	struct shape out = {.rank = rank};

	for (int i = 0; i < rank; i++)
		out.dim[i] = 1;
	for (int k = 0; k < p->shape.rank; k++)
		out.dim[p->view ? p->view->dim[k] : k] *=
			s->dim[k] / t->c.unit[k] * t->unit[k];
	return out;
}

/* Appends the number of the tile of every rank in every dimension, None without one. */
static void put_tiles(struct p2p *t, bool target)
{
	const struct plan *p = t->c.plan;
	const struct problem *q = p->problem;
	struct shape digits = layout_local(target ? &p->to : &p->from, &p->shape);
	struct shape tile = small_shape(t, &digits, q->array.shape.rank);
	struct tilemap map =
		tilemap_make(target ? &q->to : &q->from,
	                     target ? &q->to_mesh : &q->mesh, &q->padded, t->c.arena);

	text_printf(t->out, "    %s, size = [", target ? "target" : "source");
	for (int32_t d = 0; d < q->ndevices; d++) {
		int64_t start[RANK_MAX];

		text_printf(t->out, d ? ", " : "");
		if (d >= map.ndevices || !tilemap_has(&map, d)) {
			text_printf(t->out, "None");
			continue;
		}
		for (int i = 0; i < tile.rank; i++)
			start[i] = map.index[(int64_t)d * tile.rank + i] * tile.dim[i];
		put_tuple(t->out, start, tile.rank);
	}
	text_printf(t->out, "][rank], ");
	put_tuple(t->out, tile.dim, tile.rank);
	text_printf(t->out, "\n");
}

static void put_contributions(struct p2p *t, int64_t size, int32_t n)
{
	const struct problem *q = t->c.plan->problem;
	struct tilemap map = tilemap_make(&q->from, &q->mesh, &q->padded, t->c.arena);

	text_printf(t->out, "        a[part] += %lld * ", (long long)size);
	put_weights(t->out, map.partial, map.ndevices, n);
	text_printf(t->out, "[rank]  # what adds up\n    want = want * %d + %lld\n", n,
	            (long long)(size * local_weights(n)));
}

/* The sum of what all ranks have counts an element once for each rank that has it. */
static void put_target_sum(struct p2p *t)
{
	const struct problem *q = t->c.plan->problem;
	int64_t shards = 1;

	for (int i = 0; i <= q->to.rank; i++)
		shards *= layout_shards(&q->to, i);
	text_printf(t->out,
	            "    whole = torch.zeros_like(want)\n"
	            "    if target is not None:\n"
	            "        part = whole[tuple(slice(b, b + n) for b, n in "
	            "zip(target, size))]"
	            "\n        part += got[tuple(map(slice, part.shape))]\n"
	            "    dist.all_reduce(whole)\n"
	            "    assert (whole == want * %lld).all(), rank\n",
	            (long long)(q->to_mesh.ndevices / shards));
}

static void put_check(struct p2p *t)
{
	const struct plan *p = t->c.plan;
	const struct problem *q = p->problem;
	struct shape real = q->array.shape,
		     padded = small_shape(t, &p->shape, real.rank);
	int32_t n = sums_of(&q->from);
	int64_t size;

	for (int i = 0; i < real.rank; i++)
		real.dim[i] = p->view ? padded.dim[i] - (q->padded.dim[i] -
		                                         q->array.shape.dim[i])
		                      : real.dim[i] / t->c.unit[i] * t->unit[i];
	size = shape_elements(&real);
	text_printf(
		t->out,
		"\n\nif __name__ == '__main__':  # the check, a small array: torchrun "
		"--nproc-per-node %d FILE\n    want = torch.arange(%lld, "
		"dtype=torch.int32, device=DEVICE).reshape(",
		q->ndevices, (long long)size);
	put_tuple(t->out, real.dim, real.rank);
	text_printf(t->out, ")\n");
	put_tiles(t, false);
	text_printf(t->out,
	            "    a = want.new_zeros(size if source is not None else 0)\n"
	            "    if source is not None:\n"
	            "        part = want[tuple(slice(b, b + n) for b, n in zip(source, "
	            "size))]"
	            "\n        a[tuple(map(slice, part.shape))] = part\n"
	            "        part = tuple(map(slice, part.shape))\n");
	if (n > 1)
		put_contributions(t, size, n);
	text_printf(t->out, "    got = reshard(a, ");
	put_tuple(t->out, t->unit, p->shape.rank);
	text_printf(t->out, ")\n");
	put_tiles(t, true);
	if (sums_of(&q->to) > 1)
		put_target_sum(t);
	else
		text_printf(t->out, "    if target is not None:\n"
		                    "        part = want[tuple(slice(b, b + n) for b, "
		                    "n in zip(target, "
		                    "size))]\n        assert (got[tuple(map(slice, "
		                    "part.shape))] == "
		                    "part).all(), rank\n");
	text_printf(t->out, "    print('every element of rank', rank, 'is right')\n");
}

/* --- the program -------------------------------------------------------------------- */

static void put_return(struct p2p *t)
{
	const struct plan *p = t->c.plan;
	int rank = p->problem->array.shape.rank;

	if (!p->view) {
		text_printf(t->out, "    return a\n");
		return;
	}
	text_printf(t->out, "    return a.reshape([");
	for (int dim = 0, k = 0; dim < rank; dim++) {
		text_printf(t->out, dim ? ", 1" : "1");
		for (; k < p->shape.rank && p->view->dim[k] == dim; k++)
			text_printf(t->out, " * a.shape[%d]", k);
	}
	text_printf(t->out, "])\n");
}

static void put_ranks(struct p2p *t)
{
	const struct problem *q = t->c.plan->problem;

	if (!q->from_devices && !q->to_devices)
		return;
	text_printf(t->out, "# ranks are these devices of the platform, in order: ");
	for (int32_t d = 0; d < q->ndevices; d++)
		text_printf(t->out, "%s%d", d ? ", " : "",
		            q->platform ? q->platform[d] : d);
	text_printf(t->out, "\n");
}

static enum emitted emit_torch_p2p(struct text *out, const struct emission *what,
                                   struct arena *scratch, struct text *why)
{
	struct p2p t = {.out = out};

	if (!copies_make(&t.c, what->plan, scratch, why))
		return EMIT_CANNOT;
	for (int i = 0; i < what->plan->shape.rank; i++)
		t.unit[i] = t.c.unit[i] < 2 ? t.c.unit[i] : 2;
	emit_heading(out, &emitter_torch_p2p, what);
	put_ranks(&t);
	put_torch(out, "");
	text_printf(out, "rank = dist.get_rank()\n");
	put_tables(&t);
	text_printf(out, "%s", emit_text_torch_p2p);
	put_return(&t);
	put_check(&t);
	return EMITTED;
}

const struct emitter emitter_torch_p2p = {
	.name = "torch-p2p",
	.caller = "eager",
	.help = "a function of PyTorch: sends and receives; says every plan",
	.comment = "# ",
	.comment_end = "",
	.emit = emit_torch_p2p,
};
