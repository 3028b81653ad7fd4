#include "base/error.h"

#include <stdarg.h>
#include <string.h>

enum status error_set(struct error *e, enum status code, struct where at,
                      const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	if (e->code != OK)
		return e->code;
	e->code = code;
	e->at = at;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return code;
}

/* The caret goes below the byte; tabs are kept so that it lines up on any terminal. */
static void print_caret(FILE *out, const struct where *at)
{
	size_t length = strcspn(at->source, "\n");

	fprintf(out, "  %.*s\n  ", (int)length, at->source);
	for (unsigned i = 0; i + 1 < at->col && i < length; i++)
		fputc(at->source[i] == '\t' ? '\t' : ' ', out);
	fputs("^\n", out);
}

void error_print(FILE *out, const struct error *e)
{
	if (e->at.file && e->at.line)
		fprintf(out, "%s:%u:%u: ", e->at.file, e->at.line, e->at.col);
	else if (e->at.file)
		fprintf(out, "%s: ", e->at.file);
	fprintf(out, "%s\n", e->text);
	if (e->at.source)
		print_caret(out, &e->at);
}

struct where where_option(const char *name, const char *text)
{
	return (struct where){.file = name, .line = 1, .col = 1, .source = text};
}

enum status error_in_file(struct error *e, struct where at)
{
	if (e->code != OK && e->at.file && !strncmp(e->at.file, "--", 2))
		e->at = at;
	return e->code;
}
