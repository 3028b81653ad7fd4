/* The rewrites of a script that are tried. */
#include "planner/best/rewrite.h"

/* Writes a script over finer digits, or as it is where that is no finer. */
static void refine(struct script *out, const struct script *script,
                   struct best_pool *pool)
{
	if (!script_refine(out, script, pool->arena))
		script_copy(out, script);
}

static void try_gathers(struct best_pool *pool, const struct script *script)
{
	for (int i = 0; i < script->n; i++) {
		struct script next;

		if (script->step[i].op != OP_ALL_GATHER ||
		    (i > 0 && script->step[i - 1].op == OP_ALL_GATHER))
			continue;
		if (script_gathers(&next, script, i, pool->best->prices, pool->arena))
			best_pool_add(pool, &next);
	}
}

static bool is_sent(const struct script_step *step)
{
	return step->op == OP_PERMUTE || step->op == OP_EXCHANGE;
}

void best_rewrite_paths(struct best_pool *pool, const struct script *script)
{
	struct script all, next;
	int sent = 0;

	script_copy(&all, script);
	for (int i = 0; i < script->n; i++) {
		if (!is_sent(&script->step[i]))
			continue;
		all.step[i].senders = SENDERS_PATHS;
		sent++;
	}
	if (sent > 0)
		best_pool_add(pool, &all);
	for (int i = 0; i < script->n && sent > 1; i++) {
		if (!is_sent(&script->step[i]))
			continue;
		script_copy(&next, script);
		next.step[i].senders = SENDERS_PATHS;
		best_pool_add(pool, &next);
	}
}

/* Tries one digit more by which the sender of exchange `i` goes. */
static void try_mixed(struct best_pool *pool, const struct script *script, int i)
{
	uint32_t senders = script->step[i].senders;
	uint32_t now = senders >= SENDERS_MIXED ? senders - SENDERS_MIXED : 0;
	int copies = best_copies(script->problem, script_before(script, i));
	struct script next;

	script_copy(&next, script);
	for (uint32_t base = 1, k = 0; (int)k < copies && k < 4;
	     k++, base *= SENDERS_BASE) {
		if (now / base % SENDERS_BASE != 0)
			continue;
		for (uint32_t choice = 0; choice < SENDERS_BASE; choice++) {
			next.step[i].senders = SENDERS_MIXED + now + choice * base;
			best_pool_add(pool, &next);
		}
	}
}

void best_rewrite_mixed(struct best_pool *pool, const struct script *script)
{
	for (int i = 0; i < script->n; i++)
		if (script->step[i].op == OP_EXCHANGE)
			try_mixed(pool, script, i);
}

static void try_exchanges(struct best_pool *pool, const struct script *script)
{
	for (int first = 0; first < script->n; first++) {
		bool sends = false;

		for (int end = first + 1; end <= script->n; end++) {
			enum op op = script->step[end - 1].op;
			struct script next;

			if (op == OP_REDUCE_SCATTER || op == OP_ALL_REDUCE)
				break;
			sends = sends || (op_communicates(op) && op != OP_EXCHANGE) ||
			        (op == OP_EXCHANGE && end > first + 1);
			if (!sends)
				continue;
			script_exchange(&next, script, first, end);
			best_pool_add(pool, &next);
		}
	}
}

/* Tries one collective in place of several steps, where exchanges may not be. */
static void try_merges(struct best_pool *pool, const struct script *script)
{
	struct script fine, next;

	refine(&fine, script, pool);
	for (int first = 0; first < fine.n; first++) {
		for (int end = first + 1; end <= fine.n; end++) {
			enum op op = fine.step[end - 1].op;

			if (op == OP_REDUCE_SCATTER || op == OP_ALL_REDUCE)
				break;
			if (end > first + 1 &&
			    script_merge(&next, &fine, first, end, pool->arena))
				best_pool_add(pool, &next);
		}
	}
}

/* Tries the collective over digits that does what an exchange does. */
static void try_collectives(struct best_pool *pool, const struct script *fine)
{
	struct script next;

	for (int i = 0; i < fine->n; i++)
		if (fine->step[i].op == OP_EXCHANGE &&
		    script_merge(&next, fine, i, i + 1, pool->arena))
			best_pool_add(pool, &next);
}

/*
 * Tries two halves of a step whose digits can be told apart only where they are looked at
 * without the other steps; `known` strides are tried by those who call.
 */
static void try_splits_alone(struct best_pool *pool, const struct script *script,
                             int at, int known)
{
	int64_t stride[LAYOUT_PARTS_MAX];
	struct script alone, fine, halves, next;
	int n;

	script_alone(&alone, script, at);
	if (!script_refine(&fine, &alone, pool->arena))
		return;
	n = script_strides(stride, LAYOUT_PARTS_MAX, &fine, 0);
	for (int k = 1; k < n && n > known; k++)
		for (int major = 0; major < 2; major++)
			if (script_split(&halves, &fine, 0, stride[k], major,
			                 pool->arena) &&
			    script_put(&next, script, at, &halves, pool->arena))
				best_pool_add(pool, &next);
}

/* Tries a step of a refined script in two halves, by rising and by falling stride. */
static int try_halves(struct best_pool *pool, const struct script *fine, int at)
{
	int64_t stride[LAYOUT_PARTS_MAX];
	struct script next;
	int n = script_strides(stride, LAYOUT_PARTS_MAX, fine, at);

	for (int k = 1; k < n; k++)
		for (int major = 0; major < 2; major++)
			if (script_split(&next, fine, at, stride[k], major, pool->arena))
				best_pool_add(pool, &next);
	return n;
}

/* Tries steps in two halves. */
static void try_splits(struct best_pool *pool, const struct script *script)
{
	struct script fine;

	refine(&fine, script, pool);
	/* on more devices there is no work for it */
	if (best_pool_is_small(pool))
		try_collectives(pool, &fine);
	for (int at = 0; at < fine.n; at++) {
		enum op op = fine.step[at].op;
		int n;

		if (op == OP_SLICE || op == OP_ALL_GATHER || op == OP_ALL_REDUCE)
			continue;
		n = try_halves(pool, &fine, at);
		if (script->n > 1 && best_pool_is_small(pool))
			try_splits_alone(pool, script, at, n);
	}
}

static void try_overslice(struct best_pool *pool, const struct script *script,
                          struct part part, int first)
{
	for (int digit = 0; digit < script->view.shape.rank; digit++) {
		struct script next;

		if ((best_pool_is_small(pool) &&
		     script_overslice(&next, script, digit, part, first, true,
		                      pool->arena)) ||
		    script_overslice(&next, script, digit, part, first, false,
		                     pool->arena))
			best_pool_add(pool, &next);
	}
}

/* Returns whether some layout of a script cuts a digit. */
static bool is_cut(const struct script *script, int digit)
{
	for (int i = 0; i <= script->n; i++)
		if (script_before(script, i)->nparts[digit] > 0)
			return true;
	return false;
}

/*
 * Tries over-slices by a part that the first step brings, behind what cuts a digit, and that
 * step in two halves.
 */
static void try_strided(struct best_pool *pool, const struct script *script,
                        struct part part, int first)
{
	for (int digit = 0; digit < script->view.shape.rank; digit++) {
		struct script next, fine;

		if (!is_cut(script, digit) ||
		    !script_overslice(&next, script, digit, part, first, false,
		                      pool->arena))
			continue;
		best_pool_add(pool, &next);
		refine(&fine, &next, pool);
		try_halves(pool, &fine, first);
	}
}

/*
 * Tries over-slices along every run of digits of a mesh axis that the script does not
 * use, and along its minor ends, which are as a rule the fast links.
 */
static void
try_overslices(struct best_pool *pool, const struct script *script, int begin,
               void (*try)(struct best_pool *pool, const struct script *script,
                           struct part part, int first))
{
	const struct mesh *m = &script->problem->mesh;

	for (int axis = 0; axis < m->naxes; axis++) {
		const struct part whole = {axis, 1, m->axis[axis].size};
		struct part digit[LAYOUT_PARTS_MAX];
		int n = parts_digits(digit, &whole, 1), first = 0;

		for (int k = 0; k <= n; k++) {
			struct part run;

			if (k < n && !script_uses(script, digit[k], begin))
				continue;
			for (; first < k; first++) {
				run = digit[first];
				for (int j = first + 1; j < k; j++)
					run.size *= digit[j].size;
				try(pool, script, run, begin);
			}
			first = k + 1;
		}
	}
}

void best_rewrite(struct best_pool *pool, const struct script *script, bool near)
{
	if (script->problem->vocabulary == VOCABULARY_PORTABLE)
		try_merges(pool, script);
	else
		try_exchanges(pool, script);
	if (pool->best->prices->step == prices_bytes.step)
		return;
	try_gathers(pool, script);
	if (near)
		try_overslices(pool, script, -1, try_overslice);
	try_splits(pool, script);
	for (int i = 0; i < script->n && near; i++)
		if (script->step[i].op == OP_EXCHANGE)
			try_overslices(pool, script, i, try_overslice);
}

void best_rewrite_single(struct best_pool *pool, const struct script *script)
{
	struct script fine, next;

	if (script->n != 1 || script->step[0].op != OP_EXCHANGE ||
	    pool->best->prices->step == prices_bytes.step)
		return;
	refine(&fine, script, pool);
	if (script_slice_first(&next, &fine, 0, pool->arena)) {
		best_pool_add(pool, &next);
		try_halves(pool, &next, 1);
	}
	if (script_gather_last(&next, &fine, 0, pool->arena)) {
		best_pool_add(pool, &next);
		try_halves(pool, &next, 0);
	}
	try_overslices(pool, script, 0, try_strided);
}
