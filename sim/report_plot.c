#include "report_plot.h"

#include "file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* One curve: the speedups of a planner on a platform. */
struct curve {
	const char *platform, *planner;
	size_t n, capacity;
	double *speedup;
};

struct curves {
	struct arena *arena;
	size_t n, capacity;
	struct curve *curve;
};

static void *grow(struct arena *a, const void *old, size_t n, size_t *capacity,
                  size_t size)
{
	void *out;

	*capacity = *capacity ? 2 * *capacity : 16;
	out = arena_alloc(a, *capacity, size);
	if (n)
		memcpy(out, old, n * size);
	return out;
}

static struct curve *curve_of(struct curves *c, const struct row *r)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->curve[i].platform, r->platform) == 0 &&
		    strcmp(c->curve[i].planner, r->planner) == 0)
			return &c->curve[i];
	if (c->n == c->capacity)
		c->curve =
			grow(c->arena, c->curve, c->n, &c->capacity, sizeof(*c->curve));
	c->curve[c->n] = (struct curve){.platform = r->platform, .planner = r->planner};
	return &c->curve[c->n++];
}

static bool timed(const struct row *r)
{
	return r->status == OUTCOME_OK && r->time_s > 0;
}

/* Rows come sorted by scenario, platform, planner: partners stand close together. */
static const struct row *partner(const struct row *rows, size_t n, size_t i,
                                 const char *baseline)
{
	size_t k = i;

	while (k > 0 && strcmp(rows[k - 1].scenario, rows[i].scenario) == 0 &&
	       strcmp(rows[k - 1].platform, rows[i].platform) == 0)
		k--;
	for (; k < n && strcmp(rows[k].scenario, rows[i].scenario) == 0 &&
	       strcmp(rows[k].platform, rows[i].platform) == 0;
	     k++)
		if (strcmp(rows[k].planner, baseline) == 0 &&
		    strcmp(rows[k].clock, rows[i].clock) == 0)
			return &rows[k];
	return NULL;
}

static int rising(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int by_platform(const void *a, const void *b)
{
	const struct curve *x = a, *y = b;
	int order = strcmp(x->platform, y->platform);

	return order ? order : strcmp(x->planner, y->planner);
}

static void gather(struct curves *c, const struct row *rows, size_t n,
                   const struct report_options *o, const char *baseline,
                   const char *clock)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *base;
		struct curve *curve;

		if (strcmp(rows[i].clock, clock) != 0 || !timed(&rows[i]) ||
		    !report_family(o, &rows[i]) ||
		    strcmp(rows[i].planner, baseline) == 0)
			continue;
		base = partner(rows, n, i, baseline);
		if (!base || !timed(base))
			continue;
		curve = curve_of(c, &rows[i]);
		if (curve->n == curve->capacity)
			curve->speedup = grow(c->arena, curve->speedup, curve->n,
			                      &curve->capacity, sizeof(double));
		curve->speedup[curve->n++] = base->time_s / rows[i].time_s;
	}
	for (size_t i = 0; i < c->n; i++)
		qsort(c->curve[i].speedup, c->curve[i].n, sizeof(double), rising);
	if (c->n)
		qsort(c->curve, c->n, sizeof(*c->curve), by_platform);
}

static size_t curves_of_platform(const struct curves *c, size_t first)
{
	size_t n = 1;

	while (first + n < c->n &&
	       strcmp(c->curve[first].platform, c->curve[first + n].platform) == 0)
		n++;
	return n;
}

/*
 * A text as gnuplot's string. Single quotes cannot hold two apostrophes in a row (5.4) and
 * double quotes run what stands in backticks, so all but harmless bytes are octal escapes.
 * Control characters become spaces.
 */
static void write_string(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (isalnum(c) || strchr(" .,:-", c))
			fputc(c, out);
		else
			fprintf(out, "\\%03o", c < ' ' || c == 0x7f ? ' ' : c);
	}
	fputc('"', out);
}

/* gnuplot repeats its own colours after eight curves; planners are more. */
static const char *const colours[] = {"#d62728", "#1f77b4", "#2ca02c", "#ff7f0e",
                                      "#9467bd", "#8c564b", "#e377c2", "#000000",
                                      "#bcbd22", "#17becf", "#7f7f7f", "#00429d"};

enum { COLOURS = sizeof(colours) / sizeof(colours[0]) };

/* One panel: a gnuplot `plot` of data that follow on the same stream. */
static void write_panel(FILE *out, const struct curves *c, size_t first, size_t n)
{
	fputs("set title ", out);
	write_string(out, c->curve[first].platform);
	fputs(" noenhanced\nplot 1 with lines lc rgb '#999999' notitle", out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, ", '-' using 1:2 with steps lw 2 lc rgb '%s' title ",
		        colours[i % COLOURS]);
		write_string(out, c->curve[first + i].planner);
		fputs(" noenhanced", out);
	}
	fprintf(out, "\n");
	for (size_t i = first; i < first + n; i++) {
		for (size_t k = 0; k < c->curve[i].n; k++)
			fprintf(out, "%.6g %.6g\n",
			        100.0 * (double)(k + 1) / (double)c->curve[i].n,
			        c->curve[i].speedup[k]);
		fprintf(out, "e\n");
	}
}

static void write_plot(FILE *out, const struct curves *c, const char *terminal,
                       const char *baseline, const char *clock)
{
	size_t panels = 0, columns, rows;
	char *title =
		arena_printf(c->arena, "Speedup over %s, clock %s", baseline, clock);

	for (size_t i = 0; i < c->n; i += curves_of_platform(c, i))
		panels++;
	columns = panels < 3 ? panels : 3;
	rows = (panels + columns - 1) / columns;
	fprintf(out, "set encoding utf8\nset terminal %s size ", terminal);
	if (strcmp(terminal, "svg") == 0)
		fprintf(out, "%zu,%zu font 'sans,12' background rgb 'white'\n",
		        480 * columns, 300 * rows + 40);
	else
		fprintf(out, "%zucm,%zucm font 'sans,10'\n", 12 * columns, 8 * rows + 1);
	fprintf(out, "set multiplot layout %zu,%zu title ", rows, columns);
	write_string(out, title);
	fputs(" noenhanced\n"
	      "set logscale y\nset grid\nset key outside right top\n"
	      "set xrange [0:100]\n"
	      "set xlabel 'share of scenarios, %'\nset ylabel 'speedup'\n",
	      out);
	for (size_t i = 0; i < c->n; i += curves_of_platform(c, i))
		write_panel(out, c, i, curves_of_platform(c, i));
	fprintf(out, "unset multiplot\nset output\n");
}

/* The commands as a file without a name, at its start; -1 with errno. */
static int plot_script(const struct curves *c, const char *terminal,
                       const char *baseline, const char *clock)
{
	int fd = memfd_create("plot", MFD_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");
	bool ok = out != NULL;

	if (out) {
		write_plot(out, c, terminal, baseline, clock);
		ok = fflush(out) == 0 && !ferror(out);
		fclose(out);
	}
	if (ok && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static _Noreturn void become_gnuplot(int script, int picture)
{
	/* The axes' characters are of UTF-8; gnuplot warns where the locale lacks them. */
	setenv("LC_ALL", "C.UTF-8", 1);
	dup2(script, STDIN_FILENO);
	dup2(picture, STDOUT_FILENO);
	execlp("gnuplot", "gnuplot", "-d", (char *)NULL);
	_exit(127);
}

static void read_picture(struct text *out, int fd)
{
	char block[65536];
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			text_append(out, block, (size_t)n);
	}
}

/*
 * gnuplot sees no path: where it cannot write a file it writes to its standard output
 * and calls that success. Its picture comes from there.
 */
static enum status run_gnuplot(struct text *picture, int script, const char *path,
                               struct error *e)
{
	struct where at = {.file = path};
	int fds[2], status = -1;
	pid_t child;

	if (script < 0 || pipe(fds) != 0)
		return error_set(e, E_IO, at, "cannot start gnuplot: %s",
		                 strerror(errno));
	fflush(NULL);
	child = fork();
	if (child == 0) {
		close(fds[0]);
		become_gnuplot(script, fds[1]);
	}
	close(fds[1]);
	read_picture(picture, fds[0]);
	close(fds[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return error_set(e, E_IO, at, "plots need the program gnuplot");
	if (status != 0 || picture->length == 0)
		return error_set(e, E_IO, at, "gnuplot failed");
	return OK;
}

static enum status draw(const struct curves *c, const char *terminal, const char *path,
                        const char *baseline, const char *clock, struct error *e)
{
	int script = plot_script(c, terminal, baseline, clock);
	struct text picture = {0};

	if (run_gnuplot(&picture, script, path, e) == OK)
		file_write(path, picture.s, picture.length, e);
	if (script >= 0)
		close(script);
	text_free(&picture);
	return e->code;
}

enum status report_plot(const char *path, struct store *store,
                        const struct report_options *o, struct error *e)
{
	const char *ending = strrchr(path, '.');
	const char *baseline = o->baseline ? o->baseline : "xla-2021";
	const char *clock = o->clocks && o->clocks[0] ? o->clocks[0] : "model";
	const char *terminal = !ending                       ? NULL
	                       : strcmp(ending, ".svg") == 0 ? "svg"
	                       : strcmp(ending, ".pdf") == 0 ? "pdfcairo"
	                                                     : NULL;
	struct curves c = {.arena = arena_new()};
	struct row *rows;
	size_t n;

	if (!terminal)
		error_set(e, E_SYNTAX, (struct where){.file = path},
		          "expected a file name that ends in .svg or .pdf");
	else if (store_rows(store, c.arena, &rows, &n, e) == OK) {
		gather(&c, rows, n, o, baseline, clock);
		if (c.n == 0)
			error_set(e, E_RANGE, (struct where){.file = path},
			          "nothing to compare with %s under clock %s", baseline,
			          clock);
		else
			draw(&c, terminal, path, baseline, clock, e);
	}
	arena_free(c.arena);
	return e->code;
}
