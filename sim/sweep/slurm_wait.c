/* Waiting for a cluster. */
#include "sweep/slurm_sweep.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* A network file system may show a file this many polls after its task has ended. */
enum { LATE_POLLS = 3 };

struct wait {
	struct slurm_sweep *sweep;
	int signals;
	bool asked;   /* the queue told its tasks */
	bool failing; /* squeue failed, and that was said */
	char shown[160];
};

static void count(const struct slurm_sweep *s, int *watched, int *done, int *running,
                  int *waiting)
{
	*watched = *done = *running = *waiting = 0;
	for (int k = 0; k < s->nshards; k++) {
		const struct slurm_shard *shard = &s->shard[k];

		if (!shard->watched)
			continue;
		++*watched;
		if (shard->changed)
			++*done;
		else if (s->queue.state[k] == SLURM_RUNNING)
			++*running;
		else if (s->queue.state[k] == SLURM_WAITING)
			++*waiting;
	}
}

static void show(struct wait *w)
{
	const struct slurm_sweep *s = w->sweep;
	int watched, done, running, waiting;
	char line[sizeof(w->shown)];
	const char *reason;

	count(s, &watched, &done, &running, &waiting);
	reason = waiting ? s->queue.reason : "";
	snprintf(line, sizeof(line),
	         "%d of %d shards done, %d running, %d waiting%s%s%s", done, watched,
	         running, waiting, *reason ? " (" : "", reason, *reason ? ")" : "");
	if (!s->show || strcmp(line, w->shown) == 0)
		return;
	fprintf(stderr, s->terminal ? "\r\033[K%s" : "%s\n", line);
	fflush(stderr);
	snprintf(w->shown, sizeof(w->shown), "%s", line);
}

static void end_line(struct wait *w)
{
	if (w->sweep->terminal && w->shown[0])
		fputs("\n", stderr);
	w->shown[0] = '\0';
}

/* What is said once is true until squeue answers again. */
static void ask(struct wait *w)
{
	struct error e = {0};

	w->asked = slurm_queue(&w->sweep->queue, w->sweep->job.name, &e) == OK;
	if (!w->asked && !w->failing) {
		end_line(w);
		fprintf(stderr, "shardsim: %s; it is asked again\n", e.text);
	}
	w->failing = !w->asked;
	slurm_sweep_look(w->sweep);
}

/* Let the time to the next poll pass; a signal ends it. */
static void pause_poll(struct wait *w)
{
	struct pollfd told = {.fd = w->signals, .events = POLLIN};
	struct signalfd_siginfo info;

	if (poll(&told, 1, (int)(w->sweep->poll_s * 1e3)) == 1 &&
	    read(w->signals, &info, sizeof(info)) == sizeof(info))
		w->sweep->counts.signal = (int)info.ssi_signo;
}

/* Until the shards are there, or no task is left that could write one. */
static void wait_round(struct wait *w)
{
	struct slurm_sweep *s = w->sweep;
	int watched, done, running, waiting;

	for (int late = 0; !s->counts.signal; pause_poll(w)) {
		ask(w);
		show(w);
		count(s, &watched, &done, &running, &waiting);
		late = w->asked && running + waiting == 0 ? late + 1 : 0;
		if (done == watched || late > LATE_POLLS)
			break;
	}
	end_line(w);
}

/* Take those that ended without a file for new ones; how many. */
static int give_up(struct slurm_sweep *s)
{
	int n = 0;

	for (int k = 0; k < s->nshards; k++) {
		struct slurm_shard *shard = &s->shard[k];

		if (!shard->watched)
			continue;
		shard->watched = false;
		shard->good = shard->changed;
		n += !shard->changed;
	}
	return n;
}

static enum status wait_all(struct wait *w, struct error *e)
{
	struct slurm_sweep *s = w->sweep;

	for (int round = 0;; round++) {
		wait_round(w);
		if (s->counts.signal || give_up(s) == 0 || round == s->retries)
			return e->code;
		if (slurm_sweep_submit(s, e) != OK)
			return e->code;
	}
}

enum status slurm_sweep_wait(struct slurm_sweep *s, struct error *e)
{
	struct wait w = {.sweep = s};
	sigset_t ours, old;

	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigprocmask(SIG_BLOCK, &ours, &old);
	w.signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	if (w.signals < 0)
		error_set(e, E_IO, (struct where){0}, "signalfd: %s", strerror(errno));
	else
		wait_all(&w, e);
	close(w.signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return e->code;
}
