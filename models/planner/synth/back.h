/*
 * A*'s lower bound in the exact search where the price is not received bytes: Dijkstra from
 * the target backwards over the flat types of one level, by all-to-alls and permutes, as
 * far as it pays. Types that it settles have their exact way to the target, but that the
 * all-gathers at its end cost the bound of rest.h; all others are at least a step
 * further than what it would settle next.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_BACK_H
#define SHARDSIM_PLANNER_SYNTH_BACK_H

#include "planner/synth/levels.h"

struct back;

/*
 * Makes the search of a level; ways that cost more than `most_cost` are of no use. The
 * levels, which it asks for prices, are borrowed for this call alone.
 */
struct back *back_new(struct levels *levels, int level, double most_cost);
void back_free(struct back *back);

/*
 * Returns a cost that no way from a flat type of the level to the target is below, nor
 * one from its local shape.
 */
double back_cost(const struct back *back, uint64_t code);
double back_shape_cost(const struct back *back, uint64_t shape);

#endif
