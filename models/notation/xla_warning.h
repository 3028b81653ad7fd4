/*
 * The warning XLA's SPMD partitioner logs before a full rematerialization, pasted whole:
 * it tells both shardings, and since 2024-08 the instruction that is resharded.
 *
 *   [spmd] Involuntary full rematerialization. The compiler was not able to go from
 *   sharding {devices=...} to {devices=...} without doing a full rematerialization of
 *   the tensor[ for HLO operation: %add.3 = f32[8,16]{1,0} add(...), ...]. ...
 *   [SPMD] Involuntary full rematerialization. The compiler cannot go from sharding
 *   {devices=...} to {devices=...} efficiently for HLO operation %add.3 = f32[8,16]...
 *
 * 2022 spells it "compiled was not able"; a log puts a date and file before it, and
 * terminals break the line. Only "from sharding {...} to {...}" is relied on.
 */
#ifndef SHARDSIM_NOTATION_XLA_WARNING_H
#define SHARDSIM_NOTATION_XLA_WARNING_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

struct xla_warning {
	/*
	 * HLO shardings, metadata and all. In manual regions (last_tile_dims={manual}) the
	 * partitioner works inside each group of devices that the manual axes tell apart:
	 * one more dimension before those of the array then numbers `manual` groups, which
	 * have an array each, and both shardings cut it once per group.
	 */
	const char *from, *to;
	int32_t manual; /* 0: no manual region */
	struct where from_at, to_at;
	/*
	 * The result of the instruction, which is already partitioned: one shard of the
	 * source. NULL where the text has none, or a tuple.
	 */
	const char *shard;
	/*
	 * The array: the shard times the source's tile counts, so padded where these did
	 * not divide it. NULL without a shard of the sharding's rank.
	 */
	const char *array;
	struct where array_at; /* of `shard` */
	/*
	 * The instruction, with what its metadata tell of where it is from:
	 * "%dot.12, jit(f)/dot_general, model.py:42". NULL where the text has none.
	 */
	const char *operation;
};

/*
 * Read the first warning of a text. Texts are the arena's; places borrow the source of
 * `at`. Errors: no warning, a sharding that is not one, a manual region on one side only.
 * What is wrong with {mesh[...], ...}, whose manual axes are not read, its reader tells.
 */
enum status xla_warning_parse(struct xla_warning *out, struct arena *a,
                              const char *text, struct where at, struct error *e);

/*
 * A walk over all warnings of a text, which may have any other lines between: those that
 * say "from sharding", and those that begin as one ("Involuntary full rematerialization")
 * but never do. `{.at = place of text, .rest = text}` starts before the first.
 */
struct xla_warnings {
	struct where at;
	const char *rest;
};

/*
 * Finds the next warning, up to where the one after it begins or another entry of a log
 * does (a line with a date, or the "W1015 " of absl): its text, which is the arena's, and
 * its place. Returns NULL behind the last one.
 */
const char *xla_warnings_next(struct xla_warnings *w, struct where *at, struct arena *a);

#endif
