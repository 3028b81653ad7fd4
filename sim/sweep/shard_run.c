#include "sweep/shard_run.h"

#include "system/file.h"
#include "system/lock.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Keeps the line of a row that is done; of two rows of one case the first counts. */
static enum status keep_line(void *self, struct digest key, const struct row *r,
                             const char *log, const char *line, size_t length,
                             struct error *e)
{
	struct shard_file *f = self;

	(void)log;
	(void)e;
	if (r->status == OUTCOME_FAILED || digests_has(&f->done, key))
		return OK;
	digests_add(&f->done, key);
	sweep_count(&f->counts, r->status);
	text_append(&f->lines, line, length);
	return OK;
}

static enum status read_old(struct shard_file *f, const char *path, bool *there,
                            struct error *e)
{
	struct shard shard;

	*there = access(path, F_OK) == 0;
	if (!*there)
		return OK;
	if (shard_read(&shard, path, f->plan, keep_line, f, e) != OK)
		return e->code;
	if (shard.shard != f->shard.shard || shard.of != f->shard.of)
		return error_set(e, E_TYPE, (struct where){.file = path},
		                 "this is shard %d/%d, expected %d/%d", shard.shard,
		                 shard.of, f->shard.shard, f->shard.of);
	return OK;
}

enum status shard_open(struct shard_file *f, const char *path, struct digest plan,
                       struct shard shard, struct arena *a, struct error *e)
{
	bool part;

	*f = (struct shard_file){.plan = plan, .shard = shard, .lock_fd = -1};
	f->path = arena_strdup(a, path);
	f->part = arena_printf(a, "%s.part", path);
	if (lock_take(&f->lock_fd, arena_printf(a, "%s.lock", path),
	              (struct where){.file = f->path}, e) != OK) {
		f->busy = f->lock_fd == LOCK_HELD;
		return e->code;
	}
	if (read_old(f, f->path, &f->whole, e) != OK)
		return e->code;
	return read_old(f, f->part, &part, e);
}

enum status shard_done(bool *done, const char *path, struct digest plan,
                       struct shard shard, int64_t cases, struct error *e)
{
	struct shard_file f = {.path = path, .plan = plan, .shard = shard};

	read_old(&f, path, done, e);
	*done = *done && f.counts.rows == cases;
	text_free(&f.lines);
	digests_free(&f.done);
	return e->code;
}

enum status shard_begin(struct shard_file *f, struct error *e)
{
	struct text text = {0};

	shard_print_head(&text, f->plan, f->shard);
	text_append(&text, f->lines.s ? f->lines.s : "", f->lines.length);
	if (file_write(f->part, text.s, text.length, e) == OK) {
		f->out = fopen(f->part, "ae");
		if (!f->out)
			error_set(e, E_IO, (struct where){.file = f->part},
			          "cannot write it: %s", strerror(errno));
	}
	text_free(&text);
	return e->code;
}

static enum status put_line(void *self, const struct row *r, struct sweep_mark mark,
                            const char *log, struct error *e)
{
	struct shard_file *f = self;
	struct text line = {0};

	shard_print_row(&line, r, mark.key, log);
	if (fwrite(line.s, 1, line.length, f->out) != line.length)
		error_set(e, E_IO, (struct where){.file = f->part},
		          "cannot write it: %s", strerror(errno));
	text_free(&line);
	return e->code;
}

static enum status flush(void *self, struct error *e)
{
	struct shard_file *f = self;

	if (fflush(f->out) != 0)
		return error_set(e, E_IO, (struct where){.file = f->part},
		                 "cannot write it: %s", strerror(errno));
	return OK;
}

struct sweep_sink shard_sink(struct shard_file *f)
{
	return (struct sweep_sink){put_line, flush, f};
}

static enum status count_line(void *self, struct digest key, const struct row *r,
                              const char *log, const char *line, size_t length,
                              struct error *e)
{
	(void)key;
	(void)r;
	(void)log;
	(void)line;
	(void)length;
	(void)e;
	++*(int64_t *)self;
	return OK;
}

/* Checks that FILE.part has all rows: it may have been cut or removed meanwhile. */
static enum status check_written(struct shard_file *f, struct error *e)
{
	int64_t rows = 0;

	if (flush(f, e) == OK &&
	    shard_read(NULL, f->part, f->plan, count_line, &rows, e) == OK &&
	    rows != f->counts.rows)
		error_set(e, E_IO, (struct where){.file = f->part},
		          "it has %lld rows, but %lld were put into it",
		          (long long)rows, (long long)f->counts.rows);
	return e->code;
}

enum status shard_finish(struct shard_file *f, struct error *e)
{
	if (check_written(f, e) == OK && !file_replace(f->part, f->path))
		return error_set(e, E_IO, (struct where){.file = f->path},
		                 "cannot write it: %s", strerror(errno));
	return e->code;
}

void shard_close(struct shard_file *f)
{
	struct text lock = {0};

	if (f->out)
		fclose(f->out);
	text_printf(&lock, "%s.lock", f->path);
	lock_give(f->lock_fd, lock.s);
	text_free(&lock);
	text_free(&f->lines);
	digests_free(&f->done);
}
