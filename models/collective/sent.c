#include "collective/sent.h"

#include "collective/nccl.h"
#include "collective/profile.h"

#include "base/sets.h"

/*
 * Returns the root of each device's set of those that send to one another: [ndevices].
 * *ascend: the transfers are by destination already, as those of most exchanges are.
 */
static int32_t *find_sets(bool *ascend, const struct step *s, int32_t ndevices,
                          struct arena *a)
{
	int32_t *set = arena_alloc(a, (size_t)ndevices, sizeof(*set)), before = 0;

	*ascend = true;
	sets_apart(set, ndevices);
	for (int64_t i = 0; i < s->ntransfers; i++) {
		int32_t src = s->transfers[i].src, dst = s->transfers[i].dst;

		sets_join(set, src, dst);
		*ascend = *ascend && dst >= before;
		before = dst;
	}
	for (int32_t d = 0; d < ndevices; d++)
		set[d] = sets_of(set, d);
	return set;
}

/* Turns the counts of 0 to n - 1 into the first place of each. */
static void add_up(int64_t *count, int32_t n)
{
	int64_t sum = 0;

	for (int32_t i = 0; i < n; i++) {
		int64_t next = sum + count[i];

		count[i] = sum;
		sum = next;
	}
}

/* Returns the transfers by destination. */
static const struct transfer *sort_destinations(const struct step *s, int32_t ndevices,
                                                struct arena *a)
{
	size_t n = (size_t)s->ntransfers;
	struct transfer *sorted = arena_grow(a, NULL, 0, n, sizeof(*sorted));
	int64_t *next = arena_alloc(a, (size_t)ndevices, sizeof(*next));

	for (size_t i = 0; i < n; i++)
		next[s->transfers[i].dst]++;
	add_up(next, ndevices);
	for (size_t i = 0; i < n; i++)
		sorted[next[s->transfers[i].dst]++] = s->transfers[i];
	return sorted;
}

/*
 * Sorts transfers by destination to such by set and source: they are counted into their
 * places by the rank that sources have by set and number.
 */
static const struct sent *sort_transfers(const struct transfer *by_dst, size_t n,
                                         const int32_t *set, int32_t ndevices,
                                         struct arena *a)
{
	struct sent *sorted = arena_grow(a, NULL, 0, n, sizeof(*sorted));
	int64_t *src = arena_alloc(a, (size_t)ndevices, sizeof(*src));
	int64_t *rank = arena_alloc(a, (size_t)ndevices, sizeof(*rank));
	int64_t *next = arena_alloc(a, (size_t)ndevices, sizeof(*next));

	for (int32_t d = 0; d < ndevices; d++)
		next[set[d]]++;
	add_up(next, ndevices);
	for (int32_t d = 0; d < ndevices; d++)
		rank[d] = next[set[d]]++;
	for (size_t i = 0; i < n; i++)
		src[rank[by_dst[i].src]]++;
	add_up(src, ndevices);
	for (size_t i = 0; i < n; i++) {
		const struct transfer *t = &by_dst[i];

		sorted[src[rank[t->src]]++] = (struct sent){t->src, t->dst, t->elements};
	}
	return sorted;
}

const struct sent *sent_sorted(const int32_t **set, const struct step *s,
                               int32_t ndevices, struct arena *a)
{
	bool ascend;
	const int32_t *sets = find_sets(&ascend, s, ndevices, a);

	*set = sets;
	return sort_transfers(ascend ? s->transfers : sort_destinations(s, ndevices, a),
	                      (size_t)s->ntransfers, sets, ndevices, a);
}

/* Returns the last fabric of those that the task's messages take: collectives go by it, too. */
static int last_fabric(const struct schedule *s, const struct task *t)
{
	int last = 0;

	for (int64_t i = 0; i < t->nmessages; i++)
		if (s->message[t->first + i].fabric > last)
			last = s->message[t->first + i].fabric;
	return last;
}

void sent_finish(struct schedule *s, const struct machine *m, const bool *again)
{
	struct nccl_wire *wire = NULL;
	struct nccl_sends step;

	for (int64_t i = 0; i < s->ntasks; i++) {
		int fabric = last_fabric(s, &s->task[i]);

		if (!profile_of_fabric(m, fabric)->library)
			continue;
		if (!wire) {
			wire = nccl_wire_new(s->arena, m);
			nccl_sends_step(&step, s, wire);
		}
		step.later = i >= s->round[0].ntasks;
		nccl_sends_task(s, &s->task[i], wire, &step, again);
	}
}
