/*
 * DTensor: the plan as a chain of redistribute() calls, one for each layout that placements
 * can say: per mesh dimension Shard(d), Replicate() or Partial(), where mesh dimensions that
 * shard one tensor dimension do so in mesh order. A layout without such a form is left out,
 * and what DTensor does between those that remain is its own planner's choice, which is
 * asked here, so that the text has both prices.
 */
#include "emit/kinds.h"

#include "array/tile.h"
#include "base/units.h"
#include "emit/local.h"
#include "emit/put.h"
#include "planner/planner.h"
#include "price/price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPLICATE = -1, PARTIAL = -2 };

struct dtensor {
	struct text *out, *why;
	const struct emission *what;
	struct local l;
	int nhops;
	struct hop {
		int step; /* whose layout it is after, from 1 */
		struct layout to;
	} * hop;
	struct text left_out;
};

/* --- placements --------------------------------------------------------------------- */

/* Finds the placement of every piece; false where there is none for the layout. */
static bool placements(int *out, const struct dtensor *t, const struct layout *l)
{
	const struct shape *g = &t->what->plan->problem->array.shape;
	int piece[MESH_AXES_MAX], n;

	for (int i = 0; i < t->l.pieces.naxes; i++)
		out[i] = REPLICATE;
	for (int dim = 0; dim <= l->rank; dim++) {
		const struct part *part = layout_parts(l, dim, &n);

		n = local_pieces(piece, &t->l, part, n);
		for (int i = 0; i < n; i++) {
			if (dim < l->rank && i > 0 && piece[i] < piece[i - 1])
				return false;
			out[piece[i]] = dim < l->rank ? dim : PARTIAL;
		}
		/* DTensor cuts what is uneven once for each mesh dimension. */
		if (dim < l->rank && n > 1 && g->dim[dim] % layout_shards(l, dim) != 0)
			return false;
	}
	return true;
}

static void put_placements(struct text *out, const struct dtensor *t,
                           const struct layout *l, bool sums)
{
	int place[MESH_AXES_MAX];

	placements(place, t, l);
	text_printf(out, "[");
	for (int i = 0; i < t->l.pieces.naxes; i++) {
		text_printf(out, i ? ", " : "");
		if (place[i] >= 0)
			text_printf(out, "Shard(%d)", place[i]);
		else
			text_printf(out, place[i] == PARTIAL && sums ? "Partial()"
			                                             : "Replicate()");
	}
	text_printf(out, "]");
}

/* --- the chain ---------------------------------------------------------------------- */

static void add_hop(struct dtensor *t, int step, const struct layout *to)
{
	const struct mesh *m = &t->what->plan->problem->mesh;

	if (!layout_same_tiles(&t->hop[t->nhops].to, m, to, m))
		t->hop[++t->nhops] = (struct hop){step, *to};
}

static bool find_hops(struct dtensor *t)
{
	const struct plan *p = t->what->plan;
	int place[MESH_AXES_MAX];
	struct layout end[2];

	t->hop = arena_alloc(t->l.arena, (size_t)p->nsteps + 2, sizeof(*t->hop));
	for (int i = 0; i < 2; i++)
		if (!local_end(&end[i], &t->l, i == 1) ||
		    !placements(place, t, &end[i])) {
			text_printf(
				t->why,
				"the %s has no DTensor form (mesh dimensions in mesh "
				"order): --emit torch or torch-p2p says it",
				i ? "target" : "source");
			return false;
		}
	t->hop[0].to = end[0];
	for (int i = 0; i + 1 < p->nsteps; i++) {
		const struct step *s = &p->step[i];

		if (!p->view && mesh_equal(s->mesh, &p->problem->mesh) &&
		    s->after.kind == LAYOUT_AXES && placements(place, t, &s->after))
			add_hop(t, i + 1, &s->after);
		else
			text_printf(&t->left_out, "%s%d",
			            t->left_out.length ? ", " : "", i + 1);
	}
	add_hop(t, p->nsteps, &end[1]);
	return true;
}

/* --- what DTensor does -------------------------------------------------------------- */

static struct layout on_pieces(const struct dtensor *t, const struct layout *l)
{
	struct layout out = layout_replicated(l->rank);

	for (int dim = 0; dim <= l->rank; dim++) {
		int piece[MESH_AXES_MAX], n;
		const struct part *part = layout_parts(l, dim, &n);

		n = local_pieces(piece, &t->l, part, n);
		for (int i = 0; i < n; i++) {
			struct part whole = {piece[i], 1,
			                     t->l.pieces.axis[piece[i]].size};

			layout_append(&out, dim, whole);
		}
	}
	return out;
}

/* Returns DTensor's plan from one layout of the chain to the next, NULL if there is none. */
static struct plan *plan_hop(const struct dtensor *t, int i, const struct prices *prices)
{
	const struct planner *planner = planner_find("dtensor", strlen("dtensor"));
	struct problem *q = arena_dup(t->l.arena, t->what->plan->problem, 1, sizeof(*q));
	struct plan *out = NULL;
	struct text why = {0};

	q->arena = t->l.arena;
	q->mesh = q->to_mesh = t->l.pieces;
	q->two_meshes = false;
	q->from = on_pieces(t, &t->hop[i].to);
	q->to = on_pieces(t, &t->hop[i + 1].to);
	q->memory_limit_bytes = -1;
	q->device_memory_bytes = 0;
	problem_finish(q);
	if (planner_run(planner, &out, q, prices, t->l.arena, &why) != ANSWER_PLAN)
		out = NULL;
	text_free(&why);
	return out;
}

static void put_price(struct text *out, double bytes, double seconds)
{
	if (!isnan(seconds)) {
		units_print_time(out, seconds);
		text_printf(out, " and ");
	}
	units_print_bytes(out, bytes);
}

/* Says what the plan costs, and DTensor's own steps along the same layouts. */
static void put_prices(struct dtensor *t)
{
	const struct plan *p = t->what->plan;
	struct placement place = {p->problem->ndevices, p->problem->platform};
	struct pricer *pricer = NULL;
	struct prices prices = prices_bytes;
	double bytes = 0, seconds = t->what->machine ? 0 : NAN;
	bool known = true, dearer;

	if (t->what->machine) {
		pricer = pricer_new(t->what->machine, place.platform ? &place : NULL);
		prices = pricer_prices(pricer);
	}
	for (int i = 0; i < t->nhops && known; i++) {
		const struct plan *hop = plan_hop(t, i, &prices);

		known = hop != NULL;
		bytes += known ? (double)hop->recv_bytes : 0;
		if (known && pricer)
			seconds += prices.plan(prices.self, hop).cost;
	}
	if (pricer)
		pricer_free(pricer);
	if (t->left_out.length)
		text_printf(
			t->out,
			"# WARNING: the layouts after these steps have no DTensor form "
			"and are left out: %s\n",
			t->left_out.s);
	dearer = known && (isnan(seconds) ? bytes > (double)p->recv_bytes
	                                  : seconds > t->what->time_s * (1 + 1e-9));
	text_printf(t->out, dearer ? "# WARNING: " : "# ");
	text_printf(t->out, "the plan takes ");
	put_price(t->out, (double)p->recv_bytes,
	          t->what->machine ? t->what->time_s : NAN);
	text_printf(t->out, "; what DTensor itself does along the layouts below, ");
	if (known)
		put_price(t->out, bytes, seconds);
	else
		text_printf(t->out, "not known");
	text_printf(t->out, "\n");
}

/* --- the program -------------------------------------------------------------------- */

static void put_check(struct dtensor *t)
{
	const struct problem *q = t->what->plan->problem;
	struct shape s = local_array(&t->l, true);
	int32_t n = local_partials(&t->l, false);

	put_torch_check(t->out, q->ndevices, &s);
	text_printf(t->out, "    x = distribute_tensor(want, mesh, ");
	put_placements(t->out, t, &t->hop[0].to, false);
	text_printf(t->out, ")\n");
	if (n > 1) {
		text_printf(t->out, "    part = x.to_local() + size * ");
		put_weights(t->out, local_contribution(&t->l), q->ndevices, n);
		text_printf(t->out, "[dist.get_rank()]  # what adds up\n"
		                    "    x = DTensor.from_local(part, mesh, ");
		put_placements(t->out, t, &t->hop[0].to, true);
		text_printf(t->out, ")\n");
		text_printf(t->out, "    want = want * %d + size * %lld\n", n,
		            (long long)local_weights(n));
	}
	text_printf(t->out, "    got = reshard(x)\n");
	if (local_partials(&t->l, true) > 1) {
		text_printf(t->out, "    assert (got.full_tensor() == want).all()\n");
	} else {
		text_printf(t->out, "    tile = distribute_tensor(want, mesh, ");
		put_placements(t->out, t, &t->hop[t->nhops].to, true);
		text_printf(t->out, ").to_local()\n"
		                    "    assert (got.to_local() == tile).all()\n");
	}
	text_printf(
		t->out,
		"    print('every element of rank', dist.get_rank(), 'is right')\n");
}

static void put_program(struct dtensor *t)
{
	put_torch(t->out, "from torch.distributed.device_mesh import DeviceMesh, "
	                  "init_device_mesh\n"
	                  "from torch.distributed.tensor import DTensor, Partial, "
	                  "Replicate, Shard, "
	                  "distribute_tensor\n");
	put_device_mesh(t->out, &t->l.pieces);
	text_printf(t->out, "\n\ndef reshard(x):  # of ");
	put_placements(t->out, t, &t->hop[0].to, true);
	text_printf(t->out, "\n");
	for (int i = 1; i <= t->nhops; i++) {
		text_printf(t->out, "    x = x.redistribute(placements=");
		put_placements(t->out, t, &t->hop[i].to, true);
		text_printf(t->out, ")  # as after step %d\n", t->hop[i].step);
	}
	text_printf(t->out, "    return x\n");
	put_check(t);
}

static enum emitted emit_dtensor(struct text *out, const struct emission *what,
                                 struct arena *scratch, struct text *why)
{
	const struct problem *q = what->plan->problem;
	struct dtensor t = {.out = out, .why = why, .what = what};

	if (!q->same_devices || q->mesh.ndevices != q->ndevices) {
		text_printf(why,
		            "the plan is between two sets of devices, and a DTensor "
		            "stays on one mesh: --emit torch-p2p");
		return EMIT_CANNOT;
	}
	local_open(&t.l, what->plan, scratch);
	if (!local_cut(&t.l, why))
		return EMIT_CANNOT;
	if (!find_hops(&t)) {
		text_free(&t.left_out);
		return EMIT_CANNOT;
	}
	emit_heading(out, &emitter_dtensor, what);
	put_prices(&t);
	put_program(&t);
	text_free(&t.left_out);
	return EMITTED;
}

const struct emitter emitter_dtensor = {
	.name = "dtensor",
	.caller = "eager",
	.help = "a chain of redistribute() of PyTorch's DTensor",
	.comment = "# ",
	.comment_end = "",
	.emit = emit_dtensor,
};
