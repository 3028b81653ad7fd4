#include "sweep/slurm.h"

#include "sweep/setup.h"

#include <stdlib.h>
#include <string.h>

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

/* Appends a word in double quotes for sbatch, which reads #SBATCH lines like a shell. */
static void print_inside(struct text *out, const char *before, const char *word)
{
	text_printf(out, " \"%s", before);
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			text_append(out, "\\", 1);
		text_append(out, word, 1);
	}
	text_append(out, "\"", 1);
}

static void print_word(struct text *out, const char *before, const char *word)
{
	if (!word)
		return;
	text_printf(out, "%s", before);
	sweep_quote(out, word);
}

void slurm_script(struct text *out, const struct slurm_job *job, const int *task, int n)
{
	text_printf(out, "#!/bin/sh\n#SBATCH --job-name=shardsim --array=");
	slurm_array(out, task, n, job->throttle);
	text_printf(out, "\n#SBATCH --ntasks=1 --cpus-per-task=%d --requeue", job->cpus);
	text_printf(out, "\n#SBATCH --output=slurm-%%A_%%a.log --open-mode=append");
	print_inside(out, "--chdir=", job->folder);
	text_printf(out, job->nextra ? "\n#SBATCH" : "");
	for (int i = 0; i < job->nextra; i++)
		print_inside(out, "", job->extra[i]);
	print_word(out, "\nexport SHARDSIM_DATA=", getenv("SHARDSIM_DATA"));
	print_word(out, "\ncd ", job->start);
	print_word(out, " && exec ", job->program);
	print_word(out, " sweep run ", job->plan);
	text_printf(out, " --shard \"$SLURM_ARRAY_TASK_ID/%d\"", job->nshards);
	print_word(out, " --out ", job->folder);
	text_printf(out, "/shard-\"$SLURM_ARRAY_TASK_ID\"-of-%d.jsonl", job->nshards);
	print_word(out, " --jobs ", job->jobs);
	print_word(out, " --timeout ", job->timeout);
	print_word(out, " --worker-memory ", job->memory);
	print_word(out, " --progress=", job->progress);
	text_printf(out, "\n");
}

enum status slurm_submit(const char **id, const char *script, struct arena *a,
                         struct error *e)
{
	char said[64] = ""; /* "NUMBER" or "NUMBER;CLUSTER" */
	struct text command = {0};
	FILE *sbatch;
	size_t n;

	print_word(&command, "exec sbatch --parsable ", script);
	sbatch = popen(command.s, "r");
	if (sbatch && !fgets(said, sizeof(said), sbatch))
		said[0] = '\0';
	n = strspn(said, "0123456789");
	if (!sbatch || pclose(sbatch) != 0 || !said[0])
		error_set(e, E_IO, (struct where){0}, "sbatch failed");
	else if (said[0] == '0' || n == 0 || !strchr(";\n", said[n]))
		error_set(e, E_IO, (struct where){0},
		          "sbatch said '%.*s', expected the number of a job",
		          (int)strcspn(said, "\n"), said);
	*id = arena_strndup(a, said, n);
	text_free(&command);
	return e->code;
}
