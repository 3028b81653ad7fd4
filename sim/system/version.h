/*
 * Which program this is. The Makefile writes the text into an object of its own, so that
 * a source that changes recompiles itself and that.
 */
#ifndef SHARDSIM_SIM_SYSTEM_VERSION_H
#define SHARDSIM_SIM_SYSTEM_VERSION_H

/*
 * "0.1.0 (sources 1a2b3c4d)": the release, and the first digits of a SHA-256 of the names
 * and contents of all that the program is compiled from. Equal texts are equal programs,
 * as far as results go, whoever built them where.
 */
extern const char version_text[];

#endif
