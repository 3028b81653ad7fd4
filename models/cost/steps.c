#include "cost/steps.h"

#include <stdio.h>

static struct step_time step_time(const struct lowered *l, double wire_s)
{
	return (struct step_time){.time_s = wire_s + l->local_s + l->launch_s,
	                          .wire_s = wire_s,
	                          .local_s = l->local_s,
	                          .launch_s = l->launch_s,
	                          .algorithm = l->algorithm,
	                          .relay_bytes = l->relay_bytes};
}

bool clock_rounds_read(void *self, const struct schedule *s)
{
	struct clock_rounds *r = self;
	double round_s = r->clock(r->self, s, r->message, r->size);

	r->wire_s = round_s < 0 ? round_s : r->wire_s + round_s;
	return round_s >= 0;
}

/*
 * Lowers one of the steps, by rounds where `rounds` is not NULL. Returns false with the
 * reason in `message` if that cannot be done.
 */
static bool lower(struct lowered *out, struct arena *a, const struct steps *s, int step,
                  lower_rounds_fn *rounds, struct clock_rounds *reader, char *message,
                  size_t size)
{
	struct text why = {0};
	bool done =
		rounds ? rounds(s->self, out, a, step, clock_rounds_read, reader, &why)
		       : s->lower(s->self, out, a, step, &why);

	if (!done)
		snprintf(message, size, "%s", why.s);
	text_free(&why);
	return done;
}

double steps_seconds(struct step_time *times, const struct steps *s, clock_fn *clock,
                     void *self, char *message, size_t size)
{
	return steps_seconds_by_round(times, s, NULL, clock, self, message, size);
}

double steps_seconds_by_round(struct step_time *times, const struct steps *s,
                              lower_rounds_fn *rounds, clock_fn *clock, void *self,
                              char *message, size_t size)
{
	struct arena *scratch = arena_new();
	double total_s = 0;

	for (int i = 0; i < s->n && total_s >= 0; i++) {
		struct clock_rounds reader = {clock, self, message, size, 0};
		struct lowered lowered;
		double wire_s = STEPS_REFUSED_S;
		struct step_time t;

		if (lower(&lowered, scratch, s, i, rounds, &reader, message, size))
			wire_s = lowered.schedule.nrounds
			                 ? clock(self, &lowered.schedule, message, size)
			                 : reader.wire_s;
		t = step_time(&lowered, wire_s);
		total_s = wire_s < 0 ? wire_s : total_s + t.time_s;
		if (times)
			times[i] = t;
		arena_reset(scratch);
	}
	arena_free(scratch);
	return total_s;
}

double steps_seconds_together(struct step_time *times, const struct steps *s,
                              schedules_fn *clock, void *self, char *message,
                              size_t size)
{
	struct arena *a = arena_new();
	size_t n = (size_t)s->n;
	struct lowered *lowered = arena_alloc(a, n + 1, sizeof(*lowered));
	struct schedule *schedule = arena_alloc(a, n + 1, sizeof(*schedule));
	double *wire_s = arena_alloc(a, n + 1, sizeof(*wire_s)), total_s = 0;

	for (int i = 0; i < s->n && total_s >= 0; i++) {
		if (!lower(&lowered[i], a, s, i, NULL, NULL, message, size))
			total_s = STEPS_REFUSED_S;
		schedule[i] = lowered[i].schedule;
	}
	if (total_s >= 0)
		total_s = clock(self, wire_s, schedule, s->n, message, size);
	if (total_s >= 0)
		total_s = 0;
	for (int i = 0; i < s->n && total_s >= 0; i++) {
		struct step_time t = step_time(&lowered[i], wire_s[i]);

		total_s += t.time_s;
		if (times)
			times[i] = t;
	}
	arena_free(a);
	return total_s;
}
