#include "flow_replay_run.h"

#include "cost/model.h"

#include <assert.h>
#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <simgrid/semaphore.h>
#include <stdio.h>

/*
 * All times and bytes are so many times larger in SimGrid. It lets what is due within 1e-9 s
 * happen at once (surf/precision), which is no small part of a short message's time: with this
 * it is 1e-12 s of ours. A power of two, so that nothing is rounded; SimGrid's bytes have 63
 * bits, so messages from 2^50 bytes on, which take long, are left as they are.
 */
enum { SCALE = 1024 };
#define SCALED_BYTES_MAX 0x1p50

/* A message, numbered over all schedules together. */
struct flow_message {
	struct run *run;
	const struct message *is;
	int64_t task;     /* index in run.task */
	int64_t from, to; /* its sender and its receiver, as indices in run.member */
	double latency_s;
	double *end_s;        /* when the last message so far of its step arrived */
	int32_t arrived;      /* how many of its parts have arrived */
	sg_mailbox_t mailbox; /* the receiver's host owns it */
};

/* A task, numbered over all schedules together. */
struct flow_task {
	int32_t repeats;
	double delay_s, least_s; /* those of one part */
};

/*
 * A device that has a part in a task. It is at the part number `part`, which is -1
 * before the first and `repeats` after the last. A part is over when all that the
 * device sends and receives of it has arrived.
 */
struct member {
	int64_t task, round; /* rounds are numbered over all schedules together */
	int64_t next;        /* the next member of this device, -1 if none */
	int32_t device, part;
	int32_t nout, nin;
	int64_t out, in; /* where its messages begin in run.out and run.in */
	int32_t waiting; /* messages of the part, sent or received, still to arrive */
};

struct flow_device {
	int64_t first, last; /* its first and last member, -1 if none */
	int64_t next;        /* the member that its next round begins with */
	int32_t busy;        /* how many members of the round at hand are not over */
};

struct run {
	struct platform *platform;
	struct arena *arena;
	int64_t nmessages, ntasks, nmembers, nrounds;
	struct flow_message *message;
	struct flow_task *task;
	struct member *member;
	int64_t *out, *in; /* [nmessages]: messages by sending, receiving member */
	struct flow_device *device; /* [ndevices] */
	int64_t *ready;             /* messages whose next part may start: a queue */
	int64_t ready_first, ready_n, ready_capacity;
	int64_t nports, ports_open;
	int64_t parts_left; /* parts of all messages that have not arrived */
	sg_sem_t never;
	double scale; /* SimGrid's seconds and bytes of ours: SCALE or 1 */
	bool failed;  /* a message has no route */
};

/* --- who sends and receives what ---------------------------------------------------- */

/* Returns the device's member of the task, which is made at its first message. */
static int64_t member_of(struct run *r, int64_t *index, int64_t first, int32_t device,
                         int64_t task, int64_t round)
{
	struct flow_device *d = &r->device[device];

	if (index[device] >= first)
		return index[device];
	index[device] = r->nmembers;
	r->member[r->nmembers] = (struct member){
		.task = task, .round = round, .next = -1, .device = device, .part = -1};
	if (d->last >= 0)
		r->member[d->last].next = r->nmembers;
	else
		d->first = d->next = r->nmembers;
	d->last = r->nmembers;
	return r->nmembers++;
}

static void add_task(struct run *r, int64_t *index, const struct schedule *s,
                     const struct task *t, double *end_s)
{
	int64_t first = r->nmembers;

	r->task[r->ntasks] = (struct flow_task){.repeats = t->repeats,
	                                        .delay_s = t->delay_s / t->repeats,
	                                        .least_s = t->least_s / t->repeats};
	for (int64_t i = 0; i < t->nmessages; i++) {
		const struct message *is = &s->message[t->first + i];
		struct flow_message *m = &r->message[r->nmessages++];

		*m = (struct flow_message){
			.run = r, .is = is, .task = r->ntasks, .end_s = end_s};
		if (is->bytes >= SCALED_BYTES_MAX)
			r->scale = 1;
		m->from = member_of(r, index, first, is->src, r->ntasks, r->nrounds);
		m->to = member_of(r, index, first, is->dst, r->ntasks, r->nrounds);
		r->member[m->from].nout++;
		r->member[m->to].nin++;
	}
	r->parts_left += t->nmessages * t->repeats;
	r->ntasks++;
}

/* Lists the messages of every member, in the order of the schedule. */
static void list_messages(struct run *r)
{
	int64_t out = 0, in = 0;

	for (int64_t k = 0; k < r->nmembers; k++) {
		struct member *m = &r->member[k];

		m->out = out;
		m->in = in;
		out += m->nout;
		in += m->nin;
		m->nout = m->nin = 0;
	}
	for (int64_t i = 0; i < r->nmessages; i++) {
		struct member *from = &r->member[r->message[i].from];
		struct member *to = &r->member[r->message[i].to];

		r->out[from->out + from->nout++] = i;
		r->in[to->in + to->nin++] = i;
	}
}

static void run_init(struct run *r, struct platform *p, const struct schedule *s, int n,
                     double *end_s)
{
	size_t ndevices = (size_t)p->machine->ndevices, nmessages = 1, ntasks = 1;
	struct arena *a = arena_new();
	int64_t *index = arena_alloc(a, ndevices, sizeof(*index));

	*r = (struct run){.platform = p, .arena = a, .scale = SCALE};
	for (int k = 0; k < n; k++) {
		nmessages += (size_t)s[k].nmessages;
		ntasks += (size_t)s[k].ntasks;
	}
	r->message = arena_alloc(a, nmessages, sizeof(*r->message));
	r->task = arena_alloc(a, ntasks, sizeof(*r->task));
	r->member = arena_alloc(a, 2 * nmessages, sizeof(*r->member));
	r->out = arena_alloc(a, nmessages, sizeof(*r->out));
	r->in = arena_alloc(a, nmessages, sizeof(*r->in));
	r->device = arena_alloc(a, ndevices, sizeof(*r->device));
	/* Every message is in the queue at most once. */
	r->ready_capacity = (int64_t)nmessages;
	r->ready = arena_alloc(a, nmessages, sizeof(*r->ready));
	for (size_t d = 0; d < ndevices; d++) {
		r->device[d] = (struct flow_device){-1, -1, -1, 0};
		index[d] = -1;
	}
	for (int k = 0; k < n; k++)
		for (int64_t i = 0; i < s[k].nrounds; i++, r->nrounds++)
			for (int64_t t = 0; t < s[k].round[i].ntasks; t++)
				add_task(r, index, &s[k],
				         &s[k].task[s[k].round[i].first + t], &end_s[k]);
	list_messages(r);
}

/* --- what may start ----------------------------------------------------------------- */

static void ready_push(struct run *r, int64_t message)
{
	int64_t at = (r->ready_first + r->ready_n++) % r->ready_capacity;

	assert(r->ready_n <= r->ready_capacity);
	r->ready[at] = message;
}

static int64_t ready_pop(struct run *r)
{
	int64_t message = r->ready[r->ready_first];

	assert(r->ready_n > 0);
	r->ready_first = (r->ready_first + 1) % r->ready_capacity;
	r->ready_n--;
	return message;
}

/*
 * Takes the member to its next part: its messages of that part may start, and it waits
 * for them and for those to it that have not arrived yet. The senders of these do not
 * wait for it.
 */
static void member_next(struct run *r, struct member *m)
{
	m->part++;
	if (m->part == r->task[m->task].repeats) {
		r->device[m->device].busy--;
		return;
	}
	m->waiting = m->nout;
	for (int32_t i = 0; i < m->nin; i++)
		m->waiting += r->message[r->in[m->in + i]].arrived <= m->part;
	for (int32_t i = 0; i < m->nout; i++)
		ready_push(r, r->out[m->out + i]);
}

/* Begins rounds of a device, until one of them is not over at once. */
static void device_next(struct run *r, int32_t device)
{
	struct flow_device *d = &r->device[device];

	while (!d->busy && d->next >= 0) {
		int64_t first = d->next, round = r->member[first].round;

		for (; d->next >= 0 && r->member[d->next].round == round;
		     d->next = r->member[d->next].next)
			d->busy++;
		for (int64_t k = first; k != d->next; k = r->member[k].next) {
			struct member *m = &r->member[k];

			do
				member_next(r, m);
			while (!m->waiting && m->part < r->task[m->task].repeats);
		}
	}
}

/* Takes one message off those that the member's part waits for. */
static void member_less(struct run *r, struct member *m)
{
	assert(m->waiting > 0);
	m->waiting--;
	while (!m->waiting && m->part < r->task[m->task].repeats)
		member_next(r, m);
	device_next(r, m->device);
}

/* Records that a part of the message has arrived. */
static void arrive(struct run *r, struct flow_message *m)
{
	struct member *from = &r->member[m->from], *to = &r->member[m->to];

	*m->end_s = simgrid_get_clock();
	m->arrived++;
	r->parts_left--;
	member_less(r, from);
	if (to->part == m->arrived - 1)
		member_less(r, to);
}

/* --- the simulation ----------------------------------------------------------------- */

/*
 * Returns the device's host on the fabric; devices that share a host have the first's.
 */
static sg_host_t host_of(const struct run *r, int32_t fabric, int32_t d)
{
	const struct machine *m = r->platform->machine;
	int32_t share = m->fabric[fabric].share;
	size_t first = (size_t)fabric * (size_t)m->ndevices;
	sg_host_t host =
		r->platform->host[first + (size_t)(share > 1 ? d / share * share : d)];

	assert(host);
	return host;
}

/*
 * Returns the bytes of the message's next part. They are a whole number, as SimGrid
 * counts bytes; parts differ by one byte at most and add up to the message.
 */
static long part_bytes(const struct flow_message *m)
{
	double each = m->is->bytes / m->run->task[m->task].repeats;

	return lround(each * (m->arrived + 1)) - lround(each * m->arrived);
}

static void sleep_until(double s)
{
	if (s > simgrid_get_clock())
		sg_actor_sleep_for(s - simgrid_get_clock());
}

/*
 * Carries the next part of a message. SimGrid's own latency is off (platform/engine.c),
 * so the actor waits for it. The flow starts at once, because the mailbox has an owner
 * on the receiver's host; taking the message out again frees it.
 */
static void carry(struct flow_message *m)
{
	const struct flow_task *t = &m->run->task[m->task];
	double scale = m->run->scale;
	double begun_s = simgrid_get_clock() + scale * (t->delay_s + m->latency_s);
	long bytes = part_bytes(m);

	sleep_until(begun_s);
	if (bytes > 0) {
		sg_mailbox_put(m->mailbox, m, (long)scale * bytes);
		sg_mailbox_get(m->mailbox);
	}
	sleep_until(begun_s + scale * t->least_s);
	arrive(m->run, m);
}

static void carriers_start(struct run *r, int64_t keep);

/*
 * Is an actor that carries a part of a message, then one that may start because of it.
 */
static void carrier(int argc, char **argv)
{
	struct flow_message *m = sg_actor_get_data(sg_actor_self());
	struct run *r = m->run;

	(void)argc;
	(void)argv;
	for (;;) {
		carry(m);
		carriers_start(r, 1);
		if (!r->ready_n)
			return;
		m = &r->message[ready_pop(r)];
		sg_actor_set_host(sg_actor_self(),
		                  host_of(r, m->is->fabric, m->is->src));
	}
}

/* Starts actors for all messages that may start, except for the last `keep`. */
static void carriers_start(struct run *r, int64_t keep)
{
	while (r->ready_n > keep) {
		struct flow_message *m = &r->message[ready_pop(r)];
		sg_actor_t actor =
			sg_actor_init("carrier", host_of(r, m->is->fabric, m->is->src));

		sg_actor_set_data(actor, m);
		sg_actor_start(actor, carrier, 0, NULL);
	}
}

/*
 * Begins the first round of every device. It is called in the simulation, since the
 * routes of graphs can only be asked while that runs.
 */
static void begin_flows(struct run *r)
{
	const struct machine *machine = r->platform->machine;

	for (int64_t i = 0; i < r->nmessages; i++) {
		struct flow_message *m = &r->message[i];

		m->latency_s =
			machine_latency(machine, m->is->fabric, m->is->src, m->is->dst);
		r->failed = r->failed || m->latency_s < 0;
	}
	if (r->failed)
		return;
	for (int32_t d = 0; d < machine->ndevices; d++)
		device_next(r, d);
	carriers_start(r, 0);
}

/* The messages that come into one host. */
struct port {
	struct run *run;
	int64_t n, *message;
};

static void mailbox_name(char *name, size_t size, int64_t message)
{
	snprintf(name, size, "%lld", (long long)message);
}

/*
 * Is an actor that owns the mailboxes of the messages into its host, and lives as long
 * as there are other actors. A suspended owner would stop the flows, so it waits for a
 * semaphore that nobody releases.
 */
static void port(int argc, char **argv)
{
	struct port *p = sg_actor_get_data(sg_actor_self());
	struct run *r = p->run;
	char name[24];

	(void)argc;
	(void)argv;
	for (int64_t i = 0; i < p->n; i++) {
		mailbox_name(name, sizeof(name), p->message[i]);
		sg_mailbox_set_receiver(name);
		r->message[p->message[i]].mailbox = sg_mailbox_by_name(name);
	}
	if (++r->ports_open == r->nports)
		begin_flows(r);
	sg_actor_daemonize(sg_actor_self());
	sg_sem_acquire(r->never);
}

/* Starts a port for every host that receives something. */
static void ports_start(struct run *r)
{
	const struct machine *m = r->platform->machine;
	size_t n = (size_t)m->nfabrics * (size_t)m->ndevices;
	struct port *ports = arena_alloc(r->arena, n, sizeof(*ports));

	for (int64_t i = 0; i < r->nmessages; i++) {
		const struct message *is = r->message[i].is;

		ports[(int64_t)is->fabric * m->ndevices + is->dst].n++;
	}
	for (size_t k = 0; k < n; k++) {
		size_t count = (size_t)ports[k].n;

		ports[k] = (struct port){.run = r};
		if (count)
			ports[k].message =
				arena_alloc(r->arena, count, sizeof(*ports[k].message));
	}
	for (int64_t i = 0; i < r->nmessages; i++) {
		const struct message *is = r->message[i].is;
		struct port *p = &ports[(int64_t)is->fabric * m->ndevices + is->dst];

		p->message[p->n++] = i;
		r->nports += p->n == 1;
	}
	r->never = sg_sem_init(0);
	for (size_t k = 0; k < n; k++) {
		sg_actor_t actor;

		if (!ports[k].n)
			continue;
		actor = sg_actor_init("port",
		                      host_of(r, (int32_t)(k / (size_t)m->ndevices),
		                              (int32_t)(k % (size_t)m->ndevices)));
		sg_actor_set_data(actor, &ports[k]);
		sg_actor_start(actor, port, 0, NULL);
	}
}

double flow_replay_run(double *wire_s, struct platform *p, const struct schedule *s,
                       int n, char *message, size_t size)
{
	double begun_s = simgrid_get_clock(), ended_s = begun_s, total_s = 0;
	struct run r;

	for (int k = 0; k < n; k++)
		wire_s[k] = begun_s;
	run_init(&r, p, s, n, wire_s);
	if (!r.nmessages) {
		for (int k = 0; k < n; k++)
			wire_s[k] = 0;
		return 0;
	}
	ports_start(&r);
	simgrid_run();
	if (r.failed) {
		snprintf(message, size, "a message has no route on %s",
		         p->machine->name);
		return CLOCK_FAILED_S;
	}
	assert(!r.parts_left);
	for (int k = 0; k < n; k++) {
		double until_s = fmax(ended_s, wire_s[k]);

		wire_s[k] = (until_s - ended_s) / r.scale;
		ended_s = until_s;
		total_s += wire_s[k];
	}
	return total_s;
}
