/*
 * Source: NVIDIA/nccl at 5067397c (v2.30.7), src/graph/tuning.cc and search.cc. Of PAT,
 * only Simple exists. The graphs are no constants of the library but what its search
 * finds on the usual nodes (12, 12, 18, 18 NVLinks a GPU at 20, 20, 20.6, 40.1 GB/s).
 */
#include "collective/nccl.h"

#include <math.h>

const struct nccl_data nccl_data = {
	.base_us = {[NCCL_TREE] = {6.8, 14, 8.4},
                    [NCCL_RING] = {6.6, 14, 8.4},
                    [NCCL_PAT] = {8, 8, 8}},
	.nvlink_us = {[NCCL_TREE] = {0.6, 1.25, 4.0},
                      [NCCL_RING] = {0.6, 1.9, 3.4},
                      [NCCL_NVLS] = {25, 25, 25},
                      [NCCL_NVLS_TREE] = {25, 25, 25},
                      [NCCL_PAT] = {4.0, 4.0, 4.0}},
	.net_us = {[NCCL_TREE] = {5.0, 8.5, 14},
                   [NCCL_RING] = {2.7, 4.0, 14},
                   [NCCL_NVLS] = {18, 18, 18},
                   [NCCL_NVLS_TREE] = {20.9, 20.9, 20.9},
                   [NCCL_PAT] = {14, 14, 14}},
	.net_overhead_us = 1,
	.ll_GBps = {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}},
	.ring_ll128_GBps = {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}},
	.tree_ll128_GBps = {{20, 20, 20},
                            {20, 20, 20},
                            {36.7, 36.7, 29},
                            {55.6, 31.67, 20}},
	.tree_GBps = {{26.5, 18.5, 10},
                      {24, 23.6, 17.8},
                      {38.7, 41.4, 36},
                      {70, 42.8, 24}},
	.nvls_tree_GBps = {{26.5, 18.5, 10},
                           {24, 23.6, 17.8},
                           {0, 57.7, 45.5},
                           {0, 96, 80}},
	.nvls_efficiency = {0, 0, 0.85, 0.74},
	.tree_correction = {{1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6, .5,
                             .4, .4, .5, .6, .7, .8, .9, 1,  1,  1,  1},
                            {1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
                             .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1},
                            {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
                             .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}},
	.one_node = {{12, 10, 0}, {24, 10, 0}, {24, 15, 0}, {24, 30, 0}},
	.nvls = {{0, 0, 0}, {0, 0, 0}, {8, 40, 40}, {8, 80, 80}},
	.channels_across = {8, 8, 16, 16},
};

double nccl_far_ring(double cc)
{
	return cc > 0 && cc < 80 ? 1.9 : 1.4;
}

int nccl_generation(double cc)
{
	return cc == 0 ? 1 : cc < 80 ? 0 : cc < 90 ? 1 : cc < 100 ? 2 : 3;
}

const char *protocol_name(enum protocol p)
{
	static const char *const names[PROTOCOLS] = {"ll", "ll128", "simple"};

	return names[p];
}

double protocol_wire(enum protocol p)
{
	static const double wire[PROTOCOLS] = {2, 128. / 120, 1};

	return wire[p];
}

int nccl_log2(double x)
{
	int exponent;

	frexp(x, &exponent);
	return exponent - 1;
}
