#include "base/arena.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { ALIGN = _Alignof(max_align_t), FIRST_CHUNK = 16 * 1024, MAX_CHUNK = 4 << 20 };

struct chunk {
	struct chunk *next;
	size_t size, used; /* of the bytes behind this header */
	bool zero;         /* those behind the used ones */
};

struct arena {
	struct chunk *chunk; /* the one in use first */
	size_t next_size;
};

static const size_t header = (sizeof(struct chunk) + ALIGN - 1) / ALIGN * ALIGN;

/* Returns the bytes, rounded up to what aligns the next request. */
static size_t aligned_bytes(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) ||
	    bytes > SIZE_MAX - header - ALIGN)
		memory_end(MEMORY_OUT, "out of memory (more than can be addressed)");
	return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/*
 * What is smaller than the first threshold comes from the heap, where free neighbours
 * join; the top of the heap is given back when more than the second is free there.
 * Unless told, glibc starts both at 128 KiB and raises them with what is freed.
 */
void memory_keep(void)
{
#ifdef __GLIBC__
	enum { MAPPED_FROM = 32 << 20, KEPT_MAX = 128 << 20 };

	mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
	mallopt(M_TRIM_THRESHOLD, KEPT_MAX);
#endif
}

struct arena *arena_new(void)
{
	struct arena *a = xmalloc(1, sizeof(*a));

	*a = (struct arena){.next_size = FIRST_CHUNK};
	return a;
}

static void free_chunks(struct chunk *c)
{
	struct chunk *next;

	for (; c; c = next) {
		next = c->next;
		xfree(c);
	}
}

/*
 * Most arenas that are reset are soon as full again: the chunk in use, the largest as a
 * rule, is kept, but not from a sanitizer, which tells uses of what was given back.
 */
void arena_reset(struct arena *a)
{
#ifndef __SANITIZE_ADDRESS__
	if (a->chunk && a->chunk->size <= MAX_CHUNK) {
		free_chunks(a->chunk->next);
		a->chunk->next = NULL;
		a->chunk->used = 0;
		return;
	}
#endif
	free_chunks(a->chunk);
	*a = (struct arena){.next_size = FIRST_CHUNK};
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	free_chunks(a->chunk);
	xfree(a);
}

/*
 * Large chunks are xcalloc()'s, which knows when the system has just zeroed their pages:
 * an array of millions of messages is not written twice.
 */
static struct chunk *new_chunk(size_t bytes)
{
	struct chunk *c;

	if (bytes <= MAX_CHUNK) {
		c = xmalloc(1, header + bytes);
		*c = (struct chunk){.size = bytes};
		return c;
	}
	c = xcalloc(1, header + bytes);
	*c = (struct chunk){.size = bytes, .zero = true};
	return c;
}

/*
 * Large requests get a chunk of their own behind the current one, which stays in use.
 */
static struct chunk *add_chunk(struct arena *a, size_t bytes)
{
	bool own = bytes > a->next_size / 4;
	size_t size = own ? bytes : a->next_size;
	struct chunk *c = new_chunk(size);

	if (own && a->chunk) {
		c->next = a->chunk->next;
		a->chunk->next = c;
	} else {
		c->next = a->chunk;
		a->chunk = c;
	}
	if (!own && a->next_size < MAX_CHUNK)
		a->next_size *= 2;
	return c;
}

static void *arena_take(struct arena *a, size_t count, size_t size, bool zero)
{
	size_t bytes = aligned_bytes(count, size);
	struct chunk *c = a->chunk;
	char *p;

	if (!c || c->size - c->used < bytes)
		c = add_chunk(a, bytes);
	p = (char *)c + header + c->used;
	c->used += bytes;
	return zero && !c->zero ? memset(p, 0, count * size) : p;
}

void *arena_alloc(struct arena *a, size_t count, size_t size)
{
	return arena_take(a, count, size, true);
}

void *arena_dup(struct arena *a, const void *src, size_t count, size_t size)
{
	void *p = arena_take(a, count, size, false);

	if (count && size)
		memcpy(p, src, count * size);
	return p;
}

void *arena_grow(struct arena *a, const void *old, size_t n, size_t count, size_t size)
{
	void *grown = arena_take(a, count, size, false);

	if (n && size)
		memcpy(grown, old, n * size);
	return grown;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1, 1);

	memcpy(p, s, n);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

/*
 * Prints as much of a text as there is room for, and returns its length. It is a function
 * of its own because, inlined, gcc's UBSan branch for a NULL format is a warning.
 */
static __attribute__((noinline)) size_t print_into(char *out, size_t room,
                                                   const char *fmt, va_list ap)
{
	int n = vsnprintf(out, room, fmt, ap);

	assert(n >= 0);
	return (size_t)n;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	size_t n;
	char *p;

	va_start(ap, fmt);
	n = print_into(NULL, 0, fmt, ap);
	va_end(ap);
	p = arena_alloc(a, n + 1, 1);
	va_start(ap, fmt);
	print_into(p, n + 1, fmt, ap);
	va_end(ap);
	return p;
}

static void text_reserve(struct text *t, size_t more)
{
	size_t need = t->length + more + 1;

	if (need <= t->capacity)
		return;
	t->capacity = need > 2 * t->capacity ? need : 2 * t->capacity;
	t->s = xrealloc(t->s, t->capacity, 1);
}

void text_append(struct text *t, const char *s, size_t n)
{
	text_reserve(t, n);
	memcpy(t->s + t->length, s, n);
	t->length += n;
	t->s[t->length] = '\0';
}

/* Short texts fit where they are printed at once. */
void text_printf(struct text *t, const char *fmt, ...)
{
	enum { SHORT = 64 };
	va_list ap;
	size_t n, room;

	text_reserve(t, SHORT);
	room = t->capacity - t->length;
	va_start(ap, fmt);
	n = print_into(t->s + t->length, room, fmt, ap);
	va_end(ap);
	if (n >= room) {
		text_reserve(t, n);
		va_start(ap, fmt);
		print_into(t->s + t->length, n + 1, fmt, ap);
		va_end(ap);
	}
	t->length += n;
}

void text_free(struct text *t)
{
	xfree(t->s);
	*t = (struct text){0};
}

char *text_take(struct text *t, struct arena *a)
{
	char *s = arena_strndup(a, t->s ? t->s : "", t->length);

	text_free(t);
	return s;
}
