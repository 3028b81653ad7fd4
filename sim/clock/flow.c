#include "clock/flow.h"

#include "clock/flow_run.h"
#include "clock/replay.h"
#include "cost/model.h"
#include "system/child.h"
#include "system/last_words.h"
#include "system/whole.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct flow {
	const struct machine *machine;
	struct arena *scratch;
	pid_t server; /* < 0 where there is none */
	int socket;
	char death[400]; /* why the server ended; "" where there never was one */
};

/* Prints the reason into `message` and returns `s`. */
static double say(double s, char *message, size_t size, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, size, fmt, args);
	va_end(args);
	return s;
}

static bool send_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

/* --- schedules through the socket --------------------------------------------------- */

static bool send_schedule(int fd, const struct schedule *s)
{
	return send_all(fd, s, sizeof(*s)) &&
	       send_all(fd, s->round, (size_t)s->nrounds * sizeof(*s->round)) &&
	       send_all(fd, s->task, (size_t)s->ntasks * sizeof(*s->task)) &&
	       send_all(fd, s->message, (size_t)s->nmessages * sizeof(*s->message));
}

static bool receive_schedule(int fd, struct schedule *s, struct arena *a)
{
	if (!whole_read(fd, s, sizeof(*s)))
		return false;
	s->arena = a;
	s->round = arena_alloc(a, (size_t)s->nrounds + 1, sizeof(*s->round));
	s->task = arena_alloc(a, (size_t)s->ntasks + 1, sizeof(*s->task));
	s->message = arena_alloc(a, (size_t)s->nmessages + 1, sizeof(*s->message));
	return whole_read(fd, s->round, (size_t)s->nrounds * sizeof(*s->round)) &&
	       whole_read(fd, s->task, (size_t)s->ntasks * sizeof(*s->task)) &&
	       whole_read(fd, s->message, (size_t)s->nmessages * sizeof(*s->message));
}

/* --- the server --------------------------------------------------------------------- */

/*
 * Answers one request after another. A request is a number of schedules and then the
 * schedules themselves; its answer is a struct replay.
 */
static void serve(struct platform *p, int fd)
{
	struct arena *a = arena_new();
	struct error e = {0};
	int n;

	while (whole_read(fd, &n, sizeof(n))) {
		struct schedule *s = arena_alloc(a, (size_t)n, sizeof(*s));
		struct replay *out = replay_new(n);

		for (int i = 0; i < n; i++)
			if (!receive_schedule(fd, &s[i], a))
				return;
		if (!out)
			return;
		if (e.code == OK && platform_start_flows(p, &e) == OK)
			replay_run(out, flow_run, p, s, n);
		else
			out->total_s = say(CLOCK_FAILED_S, out->message,
			                   sizeof(out->message), "%s", e.text);
		if (!send_all(fd, out, replay_size(n)))
			return;
		replay_free(out, n);
		arena_reset(a);
	}
}

struct flow *flow_new(struct platform *p)
{
	struct flow *flow = xmalloc(1, sizeof(*flow));
	pid_t parent = getpid();
	int fds[2];

	*flow = (struct flow){
		.machine = p->machine, .scratch = arena_new(), .server = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return flow;
	fflush(NULL);
	flow->server = fork();
	if (flow->server == 0) {
		child_end_with(parent);
		close(fds[0]);
		serve(p, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	flow->socket = fds[0];
	if (flow->server < 0)
		close(flow->socket);
	return flow;
}

/*
 * Closes the socket, at which the server ends itself, and returns waitpid()'s status.
 */
static int server_end(struct flow *flow)
{
	pid_t server = flow->server;

	close(flow->socket);
	flow->server = -1;
	return child_wait(server);
}

void flow_free(struct flow *flow)
{
	if (!flow)
		return;
	if (flow->server >= 0)
		server_end(flow);
	arena_free(flow->scratch);
	free(flow);
}

/* --- what is refused ---------------------------------------------------------------- */

/* What a device sends in the round at hand, and in the round in which it sends most. */
struct sender {
	int64_t round, now, most;
};

/*
 * Returns how many messages may be under way at once: a device is in one round at a time,
 * so no more than each sends in the round in which it sends most.
 */
static int64_t count_at_once(struct flow *flow, const struct schedule *s, int n)
{
	size_t ndevices = (size_t)flow->machine->ndevices;
	int64_t rounds = 0, sum = 0;
	struct sender *sender;

	arena_reset(flow->scratch);
	sender = arena_alloc(flow->scratch, ndevices, sizeof(*sender));
	for (int i = 0; i < n; i++)
		for (int64_t k = 0; k < s[i].nrounds; k++) {
			const struct round *r = &s[i].round[k];
			const struct task *first = &s[i].task[r->first];
			const struct task *last = first + r->ntasks - 1;

			rounds++;
			for (int64_t j = first->first;
			     j < last->first + last->nmessages; j++) {
				struct sender *d = &sender[s[i].message[j].src];

				d->now = d->round == rounds ? d->now + 1 : 1;
				d->round = rounds;
				d->most = d->now > d->most ? d->now : d->most;
			}
		}
	for (size_t d = 0; d < ndevices; d++)
		sum += sender[d].most;
	return sum;
}

static int64_t count_flows(const struct schedule *s, int n)
{
	int64_t flows = 0;

	for (int i = 0; i < n; i++)
		for (int64_t k = 0; k < s[i].ntasks; k++)
			flows += s[i].task[k].nmessages * s[i].task[k].repeats;
	return flows;
}

/* Returns whether the schedules are too large for this clock, and prints the reason. */
static bool too_large(struct flow *flow, const struct schedule *s, int n, char *message,
                      size_t size)
{
	int64_t flows = count_flows(s, n), at_once = count_at_once(flow, s, n);

	if (at_once > FLOW_AT_ONCE_MAX) {
		snprintf(message, size,
		         "takes up to %d messages at once, but here are %lld",
		         FLOW_AT_ONCE_MAX, (long long)at_once);
		return true;
	}
	if (flows > FLOW_FLOWS_MAX) {
		snprintf(message, size, "takes up to %d messages, but here are %lld",
		         FLOW_FLOWS_MAX, (long long)flows);
		return true;
	}
	if (flows * at_once > FLOW_WORK_MAX)
		snprintf(message, size,
		         "takes too long for %lld messages, %lld of them at once",
		         (long long)flows, (long long)at_once);
	return flows * at_once > FLOW_WORK_MAX;
}

/* --- the clock ---------------------------------------------------------------------- */

double flow_schedules(void *self, double *wire_s, const struct schedule *s, int n,
                      char *message, size_t size)
{
	struct flow *flow = self;
	off_t heard = words_heard();
	struct replay head;
	bool sent;

	for (int i = 0; i < n; i++)
		wire_s[i] = 0;
	if (!count_flows(s, n))
		return 0;
	if (too_large(flow, s, n, message, size))
		return CLOCK_REFUSED_S;
	if (flow->server < 0)
		return say(CLOCK_FAILED_S, message, size, "%s",
		           *flow->death ? flow->death : "no process for the replay");
	sent = send_all(flow->socket, &n, sizeof(n));
	for (int i = 0; i < n && sent; i++)
		sent = send_schedule(flow->socket, &s[i]);
	if (!sent || !whole_read(flow->socket, &head, sizeof(head)) ||
	    !whole_read(flow->socket, wire_s, (size_t)n * sizeof(*wire_s))) {
		replay_death(flow->death, sizeof(flow->death), server_end(flow),
		             STDERR_FILENO, heard);
		return say(CLOCK_FAILED_S, message, size, "%s", flow->death);
	}
	if (head.total_s < 0)
		return say(head.total_s, message, size, "%s", head.message);
	return head.total_s;
}

double flow_clock(void *self, const struct schedule *s, char *message, size_t size)
{
	double wire_s;

	return flow_schedules(self, &wire_s, s, 1, message, size);
}
