/*
 * Sweeps on many machines (sim/README.md, Sweeps). A plan is a file of JSON lines, which says all of a sweep:
 *
 *   {"schema": "shardsim-plan/1", "version": "0.1.0 (sources 1a2b3c4d)",
 *    "plan": DIGEST, "cases": 160, "planners": ["synth", ...], "clocks": ["model", ...],
 *    "request": {"suites": [...], "platform": null, "planner": "all", "clock": "model"}}
 *   {"platform": "tpu-v4:4x4x4", "base": ..., "set": [...], "files": "1", "digest": ...}
 *   {"scenario": "one", "file": 0, "family": ..., "array": ..., "mesh": ..., ...}
 *
 * A shard is a file of JSON lines with the rows of one part of the plan:
 *
 *   {"schema": "shardsim-shard/1", "version": ..., "plan": DIGEST, "shard": 0, "of": 4}
 *   {"key": DIGEST, "log": null, "scenario": "one", ..., "time_s": 0.1, ...}
 *
 * Until it is whole it is called NAME.part: lines are appended to that, and one that a
 * dying process left unfinished is passed over. Neither needs more of a file system than
 * appending and renaming, so both can be on a network file system.
 */
#ifndef SHARDSIM_SIM_SWEEP_SHARD_H
#define SHARDSIM_SIM_SWEEP_SHARD_H

#include "sweep/setup.h"

/* Writes the plan of a sweep. E_IO; E_SYNTAX: a text that is no UTF-8. */
enum status plan_write(const char *path, const struct sweep *s,
                       const struct sweep_request *r, struct error *e);

/*
 * Reads a plan; all is the arena's, `r` is what it was made from. Platforms are read and
 * must be what they were. Errors name the line; E_TYPE: another build, or a platform
 * that has changed.
 */
enum status plan_read(struct sweep *out, struct sweep_request *r, const char *path,
                      struct arena *a, struct error *e);

/* Which part of a plan: `shard` of `of`, from 0. */
struct shard {
	int shard, of;
};

/* Reads "2/8". E_SYNTAX, E_RANGE at `at`. */
enum status shard_parse(struct shard *out, const char *text, struct where at,
                        struct error *e);

/*
 * Calls `each` with the rows of a shard file of the plan with that digest; `line` is the
 * row's text, with its newline. E_TYPE: a shard of another plan, or build. Lines that are cut off
 * or damaged are passed over. `out` NULL: the part is not asked for.
 */
typedef enum status shard_each_fn(void *self, struct digest key, const struct row *r,
                                  const char *log, const char *line, size_t length,
                                  struct error *e);
enum status shard_read(struct shard *out, const char *path, struct digest plan,
                       shard_each_fn *each, void *self, struct error *e);

/* Append the first line of a shard, and the line of a row, with their newline. */
void shard_print_head(struct text *out, struct digest plan, struct shard part);
void shard_print_row(struct text *out, const struct row *r, struct digest key,
                     const char *log);

#endif
