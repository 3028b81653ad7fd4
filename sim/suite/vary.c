/* Scenarios that vary: one per mesh and per size of the array. */
#include "suite/reader.h"

#include "base/units.h"
#include "plan/position.h"

#include <string.h>

/* Makes the problem once, and notes how many devices it needs. */
static enum status check_problem(struct reader *r, struct scenario *s)
{
	struct arena *scratch = arena_new();
	struct problem p;
	enum status status = problem_make(&p, scratch, &s->text, r->error);

	if (status == OK)
		s->needs = position_needs(&p);
	/*
	 * A place may borrow text from the arena, but a place in a file shows no text.
	 */
	arena_free(scratch);
	return status;
}

/* Gives the array another first dimension, so that it has that many bytes. */
static enum status scale_array(struct reader *r, struct scenario *s,
                               const struct suite_value *size)
{
	struct text text = {0};
	struct array array;
	int64_t bytes, row;

	if (array_parse(&array, s->text.array, s->text.array_at, r->error) != OK ||
	    units_bytes(size->text, size->at, &bytes, r->error) != OK)
		return r->error->code;
	if (array.shape.rank == 0)
		return error_set(r->error, E_TYPE, size->at,
		                 "%.60s has no dimension that could be scaled",
		                 s->text.array);
	if (bytes < 1 || bytes > GENERATED_BYTES_MAX)
		return error_set(r->error, E_RANGE, size->at, "expected 1 byte to 2^58");
	array.shape.dim[0] = 1;
	row = shape_elements(&array.shape) * array.dtype->bits;
	if (8 * bytes % row != 0)
		return error_set(r->error, E_RANGE, size->at,
		                 "%.60s cannot have %lld bytes: its rows have %lld%s",
		                 s->text.array, (long long)bytes,
		                 (long long)(row % 8 ? row : row / 8),
		                 row % 8 ? " bits" : "");
	array.shape.dim[0] = 8 * bytes / row;
	array_print(&text, &array);
	s->text.array = text_take(&text, r->suite->arena);
	return OK;
}

/* Notes in the name and in `varied` what a scenario has of its own. */
static void note_varied(struct arena *a, struct scenario *s, const char *key,
                        const char *value)
{
	s->name = arena_printf(a, "%s{%s=%s}", s->name, key, value);
	s->varied = arena_printf(a, "%s%s%s=%s", s->varied, s->varied[0] ? " " : "",
	                         key, value);
}

/* Returns a value without spaces, which part the figures of `varied`. */
static const char *without_spaces(struct arena *a, const char *text)
{
	char *out = arena_strdup(a, text), *to = out;

	for (; *text; text++)
		if (*text != ' ')
			*to++ = *text;
	*to = '\0';
	return out;
}

static enum status add_checked(struct reader *r, struct scenario *s)
{
	if (check_problem(r, s) == OK)
		suite_add(r->suite, s);
	return r->error->code;
}

static enum status vary_bytes(struct reader *r, struct scenario *s,
                              const struct suite_value *size, int n)
{
	if (n == 0)
		return add_checked(r, s);
	for (int i = 0; i < n; i++) {
		struct scenario one = *s;

		if (scale_array(r, &one, &size[i]) != OK)
			return r->error->code;
		note_varied(r->suite->arena, &one, "bytes", size[i].text);
		if (add_checked(r, &one) != OK)
			return r->error->code;
	}
	return OK;
}

enum status suite_vary(struct reader *r, const struct scenario *s,
                       const struct suite_list *list)
{
	struct suite_value *mesh, *size = NULL;
	struct scenario one = *s;
	int nmeshes, nsizes = 0;

	one.base = s->name;
	one.varied = "";
	if (list->bytes &&
	    suite_values(&size, &nsizes, r, list->bytes, VARIED_BYTES) != OK)
		return r->error->code;
	if (!list->mesh || list->mesh->type == YAML_SCALAR_NODE)
		return vary_bytes(r, &one, size, nsizes);
	if (suite_values(&mesh, &nmeshes, r, list->mesh, VARIED_TEXT) != OK)
		return r->error->code;
	for (int i = 0; i < nmeshes; i++) {
		struct scenario on = one;

		on.text.mesh = mesh[i].text;
		on.text.mesh_at = mesh[i].at;
		note_varied(r->suite->arena, &on, "mesh",
		            without_spaces(r->suite->arena, mesh[i].text));
		if (vary_bytes(r, &on, size, nsizes) != OK)
			return r->error->code;
	}
	return OK;
}
