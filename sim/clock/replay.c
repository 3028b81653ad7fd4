#include "clock/replay.h"

#include "cost/model.h"
#include "system/child.h"
#include "system/last_words.h"
#include "system/whole.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

size_t replay_size(int n)
{
	return sizeof(struct replay) + (size_t)n * sizeof(double);
}

struct replay *replay_new(int n)
{
	void *at = mmap(NULL, replay_size(n), PROT_READ | PROT_WRITE,
	                MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

void replay_free(struct replay *r, int n)
{
	munmap(r, replay_size(n));
}

static _Noreturn void become_replay(struct replay *out, replay_call *call, void *self,
                                    int words, pid_t parent)
{
	child_end_with(parent);
	if (words >= 0)
		dup2(words, STDERR_FILENO);
	out->total_s = call(self, out);
	_exit(0);
}

/*
 * Copies what the child said to our stderr, where a sweep finds the logs of its
 * workers.
 */
static void pass_on(int words)
{
	char block[4096];
	ssize_t n;

	lseek(words, 0, SEEK_SET);
	while ((n = read(words, block, sizeof(block))) > 0)
		if (!whole_write(STDERR_FILENO, block, (size_t)n))
			return;
}

void replay_in_child(struct replay *out, replay_call *call, void *self)
{
	int words = memfd_create("replay", MFD_CLOEXEC), status;
	pid_t parent = getpid(), child;

	fflush(NULL);
	child = fork();
	if (child == 0)
		become_replay(out, call, self, words, parent);
	status = child_wait(child);
	if (child < 0) {
		out->total_s = CLOCK_FAILED_S;
		snprintf(out->message, sizeof(out->message), "no process: %s",
		         strerror(errno));
	} else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		out->total_s = CLOCK_FAILED_S;
		replay_death(out->message, sizeof(out->message), status, words, 0);
	}
	if (words < 0)
		return;
	pass_on(words);
	close(words);
}

struct schedules_replay {
	replay_fn *run;
	struct platform *platform;
	const struct schedule *schedule;
	int n;
};

static double run_schedules(void *self, struct replay *out)
{
	const struct schedules_replay *r = self;

	return r->run(out->wire_s, r->platform, r->schedule, r->n, out->message,
	              sizeof(out->message));
}

void replay_run(struct replay *out, replay_fn *run, struct platform *p,
                const struct schedule *s, int n)
{
	struct schedules_replay r = {run, p, s, n};

	replay_in_child(out, run_schedules, &r);
}
