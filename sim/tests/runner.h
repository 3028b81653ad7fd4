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

/* Return DIR/NAME, which is the arena's; write, read or look for that file. */
const char *runner_path(const struct runner *r, const char *name);
void runner_write(const struct runner *r, const char *name, const char *text);
const char *runner_read(const struct runner *r, const char *name);
bool runner_has(const struct runner *r, const char *name);

/* A function that is called in the child before it becomes the program. */
typedef void runner_prepare_fn(void);

/*
 * Starts `shardsim WORDS...` (ended by NULL) with DIR as its folder, its stderr in
 * DIR/stderr and its stdout in DIR/stdout. It leads a process group of its own and dies
 * with us.
 */
pid_t runner_program(const struct runner *r, runner_prepare_fn *prepare,
                     const char *const *words);

/*
 * Waits for its end, and checks that it exited with this status and left nobody behind.
 */
void runner_exit(pid_t program, int wanted);

/* Starts it, waits for its end and checks its status. */
void runner_run(const struct runner *r, const char *const *words, int wanted);

/* Kills it, and waits for it and for its group. */
void runner_kill(pid_t program);

/* Checks that the text is in DIR/stderr. */
void runner_said(const struct runner *r, const char *text);

void runner_pause_ms(int ms);

/* Returns a living child of the process, 0 if it has none. */
pid_t runner_child(pid_t parent);

/*
 * Stops a replay of the sweep, and stores it and the worker that waits for it. A test
 * that kills the worker must let the replay go on, since that may not have asked yet to
 * die with its parent.
 */
void runner_stop_replay(pid_t sweep, pid_t *worker, pid_t *replay);

/* Returns the rows of the sweep DIR/NAME, and stores their number in *n. */
struct row *runner_rows(const struct runner *r, const char *name, size_t *n);

/*
 * Checks that rows differ in planning_s only. With `part` rows of `a` may be missing.
 */
void runner_equal_rows(const struct row *a, size_t na, const struct row *b, size_t nb,
                       bool part);

#endif
