/* The parent's side of a sweep: the loop over workers, signals and limits. */
#include "sweep/run.h"

#include "platform/platform.h"
#include "system/wall.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/*
 * The time between two looks at the memory of workers; progress is looked at a fourth
 * as often.
 */
#define TICK_S 0.05

/*
 * Rows are committed when there are so many, or when the first of them is so old: what a
 * death of this process costs.
 */
enum { COMMIT_ROWS = 8000 };
#define COMMIT_S 0.25

/* --- sinks -------------------------------------------------------------------------- */

static enum status put_in_store(void *self, const struct row *r, struct sweep_mark mark,
                                const char *log, struct error *e)
{
	return store_put_summed(self, r, mark.key, mark.sum, log, e);
}

static enum status commit_store(void *self, struct error *e)
{
	return store_commit(self, e);
}

struct sweep_sink sweep_store(struct store *s)
{
	return (struct sweep_sink){put_in_store, commit_store, s};
}

/* --- the loop ----------------------------------------------------------------------- */

static enum status give_all(struct run *r, int *busy)
{
	*busy = 0;
	for (int i = 0; i < r->sweep->jobs; i++) {
		struct slot *s = &r->slot[i];

		if (slot_give(r, s) != OK)
			return r->error->code;
		*busy += s->pid != 0;
	}
	return OK;
}

/*
 * Returns how long to sleep: to the next time limit or look; infinity if there is none.
 */
static double sleep_limit_s(const struct run *r)
{
	const struct sweep *s = r->sweep;
	double least = s->worker_bytes > 0 ? TICK_S
	               : s->progress       ? 4 * TICK_S
	                                   : INFINITY;

	for (int i = 0; i < s->jobs; i++)
		least = fmin(least, slot_left_s(r, &r->slot[i]));
	if (r->nkept)
		least = fmin(least, r->kept_s + COMMIT_S - wall_s());
	return fmax(least, 0);
}

static int sleep_until_told(struct pollfd *fds, int n, double seconds)
{
	struct timespec t;

	if (isinf(seconds))
		return poll(fds, (nfds_t)n, -1);
	t.tv_sec = (time_t)fmin(seconds, 1e6);
	t.tv_nsec = seconds < 1e6 ? (long)(1e9 * (seconds - (double)t.tv_sec)) : 0;
	return ppoll(fds, (nfds_t)n, &t, NULL);
}

static void look_at_limits(struct run *r)
{
	double now = wall_s();
	bool all = now - r->looked_s >= TICK_S / 2;

	for (int i = 0; i < r->sweep->jobs; i++)
		if (r->slot[i].pid)
			slot_limit(r, &r->slot[i], all);
	if (!all)
		return;
	r->looked_s = now;
	if (r->sweep->progress)
		progress_tick(r->sweep->progress);
}

/*
 * Where all workers have enough to do their rows may wait for each other, so that not every
 * one wakes this process.
 */
static void nap(const struct run *r)
{
	struct timespec t = {.tv_nsec = 5000000};

	for (int i = 0; i < r->sweep->jobs; i++)
		if (r->slot[i].nahead < SLOT_AHEAD / 2)
			return;
	nanosleep(&t, NULL);
}

static enum status commit(struct run *r)
{
	r->nkept = 0;
	return r->sink->commit(r->sink->self, r->error);
}

/* Sleeps until something happens, handles it, and commits the rows if it is time. */
static enum status run_once(struct run *r, struct pollfd *fds, int signals)
{
	int jobs = r->sweep->jobs;
	struct signalfd_siginfo told;

	for (int i = 0; i < jobs; i++)
		fds[i] = (struct pollfd){.fd = r->slot[i].pid ? r->slot[i].from : -1,
		                         .events = POLLIN};
	fds[jobs] = (struct pollfd){.fd = signals, .events = POLLIN};
	nap(r);
	if (sleep_until_told(fds, jobs + 1, sleep_limit_s(r)) < 0 && errno != EINTR)
		return run_system_error(r, "poll");
	for (int i = 0; i < jobs; i++)
		if (fds[i].revents && slot_read(r, &r->slot[i]) != OK)
			return r->error->code;
	if (fds[jobs].revents && read(signals, &told, sizeof(told)) == sizeof(told))
		r->counts->signal = (int)told.ssi_signo;
	look_at_limits(r);
	if (r->nkept >= COMMIT_ROWS || (r->nkept && wall_s() >= r->kept_s + COMMIT_S))
		return commit(r);
	return OK;
}

static enum status run_all(struct run *r, int signals)
{
	int jobs = r->sweep->jobs, busy;
	struct pollfd *fds = arena_alloc(r->arena, (size_t)jobs + 1, sizeof(*fds));

	while (!r->counts->signal && give_all(r, &busy) == OK && busy > 0)
		if (run_once(r, fds, signals) != OK)
			break;
	/* Rows that the workers have finished are still in their pipes. */
	for (int i = 0; i < jobs; i++)
		if (r->slot[i].pid)
			slot_end(r, &r->slot[i]);
	return r->error->code == OK ? commit(r) : r->error->code;
}

enum status sweep_run(struct sweep_counts *counts, const struct sweep *s,
                      const struct sweep_work *work, int64_t n,
                      const struct sweep_sink *sink, struct error *e)
{
	struct run r = {.sweep = s, .sink = sink, .counts = counts, .error = e};
	void (*old_pipe)(int) = signal(SIGPIPE, SIG_IGN);
	sigset_t ours, old;
	int signals;

	r.arena = arena_new();
	r.row_arena = arena_new();
	r.slot = arena_alloc(r.arena, (size_t)s->jobs, sizeof(*r.slot));
	queue_fill(&r, work, n);
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigprocmask(SIG_BLOCK, &ours, &old);
	signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	for (int i = 0; i < s->nclocks && n > 0; i++)
		if (clock_kinds[s->clock[i]].replays) {
			platform_prepare();
			break;
		}
	if (s->progress)
		progress_start(s->progress);
	if (signals < 0)
		run_system_error(&r, "signalfd");
	else
		run_all(&r, signals);
	if (s->progress)
		progress_end(s->progress);
	close(signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGPIPE, old_pipe);
	arena_free(r.arena);
	arena_free(r.row_arena);
	return e->code;
}
