/*
 * PyTorch's DTensor redistribution (models/README.md, DTensor): the greedy planner, which
 * is the default, and the min-cost search over placements.
 *
 * DTensor has one placement per mesh dimension (a mesh axis here, always whole): Shard(d),
 * Replicate or Partial. Of the mesh dimensions that shard one tensor dimension a shard
 * order says which is outer; the default order is ascending. A *transform* changes the
 * placement of one mesh dimension and is one step of the plan:
 *   S(a)->S(b) all-to-all    S(a)->R all-gather        R->S(b) local chunk (slice)
 *   P->R       all-reduce    P->S(b) reduce-scatter    R->P    local
 * Partial, the sum of what the devices along the mesh dimension hold, is an unreduced axis
 * here, and R->P leaves the array on the first of them and zeros on the others.
 * Only the innermost mesh dimension of a tensor dimension can leave it, and one that
 * comes becomes its innermost.
 *
 * Which planner DTensor takes: the search where the source or the target has a shard
 * order that is not the default one, or where the program asks for min-cost plans
 * (`dtensor-mincost`); else the greedy one (`dtensor`). Neither has a memory bound: both
 * may hold more than source and target tile.
 *
 * DTensor merges consecutive gathers or reductions only over meshes that the program has
 * flattened beforehand; none is here, so every transform is a step of its own.
 *
 * Where chunks are uneven DTensor pads what a collective will cut and cuts off what it put
 * together, which are local pads here (uneven.h). It chunks mesh dimension by mesh
 * dimension, and where this gives other tiles than a layout has (10 elements on two mesh
 * dimensions of 2) it is not applicable, and the refusal names the steps.
 *
 * Mesh dimensions of size 1 read as replicated, for a layout does not say more; the
 * search never shards them (it would cost and gain nothing).
 *
 * Source: torch/distributed/tensor/_redistribute.py and _collective_utils.py.
 */
#ifndef SHARDSIM_PLANNER_DTENSOR_DTENSOR_H
#define SHARDSIM_PLANNER_DTENSOR_DTENSOR_H

#include "planner/planner.h"

/* A placement is one of these, or d >= 0 for Shard(d). */
enum { DTENSOR_PARTIAL = -2, DTENSOR_REPLICATE = -1 };

struct dtensor_state {
	int naxes;
	int16_t placement[MESH_AXES_MAX];
	int16_t place[MESH_AXES_MAX]; /* in the shard order, 0 outermost; else 0 */
};

struct dtensor_transform {
	int mesh_dim;
	int from, to; /* placements, which are never equal */
};

struct dtensor_transforms {
	int n;
	struct dtensor_transform *step;
};

/*
 * Finds the placements of a layout. Returns false, with the reason in `why`, where
 * DTensor cannot say it: sub-axes, device lists, the whole array on one device.
 */
bool dtensor_state_of(struct dtensor_state *out, const struct layout *l,
                      const struct mesh *m, struct text *why);

/* Returns whether the shard order of every tensor dimension is ascending. */
bool dtensor_default_order(const struct dtensor_state *s);

/*
 * Changes a state by a transform. The mesh dimension that leaves a tensor dimension is
 * its innermost.
 */
void dtensor_apply(struct dtensor_state *s, const struct dtensor_transform *t);

/*
 * The greedy planner; both ends have the default order. If anything is sharded, a first
 * pass goes over the mesh dimensions from the last to the first and changes each
 * directly to its target, but to Replicate first where the target is Shard(d) and the
 * mesh dimensions before it that shard d differ between the current state and the
 * target. A second pass from the first to the last does what is left.
 * At most two transforms per mesh dimension. The list is the arena's. It may hold an
 * S(a)->P, which DTensor then refuses to run, so that `dtensor` is not applicable; the
 * search goes through Replicate.
 */
struct dtensor_transforms dtensor_greedy(const struct dtensor_state *from,
                                         const struct dtensor_state *to,
                                         const struct mesh *m, struct arena *a);

/* --- the min-cost search ----------------------------------------------------------- */

/*
 * The devices of a host in the search's own cost model. DTensor asks the device runtime
 * (torch.cuda.device_count()); 8 is what its tests and most hosts of its users have.
 */
enum { DTENSOR_HOST_DEVICES = 8 };

/*
 * The search gives up, as not applicable, when it has seen the first number of states,
 * or the second where `best` asks, which takes some milliseconds: if six or more
 * dimensions of a mesh are longer than 1, very many ways may cost the same.
 */
enum { DTENSOR_STATES_MAX = 1 << 18, DTENSOR_STATES_QUICK = 1 << 13 };

/*
 * What DTensor assumes of the links along each mesh dimension: 0.6 us and 87.7 GB/s
 * inside a host; 2.7 us and 0.22 of that bandwidth where the product of the sizes from
 * this mesh dimension to the last exceeds the devices of a host.
 */
struct dtensor_links {
	double latency_us[MESH_AXES_MAX];
	double bandwidth_GiBps[MESH_AXES_MAX]; /* the 87.7 divides sizes in GiB */
};

struct dtensor_links dtensor_links_of(const struct mesh *m, int host_devices);

/*
 * Cost in us of a transform that starts from `local_GiB` per device, on n devices:
 *   ring(GiB, hops) = 6.6 + hops latency + 1e6 GiB hops / n / bandwidth
 *   S->R ring(n local, n - 1)    S->S ring(local, n - 1) + 1    P->S ring(local, n - 1)
 *   P->R ring(local, 2 (n - 1))  R->S and R->P 0
 * Evaluated in the order of the original, so that equal costs are equal there too.
 */
double dtensor_transform_us(const struct dtensor_links *links, const struct mesh *m,
                            const struct dtensor_transform *t, double local_GiB);

/*
 * The cheapest way by Dijkstra's algorithm over states. Among equal costs the state that
 * was reached first is taken first; from a state the transforms are tried in this order:
 * S->S by source, then target dimension; S->R by dimension; P->R by mesh dimension;
 * R->S and then P->S by mesh dimension, then tensor dimension; R->P by mesh dimension, if
 * an end has a Partial. False with the reason in `why` after `most` states.
 */
bool dtensor_search(struct dtensor_transforms *out, const struct dtensor_state *from,
                    const struct dtensor_state *to, const struct array *array,
                    const struct mesh *m, int32_t most, struct arena *a,
                    struct text *why);

#endif
