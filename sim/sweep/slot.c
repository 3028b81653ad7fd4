/* The parent's side of a worker: it is started, read, limited and buried. */
#include "sweep/run.h"

#include "system/child.h"
#include "system/last_words.h"
#include "system/wall.h"

#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	DEATHS_MAX = 3,   /* most workers in a row that die before they are loaded */
	LOG_MAX = 1 << 16 /* how many bytes of evidence are kept with a row */
};

/* --- starting ----------------------------------------------------------------------- */

static _Noreturn void become_worker(struct run *r, struct slot *s, int in, int out,
                                    pid_t parent)
{
	/*
	 * An open end of another worker's pipe would keep that alive after the parent.
	 */
	for (int i = 0; i < r->sweep->jobs; i++) {
		if (!r->slot[i].pid)
			continue;
		close(r->slot[i].to);
		close(r->slot[i].from);
	}
	child_end_with(parent);
	dup2(s->evidence, STDERR_FILENO);
	worker_run(r->sweep, s->platform, in, out);
}

static enum status slot_start(struct run *r, struct slot *s, int platform)
{
	int to[2], from[2];
	pid_t parent = getpid(), pid;

	*s = (struct slot){.platform = platform};
	s->evidence = memfd_create("stderr", MFD_CLOEXEC);
	if (s->evidence < 0 || pipe(to) != 0)
		return run_system_error(r, "cannot start a worker");
	if (pipe(from) != 0)
		return run_system_error(r, "cannot start a worker");
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		close(from[0]);
		become_worker(r, s, to[0], from[1], parent);
	}
	close(to[0]);
	close(from[1]);
	if (pid < 0)
		return run_system_error(r, "cannot start a worker");
	s->to = to[1];
	s->from = from[0];
	s->pid = pid;
	return OK;
}

static int slot_stop(struct slot *s)
{
	int status;

	close(s->to);
	close(s->from);
	status = child_wait(s->pid);
	s->pid = 0;
	text_free(&s->input);
	return status;
}

/* Takes work from the queue and tells the worker. */
static enum status order(struct run *r, struct slot *s, struct sweep_work *work)
{
	struct sweep_order order;

	queue_take(r, s->platform, work);
	memset(&order, 0, sizeof(order)); /* the bytes between members are sent, too */
	order.scenario = work->scenario;
	order.units = work->units;
	/* A worker that has died meanwhile shows as the end of its row pipe. */
	if (write(s->to, &order, sizeof(order)) < 0 && errno != EPIPE)
		return run_system_error(r, "cannot reach a worker");
	return OK;
}

/* Gives a worker that is at work more to do after it. */
static enum status give_ahead(struct run *r, struct slot *s)
{
	double most = r->cost_left / (4.0 * SLOT_AHEAD * r->sweep->jobs);

	while (s->nahead < SLOT_AHEAD && s->ready && !s->verdict &&
	       s->work.cost <= most && queue_has(r, s->platform))
		if (order(r, s, &s->ahead[s->nahead++]) != OK)
			return r->error->code;
	return OK;
}

/*
 * Gives the worker more work of its platform, or ends it and starts one for the
 * platform that needs it most.
 */
enum status slot_give(struct run *r, struct slot *s)
{
	int platform;

	if (s->pid && s->work.units)
		return give_ahead(r, s);
	if (s->pid && !queue_has(r, s->platform)) {
		slot_stop(s);
		close(s->evidence);
	}
	if (!s->pid) {
		platform = queue_neediest(r);
		if (platform < 0)
			return OK;
		if (slot_start(r, s, platform) != OK)
			return r->error->code;
	}
	s->since_s = wall_s();
	return order(r, s, &s->work);
}

/* --- rows --------------------------------------------------------------------------- */

/*
 * Returns what a worker left on stderr since its last row, up to the byte `end`; the row
 * arena's, or NULL.
 */
static const char *take_log(struct run *r, struct slot *s, off_t end)
{
	off_t from = end - s->heard > LOG_MAX ? end - LOG_MAX : s->heard;
	char *log;
	ssize_t n;

	if (end <= s->heard)
		return NULL;
	log = arena_alloc(r->row_arena, (size_t)(end - from) + 1, 1);
	n = pread(s->evidence, log, (size_t)(end - from), from);
	s->heard = end;
	for (ssize_t i = 0; i < n; i++)
		log[i] = log[i] ? log[i] : ' ';
	return n > 0 ? log : NULL;
}

/* Returns ": " and the last words of a log, "" if there is none. */
static const char *last_words_of(struct run *r, const char *log)
{
	const char *words = log ? last_words(arena_strdup(r->row_arena, log)) : "";

	return *words ? arena_printf(r->row_arena, ": %.300s", words) : "";
}

static enum status take_worker_row(struct run *r, struct slot *s, const char *bytes,
                                   struct sweep_news news)
{
	struct row row;

	if (news.length == 0) { /* loaded, or SimGrid has started */
		r->queue[s->platform].deaths = 0;
		s->ready = true;
		return OK;
	}
	arena_reset(r->row_arena);
	if (!s->work.units || !row_unpack(&row, bytes, news.length))
		return error_set(r->error, E_IO, (struct where){0},
		                 "a worker sent a damaged row");
	s->work.units &= s->work.units - 1;
	if (run_keep(r, s->platform, &row, news.mark,
	             row.status == OUTCOME_FAILED || row.status == OUTCOME_WRONG
	                     ? take_log(r, s, (off_t)news.said)
	                     : NULL) != OK)
		return r->error->code;
	if (!s->work.units && s->nahead > 0) {
		s->work = s->ahead[0];
		s->nahead--;
		memmove(s->ahead, s->ahead + 1, (size_t)s->nahead * sizeof(*s->ahead));
	}
	return OK;
}

/* Takes whole rows from the slot's input. */
static enum status take_worker_rows(struct run *r, struct slot *s)
{
	size_t at = 0;

	while (s->input.length - at >= sizeof(struct sweep_news)) {
		const char *p = s->input.s + at;
		struct sweep_news news;

		memcpy(&news, p, sizeof(news));
		if (s->input.length - at < sizeof(news) + news.length)
			break;
		if (take_worker_row(r, s, p + sizeof(news), news) != OK)
			return r->error->code;
		s->since_s = wall_s();
		s->heard = (off_t)news.said;
		at += sizeof(news) + news.length;
	}
	memmove(s->input.s, s->input.s + at, s->input.length - at);
	s->input.length -= at;
	return OK;
}

/* --- deaths ------------------------------------------------------------------------- */

static enum status fail_next(struct run *r, struct slot *s, const char *message,
                             const char *log)
{
	int unit = __builtin_ctzll(s->work.units);
	struct row row =
		sweep_row(r->sweep, s->platform, s->work.scenario, unit, r->row_arena);

	s->work.units &= s->work.units - 1;
	row.status = OUTCOME_FAILED;
	row.message = message;
	return run_keep(r, s->platform, &row,
	                sweep_mark(r->sweep, s->platform, s->work.scenario, unit, &row),
	                log);
}

/* Gives up a platform whose workers only die, row by row, without new ones. */
static enum status give_up_platform(struct run *r, struct slot *s, const char *message)
{
	do {
		while (s->work.units)
			if (fail_next(r, s, message, NULL) != OK)
				return r->error->code;
	} while (queue_take(r, s->platform, &s->work));
	return OK;
}

static const char *slot_obituary(struct run *r, const struct slot *s, int status,
                                 const char *log)
{
	if (s->verdict)
		return s->verdict;
	if (WIFSIGNALED(status))
		return arena_printf(r->row_arena, "the worker died of signal %d (%s)%s",
		                    WTERMSIG(status), strsignal(WTERMSIG(status)),
		                    last_words_of(r, log));
	return arena_printf(r->row_arena, "the worker ended with status %d%s",
	                    WEXITSTATUS(status), last_words_of(r, log));
}

/* Fails the row at hand with its dead worker, and puts the rest back into the queue. */
static enum status slot_bury(struct run *r, struct slot *s)
{
	struct queue *q = &r->queue[s->platform];
	int status = slot_stop(s);
	const char *message, *log;

	while (s->nahead > 0)
		queue_give_back(r, &s->ahead[--s->nahead]);
	arena_reset(r->row_arena);
	log = take_log(r, s, lseek(s->evidence, 0, SEEK_END));
	message = slot_obituary(r, s, status, log);
	close(s->evidence);
	if (!s->work.units)
		return OK;
	/* If a row came after the verdict, the verdict is not about the next unit. */
	if ((!s->verdict || s->verdict_units == s->work.units) &&
	    fail_next(r, s, message, log) != OK)
		return r->error->code;
	if (!s->ready && !s->verdict && ++q->deaths >= DEATHS_MAX)
		return give_up_platform(r, s, message);
	if (s->work.units)
		queue_give_back(r, &s->work);
	return OK;
}

enum status slot_read(struct run *r, struct slot *s)
{
	char block[65536];
	ssize_t n = read(s->from, block, sizeof(block));

	if (n < 0 && errno == EINTR)
		return OK;
	if (n <= 0)
		return slot_bury(r, s);
	text_append(&s->input, block, (size_t)n);
	return take_worker_rows(r, s);
}

/* --- limits ------------------------------------------------------------------------- */

enum {
	CHILDREN_MAX = 8
}; /* most children of a worker, which has one replay at a time */

static int children_of(pid_t worker, pid_t child[CHILDREN_MAX])
{
	char path[64];
	FILE *f;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)worker,
	         (int)worker);
	f = fopen(path, "r");
	while (f && n < CHILDREN_MAX && fscanf(f, "%d", &child[n]) == 1)
		n++;
	if (f)
		fclose(f);
	return n;
}

/* Kills a worker and its replay, which may stand still and not die with its worker. */
static void kill_worker(pid_t worker)
{
	pid_t child[CHILDREN_MAX];
	int n = children_of(worker, child);

	kill(worker, SIGKILL);
	for (int i = 0; i < n; i++)
		kill(child[i], SIGKILL);
}

enum status slot_end(struct run *r, struct slot *s)
{
	char block[65536];
	ssize_t n;

	kill_worker(s->pid);
	while ((n = read(s->from, block, sizeof(block))) > 0 && r->error->code == OK) {
		text_append(&s->input, block, (size_t)n);
		take_worker_rows(r, s);
	}
	slot_stop(s);
	close(s->evidence);
	return r->error->code;
}

/* Returns the resident bytes of a process; 0 if it is gone. */
static int64_t resident_bytes(pid_t pid)
{
	char path[64];
	long long pages = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%*s %lld", &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

/* Returns the resident bytes of a worker or of its replay, whichever has more. */
static int64_t worker_memory(pid_t worker)
{
	int64_t most = resident_bytes(worker);
	pid_t child[CHILDREN_MAX];

	for (int i = children_of(worker, child) - 1; i >= 0; i--) {
		int64_t bytes = resident_bytes(child[i]);

		most = bytes > most ? bytes : most;
	}
	return most;
}

static void slot_condemn(struct slot *s, const char *verdict)
{
	s->verdict = verdict;
	s->verdict_units = s->work.units;
	kill_worker(s->pid);
}

double slot_left_s(const struct run *r, const struct slot *s)
{
	if (!(r->sweep->timeout_s > 0) || !s->pid || !s->ready || !s->work.units ||
	    s->verdict)
		return INFINITY;
	return s->since_s + r->sweep->timeout_s - wall_s();
}

void slot_limit(struct run *r, struct slot *s, bool memory)
{
	const struct sweep *sweep = r->sweep;
	struct text size = {0};

	if (s->verdict || !s->work.units)
		return;
	if (slot_left_s(r, s) <= 0) {
		slot_condemn(s,
		             arena_printf(r->arena, "took longer than %g s (--timeout)",
		                          sweep->timeout_s));
	} else if (memory && sweep->worker_bytes > 0 &&
	           worker_memory(s->pid) > sweep->worker_bytes) {
		units_print_bytes(&size, (double)sweep->worker_bytes);
		slot_condemn(s, arena_printf(r->arena,
		                             "took more than %s (--worker-memory)",
		                             size.s));
	}
	text_free(&size);
}
