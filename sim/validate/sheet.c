#include "validate/sheet.h"

#include "base/input.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum status sheet_read(struct sheet *out, struct arena *a, const char *path,
                       const char *const *name, int n, int needed, struct error *e)
{
	const char *own = arena_strdup(a, path), *text = input_text(a, own, e);

	*out = (struct sheet){.arena = a, .name = name, .error = e};
	out->column = arena_alloc(a, (size_t)n, sizeof(*out->column));
	if (text && csv_read(&out->csv, a, own, text, e) == OK)
		csv_columns(out->column, &out->csv, name, n, needed, e);
	return e->code;
}

const char *sheet_text(const struct sheet *s, int64_t row, int k)
{
	return csv_field(&s->csv, row, s->column[k]);
}

const char *sheet_field(const struct sheet *s, int64_t row, int k)
{
	const char *text = sheet_text(s, row, k);

	return *text ? text : NULL;
}

struct where sheet_where(const struct sheet *s, int64_t row, int k)
{
	return csv_where_field(&s->csv, row, s->column[k]);
}

enum status sheet_number(double *out, const struct sheet *s, int64_t row, int k)
{
	const char *text = sheet_text(s, row, k);
	char *end;

	*out = strtod(text, &end);
	if (!*end && isdigit((unsigned char)*text) && !strpbrk(text, "xX") &&
	    *out > 0 && isfinite(*out))
		return OK;
	return error_set(s->error, E_SYNTAX, sheet_where(s, row, k),
	                 "%s is '%.40s', expected a number above 0", s->name[k], text);
}

const char *sheet_path(const struct sheet *s, int64_t row, int k, struct arena *a)
{
	const char *path = sheet_field(s, row, k);
	const char *slash = strrchr(s->csv.path, '/');

	if (!path || *path == '/' || !slash)
		return path;
	return arena_printf(a, "%.*s/%s", (int)(slash - s->csv.path), s->csv.path, path);
}
