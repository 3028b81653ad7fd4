/*
 * Min-cost assignment: every row to a column of its own, at the smallest sum of costs
 * (the linear assignment problem), by shortest augmenting paths with duals.
 * Source: Jonker and Volgenant, Computing 38 (1987) 325-340; the rectangular form as in
 * Crouse, IEEE Trans. Aerospace and Electronic Systems 52 (2016) 1679-1696.
 * Time O(rows^2 cols) at worst; rows whose cheapest column is free take O(cols) each.
 */
#ifndef SHARDSIM_PLANNER_SEND_ASSIGN_H
#define SHARDSIM_PLANNER_SEND_ASSIGN_H

#include <stdint.h>

/*
 * `cost` is [rows * cols], row after row, rows <= cols; INFINITY forbids a cell, other
 * costs are finite and may be negative. Fills column[rows] and returns the sum;
 * INFINITY, with `column` undefined, where no assignment avoids the forbidden cells.
 * Equal input gives an equal assignment; of equally short paths one to a free column
 * goes first, then the one to the lowest column.
 */
double assign_min_cost(int32_t *column, const double *cost, int32_t rows, int32_t cols);

#endif
