#include "planner/dtensor/bound.h"

#include "base/heap.h"

#include <math.h>

/*
 * The most states of a target. One with more, of many unlike mesh dimensions, has no
 * bound, so that the time is bounded.
 */
enum { BOUND_STATES_MAX = 1 << 16 };

/* A group of mesh dimensions that nothing tells apart. */
struct group {
	int axis; /* one of them */
	int32_t n, size;
	enum dtensor_role target;
	int32_t first, states; /* what 1 more of its number adds; how many there are */
	int32_t step[ROLES];   /* what one more of a role adds; 0: none */
};

struct roles {
	const struct dtensor_links *links;
	const struct mesh *mesh;
	double array_bytes;
	bool partial;
	int ngroups;
	struct group *group;
	int32_t nstates;
	double *rest_us;
	struct heap queue; /* of states, by rest_us */
};

static enum dtensor_role role_in_target(int placement)
{
	return placement == DTENSOR_REPLICATE ? ROLE_REPLICATED
	       : placement == DTENSOR_PARTIAL ? ROLE_PARTIAL
	                                      : ROLE_PLACED;
}

/* Returns the group of a mesh dimension; a new group has no members. */
static struct group *group_of(struct roles *r, int axis, enum dtensor_role target)
{
	const struct dtensor_links *l = r->links;
	int32_t size = r->mesh->axis[axis].size;
	struct group *g = r->group;

	for (; g < r->group + r->ngroups; g++)
		if (g->size == size && g->target == target &&
		    l->latency_us[g->axis] == l->latency_us[axis] &&
		    l->bandwidth_GiBps[g->axis] == l->bandwidth_GiBps[axis])
			return g;
	*g = (struct group){.axis = axis, .size = size, .target = target};
	r->ngroups++;
	return g;
}

/*
 * Numbers the states. Each group is one digit, whose own digits are the members of each
 * role but the replicated one. Returns false if there are too many states.
 */
static bool number_states(struct roles *r)
{
	int64_t all = 1;

	for (struct group *g = r->group; g < r->group + r->ngroups; g++) {
		int64_t step = all, last = 0;

		g->first = (int32_t)all;
		for (int role = ROLE_PARTIAL; role < ROLES; role++) {
			if ((role == ROLE_PARTIAL && !r->partial) ||
			    (role == ROLE_PLACED && g->target != ROLE_PLACED))
				continue;
			last = step;
			g->step[role] = (int32_t)step;
			step *= g->n + 1;
		}
		all += g->n * last; /* all in the last role give the largest number */
		if (all > BOUND_STATES_MAX)
			return false;
		g->states = (int32_t)(all / g->first);
	}
	r->nstates = (int32_t)all;
	return true;
}

/* Counts how many of a group have each role in a state. */
static void count_roles(int32_t *count, const struct group *g, int32_t state)
{
	int32_t digit = state / g->first % g->states * g->first;

	count[ROLE_REPLICATED] = g->n;
	for (int role = ROLE_PARTIAL; role < ROLES; role++) {
		count[role] = g->step[role] ? digit / g->step[role] % (g->n + 1) : 0;
		count[ROLE_REPLICATED] -= count[role];
	}
}

static bool is_shard(int role)
{
	return role >= ROLE_PLACED;
}

static double cost_us(const struct roles *r, const struct group *g, int before,
                      int after, double shards)
{
	static const int placement[ROLES] = {
		[ROLE_REPLICATED] = DTENSOR_REPLICATE,
		[ROLE_PARTIAL] = DTENSOR_PARTIAL,
		[ROLE_PLACED] = 0,
		[ROLE_ASTRAY] = 1,
	};
	struct dtensor_transform t = {g->axis, placement[before], placement[after]};

	return dtensor_transform_us(r->links, r->mesh, &t,
	                            r->array_bytes / shards / 1024 / 1024 / 1024);
}

static bool rest_before(const void *context, int32_t a, int32_t b)
{
	const struct roles *r = context;

	return r->rest_us[a] < r->rest_us[b];
}

/*
 * Reaches the states from which one transform of a member of a group leads to a state
 * of so many shards.
 */
static void reach_before(struct roles *r, const struct group *g, int32_t state,
                         double shards)
{
	int32_t count[ROLES];

	count_roles(count, g, state);
	for (int after = 0; after < ROLES; after++) {
		for (int before = 0; before < ROLES && count[after] > 0; before++) {
			int32_t from = state - g->step[after] + g->step[before];
			double was = shards * (is_shard(before) ? g->size : 1) /
			             (is_shard(after) ? g->size : 1);
			double us;

			if (before == after || (before && !g->step[before]) ||
			    (is_shard(before) && after == ROLE_PARTIAL))
				continue;
			us = r->rest_us[state] + cost_us(r, g, before, after, was);
			if (us >= r->rest_us[from])
				continue;
			r->rest_us[from] = us;
			heap_queue(&r->queue, rest_before, r, from, us);
		}
	}
}

/* Finds the costs by Dijkstra's algorithm from the target backwards. */
static void find_rests(struct roles *r)
{
	int32_t target = 0;

	for (int32_t i = 0; i < r->nstates; i++)
		r->rest_us[i] = INFINITY;
	for (int i = 0; i < r->ngroups; i++)
		target += r->group[i].n * r->group[i].step[r->group[i].target];
	r->rest_us[target] = 0;
	heap_queue(&r->queue, rest_before, r, target, 0);
	for (int32_t state; (state = heap_take(&r->queue, rest_before, r)) >= 0;) {
		int32_t count[ROLES];
		double shards = 1;

		for (int i = 0; i < r->ngroups; i++) {
			count_roles(count, &r->group[i], state);
			shards *= pow(r->group[i].size,
			              count[ROLE_PLACED] + count[ROLE_ASTRAY]);
		}
		for (int i = 0; i < r->ngroups; i++)
			reach_before(r, &r->group[i], state, shards);
	}
	heap_free(&r->queue);
}

struct dtensor_bound dtensor_bound_of(const struct dtensor_state *to,
                                      const struct dtensor_links *links,
                                      const struct mesh *m, const int *axis, int n,
                                      double array_bytes, bool partial, struct arena *a)
{
	struct roles r = {.links = links,
	                  .mesh = m,
	                  .array_bytes = array_bytes,
	                  .partial = partial};
	struct dtensor_bound b;

	r.group = arena_alloc(a, (size_t)n, sizeof(*r.group));
	for (int i = 0; i < n; i++)
		group_of(&r, axis[i], role_in_target(to->placement[axis[i]]))->n++;
	b.weight = arena_alloc(a, (size_t)n, sizeof(*b.weight));
	if (!number_states(&r)) {
		b.rest_us = arena_alloc(a, 1, sizeof(*b.rest_us));
		return b;
	}
	for (int i = 0; i < n; i++) {
		const struct group *g =
			group_of(&r, axis[i], role_in_target(to->placement[axis[i]]));

		for (int role = 0; role < ROLES; role++)
			b.weight[i][role] = g->step[role];
	}
	b.rest_us = arena_alloc(a, (size_t)r.nstates, sizeof(*b.rest_us));
	r.rest_us = b.rest_us;
	find_rests(&r);
	return b;
}
