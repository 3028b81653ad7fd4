#include "move/work.h"

#include "base/hash.h"
#include "plan/position.h"

#include <string.h>

enum { TEXTS = 9 };

/* The texts that make two arrays alike. */
static void texts_of(const char *out[TEXTS], const struct problem_text *t)
{
	const char *const all[TEXTS] = {t->array,      t->mesh,        t->to_mesh,
	                                t->from,       t->to,          t->devices,
	                                t->to_devices, t->num_devices, t->memory_limit};

	memcpy(out, all, sizeof(all));
}

static bool texts_equal(const struct problem_text *a, const struct problem_text *b)
{
	const char *x[TEXTS], *y[TEXTS];

	texts_of(x, a);
	texts_of(y, b);
	for (int i = 0; i < TEXTS; i++)
		if (!x[i] != !y[i] || (x[i] && strcmp(x[i], y[i]) != 0))
			return false;
	return a->vocabulary == b->vocabulary ||
	       (a->vocabulary && b->vocabulary && !strcmp(a->vocabulary, b->vocabulary));
}

static uint64_t texts_hash(const struct problem_text *t)
{
	const char *x[TEXTS];
	uint64_t hash = HASH_START;

	texts_of(x, t);
	for (int i = 0; i < TEXTS; i++)
		if (x[i])
			hash = hash_bytes(hash, x[i], strlen(x[i]) + 1);
	return hash;
}

/* Returns the number of the entry with these texts, a new one if there is none. */
static int32_t array_number(struct move_work *w, const struct problem_text *t,
                            struct where at)
{
	uint64_t hash = texts_hash(t);
	size_t slot;

	for (int32_t i = table_first(&w->index, hash, &slot); i >= 0;
	     i = table_next(&w->index, hash, &slot))
		if (texts_equal(&w->array.at[i].text, t))
			return i;
	w->index.arena = w->arena;
	table_add(&w->index, hash, (int32_t)w->array.n);
	*list_add(&w->array, w->arena) = (struct move_array){.text = *t, .at = at};
	return (int32_t)w->array.n - 1;
}

enum status move_add(struct move_work *w, const char *name,
                     const struct problem_text *text, int64_t count, struct where at,
                     struct error *e)
{
	int32_t number = array_number(w, text, at);
	struct move_array *array = &w->array.at[number];

	if (count > MOVE_ARRAYS_MAX - w->narrays)
		return error_set(e, E_RANGE, at, "more than %d arrays", MOVE_ARRAYS_MAX);
	*list_add(&array->name, w->arena) = name;
	array->count += count;
	w->narrays += count;
	if (w->given.n > 0 && w->given.at[w->given.n - 1].array == number)
		w->given.at[w->given.n - 1].count += count;
	else
		*list_add(&w->given, w->arena) = (struct move_run){number, count};
	return OK;
}

int64_t move_needs(const struct move_work *w, struct error *e)
{
	struct arena *scratch = arena_new();
	int64_t most = 0;

	for (int64_t i = 0; i < w->array.n && e->code == OK; i++) {
		struct problem p;

		if (problem_make(&p, scratch, &w->array.at[i].text, e) != OK)
			break;
		if (position_needs(&p) > most)
			most = position_needs(&p);
		arena_reset(scratch);
	}
	arena_free(scratch);
	return most;
}
