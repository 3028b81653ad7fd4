/* The parent's side of a sweep: hand out scenarios, gather rows, bury workers. */
#include "sweep.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEATHS_MAX = 3 }; /* of a platform's workers in a row without a finished row */

/* A scenario whose rows from `first` on were not done because a worker died. */
struct leftover {
	struct sweep_order order;
	struct leftover *next;
};

/* What is left to do on one platform. */
struct queue {
	int32_t next; /* scenario to hand out next */
	struct leftover *leftover;
	int deaths; /* since the last finished row */
};

struct slot {
	pid_t pid;                        /* 0: no worker */
	int platform, to, from, evidence; /* pipes and what it left on stderr */
	struct sweep_order order;         /* the rows it works on; scenario -1: idle */
	struct text input;                /* bytes of rows not yet whole */
	off_t heard;                      /* bytes of evidence up to the last row */
};

struct run {
	const struct sweep *sweep;
	struct store *store;
	struct sweep_counts *counts;
	struct arena *arena, *row_arena;
	struct queue *queue; /* [nplatforms] */
	struct slot *slot;   /* [jobs] */
	struct error *error;
	int64_t total;
	double start_s, shown_s;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show_progress(struct run *r, bool last)
{
	double now = now_s(), rate = (double)r->counts->rows / (now - r->start_s + 1e-9);
	int64_t left = r->total - r->counts->rows;

	if (!r->sweep->progress || (!last && now - r->shown_s < 0.2))
		return;
	r->shown_s = now;
	fprintf(stderr, "\r%lld/%lld rows, %.0f rows/s, %.0f s left, %lld failed   %s",
	        (long long)r->counts->rows, (long long)r->total, rate,
	        rate > 0 ? (double)left / rate : 0.0,
	        (long long)(r->counts->outcome[OUTCOME_FAILED] +
	                    r->counts->outcome[OUTCOME_WRONG]),
	        last ? "\n" : "");
}

static enum status system_error(struct run *r, const char *what)
{
	return error_set(r->error, E_IO, (struct where){0}, "%s: %s", what,
	                 strerror(errno));
}

static enum status keep_row(struct run *r, const struct row *row)
{
	if (store_add(r->store, row, r->error) != OK)
		return r->error->code;
	r->counts->rows++;
	r->counts->outcome[row->status]++;
	show_progress(r, false);
	return OK;
}

/* --- what is to do ------------------------------------------------------------------ */

static bool has_work(const struct run *r, int platform)
{
	return r->queue[platform].leftover ||
	       r->queue[platform].next < r->sweep->suite->n;
}

static bool take_order(struct run *r, int platform, struct sweep_order *out)
{
	struct queue *q = &r->queue[platform];

	if (!has_work(r, platform))
		return false;
	if (q->leftover) {
		*out = q->leftover->order;
		q->leftover = q->leftover->next;
	} else {
		*out = (struct sweep_order){.scenario = q->next++};
	}
	return true;
}

/* The platform with work and the fewest workers; -1 if none has any. */
static int neediest(const struct run *r)
{
	int best = -1, fewest = 0;

	for (int p = 0; p < r->sweep->nplatforms; p++) {
		int workers = 0;

		for (int i = 0; i < r->sweep->jobs; i++)
			workers += r->slot[i].pid && r->slot[i].platform == p;
		if (has_work(r, p) && (best < 0 || workers < fewest)) {
			best = p;
			fewest = workers;
		}
	}
	return best;
}

/* --- workers ------------------------------------------------------------------------ */

static _Noreturn void become_worker(struct run *r, struct slot *s, int in, int out,
                                    pid_t parent)
{
	/* Ends of the other workers' pipes would keep those alive after the parent. */
	for (int i = 0; i < r->sweep->jobs; i++) {
		if (!r->slot[i].pid)
			continue;
		close(r->slot[i].to);
		close(r->slot[i].from);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	dup2(s->evidence, STDERR_FILENO);
	worker_run(r->sweep, s->platform, in, out);
}

static enum status start_worker(struct run *r, struct slot *s, int platform)
{
	int to[2], from[2];
	pid_t parent = getpid(), pid;

	s->platform = platform;
	s->evidence = memfd_create("stderr", MFD_CLOEXEC);
	if (s->evidence < 0 || pipe(to) != 0)
		return system_error(r, "cannot start a worker");
	if (pipe(from) != 0)
		return system_error(r, "cannot start a worker");
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		close(from[0]);
		become_worker(r, s, to[0], from[1], parent);
	}
	close(to[0]);
	close(from[1]);
	s->to = to[1];
	s->from = from[0];
	s->order.scenario = -1;
	s->heard = 0;
	s->pid = pid;
	if (pid < 0) {
		s->pid = 0;
		return system_error(r, "cannot start a worker");
	}
	return OK;
}

static int stop_worker(struct slot *s)
{
	int status = 0;

	close(s->to);
	close(s->from);
	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	s->pid = 0;
	text_free(&s->input);
	return status;
}

/* Give the worker a scenario of its platform, or a new platform to a new worker. */
static enum status give_work(struct run *r, struct slot *s)
{
	struct sweep_order order;
	int platform;

	if (s->pid && !has_work(r, s->platform)) {
		stop_worker(s);
		close(s->evidence);
	}
	if (!s->pid) {
		platform = neediest(r);
		if (platform < 0)
			return OK;
		if (start_worker(r, s, platform) != OK)
			return r->error->code;
	}
	take_order(r, s->platform, &order);
	s->order = order;
	/* A worker that has died meanwhile shows as the end of its row pipe. */
	if (write(s->to, &order, sizeof(order)) < 0 && errno != EPIPE)
		return system_error(r, "cannot reach a worker");
	return OK;
}

/* --- rows ---------------------------------------------------------------------------- */

/* Take whole rows from the slot's input. */
static enum status take_rows(struct run *r, struct slot *s)
{
	size_t at = 0;

	while (s->input.length - at >= sizeof(uint32_t)) {
		const char *p = s->input.s + at;
		struct row row;
		uint32_t n;

		memcpy(&n, p, sizeof(n));
		if (s->input.length - at < sizeof(n) + n)
			break;
		arena_reset(r->row_arena);
		if (!row_unpack(&row, p + sizeof(n), n, r->row_arena))
			return error_set(r->error, E_IO, (struct where){0},
			                 "a worker sent a damaged row");
		if (keep_row(r, &row) != OK)
			return r->error->code;
		r->queue[s->platform].deaths = 0;
		s->heard = lseek(s->evidence, 0, SEEK_END);
		if (++s->order.first == sweep_units(r->sweep))
			s->order.scenario = -1;
		at += sizeof(n) + n;
	}
	memmove(s->input.s, s->input.s + at, s->input.length - at);
	s->input.length -= at;
	return OK;
}

/* The last line it left on stderr since its last row, "" if none. */
static const char *evidence(struct run *r, const struct slot *s)
{
	char tail[300];
	off_t end = lseek(s->evidence, 0, SEEK_END);
	off_t from = end - s->heard > 299 ? end - 299 : s->heard;
	ssize_t n =
		end > from ? pread(s->evidence, tail, (size_t)(end - from), from) : 0;
	char *line;

	while (n > 0 && tail[n - 1] == '\n')
		n--;
	if (n <= 0)
		return "";
	tail[n] = '\0';
	line = strrchr(tail, '\n');
	return arena_printf(r->row_arena, ": %s", line ? line + 1 : tail);
}

static enum status fail_unit(struct run *r, const struct slot *s, int unit,
                             const char *message)
{
	struct row row = sweep_row(r->sweep, s->platform, s->order.scenario, unit);

	row.status = OUTCOME_FAILED;
	row.message = message;
	return keep_row(r, &row);
}

/* The row at hand failed with its worker; the rest of the scenario is done again. */
static enum status bury(struct run *r, struct slot *s)
{
	struct queue *q = &r->queue[s->platform];
	int units = sweep_units(r->sweep);
	int status = stop_worker(s);
	const char *message;

	arena_reset(r->row_arena);
	message = WIFSIGNALED(status)
	                  ? arena_printf(r->row_arena,
	                                 "the worker died of signal %d (%s)%s",
	                                 WTERMSIG(status), strsignal(WTERMSIG(status)),
	                                 evidence(r, s))
	                  : arena_printf(r->row_arena,
	                                 "the worker ended with status %d%s",
	                                 WEXITSTATUS(status), evidence(r, s));
	close(s->evidence);
	if (s->order.scenario < 0)
		return OK;
	if (fail_unit(r, s, s->order.first++, message) != OK)
		return r->error->code;
	/* A platform whose workers only die is given up, row by row, without new ones. */
	if (++q->deaths >= DEATHS_MAX) {
		do {
			for (; s->order.first < units; s->order.first++)
				if (fail_unit(r, s, s->order.first, message) != OK)
					return r->error->code;
		} while (take_order(r, s->platform, &s->order));
	} else if (s->order.first < units) {
		struct leftover *l = arena_alloc(r->arena, 1, sizeof(*l));

		*l = (struct leftover){s->order, q->leftover};
		q->leftover = l;
	}
	return OK;
}

static enum status read_slot(struct run *r, struct slot *s)
{
	char block[65536];
	ssize_t n = read(s->from, block, sizeof(block));

	if (n < 0 && errno == EINTR)
		return OK;
	if (n <= 0)
		return bury(r, s);
	text_append(&s->input, block, (size_t)n);
	return take_rows(r, s);
}

/* --- the loop ------------------------------------------------------------------------ */

static enum status give_all(struct run *r, int *busy)
{
	*busy = 0;
	for (int i = 0; i < r->sweep->jobs; i++) {
		struct slot *s = &r->slot[i];

		if ((!s->pid || s->order.scenario < 0) && give_work(r, s) != OK)
			return r->error->code;
		*busy += s->pid != 0;
	}
	return OK;
}

static enum status run_all(struct run *r)
{
	int jobs = r->sweep->jobs, busy;
	struct pollfd *fds = arena_alloc(r->arena, (size_t)jobs, sizeof(*fds));

	while (give_all(r, &busy) == OK && busy > 0) {
		for (int i = 0; i < jobs; i++)
			fds[i] = (struct pollfd){.fd = r->slot[i].pid ? r->slot[i].from
			                                              : -1,
			                         .events = POLLIN};
		if (poll(fds, (nfds_t)jobs, -1) < 0 && errno != EINTR)
			return system_error(r, "poll");
		for (int i = 0; i < jobs; i++)
			if (fds[i].revents && read_slot(r, &r->slot[i]) != OK)
				return r->error->code;
	}
	return r->error->code;
}

enum status sweep_run(struct sweep_counts *counts, const struct sweep *s,
                      struct store *store, struct error *e)
{
	struct run r = {.sweep = s, .store = store, .counts = counts, .error = e};
	void (*old)(int) = signal(SIGPIPE, SIG_IGN);

	*counts = (struct sweep_counts){0};
	r.arena = arena_new();
	r.row_arena = arena_new();
	r.queue = arena_alloc(r.arena, (size_t)s->nplatforms, sizeof(*r.queue));
	r.slot = arena_alloc(r.arena, (size_t)s->jobs, sizeof(*r.slot));
	r.total = (int64_t)s->suite->n * s->nplatforms * sweep_units(s);
	r.start_s = now_s();
	run_all(&r);
	for (int i = 0; i < s->jobs; i++) {
		if (!r.slot[i].pid)
			continue;
		kill(r.slot[i].pid, SIGKILL);
		stop_worker(&r.slot[i]);
		close(r.slot[i].evidence);
	}
	show_progress(&r, true);
	signal(SIGPIPE, old);
	arena_free(r.arena);
	arena_free(r.row_arena);
	return e->code;
}
