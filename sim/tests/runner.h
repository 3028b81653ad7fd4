/*
 * The program itself, run by a test in a folder of the test's own: started, watched,
 * stopped, killed. $SHARDSIM is the program. All asserts are Check's.
 */
#ifndef SHARDSIM_TESTS_RUNNER_H
#define SHARDSIM_TESTS_RUNNER_H

#include "store/store.h"

#include "base/arena.h"

#include <sys/types.h>

enum { RUNNER_WORDS_MAX = 32 };

/* A test's folder and arena, made before it and removed, with all that is in it, after. */
struct runner {
	struct arena *arena;
	const char *dir;
};
void runner_start(struct runner *r);
void runner_end(struct runner *r);

/* DIR/NAME, the arena's; a file there. */
const char *runner_path(const struct runner *r, const char *name);
void runner_write(const struct runner *r, const char *name, const char *text);
const char *runner_read(const struct runner *r, const char *name);
bool runner_has(const struct runner *r, const char *name);

/* Called in the child before it becomes the program. */
typedef void runner_prepare_fn(void);

/*
 * Start `shardsim WORDS...` (ended by NULL) with DIR as its folder, its stderr in
 * DIR/stderr and its stdout in DIR/stdout: leader of a process group of its own, which
 * dies with us.
 */
pid_t runner_program(const struct runner *r, runner_prepare_fn *prepare,
                     const char *const *words);

/* Wait for its end: it left by itself, with this status, and nobody of its group is left. */
void runner_exit(pid_t program, int wanted);

/* Start it and wait for its end. */
void runner_run(const struct runner *r, const char *const *words, int wanted);

/* Kill it, wait for it and for its group. */
void runner_kill(pid_t program);

/* Is the text in DIR/stderr? Asserted. */
void runner_said(const struct runner *r, const char *text);

void runner_pause_ms(int ms);

/* A living child of the process; 0 if it has none. */
pid_t runner_child(pid_t parent);

/*
 * A replay, stopped, and the worker that waits for it. Who kills the worker must let the
 * replay go on: it may not have asked yet to die with its parent.
 */
void runner_stop_replay(pid_t sweep, pid_t *worker, pid_t *replay);

/* The rows of the sweep DIR/NAME. */
struct row *runner_rows(const struct runner *r, const char *name, size_t *n);

/* Equal in all but planning_s; asserted. `part`: rows of `a` may be missing. */
void runner_equal_rows(const struct row *a, size_t na, const struct row *b, size_t nb,
                       bool part);

#endif
