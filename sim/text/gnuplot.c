#include "text/gnuplot.h"

#include "base/arena.h"
#include "system/child.h"
#include "system/file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A text as gnuplot's string. Single quotes cannot hold two apostrophes in a row (5.4) and
 * double quotes run what stands in backticks, so all but harmless bytes are octal escapes.
 * Control characters become spaces.
 */
void gnuplot_part(FILE *out, const char *s, size_t n)
{
	bool escaped = false;

	fputc('"', out);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		/* A digit behind an escape would be taken for one of its own. */
		escaped = isdigit(c) ? escaped : !isalpha(c) && !strchr(" .,:-", c);
		if (escaped)
			fprintf(out, "\\%03o", c < ' ' || c == 0x7f ? ' ' : c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

void gnuplot_string(FILE *out, const char *s)
{
	gnuplot_part(out, s, strlen(s));
}

/* Returns the commands as a file without a name, at its start; -1 with errno. */
static int script_make(gnuplot_fn *write, const char *terminal, const void *self)
{
	int fd = memfd_create("plot", MFD_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");
	bool ok = out != NULL;

	if (out) {
		write(out, terminal, self);
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

/*
 * gnuplot sees no path: where it cannot write a file it writes to its standard output
 * and calls that success. Its picture comes from there.
 */
static enum status run_gnuplot(struct text *picture, int script, const char *path,
                               struct error *e)
{
	struct where at = {.file = path};
	int fds[2], status;
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
	child_read(picture, fds[0]);
	status = child_wait(child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return error_set(e, E_IO, at, "plots need the program gnuplot");
	if (status != 0 || picture->length == 0)
		return error_set(e, E_IO, at, "gnuplot failed");
	return OK;
}

static const char *terminal_of(const char *path)
{
	const char *ending = strrchr(path, '.');

	if (ending && strcmp(ending, ".svg") == 0)
		return "svg";
	return ending && strcmp(ending, ".pdf") == 0 ? "pdfcairo" : NULL;
}

enum status gnuplot_check(const char *path, struct error *e)
{
	if (terminal_of(path))
		return OK;
	return error_set(e, E_SYNTAX, (struct where){.file = path},
	                 "expected a file name that ends in .svg or .pdf");
}

enum status gnuplot_draw(const char *path, gnuplot_fn *write, const void *self,
                         struct error *e)
{
	struct text picture = {0};
	int script;

	if (gnuplot_check(path, e) != OK)
		return e->code;
	script = script_make(write, terminal_of(path), self);
	if (run_gnuplot(&picture, script, path, e) == OK)
		file_write(path, picture.s, picture.length, e);
	if (script >= 0)
		close(script);
	text_free(&picture);
	return e->code;
}
