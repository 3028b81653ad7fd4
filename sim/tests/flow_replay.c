#include "flow_replay.h"

#include "clock/replay.h"
#include "cost/model.h"
#include "flow_replay_run.h"
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

struct flow_replay {
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
			replay_run(out, flow_replay_run, p, s, n);
		else
			out->total_s = say(CLOCK_FAILED_S, out->message,
			                   sizeof(out->message), "%s", e.text);
		if (!send_all(fd, out, replay_size(n)))
			return;
		replay_free(out, n);
		arena_reset(a);
	}
}

struct flow_replay *flow_replay_new(struct platform *p)
{
	struct flow_replay *flow = xmalloc(1, sizeof(*flow));
	pid_t parent = getpid();
	int fds[2];

	*flow = (struct flow_replay){.server = -1};
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
static int server_end(struct flow_replay *flow)
{
	pid_t server = flow->server;

	close(flow->socket);
	flow->server = -1;
	return child_wait(server);
}

void flow_replay_free(struct flow_replay *flow)
{
	if (!flow)
		return;
	if (flow->server >= 0)
		server_end(flow);
	free(flow);
}

/* --- the clock ---------------------------------------------------------------------- */

double flow_replay_schedules(void *self, double *wire_s, const struct schedule *s,
                             int n, char *message, size_t size)
{
	struct flow_replay *flow = self;
	off_t heard = words_heard();
	struct replay head;
	bool sent;

	for (int i = 0; i < n; i++)
		wire_s[i] = 0;
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
