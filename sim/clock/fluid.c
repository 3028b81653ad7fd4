#include "clock/fluid.h"

#include "base/hash.h"
#include "clock/shared.h"
#include "cost/model.h"
#include "cost/pieces.h"

#include <assert.h>
#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/exec.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When a task of the round starts, after the round does. */
struct start {
	const struct task *task;
	struct shared_times is;
};

/* A form that was timed. */
struct timed {
	uint64_t hash;
	uint64_t apart;   /* which of its tasks are not one, hashed */
	int64_t first, n; /* its words in `known`; n 0: a free place */
	double seconds;
};

/* When more has been timed, all is forgotten. */
enum { KNOWN_MAX = PIECES_FORM_MAX, TIMED_MAX = 1 << 16 };

struct fluid {
	struct platform *platform;
	const struct schedule *schedule;
	struct pieces *pieces;
	struct shared *shared;
	struct shared_task *part; /* of a piece */
	int64_t parts_capacity;
	struct timed *timed; /* [2 * TIMED_MAX], by hash with open addressing, or NULL */
	int64_t ntimed;
	uint64_t *known;
	int64_t nknown, known_capacity;
	struct model *model;
	double seconds;    /* of the rounds so far */
	int64_t round;     /* the next one */
	sg_host_t manager; /* where the actor that starts the tasks is */
	int32_t *index; /* [nfabrics * ndevices]: of a host in the current task, or -1 */
	size_t *number;  /* of the hosts of the current task */
	sg_host_t *host; /* those hosts */
	int nhosts;
	struct start *start;
	int64_t starts_capacity;
	sg_exec_t *exec; /* running */
	int64_t nexecs, execs_capacity;
	bool failed;  /* a message has no route */
	bool refused; /* a round is too large */
	char *why;    /* where to say why a schedule is refused */
	size_t why_size;
	bool whole;           /* rounds are run as they are */
	bool closed;          /* SimGrid must not be used */
	struct error refusal; /* what starting SimGrid said */
};

/* Of a round that SimGrid has to run, while it does not, or that nobody can run. */
#define NOT_RUN_S (-1.)
#define REFUSED_S (-2.)

struct fluid *fluid_new(struct platform *p)
{
	struct fluid *w = xmalloc(1, sizeof(*w));
	size_t n = (size_t)p->machine->nfabrics * (size_t)p->machine->ndevices;

	*w = (struct fluid){.platform = p,
	                    .pieces = pieces_new(p->machine),
	                    .shared = shared_new(p->machine),
	                    .model = model_new(p->machine)};
	w->index = xmalloc(n, sizeof(*w->index));
	memset(w->index, -1, n * sizeof(*w->index));
	w->number = xmalloc(n, sizeof(*w->number));
	w->host = xmalloc(n, sizeof(sg_host_t));
	return w;
}

void fluid_free(struct fluid *w)
{
	if (!w)
		return;
	pieces_free(w->pieces);
	shared_free(w->shared);
	free(w->part);
	model_free(w->model);
	free(w->timed);
	free(w->known);
	free(w->index);
	free(w->number);
	free(w->host);
	free(w->start);
	free(w->exec);
	free(w);
}

void fluid_whole(struct fluid *w)
{
	w->whole = true;
}

void fluid_closed(struct fluid *w, bool closed)
{
	w->closed = closed;
}

/* The number of the device's host; devices that share one have the same. */
static size_t host_number(const struct fluid *w, const struct message *msg, int32_t d)
{
	const struct machine *m = w->platform->machine;
	int32_t share = m->fabric[msg->fabric].share;
	size_t i = (size_t)msg->fabric * (size_t)m->ndevices +
	           (size_t)(share > 1 ? d / share * share : d);

	return i;
}

/* The place of the host in the current task, which it joins if it is new. */
static int join(struct fluid *w, size_t number)
{
	if (w->index[number] < 0) {
		w->index[number] = w->nhosts;
		w->number[w->nhosts++] = number;
	}
	return w->index[number];
}

static void exec_start(struct fluid *w, int n, sg_host_t *hosts, double *bytes)
{
	double *flops = xmalloc((size_t)n, sizeof(*flops));

	for (int i = 0; i < n; i++)
		flops[i] = 0;
	if (w->nexecs == w->execs_capacity) {
		w->execs_capacity = w->execs_capacity ? 2 * w->execs_capacity : 64;
		w->exec =
			xrealloc(w->exec, (size_t)w->execs_capacity, sizeof(sg_exec_t));
	}
	w->exec[w->nexecs] = sg_actor_parallel_exec_init(n, hosts, flops, bytes);
	sg_exec_start(w->exec[w->nexecs++]);
	free(flops);
}

/* A parallel task per message, for a group too large for one. */
static void messages_start(struct fluid *w, const struct message *msg, int64_t n)
{
	for (; n > 0; n--, msg++) {
		double bytes[4] = {0, msg->bytes, 0, 0};
		sg_host_t hosts[2] = {w->platform->host[host_number(w, msg, msg->src)],
		                      w->platform->host[host_number(w, msg, msg->dst)]};

		exec_start(w, 2, hosts, bytes);
	}
}

/* The hosts of the task, numbered in w->index until hosts_forget(). */
static size_t hosts_number(struct fluid *w, const struct task *t)
{
	const struct message *msg = &w->schedule->message[t->first];

	w->nhosts = 0;
	for (int64_t i = 0; i < t->nmessages; i++) {
		join(w, host_number(w, &msg[i], msg[i].src));
		join(w, host_number(w, &msg[i], msg[i].dst));
	}
	return (size_t)w->nhosts;
}

static void hosts_forget(struct fluid *w, const struct task *t)
{
	const struct message *msg = &w->schedule->message[t->first];

	for (int64_t i = 0; i < t->nmessages; i++) {
		w->index[host_number(w, &msg[i], msg[i].src)] = -1;
		w->index[host_number(w, &msg[i], msg[i].dst)] = -1;
	}
}

/* Is the task one parallel task, and not one for every message? */
static bool is_one(struct fluid *w, const struct task *t)
{
	size_t n;

	if (t->nmessages <= FLUID_GROUP_HOSTS_MAX / 2)
		return true;
	n = hosts_number(w, t);
	hosts_forget(w, t);
	return n <= FLUID_GROUP_HOSTS_MAX;
}

static void task_start(struct fluid *w, const struct task *t)
{
	const struct message *msg = &w->schedule->message[t->first];
	size_t n = hosts_number(w, t);
	double *bytes = NULL;

	for (size_t i = 0; i < n; i++)
		w->host[i] = w->platform->host[w->number[i]];
	if (n <= FLUID_GROUP_HOSTS_MAX)
		bytes = memset(xmalloc(n * n, sizeof(*bytes)), 0,
		               n * n * sizeof(*bytes));
	for (int64_t i = 0; i < t->nmessages && bytes; i++) {
		size_t src = host_number(w, &msg[i], msg[i].src);
		size_t dst = host_number(w, &msg[i], msg[i].dst);

		bytes[(size_t)w->index[src] * n + (size_t)w->index[dst]] += msg[i].bytes;
	}
	hosts_forget(w, t);
	if (bytes)
		exec_start(w, w->nhosts, w->host, bytes);
	else
		messages_start(w, msg, t->nmessages);
	free(bytes);
}

static struct start start_find(struct fluid *w, const struct task *t)
{
	const struct machine *m = w->platform->machine;
	double longest_s = 0;

	if (t->repeats == 1 && t->least_s == 0)
		return (struct start){t, {t->delay_s, 0}};
	for (int64_t i = 0; i < t->nmessages; i++) {
		const struct message *msg = &w->schedule->message[t->first + i];
		double latency_s = machine_latency(m, msg->fabric, msg->src, msg->dst);

		longest_s = fmax(longest_s, latency_s);
	}
	return (struct start){t, shared_times(t, longest_s)};
}

/* Earlier ones first, in the order of the schedule where they start together. */
static int compare_starts(const void *a, const void *b)
{
	const struct start *p = a, *q = b;

	if (p->is.after_s != q->is.after_s)
		return p->is.after_s < q->is.after_s ? -1 : 1;
	return p->task < q->task ? -1 : p->task > q->task;
}

/* Seconds of tasks of a round by number; NULL: all. */
static double tasks_run(struct fluid *w, const struct round *r, const int64_t *number,
                        int64_t n)
{
	double begun_s = simgrid_get_clock(), until_s = 0;

	if (n > w->starts_capacity) {
		w->starts_capacity = n;
		w->start = xrealloc(w->start, (size_t)n, sizeof(*w->start));
	}
	for (int64_t i = 0; i < n; i++) {
		int64_t k = r->first + (number ? number[i] : i);

		w->start[i] = start_find(w, &w->schedule->task[k]);
		until_s = fmax(until_s, w->start[i].is.until_s);
	}
	qsort(w->start, (size_t)n, sizeof(*w->start), compare_starts);
	w->nexecs = 0;
	for (int64_t i = 0; i < n; i++) {
		if (i ? w->start[i].is.after_s > w->start[i - 1].is.after_s
		      : w->start[i].is.after_s > 0)
			sg_actor_sleep_for(begun_s + w->start[i].is.after_s -
			                   simgrid_get_clock());
		task_start(w, w->start[i].task);
	}
	for (int64_t i = 0; i < w->nexecs; i++)
		sg_exec_wait(w->exec[i]);
	return fmax(simgrid_get_clock() - begun_s, until_s);
}

/* The place of a form among those that were timed, or a free one for it. */
static struct timed *timed_find(struct fluid *w, const struct piece *p, uint64_t apart)
{
	if (!w->timed) {
		w->timed = xmalloc(2 * TIMED_MAX, sizeof(*w->timed));
		memset(w->timed, 0, 2 * TIMED_MAX * sizeof(*w->timed));
	}
	for (uint64_t at = p->hash;; at++) {
		struct timed *t = &w->timed[at & (2 * TIMED_MAX - 1)];

		if (!t->n ||
		    (t->hash == p->hash && t->apart == apart && t->n == p->nform &&
		     !memcmp(w->known + t->first, p->form,
		             (size_t)t->n * sizeof(*p->form))))
			return t;
	}
}

static void timed_add(struct fluid *w, const struct piece *p, uint64_t apart,
                      double seconds)
{
	if (!p->nform)
		return;
	if (w->nknown + p->nform > KNOWN_MAX || w->ntimed == TIMED_MAX) {
		memset(w->timed, 0, 2 * TIMED_MAX * sizeof(*w->timed));
		w->ntimed = w->nknown = 0;
	}
	if (w->nknown + p->nform > w->known_capacity) {
		w->known_capacity = 2 * (w->nknown + p->nform);
		w->known = xrealloc(w->known, (size_t)w->known_capacity,
		                    sizeof(*w->known));
	}
	memcpy(w->known + w->nknown, p->form, (size_t)p->nform * sizeof(*p->form));
	*timed_find(w, p, apart) =
		(struct timed){p->hash, apart, w->nknown, p->nform, seconds};
	w->ntimed++;
	w->nknown += p->nform;
}

/* Seconds of a task that has its links to itself. */
static double alone_s(struct fluid *w, const struct task *t)
{
	double seconds = model_task_s(w->model, w->schedule, t);

	w->failed = w->failed || seconds < 0;
	return seconds;
}

/* Seconds of a piece of a round by SimGrid's rule, without SimGrid. */
static double piece_rule_s(struct fluid *w, const struct round *r, const struct piece *p)
{
	double seconds;

	if (p->ntasks > w->parts_capacity) {
		w->parts_capacity = p->ntasks;
		w->part = xrealloc(w->part, (size_t)p->ntasks, sizeof(*w->part));
	}
	for (int64_t i = 0; i < p->ntasks; i++) {
		const struct task *t = &w->schedule->task[r->first + p->task[i]];

		w->part[i] = (struct shared_task){
			t, pieces_routes(w->pieces, p->task[i]), !is_one(w, t)};
	}
	seconds = shared_s(w->shared, w->schedule, w->part, p->ntasks, w->why,
	                   w->why_size);
	return seconds < 0 ? REFUSED_S : seconds;
}

/* What the form of a piece does not say: which tasks are one for every message. */
static uint64_t find_apart(struct fluid *w, const struct round *r, const struct piece *p)
{
	uint64_t hash = HASH_START;

	for (int64_t i = 0; i < p->ntasks; i++)
		if (!is_one(w, &w->schedule->task[r->first + p->task[i]]))
			hash = hash_bytes(hash, &i, sizeof(i));
	return hash;
}

/* Seconds of a piece of a round; `simgrid`: within SimGrid, which may run it. */
static double piece_s(struct fluid *w, const struct round *r, const struct piece *p,
                      bool simgrid)
{
	const struct task *first = &w->schedule->task[r->first + *p->task];
	bool small = p->nform && p->nform <= FLUID_SIMGRID_FORM_MAX;
	struct timed *timed;
	uint64_t apart;
	double seconds;

	if (p->ntasks == 1 && is_one(w, first))
		return alone_s(w, first);
	apart = p->nform ? find_apart(w, r, p) : 0;
	timed = p->nform ? timed_find(w, p, apart) : NULL;
	if (timed && timed->n)
		return timed->seconds;
	if (small && !simgrid)
		return NOT_RUN_S;
	seconds = small ? tasks_run(w, r, p->task, p->ntasks) : piece_rule_s(w, r, p);
	if (seconds >= 0)
		timed_add(w, p, apart, seconds);
	return seconds;
}

/* Seconds of a round: of its longest piece. */
static double round_s(struct fluid *w, const struct round *r, bool simgrid)
{
	const struct task *first = &w->schedule->task[r->first];
	const struct piece *piece;
	double longest_s = 0;
	int64_t n;

	if (r->ntasks == 1 && !w->whole && is_one(w, first))
		return alone_s(w, first);
	switch (pieces_find(&piece, &n, w->pieces, w->schedule, r)) {
	case PIECES_NO_ROUTE:
		w->failed = true;
		return 0;
	case PIECES_TOO_LARGE:
		if (w->whole)
			break;
		snprintf(w->why, w->why_size,
		         "the routes of a round have more than %d links, too many for "
		         "fluid; model takes them",
		         PIECES_LINKS_MAX);
		return REFUSED_S;
	case PIECES_OK:
		if (w->whole)
			break;
		for (int64_t i = 0; i < n; i++) {
			double seconds = piece_s(w, r, &piece[i], simgrid);

			if (seconds < 0)
				return seconds;
			longest_s = fmax(longest_s, seconds);
		}
		return longest_s;
	}
	return simgrid ? tasks_run(w, r, NULL, r->ntasks) : NOT_RUN_S;
}

/* Adds the next rounds up, as far as that can be done. */
static void rounds_add(struct fluid *w, bool simgrid)
{
	for (; w->round < w->schedule->nrounds; w->round++) {
		double seconds = round_s(w, &w->schedule->round[w->round], simgrid);

		w->refused = seconds == REFUSED_S;
		if (w->failed || seconds < 0)
			return;
		w->seconds += seconds;
	}
}

/* The actor: starts and awaits the tasks of one round after another. */
static void manager(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	rounds_add(sg_actor_get_data(sg_actor_self()), true);
}

/* The rest of the rounds in SimGrid; false if it cannot be started. */
static bool rounds_run(struct fluid *w)
{
	sg_actor_t actor;

	if (w->refusal.code != OK || platform_start(w->platform, &w->refusal) != OK)
		return false;
	for (size_t i = 0; !w->manager; i++)
		w->manager = w->platform->host[i];
	actor = sg_actor_init("manager", w->manager);
	sg_actor_set_data(actor, w);
	sg_actor_start(actor, manager, 0, NULL);
	simgrid_run();
	return true;
}

enum status fluid_started(const struct fluid *w, struct error *e)
{
	*e = w->refusal;
	return e->code;
}

double fluid_clock(void *self, const struct schedule *s, char *message, size_t size)
{
	struct fluid *w = self;

	w->schedule = s;
	w->seconds = 0;
	w->round = 0;
	w->failed = w->refused = false;
	w->why = message;
	w->why_size = size;
	rounds_add(w, false);
	if (w->round < s->nrounds && !w->failed && !w->refused) {
		if (w->closed) {
			snprintf(message, size, "needs SimGrid");
			return CLOCK_REFUSED_S;
		}
		if (!rounds_run(w)) {
			snprintf(message, size, "%s", w->refusal.text);
			return CLOCK_FAILED_S;
		}
	}
	if (w->refused)
		return CLOCK_REFUSED_S;
	if (!w->failed)
		return w->seconds;
	snprintf(message, size, "a message has no route on %s",
	         w->platform->machine->name);
	return -1;
}
