#include "runner.h"

#include <check.h>

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void runner_start(struct runner *r)
{
	const char *tmp = getenv("TMPDIR");
	char *dir;

	r->arena = arena_new();
	dir = arena_printf(r->arena, "%s/check_run-XXXXXX", tmp ? tmp : P_tmpdir);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	r->dir = dir;
}

static void remove_all(const char *path)
{
	struct stat found;
	DIR *dir;

	if (lstat(path, &found) != 0)
		return;
	if (S_ISDIR(found.st_mode)) {
		chmod(path, 0700);
		dir = opendir(path);
		for (struct dirent *d; dir && (d = readdir(dir));) {
			char name[1024];

			if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
				continue;
			snprintf(name, sizeof(name), "%s/%s", path, d->d_name);
			remove_all(name);
		}
		if (dir)
			closedir(dir);
	}
	remove(path);
}

void runner_end(struct runner *r)
{
	remove_all(r->dir);
	ck_assert_int_ne(access(r->dir, F_OK), 0);
	arena_free(r->arena);
}

const char *runner_path(const struct runner *r, const char *name)
{
	return arena_printf(r->arena, "%s/%s", r->dir, name);
}

void runner_write(const struct runner *r, const char *name, const char *text)
{
	FILE *f = fopen(runner_path(r, name), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert(fputs(text, f) >= 0 && fclose(f) == 0);
}

const char *runner_read(const struct runner *r, const char *name)
{
	FILE *f = fopen(runner_path(r, name), "r");
	struct text all = {0};
	char block[4096];
	size_t n;

	ck_assert_ptr_nonnull(f);
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		text_append(&all, block, n);
	fclose(f);
	return text_take(&all, r->arena);
}

bool runner_has(const struct runner *r, const char *name)
{
	return access(runner_path(r, name), F_OK) == 0;
}

/* --- processes ----------------------------------------------------------------------- */

struct process {
	pid_t pid, parent, group;
	char state;
};

/* All processes that can be seen; the arena's. */
static struct process *processes(struct arena *a, int *n)
{
	DIR *proc = opendir("/proc");
	struct process *all = NULL;
	struct text list = {0};

	ck_assert_ptr_nonnull(proc);
	for (struct dirent *d; (d = readdir(proc));) {
		struct process p = {.pid = atoi(d->d_name)};
		char path[64], stat[512];
		size_t length = 0;
		FILE *f;

		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)p.pid);
		f = fopen(path, "r");
		if (f)
			length = fread(stat, 1, sizeof(stat) - 1, f);
		if (f)
			fclose(f);
		stat[length] = '\0';
		/* The name in parentheses may hold any byte. */
		if (strrchr(stat, ')') && sscanf(strrchr(stat, ')') + 1, " %c %d %d",
		                                 &p.state, &p.parent, &p.group) == 3)
			text_append(&list, (const char *)&p, sizeof(p));
	}
	closedir(proc);
	*n = (int)(list.length / sizeof(*all));
	all = arena_alloc(a, (size_t)*n + 1, sizeof(*all));
	if (*n)
		memcpy(all, list.s, list.length);
	text_free(&list);
	return all;
}

pid_t runner_child(pid_t parent)
{
	struct arena *a = arena_new();
	pid_t found = 0;
	int n;
	struct process *p = processes(a, &n);

	for (int i = 0; i < n && !found; i++)
		if (p[i].parent == parent && p[i].state != 'Z')
			found = p[i].pid;
	arena_free(a);
	return found;
}

static bool is_stopped(pid_t pid, pid_t parent)
{
	struct arena *a = arena_new();
	bool stopped = false;
	int n;
	struct process *p = processes(a, &n);

	for (int i = 0; i < n; i++)
		if (p[i].pid == pid && p[i].parent == parent)
			stopped = p[i].state == 'T';
	arena_free(a);
	return stopped;
}

static int alive_in_group(pid_t group)
{
	struct arena *a = arena_new();
	int n, alive = 0;
	struct process *p = processes(a, &n);

	for (int i = 0; i < n; i++)
		alive += p[i].group == group && p[i].state != 'Z';
	arena_free(a);
	return alive;
}

void runner_pause_ms(int ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

/* Processes that are dying may take a moment. */
static void check_nobody_left(pid_t group)
{
	for (int i = 0; i < 1000 && alive_in_group(group); i++)
		runner_pause_ms(10);
	ck_assert_int_eq(alive_in_group(group), 0);
}

pid_t runner_program(const struct runner *r, runner_prepare_fn *prepare,
                     const char *const *words)
{
	const char *program = getenv("SHARDSIM"), *argv[RUNNER_WORDS_MAX + 2] = {NULL};
	char data[PATH_MAX];
	pid_t pid;
	int n = 0;

	ck_assert_ptr_nonnull(program);
	argv[n++] = "shardsim";
	for (; *words; words++) {
		ck_assert_int_lt(n, RUNNER_WORDS_MAX);
		argv[n++] = *words;
	}
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		if (!getenv("SHARDSIM_DATA"))
			setenv("SHARDSIM_DATA", realpath("platforms", data), 1);
		if (chdir(r->dir) == 0 && freopen("stderr", "w", stderr) &&
		    freopen("stdout", "w", stdout)) {
			if (prepare)
				prepare();
			execv(program, (char *const *)argv);
		}
		_exit(127);
	}
	setpgid(pid, pid);
	return pid;
}

void runner_exit(pid_t program, int wanted)
{
	int status;

	ck_assert_int_eq(waitpid(program, &status, 0), program);
	ck_assert_msg(WIFEXITED(status), "it died of signal %d", WTERMSIG(status));
	ck_assert_int_eq(WEXITSTATUS(status), wanted);
	check_nobody_left(program);
}

void runner_run(const struct runner *r, const char *const *words, int wanted)
{
	pid_t program = runner_program(r, NULL, words);
	int status;

	ck_assert_int_eq(waitpid(program, &status, 0), program);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == wanted,
	              "status %x, expected %d: %s", (unsigned)status, wanted,
	              runner_read(r, "stderr"));
	check_nobody_left(program);
}

void runner_kill(pid_t program)
{
	int status;

	kill(program, SIGKILL);
	ck_assert_int_eq(waitpid(program, &status, 0), program);
	check_nobody_left(program);
}

void runner_said(const struct runner *r, const char *text)
{
	const char *said = runner_read(r, "stderr");

	ck_assert_msg(strstr(said, text) != NULL, "'%s' is not in '%s'", text, said);
}

void runner_stop_replay(pid_t sweep, pid_t *worker, pid_t *replay)
{
	for (;;) {
		int status;

		*worker = runner_child(sweep);
		*replay = *worker ? runner_child(*worker) : 0;
		ck_assert_msg(waitpid(sweep, &status, WNOHANG) == 0,
		              "the sweep ended before a replay was seen");
		if (!*replay || kill(*replay, SIGSTOP) != 0)
			continue;
		/* It may have ended, or its death may be on the way. */
		for (int i = 0; i < 100 && kill(*replay, 0) == 0; i++) {
			if (is_stopped(*replay, *worker))
				return;
			runner_pause_ms(1);
		}
	}
}

/* --- rows ---------------------------------------------------------------------------- */

struct row *runner_rows(const struct runner *r, const char *name, size_t *n)
{
	struct error e = {0};
	struct store *store;
	struct row *rows;

	ck_assert_msg(store_open(&store, runner_path(r, name), false, &e) == OK, "%s",
	              e.text);
	ck_assert_msg(store_rows(store, r->arena, &rows, n, &e) == OK, "%s", e.text);
	store_close(store);
	return rows;
}

static void equal(const struct row *a, const struct row *b)
{
	for (int c = 0; c < ROW_COLUMNS; c++) {
		const void *x = (const char *)a + row_columns[c].offset;
		const void *y = (const char *)b + row_columns[c].offset;
		double p, q;

		switch (row_columns[c].kind) {
		case ROW_TEXT:
			ck_assert_str_eq(*(const char *const *)x,
			                 *(const char *const *)y);
			break;
		case ROW_REAL:
			p = *(const double *)x;
			q = *(const double *)y;
			ck_assert_msg(x == (const void *)&a->planning_s || p == q ||
			                      (isnan(p) && isnan(q)),
			              "%s: %.17g and %.17g", row_columns[c].name, p, q);
			break;
		case ROW_BYTES:
			ck_assert_int_eq(*(const int64_t *)x, *(const int64_t *)y);
			break;
		case ROW_FLAG:
			ck_assert_int_eq(*(const bool *)x, *(const bool *)y);
			break;
		case ROW_STATUS:
			ck_assert_int_eq(*(const enum outcome *)x,
			                 *(const enum outcome *)y);
			break;
		}
	}
}

static bool same_case(const struct row *a, const struct row *b)
{
	return strcmp(a->scenario, b->scenario) == 0 &&
	       strcmp(a->platform, b->platform) == 0 &&
	       strcmp(a->planner, b->planner) == 0 && strcmp(a->clock, b->clock) == 0;
}

void runner_equal_rows(const struct row *a, size_t na, const struct row *b, size_t nb,
                       bool part)
{
	size_t i = 0;

	for (size_t k = 0; k < nb; k++) {
		if (part && (i == na || !same_case(&a[i], &b[k])))
			continue;
		ck_assert_uint_lt(i, na);
		equal(&a[i++], &b[k]);
	}
	ck_assert_uint_eq(i, na);
}
