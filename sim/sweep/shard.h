/*
 * Sweeps on many machines (sim/README.md, Sweeps). A plan is a file of JSON lines that
 * has the whole of a sweep:
 *
 *   {"schema": "shardsim-plan/1", "version": "0.1.0 (sources 1a2b3c4d)",
 *    "plan": DIGEST, "cases": 160, "planners": ["synth", ...], "clocks": ["model", ...],
 *    "request": {"suites": [...], "platform": null, "planner": "all", "clock": "model"}}
 *   {"platform": "tpu-v4:4x4x4", "machine": ..., "base": ..., "set": [...], "files": "1",
 *    "digest": ...}
 *   {"scenario": "one", "file": 0, "family": ..., "array": ..., "mesh": ..., ...}
 *
 * A shard is a file of JSON lines with the rows of one part of the plan:
 *
 *   {"schema": "shardsim-shard/1", "version": ..., "plan": DIGEST, "shard": 0, "of": 4,
 *    "sum": DIGEST}
 *   {"key": DIGEST, "log": null, "scenario": "one", ..., "time_s": 0.1, ...,
 *    "sum": DIGEST}
 *
 * `sum` is the digest of all bytes of the line before `,"sum"`.
 * Until a shard is whole its file is called NAME.part. Lines are appended to that, and
 * a line that a dying process left unfinished is skipped. Plans and shards only need
 * appending and renaming, so both can be on a network file system.
 */
#ifndef SHARDSIM_SIM_SWEEP_SHARD_H
#define SHARDSIM_SIM_SWEEP_SHARD_H

#include "sweep/setup.h"

/* Writes the plan of a sweep. It is an E_SYNTAX if a text is not UTF-8. */
enum status plan_write(const char *path, const struct sweep *s,
                       const struct sweep_request *r, struct error *e);

/*
 * Reads a plan, and stores in `r` the request that it was made from; everything is the
 * arena's. Errors name the line. Platforms are read, too: it is an E_TYPE if one of
 * them has changed since, or if another build made the plan.
 */
enum status plan_read(struct sweep *out, struct sweep_request *r, const char *path,
                      struct arena *a, struct error *e);

/* A part of a plan: number `shard` of `of` parts, counted from 0. */
struct shard {
	int shard, of;
};

/* Reads a text such as "2/8". Errors are E_SYNTAX and E_RANGE at `at`. */
enum status shard_parse(struct shard *out, const char *text, struct where at,
                        struct error *e);

/*
 * Calls `each` with every row of a shard file; `line` is the row's text with its
 * newline. A last line that is cut off is skipped. It is an E_SYNTAX at a line that does
 * not fit its checksum, and an E_TYPE if the shard is of another plan than that with the
 * digest, or of another build. The part is stored
 * in *out unless that is NULL.
 */
typedef enum status shard_each_fn(void *self, struct digest key, const struct row *r,
                                  const char *log, const char *line, size_t length,
                                  struct error *e);
enum status shard_read(struct shard *out, const char *path, struct digest plan,
                       shard_each_fn *each, void *self, struct error *e);

/* Append the first line of a shard, and the line of a row, each with its newline. */
void shard_print_head(struct text *out, struct digest plan, struct shard part);
void shard_print_row(struct text *out, const struct row *r, struct digest key,
                     const char *log);

#endif
