/*
 * PyTorch: the plan as a function of one rank in functional collectives. Rank r is device r
 * of the plan.
 *
 * Collectives of a process group go by rising rank whatever the order in which its ranks were
 * given (torch.distributed.new_group sorts them). Where the chunks of a plan are in another
 * order, blocks are put in order before they are sent, or after they have come.
 * all_to_all_single cuts dimension 0 alone, and permute_tensor takes flat tensors, for it
 * counts elements where all_to_all_single counts rows.
 */
#include "emit/kinds.h"

#include "emit/local.h"
#include "emit/put.h"

#include <stdlib.h>
#include <string.h>

struct torch {
	struct text *out;
	struct local l;
	bool cut;          /* there is a mesh of pieces */
	const char *group; /* of the step that is being written */
	/* Of it, where the block of chunk c is by rising rank; NULL: in that place. */
	const char *order, *inverse;
};

/* --- groups ------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Finds of each group, by chunk, which member in rising rank it is: [ngroups * size]. */
static const int32_t *rank_order(struct torch *t, const struct groups *g)
{
	int32_t n = g->ngroups * g->size;
	int32_t *order = arena_alloc(t->l.arena, (size_t)n, sizeof(*order));
	int32_t *sorted = arena_dup(t->l.arena, g->ids, (size_t)n, sizeof(*sorted));

	for (int32_t i = 0; i < n; i += g->size) {
		qsort(sorted + i, (size_t)g->size, sizeof(*sorted), by_rank);
		for (int32_t c = 0; c < g->size; c++) {
			const int32_t *at =
				bsearch(&g->ids[i + c], sorted + i, (size_t)g->size,
			                sizeof(*sorted), by_rank);

			order[i + c] = (int32_t)(at - (sorted + i));
		}
	}
	return order;
}

/* Returns the inverse of each row of [ngroups * size]. */
static const int32_t *inverse_order(struct torch *t, const struct groups *g,
                                    const int32_t *order)
{
	int32_t n = g->ngroups * g->size;
	int32_t *inverse = arena_alloc(t->l.arena, (size_t)n, sizeof(*inverse));

	for (int32_t i = 0; i < n; i++)
		inverse[i - i % g->size + order[i]] = i % g->size;
	return inverse;
}

/*
 * Returns the order as Python has it: of all groups where they agree, else looked up by
 * the group of the rank; NULL where all are in order.
 */
static const char *order_text(struct torch *t, const struct groups *g,
                              const int32_t *order)
{
	int32_t n = t->l.plan->problem->ndevices;
	int32_t *group = arena_alloc(t->l.arena, (size_t)n, sizeof(*group));
	struct text text = {0};
	bool same = true, plain = true;

	for (int32_t i = 0; i < g->ngroups * g->size; i++) {
		same = same && order[i] == order[i % g->size];
		plain = plain && order[i] == i % g->size;
		group[g->ids[i]] = i / g->size;
	}
	if (plain)
		return NULL;
	if (same) {
		put_list(&text, order, g->size);
	} else {
		put_lists(&text, order, g->ngroups, g->size);
		text_printf(&text, "[");
		put_list(&text, group, n);
		text_printf(&text, "[rank]]");
	}
	return text_take(&text, t->l.arena);
}

/* Returns the one piece of the mesh that a step's groups run along, or -1. */
static int only_piece(struct torch *t, const struct step *s)
{
	int piece[2 * MESH_AXES_MAX], n = 0;

	if (!t->cut || !local_step_axes(&t->l, s))
		return -1;
	for (int k = 0; k < s->nmoves; k++)
		n += local_pieces(piece + n, &t->l, s->move[k].parts, s->move[k].nparts);
	return n == 1 ? piece[0] : -1;
}

/* Finds the group of a step; one along no single axis has a mesh of its own. */
static void find_group(struct torch *t, int i, bool define)
{
	const struct step *s = &t->l.plan->step[i];
	const int32_t *order;
	int piece;

	if (!s->groups.size || s->op == OP_PARTIAL)
		return;
	piece = only_piece(t, s);
	t->group = piece >= 0 ? arena_printf(t->l.arena, "(mesh, %d)", piece)
	                      : arena_printf(t->l.arena, "(groups_%d, 1)", i + 1);
	order = rank_order(t, &s->groups);
	t->order = order_text(t, &s->groups, order);
	t->inverse = order_text(t, &s->groups, inverse_order(t, &s->groups, order));
	if (piece < 0 && define) {
		text_printf(t->out, "groups_%d = DeviceMesh(DEVICE, ", i + 1);
		put_lists(t->out, s->groups.ids, s->groups.ngroups, s->groups.size);
		text_printf(t->out, ")\n");
	}
}

/* --- blocks ------------------------------------------------------------------------- */

/* Puts the blocks for the members, in the order of the group, one after another. */
static void put_split(struct torch *t, const struct step *s)
{
	if (s->nmoves == 1 && !t->inverse) {
		if (s->move[0].to_dim != 0)
			text_printf(t->out, "    a = torch.cat(a.chunk(%d, %d), 0)\n",
			            s->move[0].factor, s->move[0].to_dim);
		return;
	}
	text_printf(t->out, "    b = [a]\n");
	for (int k = 0; k < s->nmoves; k++)
		text_printf(t->out,
		            "    b = [c for each in b for c in each.chunk(%d, %d)]\n",
		            s->move[k].factor, s->move[k].to_dim);
	if (t->inverse)
		text_printf(t->out, "    b = [b[i] for i in %s]\n", t->inverse);
	text_printf(t->out, "    a = torch.cat(b, 0)\n");
}

/* Joins the list b of the members' blocks, in chunk order, along their dimensions. */
static void put_join(struct torch *t, const struct step *s)
{
	for (int k = s->nmoves - 1; k >= 0; k--)
		text_printf(
			t->out,
			"    b = [torch.cat(b[i:i + %d], %d) for i in range(0, len(b), "
			"%d)]\n",
			s->move[k].factor, s->move[k].from_dim, s->move[k].factor);
	text_printf(t->out, "    a = b[0]");
}

static void put_received(struct torch *t, const struct step *s)
{
	text_printf(t->out, "    b = a.chunk(%d, 0)\n", s->groups.size);
	if (t->order)
		text_printf(t->out, "    b = [b[i] for i in %s]\n", t->order);
	put_join(t, s);
}

/* --- steps -------------------------------------------------------------------------- */

static void put_slice(struct torch *t, const struct step *s)
{
	int32_t n = t->l.plan->problem->ndevices;
	bool axes = t->cut && local_step_axes(&t->l, s);

	for (int k = 0; k < s->nmoves; k++) {
		int piece[MESH_AXES_MAX], pieces = 0;

		text_printf(t->out, "%s    a = a.chunk(%d, %d)[", k ? "\n" : "",
		            s->move[k].factor, s->move[k].to_dim);
		if (axes)
			pieces = local_pieces(piece, &t->l, s->move[k].parts,
			                      s->move[k].nparts);
		for (int i = 2; i < pieces; i++)
			text_printf(t->out, "(");
		for (int i = 0; i < pieces; i++) {
			const struct axis *axis = &t->l.pieces.axis[piece[i]];

			if (i)
				text_printf(t->out, " * %d + ", axis->size);
			text_printf(t->out, "mesh.get_local_rank(");
			put_quoted(t->out, axis->name, '\'');
			text_printf(t->out, i && i + 1 < pieces ? "))" : ")");
		}
		for (int32_t d = 0; d < n && !pieces; d++)
			text_printf(t->out, "%s%d", d ? ", " : "[",
			            s->chunk[(int64_t)d * s->nmoves + k]);
		text_printf(t->out, pieces ? "]" : "][rank]]");
	}
}

static void put_gather(struct torch *t, const struct step *s)
{
	bool one = s->nmoves == 1 && !t->order;

	text_printf(t->out, "    a = fc.all_gather_tensor(a.contiguous(), %d, %s)",
	            one ? s->move[0].from_dim : 0, t->group);
	if (!one) {
		text_printf(t->out, "\n");
		put_received(t, s);
	}
}

static void put_all_to_all(struct torch *t, const struct step *s)
{
	put_split(t, s);
	text_printf(t->out,
	            "    a = fc.all_to_all_single(a.contiguous(), None, None, %s)",
	            t->group);
	if (s->nmoves == 1 && !t->order && s->move[0].from_dim == 0)
		return;
	text_printf(t->out, "\n");
	if (s->nmoves == 1 && !t->order)
		text_printf(t->out, "    a = torch.cat(a.chunk(%d, 0), %d)",
		            s->move[0].factor, s->move[0].from_dim);
	else
		put_received(t, s);
}

static void put_reduce_scatter(struct torch *t, const struct step *s)
{
	bool one = s->nmoves == 1 && !t->inverse;

	if (!one)
		put_split(t, s);
	text_printf(t->out,
	            "    a = fc.reduce_scatter_tensor(a.contiguous(), 'sum', %d, %s)",
	            one ? s->move[0].to_dim : 0, t->group);
}

static void put_all_reduce(struct torch *t, const struct step *s)
{
	(void)s;
	text_printf(t->out, "    a = fc.all_reduce(a.contiguous(), 'sum', %s)",
	            t->group);
}

static void put_partial(struct torch *t, const struct step *s)
{
	const int32_t *place = local_places(&t->l, s);

	if (s->move[0].from_dim < 0) {
		text_printf(t->out, "    a = torch.zeros_like(a) if ");
		put_list(t->out, place, t->l.plan->problem->ndevices);
		text_printf(t->out, "[rank] else a");
		return;
	}
	text_printf(t->out, "    b = [torch.zeros_like(a)] * %d\n    b[",
	            s->groups.size);
	put_list(t->out, place, t->l.plan->problem->ndevices);
	text_printf(t->out, "[rank]] = a\n");
	put_join(t, s);
}

static void put_permute(struct torch *t, const struct step *s)
{
	int32_t n = t->l.plan->problem->ndevices;
	int32_t *to = arena_alloc(t->l.arena, (size_t)n, sizeof(*to));

	for (int32_t i = 0; i < s->npairs; i++)
		to[s->pairs[i].src] = s->pairs[i].dst;
	text_printf(t->out, "    a = fc.permute_tensor(a.flatten(), ");
	put_list(t->out, to, n);
	text_printf(t->out, ", dist.group.WORLD).view(a.shape)");
}

static void put_step(struct torch *t, int i)
{
	static void (*const put[OPS])(struct torch *, const struct step *) = LOCAL_PUTS;
	const struct plan *p = t->l.plan;
	struct shape tile = local_tile(&t->l, i + 1, false);

	find_group(t, i, false);
	put[p->step[i].op](t, &p->step[i]);
	text_printf(t->out, "  # ");
	put_array_type(t->out, p->problem->array.dtype->name, &tile);
	text_printf(t->out, "\n");
}

/* --- the program -------------------------------------------------------------------- */

static void put_preamble(struct torch *t)
{
	put_torch(t->out, "import torch.distributed._functional_collectives as fc\n"
	                  "from torch.distributed.device_mesh import DeviceMesh, "
	                  "init_device_mesh\n");
	text_printf(t->out, "rank = dist.get_rank()\n");
	if (t->cut)
		put_device_mesh(t->out, &t->l.pieces);
	for (int i = 0; i < t->l.plan->nsteps; i++)
		find_group(t, i, true);
}

static void put_tile(struct torch *t, const char *name, bool target)
{
	const struct problem *q = t->l.plan->problem;
	const int64_t *start = local_starts(&t->l, target);
	struct shape whole = local_array(&t->l, true), tile;
	int rank = whole.rank;

	text_printf(t->out, "    %s = [", name);
	for (int32_t d = 0; d < q->ndevices; d++) {
		text_printf(t->out, d ? ", " : "");
		put_tuple(t->out, start + (int64_t)d * rank, rank);
	}
	tile = layout_local(target ? &q->to : &q->from, &whole);
	text_printf(t->out,
	            "][rank]\n    %s = tuple(slice(i, i + n) for i, n in zip(%s, ",
	            name, name);
	put_tuple(t->out, tile.dim, rank);
	text_printf(t->out, "))\n");
}

/* A target that is a sum is looked at as such: all ranks add what they have of the array. */
static void put_check(struct torch *t)
{
	const struct problem *q = t->l.plan->problem;
	struct shape s = local_array(&t->l, true);
	int32_t n = local_partials(&t->l, false), to = local_partials(&t->l, true);

	put_torch_check(t->out, q->ndevices, &s);
	put_tile(t, "source", false);
	put_tile(t, "target", true);
	text_printf(t->out, "    a = want[source]\n");
	if (n > 1) {
		text_printf(t->out, "    a = a + size * ");
		put_weights(t->out, local_contribution(&t->l), q->ndevices, n);
		text_printf(
			t->out,
			"[rank]  # what adds up\n    want = want * %d + size * %lld\n",
			n, (long long)local_weights(n));
	}
	text_printf(t->out, "    got = reshard(a.contiguous())\n");
	if (to > 1) {
		int64_t shards = to;

		for (int i = 0; i < q->to.rank; i++)
			shards *= layout_shards(&q->to, i);
		text_printf(
			t->out,
			"    whole = torch.zeros_like(want)\n    whole[target] = got\n"
			"    dist.all_reduce(whole)\n"
			"    assert (whole == want * %lld).all()\n",
			(long long)(q->ndevices / shards));
	} else {
		text_printf(t->out, "    assert (got == want[target]).all(), rank\n");
	}
	text_printf(t->out, "    print('every element of rank', rank, 'is right')\n");
}

static enum emitted emit_torch(struct text *out, const struct emission *what,
                               struct arena *scratch, struct text *why)
{
	struct torch t = {.out = out};
	struct text none = {0};
	struct shape tile;

	if (!local_make(&t.l, what->plan, scratch, why))
		return EMIT_CANNOT;
	t.cut = local_cut(&t.l, &none);
	text_free(&none);
	tile = local_tile(&t.l, 0, false);
	emit_heading(out, &emitter_torch, what);
	put_preamble(&t);
	text_printf(out, "\n\ndef reshard(a):  # a tile, ");
	put_array_type(out, what->plan->problem->array.dtype->name, &tile);
	text_printf(out, "\n");
	if (what->plan->view)
		put_digits(out, &t.l, false);
	for (int i = 0; i < what->plan->nsteps; i++)
		put_step(&t, i);
	if (what->plan->view)
		put_digits(out, &t.l, true);
	text_printf(out, "    return a\n");
	put_check(&t);
	return EMITTED;
}

const struct emitter emitter_torch = {
	.name = "torch",
	.caller = "eager",
	.help = "a function of PyTorch: functional collectives",
	.comment = "# ",
	.comment_end = "",
	.emit = emit_torch,
};
