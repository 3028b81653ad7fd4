/* Slurm's commands, called. */
#include "sweep/slurm.h"

#include "system/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Variables SQUEUE_... would change what is asked for. */
static void forget_squeue(void)
{
	for (char **v = environ; *v;) {
		size_t length = strcspn(*v, "=");
		char name[64];

		if (strncmp(*v, "SQUEUE_", 7) == 0 && length < sizeof(name)) {
			memcpy(name, *v, length);
			name[length] = '\0';
			unsetenv(name);
			v = environ;
		} else {
			v++;
		}
	}
}

/* In a group of its own: a Ctrl-C ends neither a submission nor a question. */
static _Noreturn void become(const char *const *argv, int out, bool all)
{
	int nothing = open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	forget_squeue();
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || (all && dup2(out, STDERR_FILENO) < 0))
		_exit(126);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

/* What it prints, on stderr too if `all`. E_IO: it cannot be started, or fails. */
static enum status call(struct text *out, const char *const *argv, bool all,
                        struct error *e)
{
	int fds[2], status;
	pid_t child;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return error_set(e, E_IO, (struct where){0}, "cannot start %s: %s",
		                 argv[0], strerror(errno));
	fflush(NULL);
	child = fork();
	if (child == 0)
		become(argv, fds[1], all);
	close(fds[1]);
	child_read(out, fds[0]);
	status = child_wait(child);
	text_append(out, "", 0);
	if (child > 0 && status == 0)
		return OK;
	if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
		return error_set(e, E_IO, (struct where){0},
		                 "there is no program %s, with which Slurm is told",
		                 argv[0]);
	return error_set(e, E_IO, (struct where){0}, "%s failed%s%.*s", argv[0],
	                 out->length ? ": " : "", (int)strcspn(out->s, "\n"), out->s);
}

enum status slurm_submit(const char **id, const char *const *options,
                         const char *script, struct arena *a, struct error *e)
{
	struct text said = {0};
	const char **argv;
	size_t n = 0;

	while (options[n])
		n++;
	argv = arena_alloc(a, n + 4, sizeof(*argv));
	argv[0] = "sbatch";
	argv[1] = "--parsable";
	memcpy(argv + 2, options, n * sizeof(*argv));
	argv[n + 2] = script;
	if (call(&said, argv, false, e) == OK) {
		*id = arena_strndup(a, said.s, strcspn(said.s, ";\n"));
		if (!(*id)[0])
			error_set(e, E_IO, (struct where){0},
			          "sbatch does not tell the number of the job");
	}
	text_free(&said);
	return e->code;
}

enum status slurm_queue(struct slurm_queue *q, const char *name, struct error *e)
{
	char user[32];
	const char *const argv[] = {"squeue",   "--noheader", "--array", "--user",
	                            user,       "--name",     name,      "--format",
	                            "%K %T %r", NULL};
	struct text said = {0};

	snprintf(user, sizeof(user), "%ld", (long)getuid());
	if (call(&said, argv, true, e) == OK)
		slurm_read_queue(q, said.s);
	text_free(&said);
	return e->code;
}
