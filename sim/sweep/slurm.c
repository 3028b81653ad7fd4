/* What Slurm reads and prints. */
#include "sweep/slurm.h"

#include <stdlib.h>
#include <string.h>

enum status slurm_check_extra(const char *option, struct error *e)
{
	/* sbatch takes what begins one of its options for it. */
	static const char *const ours[] = {"array",    "job-name", "chdir",
	                                   "clusters", "wait",     "test-only"};
	size_t length = strcspn(option, "=");

	if (strncmp(option, "--", 2) != 0 || length < 3)
		return error_set(e, E_SYNTAX, where_option("--sbatch", option),
		                 "expected --NAME or --NAME=VALUE, as sbatch has them");
	for (const char *c = option; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			return error_set(e, E_SYNTAX, where_option("--sbatch", NULL),
			                 "an option with a control character");
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (strncmp(ours[i], option + 2, length - 2) == 0)
			return error_set(e, E_TYPE, where_option("--sbatch", option),
			                 "--%s is not for --sbatch: it is set here",
			                 ours[i]);
	return OK;
}

void slurm_array(struct text *out, const int *task, int n, int throttle)
{
	for (int i = 0, last; i < n; i = last + 1) {
		for (last = i; last + 1 < n && task[last + 1] == task[last] + 1; last++)
			;
		text_printf(out, "%s%d", i ? "," : "", task[i]);
		if (last > i)
			text_printf(out, "-%d", task[last]);
	}
	if (throttle)
		text_printf(out, "%%%d", throttle);
}

/* In a pattern of file names %% is a %. */
static const char *log_pattern(const char *folder, struct arena *a)
{
	struct text pattern = {0};

	for (const char *c = folder; *c; c++)
		text_append(&pattern, *c == '%' ? "%%" : c, *c == '%' ? 2 : 1);
	text_printf(&pattern, "/slurm-%%A_%%a.log");
	return text_take(&pattern, a);
}

const char *const *slurm_options(const struct slurm_job *job, const int *task, int n,
                                 struct arena *a)
{
	enum { STANDING = 12 };
	const char **option =
		arena_alloc(a, STANDING + (size_t)job->nextra, sizeof(*option));
	struct text array = {0};
	int k = 0;

	slurm_array(&array, task, n, job->throttle);
	option[k++] = arena_printf(a, "--job-name=%s", job->name);
	option[k++] = arena_printf(a, "--array=%s", array.s);
	option[k++] = "--ntasks=1";
	option[k++] = arena_printf(a, "--cpus-per-task=%d", job->cpus);
	option[k++] = "--requeue";
	option[k++] = "--open-mode=append";
	option[k++] = arena_printf(a, "--chdir=%s", job->folder);
	option[k++] = arena_printf(a, "--output=%s", log_pattern(job->log_folder, a));
	if (job->partition)
		option[k++] = arena_printf(a, "--partition=%s", job->partition);
	if (job->time)
		option[k++] = arena_printf(a, "--time=%s", job->time);
	for (int i = 0; i < job->nextra; i++)
		option[k++] = job->extra[i];
	text_free(&array);
	return option;
}

static void print_word(struct text *out, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_-./:,=+@%";

	if (!word[strspn(word, plain)]) {
		text_printf(out, "%s", word);
		return;
	}
	text_append(out, "\"", 1);
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			text_append(out, "\\", 1);
		text_append(out, word, 1);
	}
	text_append(out, "\"", 1);
}

void slurm_script(struct text *out, const char *const *options, const char *command)
{
	text_printf(out, "#!/bin/sh\n");
	for (; *options; options++) {
		text_printf(out, "#SBATCH ");
		print_word(out, *options);
		text_append(out, "\n", 1);
	}
	text_printf(out, "%s\n", command);
}

/* States that squeue tells, by its manual; a task of another one is at work. */
static enum slurm_state state_of(const char *name, size_t length)
{
	static const char *const waiting[] = {"PENDING",      "REQUEUED",
	                                      "REQUEUE_FED",  "REQUEUE_HOLD",
	                                      "SPECIAL_EXIT", "RESV_DEL_HOLD"};

	for (size_t i = 0; i < sizeof(waiting) / sizeof(*waiting); i++)
		if (strlen(waiting[i]) == length && memcmp(waiting[i], name, length) == 0)
			return SLURM_WAITING;
	return SLURM_RUNNING;
}

void slurm_read_queue(struct slurm_queue *q, const char *text)
{
	memset(q->state, 0, (size_t)q->n * sizeof(*q->state));
	q->reason[0] = '\0';
	for (const char *line = text; *line; line += line[0] == '\n') {
		size_t length = strcspn(line, "\n"), word;
		const char *end = line + length, *at;
		long task = strtol(line, (char **)&at, 10);

		if (at > line && at < end && *at == ' ' && task >= 0 && task < q->n) {
			word = strcspn(++at, " \n");
			q->state[task] = state_of(at, word);
			at += word + (at[word] == ' ');
			if (q->state[task] == SLURM_WAITING && !q->reason[0] &&
			    strncmp(at, "None", 4) != 0)
				snprintf(q->reason, sizeof(q->reason), "%.*s",
				         (int)(end - at), at);
		}
		line = end;
	}
}
