/*
 * Calls that may run out of memory without ending the program. Private to the library:
 * models/api/ enters them, memory.c counts what they allocate.
 *
 * Inside memory_call() a request that cannot be met, and a broken invariant of ours,
 * jump back to the call, which gives back every block that xmalloc() and xrealloc()
 * have made since and that xfree() has not taken: arenas are made of such blocks. Outside
 * of a call they end the program with a message. All of this is the thread's own.
 */
#ifndef SHARDSIM_BASE_MEMORY_H
#define SHARDSIM_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memory_end {
	MEMORY_DONE,
	MEMORY_OUT,   /* a request could not be met */
	MEMORY_BROKEN /* an invariant of ours does not hold */
};

/*
 * Runs body(self). Where it returns true, the blocks it has made and not freed are the
 * caller's; where it returns false or jumps they are given back. On a jump `why` (of
 * `size` bytes) gets the reason. Calls may be nested.
 */
enum memory_end memory_call(bool (*body)(void *self), void *self, char *why,
                            size_t size);

/*
 * For what no block of ours holds: `undo(self)` is run just before the call jumps, unless
 * memory_undone() has taken it off again. The last one that was put on comes off first.
 * It takes no memory.
 */
enum { MEMORY_UNDO_MAX = 4 };
void memory_undo(void (*undo)(void *self), void *self);
void memory_undone(void);

/* Returns zeroed memory, as xmalloc() does. */
void *xcalloc(size_t count, size_t size);

/* Ends what cannot go on: jumps to the call, or ends the program. */
_Noreturn void memory_end(enum memory_end end, const char *why);

/*
 * For tests: of the requests this thread makes from now on the n-th is not met, nor is any
 * after it. 0: all are met again.
 */
void memory_fail_at(int64_t n);

#endif
