#include "collective/schedule.h"

#include "base/assert.h"
#include "base/list.h"

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
	s->message = list_grow(s->arena, s->message, s->nmessages, nmessages,
	                       &s->messages_room, sizeof(*s->message));
}

void schedule_round(struct schedule *s)
{
	schedule_end(s);
	if (s->done)
		return;
	s->round = list_grow(s->arena, s->round, s->nrounds, 1, &s->rounds_room,
	                     sizeof(*s->round));
	s->round[s->nrounds++] = (struct round){.first = s->ntasks};
}

void schedule_task(struct schedule *s, int32_t repeats)
{
	if (s->done)
		return;
	assert(s->nrounds > 0 && repeats >= 1);
	task_close(s);
	s->task = list_grow(s->arena, s->task, s->ntasks, 1, &s->tasks_room,
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
	s->message = list_grow(s->arena, s->message, s->nmessages, 1, &s->messages_room,
	                       sizeof(*s->message));
	s->message[s->nmessages++] = (struct message){src, dst, fabric, bytes};
	s->task[s->ntasks - 1].nmessages++;
}
