/* SimGrid's own trace of a plan or program, in the format of Paje. */
#ifndef SHARDSIM_SIM_MEASURE_TRACE_PAJE_H
#define SHARDSIM_SIM_MEASURE_TRACE_PAJE_H

#include "cost/steps.h"
#include "platform/platform.h"

/*
 * Write to `path`, whole or not at all, the trace that SimGrid makes of the messages of
 * the steps: what every link carries at any time, steps one after another without the launches
 * and local work between them. It comes from a child process, because SimGrid traces its
 * first simulation only; `p` must not have been started, which means that its routes
 * are not SimGrid's alone. Errors: E_TYPE where they are; E_INFEASIBLE where a step
 * cannot be run on the platform, or none sends a message; E_IO; and what SimGrid died of.
 */
enum status trace_paje(const char *path, struct platform *p, const struct steps *steps,
                       struct error *e);

#endif
