#include "cost/flow_run.h"

#include "base/assert.h"
#include "base/heap.h"
#include "cost/flow_rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is due within this time, or this share of the time that it is, happens at once. */
#define PRECISION_S 1e-12
#define PRECISION 1e-9

/* What a part of a message is at. */
enum stage {
	STAGE_LATE,  /* its delay, and the latency of its route */
	STAGE_MOVES, /* its bytes */
	STAGE_RESTS  /* the time that it takes at least */
};

struct part {
	enum stage stage;
	int32_t arrived;    /* parts that have */
	int32_t from, to;   /* members */
	int32_t nfrom, nto; /* how many such messages these send, and receive */
	double due_s;       /* of its stage, or sooner */
	double begun_s;     /* its bytes */
	double remains;     /* bytes, at since_s */
	double since_s, rate_Bps;
};

/* What a member sends or receives. */
struct end {
	int32_t message, count;
};

/*
 * It is at the part number `part`, which is -1 before the first and `repeats` after the
 * last. A part is over when all that the device sends and receives of it has arrived.
 */
struct member {
	int32_t device, part, repeats;
	int64_t first, out, in; /* in run.end: what it sends, then what it receives */
	int64_t waiting;        /* messages of the part, sent or received, to arrive */
};

/* How far a device is. */
struct pace {
	/* In its task's uses: the member that its next round begins with, and the end. */
	int64_t next, end;
	int32_t busy; /* kinds of members of the round at hand that are not over */
};

struct run {
	const struct flow_net *net;
	struct part *part;
	struct member *member;
	struct pace *device;
	struct end *end;
	int32_t *ready; /* messages whose next part may start */
	int32_t nready;
	struct flow_rates *rates;
	struct heap heap; /* messages under way by due_s */
	double now_s, *end_s;
	int64_t events;
};

/* --- who sends and receives what ---------------------------------------------------- */

static const struct net_what *what_of(const struct run *r, int32_t message)
{
	return &r->net->what.at[(int64_t)r->net->fair.task[message].after_s];
}

/* Returns the member that a use is of, -1 for a link. */
static int32_t member_of(const struct run *r, const struct fair_use *u)
{
	return u->link - r->net->nlinks;
}

/*
 * Goes through the ends of all messages: counts those of each member or, once these are
 * counted, lists them.
 */
static void go_through_ends(struct run *r, bool list)
{
	const struct fair *f = &r->net->fair;

	for (int32_t i = 0; i < r->net->nmessages; i++)
		for (int64_t k = 0; k < f->task[i].nuses; k++) {
			const struct fair_use *u = &f->use[f->task[i].first + k];
			bool sends = u->bytes == NET_SENDS;
			struct member *m;

			if (member_of(r, u) < 0)
				continue;
			m = &r->member[member_of(r, u)];
			m->repeats = what_of(r, i)->repeats;
			if (list)
				r->end[m->first + (sends ? m->out : m->in)] =
					(struct end){i, u->tasks};
			if (sends) {
				m->out++;
				r->part[i].from = member_of(r, u);
				r->part[i].nfrom = u->tasks;
			} else {
				m->in++;
				r->part[i].to = member_of(r, u);
				r->part[i].nto = u->tasks;
			}
		}
}

static void list_ends(struct run *r)
{
	int64_t first = 0;

	go_through_ends(r, false);
	for (int32_t i = 0; i < r->net->nmembers; i++) {
		struct member *m = &r->member[i];

		m->first = first;
		first += m->out + m->in;
		m->in = m->out;
		m->out = 0;
	}
	go_through_ends(r, true);
}

static int compare_rounds(const void *a, const void *b)
{
	const struct fair_use *p = a, *q = b;

	if (p->bytes != q->bytes)
		return p->bytes < q->bytes ? -1 : 1;
	return (p->link > q->link) - (p->link < q->link);
}

static void list_devices(struct run *r)
{
	const struct fair *f = &r->net->fair;

	for (int32_t i = 0; i < r->net->ndevices; i++) {
		const struct fair_task *t = &f->task[r->net->nmessages + i];

		r->device[i] = (struct pace){t->first, t->first + t->nuses, 0};
		qsort(&f->use[t->first], (size_t)t->nuses, sizeof(*f->use),
		      compare_rounds);
		for (int64_t k = t->first; k < t->first + t->nuses; k++)
			r->member[member_of(r, &f->use[k])].device = i;
	}
}

static void *zeros(int64_t n, size_t size)
{
	return memset(xmalloc((size_t)n + 1, size), 0, ((size_t)n + 1) * size);
}

static void run_open(struct run *r, const struct flow_net *net, double *end_s)
{
	*r = (struct run){.net = net, .end_s = end_s};
	r->part = zeros(net->nmessages, sizeof(*r->part));
	r->member = zeros(net->nmembers, sizeof(*r->member));
	r->device = zeros(net->ndevices, sizeof(*r->device));
	r->end = zeros(2 * (int64_t)net->nmessages, sizeof(*r->end));
	r->ready = zeros(net->nmessages, sizeof(*r->ready));
	r->rates = flow_rates_new(net);
	list_ends(r);
	list_devices(r);
	for (int32_t i = 0; i < net->nmembers; i++)
		r->member[i].part = -1;
}

static void run_close(struct run *r)
{
	xfree(r->part);
	xfree(r->member);
	xfree(r->device);
	xfree(r->end);
	xfree(r->ready);
	flow_rates_free(r->rates);
	heap_free(&r->heap);
}

/* --- what may start ----------------------------------------------------------------- */

/*
 * Takes the member to its next part: its messages of that part may start, and it waits
 * for them and for those to it that have not arrived yet. The senders of these do not
 * wait for it.
 */
static void member_next(struct run *r, struct member *m)
{
	const struct end *end = &r->end[m->first];

	m->part++;
	if (m->part == m->repeats) {
		r->device[m->device].busy--;
		return;
	}
	for (int64_t i = 0; i < m->out; i++) {
		m->waiting += end[i].count;
		r->ready[r->nready++] = end[i].message;
	}
	for (int64_t i = m->out; i < m->in; i++)
		if (r->part[end[i].message].arrived <= m->part)
			m->waiting += end[i].count;
}

/* Begins rounds of a device, until one of them is not over at once. */
static void device_next(struct run *r, struct pace *d)
{
	const struct fair_use *use = r->net->fair.use;

	while (!d->busy && d->next < d->end) {
		int64_t first = d->next;
		double number = use[first].bytes;

		for (; d->next < d->end && use[d->next].bytes == number; d->next++)
			d->busy++;
		for (int64_t k = first; k < d->next; k++) {
			struct member *m = &r->member[member_of(r, &use[k])];

			do
				member_next(r, m);
			while (!m->waiting && m->part < m->repeats);
		}
	}
}

/* Takes so many messages off those that the member's part waits for. */
static void member_less(struct run *r, struct member *m, int32_t count)
{
	m->waiting -= count;
	assert(m->waiting >= 0);
	while (!m->waiting && m->part < m->repeats)
		member_next(r, m);
	device_next(r, &r->device[m->device]);
}

/* --- events ------------------------------------------------------------------------- */

static bool sooner(const void *context, int32_t a, int32_t b)
{
	const struct run *r = context;
	double x = r->part[a].due_s, y = r->part[b].due_s;

	return x != y ? x < y : a < b;
}

static void queue(struct run *r, int32_t message, enum stage stage, double due_s)
{
	r->part[message].stage = stage;
	r->part[message].due_s = due_s;
	heap_queue(&r->heap, sooner, r, message, due_s);
}

static void start_ready(struct run *r)
{
	for (int32_t i = 0; i < r->nready; i++) {
		int32_t message = r->ready[i];

		queue(r, message, STAGE_LATE,
		      r->now_s + what_of(r, message)->delay_s +
		              r->net->fair.task[message].latency_s);
	}
	r->nready = 0;
}

static void arrive(struct run *r, int32_t message)
{
	struct part *p = &r->part[message];
	struct member *to = &r->member[p->to];

	r->end_s[what_of(r, message)->step] = r->now_s;
	p->arrived++;
	member_less(r, &r->member[p->from], p->nfrom);
	if (to->part == p->arrived - 1)
		member_less(r, to, p->nto);
}

/*
 * Returns the bytes of the message's next part. They are a whole number, as bytes are;
 * parts differ by one byte at most and add up to the message.
 */
static double part_bytes(const struct run *r, int32_t message)
{
	const struct net_what *w = what_of(r, message);
	int32_t arrived = r->part[message].arrived;
	double each = w->bytes / w->repeats;

	return round(each * (arrived + 1)) - round(each * arrived);
}

static void rest(struct run *r, int32_t message)
{
	queue(r, message, STAGE_RESTS,
	      fmax(r->now_s, r->part[message].begun_s + what_of(r, message)->least_s));
}

/* Returns until when what is due happens now. */
static double now_until_s(const struct run *r)
{
	return r->now_s + fmin(PRECISION_S, PRECISION * r->now_s);
}

/* What is due of a message happens, unless its rate has changed and it is not due yet. */
static void happen(struct run *r, int32_t message)
{
	struct part *p = &r->part[message];
	double due_s;

	switch (p->stage) {
	case STAGE_LATE:
		p->begun_s = p->since_s = p->due_s;
		p->remains = part_bytes(r, message);
		p->rate_Bps = 0;
		p->stage = STAGE_MOVES;
		if (p->remains > 0)
			flow_rates_begin(r->rates, message);
		else
			rest(r, message);
		return;
	case STAGE_MOVES:
		due_s = p->since_s + p->remains / p->rate_Bps;
		if (due_s > now_until_s(r)) {
			queue(r, message, STAGE_MOVES, due_s);
			return;
		}
		flow_rates_end(r->rates, message);
		rest(r, message);
		return;
	case STAGE_RESTS:
		arrive(r, message);
	}
}

/*
 * Finds rates, and when the flows that have another one end. A flow that is slower now
 * stays queued where it is (happen()).
 */
static void find_rates(struct run *r)
{
	int32_t n;
	const int32_t *flow = flow_rates_find(&n, r->rates);

	for (int32_t i = 0; i < n; i++) {
		struct part *p = &r->part[flow[i]];
		double rate_Bps = flow_rate_Bps(r->rates, flow[i]), due_s;

		if (rate_Bps == p->rate_Bps)
			continue;
		p->remains -= p->rate_Bps * (r->now_s - p->since_s);
		p->remains = fmax(0, p->remains);
		p->since_s = r->now_s;
		due_s = r->now_s + p->remains / rate_Bps;
		if (p->rate_Bps == 0 || due_s < p->due_s)
			queue(r, flow[i], STAGE_MOVES, due_s);
		p->rate_Bps = rate_Bps;
	}
}

bool flow_run(double *end_s, const struct flow_net *net, int64_t most_work)
{
	struct run run, *r = &run;
	bool done;

	run_open(r, net, end_s);
	for (int32_t i = 0; i < net->ndevices; i++)
		device_next(r, &r->device[i]);
	start_ready(r);
	while (r->heap.n > 0 && flow_rates_work(r->rates) + r->events <= most_work) {
		r->now_s = fmax(r->now_s, r->heap.item[0].cost);
		while (r->heap.n > 0 && r->heap.item[0].cost <= now_until_s(r)) {
			happen(r, heap_take(&r->heap, sooner, r));
			start_ready(r);
			r->events++;
		}
		find_rates(r);
	}
	done = r->heap.n == 0;
	run_close(r);
	return done;
}
