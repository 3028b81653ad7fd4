/*
 * Which program this is. The Makefile writes the text into an object of its own, so
 * that a change of a source recompiles only that source and this object.
 */
#ifndef SHARDSIM_SIM_SYSTEM_VERSION_H
#define SHARDSIM_SIM_SYSTEM_VERSION_H

/*
 * "0.1.0 (sources 1a2b3c4d)": the release, and the first digits of a SHA-256 of the
 * names and contents of all files that the program is compiled from. Programs with
 * equal texts give equal results, whoever built them where.
 */
extern const char version_text[];

#endif
