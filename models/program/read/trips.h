/*
 * How often loops run. Optimised programs say it in backend_config; else it is found where
 * the condition compares a carried value with a constant, or with a carried value that no
 * turn changes and that starts as a constant, and each turn adds a constant to it. Calls
 * and fusions between these are looked through.
 */
#ifndef SHARDSIM_PROGRAM_READ_TRIPS_H
#define SHARDSIM_PROGRAM_READ_TRIPS_H

#include "program/program.h"

/* Finds the trips of all loops that do not have them. */
void trips_find(struct program *p);

/* Warns of loops that run and whose trips nobody has said. */
void trips_warn(struct program *p);

#endif
