#include "platform/loader.h"
#include "system/child.h"
#include "system/last_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Is the child, which writes our error or SimGrid's last words into its one pipe. */
static void trial_child(struct loader *l, int out)
{
	struct error *e = l->error;
	ssize_t n;

	dup2(out, STDERR_FILENO);
	if (platform_engine_start(l) == OK)
		_exit(0);
	l->asked->line = e->at.line;
	l->asked->col = e->at.col;
	n = write(out, e->text, strlen(e->text));
	_exit(n > 0 ? 1 : 2);
}

/*
 * Stores in `at` the place of the fault in the temporary file, if the last words start
 * with it, and returns the words behind it.
 */
static const char *take_place(const char *words, struct where *at)
{
	static const char parse[] = "Parse error at ";
	const char *colon =
		strncmp(words, parse, strlen(parse)) ? NULL : strchr(words, ':');
	char *end;

	if (!colon)
		return words;
	at->line = (unsigned)strtoul(colon + 1, &end, 10);
	at->col = 1;
	return *end == ':' ? end + 1 + strspn(end + 1, " ") : words;
}

/* Records of what the child died, and at which route if it was asking for one. */
static void trial_died(struct loader *l, char *words, int status)
{
	struct where at = {.file = l->xml.path};
	const struct xml_host *host = l->xml.host;
	const char *why;
	char died[80];

	/* SimGrid's words are then a trace of its own functions, or none. */
	if (l->asked->src >= 0) {
		error_set(l->error, E_TYPE,
		          platform_xml_where(&l->xml, host[l->asked->src].place),
		          "SimGrid finds no route from '%s' to '%s'",
		          host[l->asked->src].name, host[l->asked->dst].name);
		return;
	}
	why = take_place(last_words(words), &at);
	if (!*why && WIFSIGNALED(status)) {
		snprintf(died, sizeof(died), "it dies of signal %d (%s)",
		         WTERMSIG(status), strsignal(WTERMSIG(status)));
		why = died;
	}
	error_set(l->error, E_TYPE, at, "SimGrid refuses the file: %s", why);
}

/*
 * Loads and compares in a child first. The error is the one that the child found, or it
 * tells of what the child died.
 */
static enum status run_trial(struct loader *l)
{
	struct where at = {.file = l->xml.path};
	struct text words = {0};
	int pipes[2], status;
	pid_t pid;

	if (pipe(pipes) != 0)
		return error_set(l->error, E_IO, at, "no pipe: %s", strerror(errno));
	*l->asked = (struct asked){.src = -1, .dst = -1};
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(pipes[0]);
		trial_child(l, pipes[1]);
	}
	close(pipes[1]);
	if (pid < 0) {
		close(pipes[0]);
		return error_set(l->error, E_IO, at, "no process: %s", strerror(errno));
	}
	child_read(&words, pipes[0]);
	status = child_wait(pid);
	text_append(&words, "", 0);
	at.line = l->asked->line;
	at.col = l->asked->col;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
		error_set(l->error, E_TYPE, at, "%s", words.s);
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		trial_died(l, words.s, status);
	text_free(&words);
	return l->error->code;
}

/* Runs the trial with memory for what it asks that outlives it. */
enum status platform_trial(struct loader *l)
{
	enum status status;

	l->asked = mmap(NULL, sizeof(*l->asked), PROT_READ | PROT_WRITE,
	                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l->asked == MAP_FAILED)
		return error_set(l->error, E_IO, (struct where){.file = l->xml.path},
		                 "no memory: %s", strerror(errno));
	status = run_trial(l);
	munmap(l->asked, sizeof(*l->asked));
	l->asked = NULL;
	return status;
}
