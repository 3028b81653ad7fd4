/*
 * From a rewritten list to steps (models/README.md, Normal form): the slices and the
 * all-gathers fused, the flat part as its net moves and at most one permute.
 */
#include "base/assert.h"
#include "planner/synth/rewrite.h"

#include <string.h>

/*
 * Net moves of the flat part: how many atoms of each size go from dimension to
 * dimension.
 */
struct net {
	int nsizes;
	int32_t size[ATOMS_MAX];
	uint8_t move[TYPE_RANK_MAX][TYPE_RANK_MAX][ATOMS_MAX]; /* [from][to][size] */
};

static void count_sizes(int *count, const struct net *net, const struct synth *s,
                        const uint8_t *atoms, int n)
{
	memset(count, 0, (size_t)net->nsizes * sizeof(*count));
	for (int k = 0; k < n; k++)
		for (int c = 0; c < net->nsizes; c++)
			count[c] += s->atoms.atom[atoms[k]].size == net->size[c];
}

/*
 * Finds the net moves: what each dimension has too many of goes to those that have too
 * few, in order.
 */
static void find_net(struct net *net, const struct synth *s, const struct type *from,
                     const struct type *to)
{
	int excess[TYPE_RANK_MAX][ATOMS_MAX], count[ATOMS_MAX];

	memset(net, 0, sizeof(*net));
	for (int a = 0; a < s->atoms.n; a++) {
		int32_t size = s->atoms.atom[a].size;
		int c = 0;

		while (c < net->nsizes && net->size[c] != size)
			c++;
		net->size[c] = size;
		net->nsizes += c == net->nsizes;
	}
	for (int dim = 0; dim < from->rank; dim++) {
		count_sizes(excess[dim], net, s, type_stack(from, dim),
		            from->count[dim]);
		count_sizes(count, net, s, type_stack(to, dim), to->count[dim]);
		for (int c = 0; c < net->nsizes; c++)
			excess[dim][c] -= count[c];
	}
	for (int c = 0; c < net->nsizes; c++) {
		for (int i = 0, j = 0; i < from->rank; i++) {
			for (; excess[i][c] > 0; excess[i][c]--) {
				while (excess[j][c] >= 0)
					j++;
				net->move[i][j][c]++;
				excess[j][c]++;
			}
		}
	}
}

/*
 * Returns the number of atoms from i to j, or 0 if the top block of i has other sizes.
 */
static int block_to_move(const struct net *net, const struct synth *s,
                         const struct type *t, int i, int j)
{
	int n = 0, count[ATOMS_MAX];
	int32_t factor = 1;

	for (int c = 0; c < net->nsizes; c++)
		for (int k = 0; k < net->move[i][j][c]; k++, n++)
			factor *= net->size[c];
	if (n == 0 || t->count[i] < n || synth_extent(s, t, j) % factor)
		return 0;
	count_sizes(count, net, s, type_stack(t, i) + t->count[i] - n, n);
	for (int c = 0; c < net->nsizes; c++)
		if (count[c] != net->move[i][j][c])
			return 0;
	return n;
}

static bool net_done(const struct net *net, int rank)
{
	for (int i = 0; i < rank; i++)
		for (int j = 0; j < rank; j++)
			for (int c = 0; c < net->nsizes; c++)
				if (net->move[i][j][c])
					return false;
	return true;
}

/*
 * Runs the moves on `t`, with as many distinct pairs of dimensions as possible in one
 * step. Returns false if some block cannot be moved as a whole.
 */
static bool run_net(struct path *out, struct net net, const struct synth *s,
                    struct type *t)
{
	out->n = 0;
	while (!net_done(&net, t->rank)) {
		uint32_t used = 0;

		for (int i = 0; i < t->rank; i++) {
			for (int j = 0; j < t->rank; j++) {
				uint32_t pair = UINT32_C(1) << i | UINT32_C(1) << j;
				int n = used & pair ? 0
				                    : block_to_move(&net, s, t, i, j);

				if (n == 0)
					continue;
				type_shift(t, i, j, n);
				memset(net.move[i][j], 0, sizeof(net.move[i][j]));
				used |= pair;
			}
		}
		if (!used)
			return false;
		path_add(out, OP_ALL_TO_ALL, t);
	}
	return true;
}

/* Adds the steps of `moves` backwards from its end, so that they lead to `end`. */
static void add_reversed(struct path *out, const struct path *moves,
                         const struct type *end)
{
	for (int k = moves->n - 2; k >= 0; k--)
		path_add(out, OP_ALL_TO_ALL, &moves->hop[k].after);
	if (moves->n > 0)
		path_add(out, OP_ALL_TO_ALL, end);
}

/* Adds the flat ops one by one, with permutes in a row as one. */
static void add_as_it_is(struct path *out, const struct rewriting *rewriting, int first,
                         int end)
{
	for (int k = first; k < end; k++) {
		enum op op =
			rewriting->op[k].kind == REWRITE_A ? OP_ALL_TO_ALL : OP_PERMUTE;

		if (op == OP_PERMUTE && k + 1 < end &&
		    rewriting->op[k + 1].kind != REWRITE_A)
			continue;
		path_add(out, op, &rewriting->type[k + 1]);
	}
}

static void flat_path(struct path *out, const struct rewriting *rewriting, int first,
                      int end)
{
	const struct type *from = &rewriting->type[first], *to = &rewriting->type[end];
	struct type t = *from, u = *to;
	struct path ahead, back;
	struct net net, reversed;
	bool can, can_back;

	find_net(&net, rewriting->s, from, to);
	find_net(&reversed, rewriting->s, to, from);
	can = run_net(&ahead, net, rewriting->s, &t);
	can_back = run_net(&back, reversed, rewriting->s, &u);
	if (can_back && type_equal(&u, from)) {
		add_reversed(out, &back, to);
	} else if (can) {
		for (int k = 0; k < ahead.n; k++)
			path_add(out, ahead.hop[k].op, &ahead.hop[k].after);
		if (!type_equal(&t, to))
			path_add(out, OP_PERMUTE, to);
	} else if (can_back) {
		path_add(out, OP_PERMUTE, &u);
		add_reversed(out, &back, to);
	} else {
		add_as_it_is(out, rewriting, first, end);
	}
}

void rewriting_path(struct path *out, const struct rewriting *rewriting)
{
	int first = 0, end = rewriting->n;

	while (first < rewriting->n && rewriting->op[first].kind == REWRITE_S)
		first++;
	while (end > first && rewriting->op[end - 1].kind == REWRITE_G)
		end--;
	out->n = 0;
	if (first > 0)
		path_add(out, OP_SLICE, &rewriting->type[first]);
	flat_path(out, rewriting, first, end);
	if (end < rewriting->n)
		path_add(out, OP_ALL_GATHER, &rewriting->type[rewriting->n]);
}

static enum answer rewrite_plan(struct plan **out, const struct problem *p,
                                const struct prices *prices, struct arena *arena,
                                struct text *why)
{
	struct synth s;
	struct rewriting rewriting;
	struct path path;

	if (!synth_begin(&s, p, prices, arena, why))
		return ANSWER_NOT_APPLICABLE;
	rewriting = rewriting_easy(&s);
	rewriting_run(&rewriting);
	rewriting_path(&path, &rewriting);
	rewriting_free(&rewriting);
	*out = path_plan(&s, &path, "synth-rewrite");
	return ANSWER_PLAN;
}

const struct planner planner_synth_rewrite = {
	.name = "synth-rewrite",
	.help = "slice, all-to-all and permute, all-gather, found by rewriting",
	.plan = rewrite_plan,
};
