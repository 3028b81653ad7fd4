/* Calls that are in flight together as one schedule for each step, which the clocks read. */
#include "move/move.h"

#include <math.h>
#include <string.h>

/* A plan of the wave, so many times. */
struct flight {
	const struct moved_array *array;
	int32_t call; /* the kind of call that it is in */
	int64_t count;
};

struct wave_steps {
	const struct wave_case *c;
	const struct order_wave *wave;
	int64_t nflights;
	struct flight *flight;
};

static const struct order_run *wave_run(const struct wave_steps *w, int32_t i)
{
	return &w->c->waves->run.at[w->wave->first + i];
}

/* Adds the messages of a round, `count` times as large, to the round that is open. */
static void add_round(struct schedule *out, const struct schedule *s,
                      const struct round *round, double count)
{
	for (int64_t t = round->first; t < round->first + round->ntasks; t++) {
		const struct task *task = &s->task[t];

		schedule_task(out, task->repeats);
		schedule_software(out, task->delay_s, task->least_s * count);
		for (int64_t i = task->first; i < task->first + task->nmessages; i++) {
			const struct message *m = &s->message[i];

			schedule_message(out, m->fabric, m->src, m->dst,
			                 m->bytes * count);
		}
	}
}

/* Puts the rounds of all schedules side by side. */
static void merge(struct schedule *out, const struct lowered *lowered,
                  const struct wave_steps *w)
{
	int64_t nrounds = 0;

	for (int64_t i = 0; i < w->nflights; i++)
		if (lowered[i].schedule.nrounds > nrounds)
			nrounds = lowered[i].schedule.nrounds;
	for (int64_t r = 0; r < nrounds; r++) {
		schedule_round(out);
		for (int64_t i = 0; i < w->nflights; i++) {
			const struct schedule *s = &lowered[i].schedule;

			if (r < s->nrounds)
				add_round(out, s, &s->round[r],
				          (double)w->flight[i].count);
		}
	}
	schedule_end(out);
}

/*
 * Returns what the busiest device pays: the launches of its calls one after another, of a
 * batch once; and the local work of all its arrays.
 */
static void add_up(struct lowered *out, const struct lowered *lowered,
                   const struct wave_steps *w)
{
	const struct order_case *order = w->c->order;
	double launch_most = 0, local_most = 0;

	for (int32_t s = 0; s < order->nsites; s++) {
		double launch_s = 0, local_s = 0;
		int64_t flight = 0;

		for (int32_t i = 0; i < w->wave->nruns; i++) {
			const struct order_run *run = wave_run(w, i);
			double once_s = 0;

			for (; flight < w->nflights &&
			       w->flight[flight].call == run->call;
			     flight++) {
				once_s = fmax(once_s, lowered[flight].launch_s);
				if (order->call[run->call].on[s])
					local_s += (double)w->flight[flight].count *
					           lowered[flight].local_s;
			}
			if (order->call[run->call].on[s])
				launch_s += (double)run->count * once_s;
		}
		launch_most = fmax(launch_most, launch_s);
		local_most = fmax(local_most, local_s);
	}
	out->launch_s = launch_most;
	out->local_s = local_most;
}

static bool lower_wave(const void *self, struct lowered *out, struct arena *a, int step,
                       struct text *why)
{
	const struct wave_steps *w = self;
	struct lowered *lowered = arena_alloc(a, (size_t)w->nflights, sizeof(*lowered));

	*out = (struct lowered){.schedule = {.arena = a}};
	for (int64_t i = 0; i < w->nflights; i++) {
		const struct moved_array *array = w->flight[i].array;
		const struct placement *place =
			array->place.platform ? &array->place : NULL;

		if (step >= array->m.plan->nsteps)
			continue;
		if (!lower_step(&lowered[i], a, w->c->machine, place, array->m.plan,
		                step, why))
			return false;
		if (!out->algorithm)
			out->algorithm = lowered[i].algorithm;
		else if (lowered[i].algorithm &&
		         strcmp(out->algorithm, lowered[i].algorithm) != 0)
			out->algorithm = "several";
	}
	merge(&out->schedule, lowered, w);
	add_up(out, lowered, w);
	return true;
}

/* Lists the plans of a wave: of a run of calls each member once, as often as it is there. */
static int list_flights(struct wave_steps *w, struct arena *a)
{
	int nsteps = 0;
	int64_t n = 0;

	for (int32_t i = 0; i < w->wave->nruns; i++)
		n += w->c->result->call[wave_run(w, i)->call].nruns;
	w->flight = arena_alloc(a, (size_t)n, sizeof(*w->flight));
	for (int32_t i = 0; i < w->wave->nruns; i++) {
		const struct order_run *run = wave_run(w, i);
		const struct moved_call *call = &w->c->result->call[run->call];

		for (int32_t k = 0; k < call->nruns; k++) {
			const struct moved_array *array =
				&w->c->result->array[call->run[k].array];

			w->flight[w->nflights++] = (struct flight){
				array, run->call, run->count * call->run[k].count};
			if (array->m.plan->nsteps > nsteps)
				nsteps = array->m.plan->nsteps;
		}
	}
	return nsteps;
}

double wave_time(struct moved_wave *wave, const struct wave_case *c, int64_t number,
                 const struct bench *b, int clock, struct arena *a, char *message,
                 size_t size)
{
	struct arena *scratch = arena_new();
	struct wave_steps w = {.c = c, .wave = &c->waves->wave.at[number]};
	struct steps steps;
	double time_s;

	wave->nsteps = list_flights(&w, scratch);
	steps = (struct steps){wave->nsteps, lower_wave, &w};
	wave->step[clock] =
		arena_alloc(a, (size_t)wave->nsteps + 1, sizeof(struct step_time));
	time_s = bench_seconds(wave->step[clock], b, clock, &steps, message, size);
	arena_free(scratch);
	return time_s;
}
