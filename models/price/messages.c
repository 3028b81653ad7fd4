#include "price/messages.h"

struct sending {
	const struct plan *plan;
	const struct step *step;
	message_fn *reader;
	void *self;
	bool done;
};

static double bytes_of(const struct sending *s, double elements)
{
	return elements * s->plan->problem->array.dtype->bits / 8;
}

static void give(struct sending *s, struct sent_message m)
{
	if (!s->done && m.src != m.dst)
		s->done = !s->reader(s->self, &m);
}

/* --- on a platform ----------------------------------------------------------------- */

static void give_schedule(struct sending *s, const struct schedule *schedule)
{
	for (int64_t r = 0; r < schedule->nrounds; r++) {
		const struct round *round = &schedule->round[r];

		for (int64_t t = 0; t < round->ntasks; t++) {
			const struct task *task = &schedule->task[round->first + t];
			const struct message *m = &schedule->message[task->first];

			for (int64_t i = 0; i < task->nmessages; i++)
				give(s, (struct sent_message){(int32_t)r, task->repeats,
				                              m[i].src, m[i].dst,
				                              m[i].bytes});
		}
	}
}

static bool scheduled(struct sending *s, const struct plan_steps *of, int step)
{
	struct arena *scratch = arena_new();
	struct lowered lowered;
	struct text why = {0};
	bool ok = lower_step(&lowered, scratch, of->machine, of->place, of->plan, step,
	                     &why) &&
	          lowered.schedule.nmessages <= MESSAGES_MAX;

	if (ok)
		give_schedule(s, &lowered.schedule);
	text_free(&why);
	arena_free(scratch);
	return ok;
}

/* --- without one ------------------------------------------------------------------- */

/* Every member sends to each other one in every round. */
static void give_groups(struct sending *s, int rounds, double bytes)
{
	const struct groups *g = &s->step->groups;

	for (int32_t round = 0; round < rounds; round++)
		for (int32_t i = 0; i < g->ngroups; i++) {
			const int32_t *id = g->ids + (int64_t)i * g->size;

			for (int32_t k = 0; k < g->size; k++)
				for (int32_t r = 0; r < g->size; r++)
					give(s, (struct sent_message){round, 1, id[k],
					                              id[r], bytes});
		}
}

static void give_pairs(struct sending *s, double bytes)
{
	for (int32_t i = 0; i < s->step->npairs; i++)
		give(s, (struct sent_message){0, 1, s->step->pairs[i].src,
		                              s->step->pairs[i].dst, bytes});
}

static void give_transfers(struct sending *s)
{
	for (int64_t i = 0; i < s->step->ntransfers; i++) {
		const struct transfer *t = &s->step->transfers[i];

		give(s, (struct sent_message){0, 1, t->src, t->dst,
		                              bytes_of(s, (double)t->elements)});
	}
}

static int64_t count_messages(const struct step *s)
{
	int64_t q = s->groups.size;
	int64_t n = s->groups.ngroups * q * (q - 1);

	return s->op == OP_ALL_REDUCE ? 2 * n : n + s->npairs + s->ntransfers;
}

static bool direct(struct sending *s)
{
	const struct step *step = s->step;
	double operand = (double)shape_elements(step_operand(step));
	double q = step->groups.size;

	if (!op_communicates(step->op))
		return true;
	if (count_messages(step) > MESSAGES_MAX)
		return false;
	if (step->op == OP_PERMUTE && step->npairs > 0)
		give_pairs(s, bytes_of(s, step->part ? (double)step->part : operand));
	else if (step->op == OP_PERMUTE || step->op == OP_EXCHANGE)
		give_transfers(s);
	else if (step->op == OP_ALL_GATHER)
		give_groups(s, 1, bytes_of(s, operand));
	else
		give_groups(s, step->op == OP_ALL_REDUCE ? 2 : 1,
		            bytes_of(s, operand / q));
	return true;
}

bool messages_of_step(const struct plan_steps *of, int step, message_fn *reader,
                      void *self)
{
	struct sending s = {of->plan, &of->plan->step[step], reader, self, false};

	return of->machine ? scheduled(&s, of, step) : direct(&s);
}
