/*
 * GOAL, the schedules that LogGOPSim and ATLAHS read: a rank for each device, its sends,
 * receives and local work, and what waits for what.
 *
 * With a machine the messages are those of the steps lowered on it (collective/lower.h), and
 * ranks are its devices; without one every device sends each other what it needs at once
 * (price/messages.h). What a rank does in a round waits for all that it did in the round
 * before. Launches and work on the device are a `calc` of nanoseconds before the step. The
 * tag is the number of the step. GOAL has no words for which links a message takes and for
 * what limits a sender beside them (least_s in collective/schedule.h).
 *
 * Sizes are 32-bit integers there: a larger message is several. One that is no whole number
 * of bytes, a share of an array that does not divide, is rounded up.
 */
#include "emit/kinds.h"

#include "base/list.h"
#include "collective/local.h"
#include "price/messages.h"

#include <limits.h>
#include <math.h>

typedef LIST(int64_t) labels;

struct rank {
	struct text text;
	int64_t last;      /* label */
	int64_t start;     /* what operations of this round wait for; 0: nothing */
	int64_t chain;     /* what the next ones of the task wait for */
	int64_t task;      /* the last task that it had a part in */
	labels sub, round; /* labels that the next chain, and the next start, wait for */
};

struct goal {
	struct arena *arena;
	struct rank *rank;
	int32_t nranks;
	int step; /* from 1 */
	int64_t task;
	double delay_s;        /* of the task, before its first message */
	LIST(int32_t) touched; /* ranks of the task */
	int32_t round;         /* being read, without a machine */
};

/* --- operations -------------------------------------------------------------------- */

static int64_t begin_op(struct rank *r)
{
	text_printf(&r->text, "l%lld: ", (long long)++r->last);
	return r->last;
}

static void require(struct rank *r, int64_t label, int64_t before)
{
	if (before)
		text_printf(&r->text, "l%lld requires l%lld\n", (long long)label,
		            (long long)before);
}

static int64_t add_calc(struct rank *r, double seconds, int64_t before)
{
	int64_t label = begin_op(r);

	text_printf(&r->text, "calc %lld\n", llround(seconds * 1e9));
	require(r, label, before);
	return label;
}

/* Returns a label that waits for all of a list, which is emptied; `none` if it is empty. */
static int64_t join(struct rank *r, labels *list, int64_t none)
{
	int64_t n = list->n, label = n ? list->at[0] : none;

	list->n = 0;
	if (n < 2)
		return label;
	label = begin_op(r);
	text_printf(&r->text, "calc 0\n");
	for (int64_t i = 0; i < n; i++)
		require(r, label, list->at[i]);
	return label;
}

/* --- tasks and rounds -------------------------------------------------------------- */

/* Returns the rank, which has a part in the task from now on. */
static struct rank *touch(struct goal *g, int32_t number)
{
	struct rank *r = &g->rank[number];

	if (r->task == g->task)
		return r;
	r->task = g->task;
	r->chain = r->start;
	if (g->delay_s > 0)
		r->chain = add_calc(r, g->delay_s, r->start);
	*list_add(&g->touched, g->arena) = number;
	return r;
}

static void add_message(struct goal *g, int32_t src, int32_t dst, int64_t bytes)
{
	while (bytes > 0) {
		int64_t part = bytes < INT_MAX ? bytes : INT_MAX;
		struct rank *from = touch(g, src), *to = touch(g, dst);
		int64_t sent = begin_op(from), got;

		text_printf(&from->text, "send %lldb to %d tag %d\n", (long long)part,
		            dst, g->step);
		require(from, sent, from->chain);
		*list_add(&from->sub, g->arena) = sent;
		got = begin_op(to);
		text_printf(&to->text, "recv %lldb from %d tag %d\n", (long long)part,
		            src, g->step);
		require(to, got, to->chain);
		*list_add(&to->sub, g->arena) = got;
		bytes -= part;
	}
}

/* Ends one of the rounds that are merged in a task: the next waits for it. */
static void end_sub_round(struct goal *g)
{
	for (int64_t i = 0; i < g->touched.n; i++) {
		struct rank *r = &g->rank[g->touched.at[i]];

		r->chain = join(r, &r->sub, r->chain);
	}
}

static void begin_task(struct goal *g, double delay_s)
{
	g->task++;
	g->delay_s = delay_s;
	g->touched.n = 0;
}

static void end_task(struct goal *g)
{
	for (int64_t i = 0; i < g->touched.n; i++) {
		struct rank *r = &g->rank[g->touched.at[i]];

		*list_add(&r->round, g->arena) = r->chain;
	}
}

static void end_round(struct goal *g)
{
	for (int32_t i = 0; i < g->nranks; i++)
		g->rank[i].start =
			join(&g->rank[i], &g->rank[i].round, g->rank[i].start);
}

/* --- a step ------------------------------------------------------------------------- */

/* Returns whole bytes: figures of schedules are sums of shares, off by rounding. */
static int64_t whole(double bytes)
{
	return (int64_t)ceil(bytes - 1e-6 * fmax(1, bytes * 1e-6));
}

static void add_task(struct goal *g, const struct schedule *s, const struct task *t)
{
	const struct message *m = &s->message[t->first];

	begin_task(g, t->delay_s);
	for (int32_t k = 0; k < t->repeats; k++) {
		for (int64_t i = 0; i < t->nmessages; i++) {
			int64_t all = whole(m[i].bytes), each = all / t->repeats;

			/* What does not divide travels in the first rounds. */
			add_message(g, m[i].src, m[i].dst,
			            each + (k < all % t->repeats));
		}
		end_sub_round(g);
	}
	end_task(g);
}

static enum emitted add_schedule(struct goal *g, const struct emission *what,
                                 const struct placement *place, int step,
                                 struct text *why)
{
	const struct problem *p = what->plan->problem;
	struct lowered l;
	int64_t n = 0;

	if (!lower_step(&l, g->arena, what->machine, place, what->plan, step, why))
		return EMIT_CANNOT;
	for (int64_t i = 0; i < l.schedule.ntasks; i++)
		n += l.schedule.task[i].nmessages * l.schedule.task[i].repeats;
	if (n > MESSAGES_MAX) {
		text_printf(why,
		            "step %d sends %lld messages, at most %d can be written",
		            step + 1, (long long)n, MESSAGES_MAX);
		return EMIT_CANNOT;
	}
	for (int32_t d = 0; d < p->ndevices && l.local_s + l.launch_s > 0; d++) {
		struct rank *r = &g->rank[placement_device(place, d)];

		r->start = add_calc(r, l.local_s + l.launch_s, r->start);
	}
	for (int64_t i = 0; i < l.schedule.nrounds; i++) {
		const struct round *round = &l.schedule.round[i];

		for (int64_t k = 0; k < round->ntasks; k++)
			add_task(g, &l.schedule, &l.schedule.task[round->first + k]);
		end_round(g);
	}
	return EMITTED;
}

static void end_direct(struct goal *g)
{
	end_sub_round(g);
	end_task(g);
	end_round(g);
}

static bool add_sent(void *self, const struct sent_message *m)
{
	struct goal *g = self;

	if (m->round != g->round) {
		end_direct(g);
		begin_task(g, 0);
		g->round = m->round;
	}
	add_message(g, m->src, m->dst, whole(m->bytes));
	return true;
}

static enum emitted add_direct(struct goal *g, const struct emission *what, int step,
                               struct text *why)
{
	struct plan_steps of = {what->plan, NULL, NULL};

	begin_task(g, 0);
	g->round = 0;
	if (!messages_of_step(&of, step, add_sent, g)) {
		text_printf(why, "step %d sends more than %d messages", step + 1,
		            MESSAGES_MAX);
		return EMIT_CANNOT;
	}
	end_direct(g);
	return EMITTED;
}

/* --- the text ----------------------------------------------------------------------- */

static enum emitted emit_goal(struct text *out, const struct emission *what,
                              struct arena *scratch, struct text *why)
{
	const struct problem *p = what->plan->problem;
	struct placement place = {p->ndevices, p->platform};
	struct goal g = {.arena = scratch,
	                 .nranks =
	                         what->machine ? what->machine->ndevices : p->ndevices};
	enum emitted done = EMITTED;

	g.rank = arena_alloc(scratch, (size_t)g.nranks, sizeof(*g.rank));
	for (int i = 0; i < what->plan->nsteps && done == EMITTED; i++) {
		g.step = i + 1;
		done = what->machine ? add_schedule(&g, what, &place, i, why)
		                     : add_direct(&g, what, i, why);
	}
	if (done == EMITTED) {
		emit_heading(out, &emitter_goal, what);
		text_printf(out, "num_ranks %d\n", g.nranks);
	}
	for (int32_t i = 0; i < g.nranks; i++) {
		struct rank *r = &g.rank[i];

		if (done == EMITTED) {
			/* A rank without operations is none to some readers. */
			if (!r->last)
				add_calc(r, 0, 0);
			text_printf(out, "\nrank %d {\n", i);
			text_append(out, r->text.s, r->text.length);
			text_printf(out, "}\n");
		}
		text_free(&r->text);
	}
	return done;
}

const struct emitter emitter_goal = {
	.name = "goal",
	.help = "GOAL of LogGOPSim and ATLAHS: who sends what to whom, and what waits",
	.comment = "// ",
	.comment_end = "",
	.emit = emit_goal,
	.adds = true,
};
