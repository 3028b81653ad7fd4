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

struct xla_warning {
	const char *from, *to; /* HLO shardings, metadata and all */
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
};

/*
 * Read the first warning of a text. Texts are the arena's; places borrow the source of
 * `at`. Errors: no warning, a sharding that is not one.
 */
enum status xla_warning_parse(struct xla_warning *out, struct arena *a,
                              const char *text, struct where at, struct error *e);

#endif
