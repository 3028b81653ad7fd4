#include "measure/trace_paje.h"

#include "clock/simgrid_run.h"
#include "system/child.h"
#include "system/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Append the rounds of one schedule to another. */
static void append(struct schedule *to, const struct schedule *from)
{
	for (int64_t r = 0; r < from->nrounds; r++) {
		schedule_round(to);
		for (int64_t i = 0; i < from->round[r].ntasks; i++) {
			const struct task *t = &from->task[from->round[r].first + i];
			const struct message *msg = &from->message[t->first];

			schedule_task(to, t->repeats);
			schedule_software(to, t->delay_s, t->least_s);
			for (int64_t k = 0; k < t->nmessages; k++)
				schedule_message(to, msg[k].fabric, msg[k].src,
				                 msg[k].dst, msg[k].bytes);
		}
	}
}

/* All steps as one schedule. */
static enum status lower_all(struct schedule *out, const struct steps *steps,
                             struct where at, struct error *e)
{
	enum status status = OK;

	for (int i = 0; i < steps->n && status == OK; i++) {
		struct lowered lowered;
		struct text why = {0};

		if (steps->lower(steps->self, &lowered, out->arena, i, &why))
			append(out, &lowered.schedule);
		else
			status = error_set(e, E_INFEASIBLE, at, "%s", why.s);
		text_free(&why);
	}
	schedule_end(out);
	return status;
}

/* In the child: SimGrid's trace goes to the file descriptor; messages to stderr. */
static void child(struct platform *p, const struct schedule *s, int fd)
{
	char path[64], message[256] = "";
	struct error e = {0};
	double wire_s;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (platform_start_traced(p, path, s, &e) != OK) {
		fprintf(stderr, "%s\n", e.text);
		_exit(1);
	}
	if (simgrid_run_schedules(&wire_s, p, s, 1, message, sizeof(message)) >= 0)
		_exit(0);
	fprintf(stderr, "%s\n", message);
	_exit(1);
}

/* Wait for the child; E_IO, or what became of it. */
static enum status await(pid_t pid, struct where at, struct error *e)
{
	int status = child_wait(pid);

	if (WIFSIGNALED(status))
		return error_set(e, E_IO, at, "SimGrid died of signal %d (%s)",
		                 WTERMSIG(status), strsignal(WTERMSIG(status)));
	return WEXITSTATUS(status) ? error_set(e, E_IO, at, "SimGrid made no trace")
	                           : OK;
}

enum status trace_paje(const char *path, struct platform *p, const struct steps *steps,
                       struct error *e)
{
	struct where at = {.file = path};
	struct schedule s = {.arena = arena_new()};
	struct text out = {0};
	enum status status;
	int fd = -1;
	pid_t pid;

	if (p->host)
		status = error_set(e, E_TYPE, where_option("--paje", path),
		                   "the routes of %s are known to SimGrid only, which "
		                   "has used up its one trace to tell them",
		                   p->machine->name);
	else
		status = lower_all(&s, steps, at, e);
	if (status == OK && !s.nrounds)
		status = error_set(e, E_INFEASIBLE, where_option("--paje", path),
		                   "no step sends a message that SimGrid could trace");
	if (status == OK && (fd = memfd_create("paje", 0)) < 0)
		status = error_set(e, E_IO, at, "no memory: %s", strerror(errno));
	if (status == OK) {
		fflush(NULL);
		pid = fork();
		if (pid == 0)
			child(p, &s, fd);
		status = pid > 0 ? await(pid, at, e)
		                 : error_set(e, E_IO, at, "no process: %s",
		                             strerror(errno));
	}
	if (fd >= 0)
		child_read(&out, fd);
	if (status == OK && !out.length)
		status = error_set(e, E_IO, at, "SimGrid's trace cannot be read");
	if (status == OK)
		status = file_write(path, out.s, out.length, e);
	text_free(&out);
	arena_free(s.arena);
	return status;
}
