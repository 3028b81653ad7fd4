#include "collective/schedule.h"

#include <assert.h>

/* Room for one more: the array, doubled in the arena when it is full. */
static void *array_grow(struct arena *a, void *old, int64_t n, int64_t *capacity,
                        size_t size)
{
	if (n < *capacity)
		return old;
	*capacity = *capacity ? 2 * *capacity : 16;
	return arena_grow(a, old, (size_t)n, (size_t)*capacity, size);
}

static void task_close(struct schedule *s)
{
	if (!s->nrounds || !s->round[s->nrounds - 1].ntasks)
		return;
	if (!s->task[s->ntasks - 1].nmessages) {
		s->ntasks--;
		s->round[s->nrounds - 1].ntasks--;
	}
}

void schedule_end(struct schedule *s)
{
	task_close(s);
	if (s->nrounds && !s->round[s->nrounds - 1].ntasks)
		s->nrounds--;
	if (!s->reader || !s->nrounds)
		return;
	s->done = !s->reader(s->reader_self, s);
	s->nrounds = s->ntasks = s->nmessages = 0;
}

void schedule_rounds(const struct schedule *s, round_fn *reader, void *self)
{
	struct schedule one = *s;

	one.nrounds = 1;
	for (int64_t r = 0; r < s->nrounds; r++, one.round++)
		if (!reader(self, &one))
			return;
}

void schedule_reserve(struct schedule *s, int64_t nmessages)
{
	if (s->nmessages + nmessages <= s->messages_capacity)
		return;
	s->messages_capacity = s->nmessages + nmessages;
	s->message = arena_grow(s->arena, s->message, (size_t)s->nmessages,
	                        (size_t)s->messages_capacity, sizeof(*s->message));
}

void schedule_round(struct schedule *s)
{
	schedule_end(s);
	if (s->done)
		return;
	s->round = array_grow(s->arena, s->round, s->nrounds, &s->rounds_capacity,
	                      sizeof(*s->round));
	s->round[s->nrounds++] = (struct round){.first = s->ntasks};
}

void schedule_task(struct schedule *s, int32_t repeats)
{
	if (s->done)
		return;
	assert(s->nrounds > 0 && repeats >= 1);
	task_close(s);
	s->task = array_grow(s->arena, s->task, s->ntasks, &s->tasks_capacity,
	                     sizeof(*s->task));
	s->task[s->ntasks++] = (struct task){.first = s->nmessages, .repeats = repeats};
	s->round[s->nrounds - 1].ntasks++;
}

void schedule_software(struct schedule *s, double delay_s, double least_s)
{
	struct task *t;

	if (s->done)
		return;
	assert(s->nrounds > 0 && s->round[s->nrounds - 1].ntasks > 0);
	assert(delay_s >= 0 && least_s >= 0);
	t = &s->task[s->ntasks - 1];
	t->delay_s = delay_s;
	t->least_s = least_s;
}

void schedule_message(struct schedule *s, int32_t fabric, int32_t src, int32_t dst,
                      double bytes)
{
	if (s->done)
		return;
	assert(s->nrounds > 0 && s->round[s->nrounds - 1].ntasks > 0);
	assert(fabric >= 0 && src >= 0 && dst >= 0 && bytes >= 0);
	if (src == dst || bytes == 0)
		return;
	s->message = array_grow(s->arena, s->message, s->nmessages,
	                        &s->messages_capacity, sizeof(*s->message));
	s->message[s->nmessages++] = (struct message){src, dst, fabric, bytes};
	s->task[s->ntasks - 1].nmessages++;
}

static void task_print(struct text *out, const struct schedule *s, const struct task *t)
{
	text_printf(out, "  task");
	if (t->repeats > 1)
		text_printf(out, " of %d rounds", (int)t->repeats);
	if (t->delay_s > 0)
		text_printf(out, ", after %.15g s", t->delay_s);
	if (t->least_s > 0)
		text_printf(out, ", %.15g s at least", t->least_s);
	text_printf(out, "\n");
	for (int64_t i = 0; i < t->nmessages; i++) {
		const struct message *msg = &s->message[t->first + i];

		text_printf(out, "    %d -> %d on fabric %d: %.15g bytes\n",
		            (int)msg->src, (int)msg->dst, (int)msg->fabric, msg->bytes);
	}
}

void schedule_print(struct text *out, const struct schedule *s)
{
	for (int64_t r = 0; r < s->nrounds; r++) {
		const struct round *round = &s->round[r];

		text_printf(out, "%sround %lld\n", r ? "\n" : "", (long long)r + 1);
		for (int64_t i = 0; i < round->ntasks; i++)
			task_print(out, s, &s->task[round->first + i]);
	}
}
