#include "text/csv.h"

#include "base/input.h"
#include "base/list.h"
#include "base/suggest.h"
#include "text/words.h"

#include <stdlib.h>
#include <string.h>

/* Bytes in which a table's first line must end to be known by it. */
enum { CSV_COLUMNS_MAX = 256, CSV_HEAD_MAX = 1 << 16 };

struct csv_reader {
	struct arena *arena;
	const char *path, *pos, *begin; /* begin: of the line */
	unsigned line;
	struct error *error;
	LIST(const char *) field; /* of all records so far, or of the header */
	LIST(struct csv_place) at;
	int nfields; /* of the record at hand */
	struct text buffer;
};

static enum status csv_fail(struct csv_reader *r, unsigned line, const char *what)
{
	struct where at = {.file = r->path, .line = line, .col = 1};

	return error_set(r->error, E_SYNTAX, at, "%s", what);
}

/* Counts the line that begins behind the newline at hand. */
static void line_ends(struct csv_reader *r)
{
	r->line++;
	r->begin = r->pos + 1;
}

/* Reads a quoted field, from its first quote on, into the buffer. */
static enum status quoted_read(struct csv_reader *r)
{
	unsigned begun = r->line;

	for (r->pos++;; r->pos++) {
		if (!*r->pos)
			return csv_fail(r, begun, "a quoted field is not closed");
		if (*r->pos == '"' && *++r->pos != '"')
			break;
		if (*r->pos == '\n')
			line_ends(r);
		text_append(&r->buffer, r->pos, 1);
	}
	if (*r->pos && !strchr(",\r\n", *r->pos))
		return csv_fail(r, r->line, "expected a comma after a quoted field");
	return OK;
}

static enum status record_read(struct csv_reader *r)
{
	r->nfields = 0;
	for (;;) {
		size_t n = 0;

		if (r->nfields == CSV_COLUMNS_MAX)
			return csv_fail(r, r->line, "more than 256 fields");
		r->buffer.length = 0;
		*list_add(&r->at, r->arena) = (struct csv_place){
			r->line, (unsigned)(r->pos - r->begin) + 1 + (*r->pos == '"')};
		if (*r->pos == '"') {
			if (quoted_read(r) != OK)
				return r->error->code;
		} else {
			n = strcspn(r->pos, ",\r\n");
			text_append(&r->buffer, r->pos, n);
			r->pos += n;
		}
		*list_add(&r->field, r->arena) = arena_strndup(
			r->arena, r->buffer.s ? r->buffer.s : "", r->buffer.length);
		r->nfields++;
		if (*r->pos != ',')
			break;
		r->pos++;
	}
	r->pos += *r->pos == '\r';
	if (*r->pos == '\n') {
		line_ends(r);
		r->pos++;
	}
	return OK;
}

/* Moves on to the next record; false at the end. */
static bool record_next(struct csv_reader *r)
{
	while (*r->pos == '#' || *r->pos == '\n' || *r->pos == '\r') {
		r->pos += strcspn(r->pos, "\n");
		if (*r->pos == '\n') {
			line_ends(r);
			r->pos++;
		}
	}
	return *r->pos != '\0';
}

static enum status header_read(struct csv *out, struct csv_reader *r)
{
	unsigned line = r->line;

	if (!record_next(r))
		return csv_fail(r, line, "expected a header line of column names");
	line = r->line;
	if (record_read(r) != OK)
		return r->error->code;
	out->ncolumns = r->nfields;
	out->column = arena_dup(r->arena, r->field.at, (size_t)r->nfields,
	                        sizeof(*out->column));
	r->field.n = r->at.n = 0;
	for (int i = 0; i < r->nfields; i++)
		for (int j = 0; j < i; j++)
			if (!strcmp(out->column[i], out->column[j]))
				return error_set(r->error, E_SYNTAX,
				                 (struct where){.file = r->path,
				                                .line = line,
				                                .col = 1},
				                 "column '%s' is there twice",
				                 out->column[i]);
	return OK;
}

enum status csv_read(struct csv *out, struct arena *a, const char *path,
                     const char *text, struct error *e)
{
	struct error local = {0};
	static const char mark[] = "\xef\xbb\xbf";
	bool marked = strncmp(text, mark, strlen(mark)) == 0;
	struct csv_reader r = {.arena = a,
	                       .path = path,
	                       .pos = text + (marked ? strlen(mark) : 0),
	                       .begin = text,
	                       .line = 1,
	                       .error = e ? e : &local};

	*out = (struct csv){.path = path};
	header_read(out, &r);
	while (r.error->code == OK && record_next(&r)) {
		unsigned line = r.line;

		if (record_read(&r) != OK)
			break;
		if (r.nfields != out->ncolumns) {
			error_set(r.error, E_SYNTAX,
			          (struct where){.file = path, .line = line, .col = 1},
			          "a record of %d fields, expected %d", r.nfields,
			          out->ncolumns);
			break;
		}
		out->nrows++;
	}
	out->field = r.field.at;
	out->at = r.at.at;
	text_free(&r.buffer);
	return r.error->code;
}

bool csv_names(const char *path, const char *one, const char *other)
{
	char head[CSV_HEAD_MAX + 1];
	FILE *in = fopen(path, "r");
	const char *line = head;
	size_t n;

	if (!in)
		return false;
	head[fread(head, 1, CSV_HEAD_MAX, in)] = '\0';
	fclose(in);
	while (*line == '#' || *line == '\n' || *line == '\r')
		line += strcspn(line, "\n") + (line[strcspn(line, "\n")] != '\0');
	n = strcspn(line, "\n");
	return memmem(line, n, one, strlen(one)) &&
	       memmem(line, n, other, strlen(other));
}

int csv_column(const struct csv *t, const char *name)
{
	for (int i = 0; i < t->ncolumns; i++)
		if (!strcmp(t->column[i], name))
			return i;
	return -1;
}

enum status csv_columns(int *out, const struct csv *t, const char *const *name, int n,
                        int needed, struct error *e)
{
	const struct where head = {.file = t->path, .line = 1, .col = 1};

	for (int i = 0; i < n; i++) {
		out[i] = csv_column(t, name[i]);
		if (out[i] < 0 && i < needed)
			return error_set(e, E_SYNTAX, head, "column '%s' is missing",
			                 name[i]);
	}
	for (int c = 0; c < t->ncolumns; c++) {
		struct suggestion near =
			suggest_start(t->column[c], strlen(t->column[c]));
		bool known = false;

		for (int i = 0; i < n; i++) {
			known |= out[i] == c;
			if (out[i] < 0)
				suggest_offer(&near, name[i]);
		}
		if (!known && near.nearest && !near.part)
			return error_set(e, E_SYNTAX, head, "unknown column '%s'%s",
			                 t->column[c], suggest_ask(&near, ""));
	}
	return OK;
}

const char *csv_field(const struct csv *t, int64_t row, int column)
{
	return column < 0 ? "" : t->field[row * t->ncolumns + column];
}

struct where csv_where(const struct csv *t, int64_t row)
{
	return (struct where){
		.file = t->path, .line = t->at[row * t->ncolumns].line, .col = 1};
}

struct where csv_where_field(const struct csv *t, int64_t row, int column)
{
	const struct csv_place *at;

	if (column < 0)
		return csv_where(t, row);
	at = &t->at[row * t->ncolumns + column];
	return (struct where){.file = t->path, .line = at->line, .col = at->col};
}

/* Returns whether the text is a number such as -1.5e-06, which needs no neutralising. */
static bool is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return end != text && !*end && !text[strspn(text, "+-.0123456789eE")];
}

void csv_put(FILE *out, const char *text, bool first)
{
	bool quoted = strpbrk(text, "\",\r\n") != NULL;

	if (!first)
		fputc(',', out);
	if (quoted)
		fputc('"', out);
	if (*text && strchr("=+-@\t\r", *text) && !is_number(text))
		fputc('\'', out);
	while (*text) {
		int n = words_direction_control(text);

		if (n) {
			fputs(WORDS_REPLACED, out);
			text += n;
			continue;
		}
		if (*text == '"')
			fputc('"', out);
		fputc(*text++, out);
	}
	if (quoted)
		fputc('"', out);
}
