/*
 * Arenas: memory that lives and dies together.
 *
 * A problem owns one arena; plans, schedules and strings made for it live in it and are
 * never freed one by one. Memory is zeroed. Sizes are checked; a request that cannot be
 * met ends the program with a message, or a call of shardsim.h with an error, so no caller
 * handles NULL.
 */
#ifndef SHARDSIM_BASE_ARENA_H
#define SHARDSIM_BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(void);

/* Free all that was allocated. */
void arena_free(struct arena *a);

/* As arena_free, but the arena itself can be used again, and may keep some memory. */
void arena_reset(struct arena *a);

/*
 * Returns zeroed memory for `count` objects of `size` bytes, aligned for any type;
 * never NULL.
 */
void *arena_alloc(struct arena *a, size_t count, size_t size);

char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns a copy of `count` objects of `size` bytes from `src`. */
void *arena_dup(struct arena *a, const void *src, size_t count, size_t size);

/*
 * Returns room for `count` objects, more than the `n` that are copied from `old`. Those
 * behind them are not zeroed: for arrays that are written from front to back.
 */
void *arena_grow(struct arena *a, const void *old, size_t n, size_t count, size_t size);

/*
 * Keep up to 128 MiB of what is freed for what is allocated next. Else it goes back to
 * the system, which zeroes every page that is taken anew: for plans on thousands of
 * devices that takes longer than to fill it. It is said to malloc, for the whole
 * process, so it is for main() to call, first; without effect where malloc has no such
 * setting.
 */
void memory_keep(void);

/*
 * Are malloc and realloc, but do not come back when there is no memory (base/memory.h);
 * and the free that goes with them.
 */
void *xmalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t count, size_t size);
void xfree(void *p);

/*
 * A text that grows. `struct text t = {0}` is the empty one; `t.s` is NUL-terminated
 * once something was written, NULL before. text_free() gives the memory back.
 */
struct text {
	char *s;
	size_t length, capacity;
};

void text_printf(struct text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void text_append(struct text *t, const char *s, size_t n);
void text_free(struct text *t);

/*
 * Returns the text as a string of the arena ("" when nothing was written); frees `t`.
 */
char *text_take(struct text *t, struct arena *a);

#endif
