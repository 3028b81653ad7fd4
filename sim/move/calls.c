/* Arrays of a workload as calls: each its own, or batches of equal layouts. */
#include "move/move.h"

#include <string.h>

/* A batch that is still open, or the calls that were closed. */
struct batch {
	int64_t bytes;
	LIST(struct move_run) run;
};

struct batching {
	struct move_result *result;
	struct arena *arena;
	int64_t most_bytes;
	int32_t *group;           /* [arrays]: which ones have equal layouts */
	struct batch **open;      /* [groups]: the batch that takes more, NULL */
	LIST(struct batch *) all; /* in the order in which they were begun */
	LIST(struct moved_call) kind;
};

static bool texts_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Returns whether arrays are moved alike: equal layouts, meshes, devices and type. */
static bool moved_alike(const struct moved_array *x, const struct moved_array *y)
{
	const struct problem_text *a = &x->array->text, *b = &y->array->text;

	return x->problem.array.dtype == y->problem.array.dtype &&
	       texts_equal(a->from, b->from) && texts_equal(a->to, b->to) &&
	       texts_equal(a->mesh, b->mesh) && texts_equal(a->to_mesh, b->to_mesh) &&
	       texts_equal(a->devices, b->devices) &&
	       texts_equal(a->to_devices, b->to_devices) &&
	       texts_equal(a->num_devices, b->num_devices);
}

static void number_groups(struct batching *b, int64_t n)
{
	const struct moved_array *array = b->result->array;
	int32_t ngroups = 0;

	b->group = arena_alloc(b->arena, (size_t)n, sizeof(*b->group));
	for (int64_t i = 0; i < n; i++) {
		int64_t k = 0;

		while (k < i && !moved_alike(&array[k], &array[i]))
			k++;
		b->group[i] = k < i ? b->group[k] : ngroups++;
	}
	b->open = arena_alloc(b->arena, (size_t)ngroups, sizeof(struct batch *));
}

/* Puts one array into the open batch of its group, or into a new one. */
static void put(struct batching *b, int32_t number)
{
	struct batch **open = &b->open[b->group[number]];
	int64_t bytes = b->result->array[number].bytes;
	struct move_run *last;

	if (!*open || bytes > b->most_bytes - (*open)->bytes) {
		*open = arena_alloc(b->arena, 1, sizeof(**open));
		*list_add(&b->all, b->arena) = *open;
	}
	(*open)->bytes += bytes;
	last = (*open)->run.n ? &(*open)->run.at[(*open)->run.n - 1] : NULL;
	if (last && last->array == number)
		last->count++;
	else
		*list_add(&(*open)->run, b->arena) = (struct move_run){number, 1};
}

/* Returns the number of the kind of a batch. */
static int32_t kind_of_batch(struct batching *b, const struct batch *batch)
{
	for (int64_t i = b->kind.n - 1; i >= 0; i--) {
		const struct moved_call *call = &b->kind.at[i];
		int64_t k = 0;

		while (call->nruns == batch->run.n && k < call->nruns &&
		       call->run[k].array == batch->run.at[k].array &&
		       call->run[k].count == batch->run.at[k].count)
			k++;
		if (k == batch->run.n)
			return (int32_t)i;
	}
	*list_add(&b->kind, b->arena) =
		(struct moved_call){(int32_t)batch->run.n, batch->run.at};
	return (int32_t)b->kind.n - 1;
}

/* Each array is a call: kinds of calls are the arrays. */
static void call_each(struct move_result *out, struct order_run **run, int64_t *nruns,
                      const struct move_work *w, struct arena *a)
{
	out->ncalls = (int32_t)w->array.n;
	out->calls = w->narrays;
	out->call = arena_alloc(a, (size_t)w->array.n, sizeof(*out->call));
	for (int32_t i = 0; i < out->ncalls; i++) {
		struct move_run one = {i, 1};

		out->call[i] =
			(struct moved_call){1, arena_dup(a, &one, 1, sizeof(one))};
	}
	*nruns = w->given.n;
	*run = arena_alloc(a, (size_t)*nruns, sizeof(**run));
	for (int64_t i = 0; i < *nruns; i++)
		(*run)[i] =
			(struct order_run){w->given.at[i].array, w->given.at[i].count};
}

void move_calls(struct move_result *out, struct order_run **run, int64_t *nruns,
                const struct move_work *w, const struct move_how *how, struct arena *a)
{
	struct batching b = {.result = out, .arena = a, .most_bytes = how->batch_bytes};

	if (!how->batch_bytes) {
		call_each(out, run, nruns, w, a);
		return;
	}
	number_groups(&b, w->array.n);
	for (int64_t i = 0; i < w->given.n; i++)
		for (int64_t k = 0; k < w->given.at[i].count; k++)
			put(&b, w->given.at[i].array);
	*run = arena_alloc(a, (size_t)b.all.n, sizeof(**run));
	*nruns = 0;
	for (int64_t i = 0; i < b.all.n; i++) {
		int32_t kind = kind_of_batch(&b, b.all.at[i]);

		if (*nruns && (*run)[*nruns - 1].call == kind)
			(*run)[*nruns - 1].count++;
		else
			(*run)[(*nruns)++] = (struct order_run){kind, 1};
	}
	out->ncalls = (int32_t)b.kind.n;
	out->call = b.kind.at;
	out->calls = b.all.n;
}
