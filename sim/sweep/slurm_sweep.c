/* Shards that are files, and tasks in a queue. */
#include "sweep/slurm_sweep.h"

#include "system/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- names -------------------------------------------------------------------------- */

static const char *shard_path(const struct slurm_sweep *s, int k, struct arena *a)
{
	return arena_printf(a, "%s/shard-%d-of-%d.jsonl", s->folder, k, s->nshards);
}

static const char *job_name(const struct slurm_sweep *s)
{
	struct digest d = digest_start();
	char text[DIGEST_TEXT];

	digest_add(&d, s->plan);
	digest_bytes(&d, &s->nshards, sizeof(s->nshards));
	digest_text(&d, s->folder);
	digest_print(text, d);
	return arena_printf(s->arena, "shardsim-%.16s", text);
}

enum status slurm_sweep_start(struct slurm_sweep *s, struct error *e)
{
	const char *const folders[] = {s->folder, s->job.folder, s->path};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		for (const char *c = folders[i]; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 127 || *c == '\\')
				return error_set(e, E_TYPE,
				                 (struct where){.file = folders[i]},
				                 "Slurm takes no such name: it has a "
				                 "backslash or a control character");
	s->job.name = job_name(s);
	s->job.log_folder = s->folder;
	s->script = arena_printf(s->arena, "%s/slurm-of-%d.sh", s->folder, s->nshards);
	s->shard = arena_alloc(s->arena, (size_t)s->nshards, sizeof(*s->shard));
	s->queue.n = s->nshards;
	s->queue.state =
		arena_alloc(s->arena, (size_t)s->nshards, sizeof(*s->queue.state));
	return OK;
}

/* --- files -------------------------------------------------------------------------- */

struct reading {
	struct slurm_sweep *sweep;
	struct slurm_shard *shard;
	struct digests seen;
};

static enum status read_row(void *self, struct digest key, const struct row *r,
                            const char *log, const char *line, size_t length,
                            struct error *e)
{
	struct reading *reading = self;

	(void)log;
	(void)line;
	(void)length;
	(void)e;
	if (digests_has(&reading->seen, key))
		return OK;
	digests_add(&reading->seen, key);
	sweep_count(&reading->sweep->counts, r->status);
	if (r->status == OUTCOME_FAILED)
		reading->shard->good = false;
	return OK;
}

enum status slurm_sweep_read(struct slurm_sweep *s, struct error *e)
{
	struct reading reading = {.sweep = s};
	struct arena *a = arena_new();
	struct shard is;

	s->counts = (struct sweep_counts){.signal = s->counts.signal};
	for (int k = 0; k < s->nshards && e->code == OK; k++) {
		const char *path = shard_path(s, k, a);

		reading.shard = &s->shard[k];
		reading.shard->good = access(path, F_OK) == 0;
		if (!reading.shard->good)
			continue;
		if (shard_read(&is, path, s->plan, read_row, &reading, e) == OK &&
		    (is.shard != k || is.of != s->nshards))
			error_set(e, E_TYPE, (struct where){0},
			          "%s is shard %d/%d, expected %d/%d", path, is.shard,
			          is.of, k, s->nshards);
		/* The path is the arena's. */
		if (e->code != OK && e->at.file == path)
			e->at.file = arena_strdup(s->arena, path);
	}
	digests_free(&reading.seen);
	arena_free(a);
	return e->code;
}

static void watch(struct slurm_sweep *s, int k, struct arena *a)
{
	struct slurm_shard *shard = &s->shard[k];

	shard->watched = true;
	shard->changed = false;
	if (stat(shard_path(s, k, a), &shard->before) != 0)
		shard->before = (struct stat){0};
}

/* A finished shard gets its name by renaming, so it is another file than before. */
void slurm_sweep_look(struct slurm_sweep *s)
{
	struct arena *a = arena_new();
	struct stat now;

	for (int k = 0; k < s->nshards; k++) {
		struct slurm_shard *shard = &s->shard[k];

		if (!shard->watched || shard->changed ||
		    stat(shard_path(s, k, a), &now) != 0)
			continue;
		shard->changed = now.st_ino != shard->before.st_ino ||
		                 now.st_mtim.tv_sec != shard->before.st_mtim.tv_sec ||
		                 now.st_mtim.tv_nsec != shard->before.st_mtim.tv_nsec;
	}
	arena_free(a);
}

/* --- submitting --------------------------------------------------------------------- */

/* A task is the shard of its number, so a task that is run again is the same shard. */
static const char *command(const struct slurm_sweep *s, const char *program)
{
	const char *data = getenv("SHARDSIM_DATA");
	struct text text = {0};

	if (data) {
		text_printf(&text, "export SHARDSIM_DATA=");
		sweep_quote(&text, data);
		text_printf(&text, "\n");
	}
	text_printf(&text, "exec ");
	sweep_quote(&text, program);
	text_printf(&text, " sweep run ");
	sweep_quote(&text, s->path);
	text_printf(&text, " --shard \"$SLURM_ARRAY_TASK_ID/%d\" --out ", s->nshards);
	sweep_quote(&text, s->folder);
	text_printf(&text, "/shard-\"$SLURM_ARRAY_TASK_ID\"-of-%d.jsonl%s", s->nshards,
	            s->run);
	return text_take(&text, s->arena);
}

static enum status write_script(const struct slurm_sweep *s, const char *const *options,
                                struct error *e)
{
	char program[4096];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	struct text text = {0};

	if (n < 0)
		return error_set(e, E_IO, (struct where){0},
		                 "cannot tell where this program is: %s",
		                 strerror(errno));
	program[n] = '\0';
	slurm_script(&text, options, command(s, program));
	file_write(s->script, text.s, text.length, e);
	text_free(&text);
	return e->code;
}

/* Those to be submitted, as sbatch's options; NULL: none. */
static const char *const *options(const struct slurm_sweep *s, int *n)
{
	int *task = arena_alloc(s->arena, (size_t)s->nshards, sizeof(*task));

	*n = 0;
	for (int k = 0; k < s->nshards; k++)
		if (!s->shard[k].good && !s->shard[k].watched)
			task[(*n)++] = k;
	return *n ? slurm_options(&s->job, task, *n, s->arena) : NULL;
}

enum status slurm_sweep_write(struct slurm_sweep *s, int *n, struct error *e)
{
	const char *const *words = options(s, n);

	return words ? write_script(s, words, e) : OK;
}

enum status slurm_sweep_submit(struct slurm_sweep *s, struct error *e)
{
	const char *const *words;
	const char *id;
	int n;

	if (slurm_queue(&s->queue, s->job.name, e) != OK)
		return e->code;
	for (int k = 0; k < s->nshards; k++)
		if (s->queue.state[k] != SLURM_GONE && !s->shard[k].good)
			watch(s, k, s->arena);
	words = options(s, &n);
	if (!words)
		return OK;
	/* A quick task ends before sbatch does. */
	for (int k = 0; k < s->nshards; k++)
		if (!s->shard[k].good && !s->shard[k].watched)
			watch(s, k, s->arena);
	if (write_script(s, words, e) != OK ||
	    slurm_submit(&id, words, s->script, s->arena, e) != OK)
		return e->code;
	fprintf(stderr, "shardsim: submitted %d of %d shards as job %s (%s)\n", n,
	        s->nshards, id, s->job.name);
	return OK;
}
