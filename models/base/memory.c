#include "base/memory.h"

#include "base/arena.h"
#include "base/assert.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call that is being made: the blocks it has to answer for, the newest last. */
struct call {
	struct call *outer;
	jmp_buf back;
	void **block;
	size_t nblocks, room;
	int nundos;
	struct {
		void (*run)(void *self);
		void *self;
	} undo[MEMORY_UNDO_MAX];
	char *why;
	size_t why_size;
};

static _Thread_local struct call *call;
static _Thread_local int64_t fail_at;

void memory_fail_at(int64_t n)
{
	fail_at = n;
}

_Noreturn void memory_end(enum memory_end end, const char *why)
{
	if (!call) {
		fprintf(stderr, "shardsim: %s\n", why);
		abort();
	}
	snprintf(call->why, call->why_size, "%s", why);
	/* Before the jump: what is undone may lie on the stack that is left. */
	while (call->nundos > 0) {
		call->nundos--;
		call->undo[call->nundos].run(call->undo[call->nundos].self);
	}
	longjmp(call->back, end);
}

_Noreturn void assert_broken(const char *what, const char *file, int line)
{
	char why[300];

	snprintf(why, sizeof(why), "%s:%d: '%s' does not hold", file, line, what);
	memory_end(MEMORY_BROKEN, why);
}

static _Noreturn void out_of_memory(size_t count, size_t size)
{
	char why[100];

	snprintf(why, sizeof(why), "out of memory (%zu objects of %zu bytes)", count,
	         size);
	memory_end(MEMORY_OUT, why);
}

/*
 * Returns memory, or NULL where there is none. All memory of the library comes from
 * here.
 */
static void *request(void *old, size_t bytes, bool zero)
{
	if (fail_at == 1)
		return NULL;
	if (fail_at > 1)
		fail_at--;
	return zero ? calloc(1, bytes) : realloc(old, bytes);
}

/* Makes the call answer for the block; false if there is no room to note that. */
static bool note(struct call *c, void *p)
{
	size_t room = c->room ? 2 * c->room : 64;
	void **grown;

	if (c->nblocks == c->room) {
		grown = request(c->block, room * sizeof(*grown), false);
		if (!grown)
			return false;
		c->block = grown;
		c->room = room;
	}
	c->block[c->nblocks++] = p;
	return true;
}

/*
 * Returns where a call under way notes the block, or NULL if none does. New blocks go
 * first.
 */
static void **noted_block(struct call **owner, const void *p)
{
	for (struct call *c = call; c; c = c->outer)
		for (size_t i = c->nblocks; i-- > 0;)
			if (c->block[i] == p) {
				*owner = c;
				return &c->block[i];
			}
	return NULL;
}

static size_t checked_bytes(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		out_of_memory(count, size);
	return bytes ? bytes : 1;
}

static void *block_new(size_t count, size_t size, bool zero)
{
	void *p = request(NULL, checked_bytes(count, size), zero);

	if (!p)
		out_of_memory(count, size);
	if (call && !note(call, p)) {
		free(p);
		out_of_memory(count, size);
	}
	return p;
}

void *xmalloc(size_t count, size_t size)
{
	return block_new(count, size, false);
}

void *xcalloc(size_t count, size_t size)
{
	return block_new(count, size, true);
}

void *xrealloc(void *old, size_t count, size_t size)
{
	struct call *owner;
	void **at, *p;

	if (!old)
		return xmalloc(count, size);
	at = noted_block(&owner, old);
	p = request(old, checked_bytes(count, size), false);
	if (!p)
		out_of_memory(count, size);
	if (at)
		*at = p;
	return p;
}

void xfree(void *p)
{
	struct call *owner;
	void **at = p && call ? noted_block(&owner, p) : NULL;

	if (at) {
		memmove(at, at + 1,
		        (size_t)(owner->block + owner->nblocks - at - 1) * sizeof(*at));
		owner->nblocks--;
	}
	free(p);
}

void memory_undo(void (*undo)(void *self), void *self)
{
	if (!call)
		return;
	if (call->nundos == MEMORY_UNDO_MAX)
		memory_end(MEMORY_BROKEN, "too much to undo");
	call->undo[call->nundos].run = undo;
	call->undo[call->nundos++].self = self;
}

void memory_undone(void)
{
	if (call)
		call->nundos--;
}

static void give_back(struct call *c)
{
	while (c->nblocks > 0)
		free(c->block[--c->nblocks]);
}

/* A function of its own: setjmp() may spoil the variables of the one that calls it. */
static enum memory_end call_body(struct call *c, bool *keep, bool (*body)(void *self),
                                 void *self)
{
	int end = setjmp(c->back);

	if (end == MEMORY_DONE)
		*keep = body(self);
	return (enum memory_end)end;
}

enum memory_end memory_call(bool (*body)(void *self), void *self, char *why, size_t size)
{
	struct call here = {.outer = call, .why = why, .why_size = size};
	bool keep = false;
	enum memory_end end;

	call = &here;
	end = call_body(&here, &keep, body, self);
	call = here.outer;
	if (end != MEMORY_DONE || !keep)
		give_back(&here);
	free(here.block);
	return end;
}
