#include "cli/warning.h"

#include "array/array.h"
#include "base/input.h"

#include <string.h>

enum status warning_open(struct xla_warnings *out, struct arena *a, const char *arg,
                         struct error *e)
{
	const char *path = arg[0] == '@' ? arg + 1 : "/dev/stdin";

	if (arg[0] != '@' && strcmp(arg, "-") != 0) {
		*out = (struct xla_warnings){where_option("--xla-warning", arg), arg};
		return OK;
	}
	out->at = (struct where){.file = path, .line = 1, .col = 1};
	out->rest = input_text(a, path, e);
	return e->code;
}

/* Gives an array of the user's the dimension of the manual groups. */
static enum status lead_array(struct problem_text *out, struct arena *a, int32_t groups,
                              struct error *e)
{
	struct text text = {0};
	struct array array;

	if (array_parse(&array, out->array, out->array_at, e) != OK)
		return e->code;
	text_printf(&text, "%s[%d", array.dtype->name, groups);
	for (int dim = 0; dim < array.shape.rank; dim++)
		text_printf(&text, ",%lld", (long long)array.shape.dim[dim]);
	text_printf(&text, "]");
	out->array = text_take(&text, a);
	return OK;
}

enum status warning_fill(struct problem_text *out, const char **note, int *manual,
                         struct arena *a, const struct xla_warning *w, struct error *e)
{
	*note = NULL;
	*manual = w->manual > 0;
	out->from = w->from;
	out->from_at = w->from_at;
	out->to = w->to;
	out->to_at = w->to_at;
	if (out->array)
		return w->manual ? lead_array(out, a, w->manual, e) : OK;
	if (w->shard && !w->array)
		return error_set(e, E_TYPE, w->array_at,
		                 "%s has another rank than its sharding, expected "
		                 "--array",
		                 w->shard);
	if (!w->array)
		return error_set(
			e, E_TYPE, w->from_at,
			"this warning does not tell the array, expected --array");
	*note = arena_printf(
		a,
		"the warning names %s, one shard of the source; the array is "
		"taken as that times the source's tiles, %s, unless --array "
		"says it",
		w->shard, w->array);
	out->array = w->array;
	out->array_at = w->array_at;
	return OK;
}

/* Returns how many warnings there are behind this one. */
static int count_rest(struct xla_warnings *w, struct arena *a)
{
	struct where at;
	int n = 0;

	while (xla_warnings_next(w, &at, a))
		n++;
	return n;
}

enum status warning_read(struct problem_text *out, const char *note[WARNING_NOTES],
                         int *manual, struct arena *a, struct xla_warnings all,
                         struct error *e)
{
	struct xla_warning warning;
	struct where at = all.at;
	const char *text;
	int n = 0, others;

	memset(note, 0, WARNING_NOTES * sizeof(*note));
	text = xla_warnings_next(&all, &at, a);
	if (xla_warning_parse(&warning, a, text ? text : "", at, e) != OK ||
	    warning_fill(out, &note[0], manual, a, &warning, e) != OK)
		return e->code;
	n += note[0] != NULL;
	if (*manual)
		note[n++] =
			arena_printf(a,
		                     "inside a manual region: dimension 0 numbers its "
		                     "%d groups of devices, an array each",
		                     warning.manual);
	others = count_rest(&all, a);
	if (others)
		note[n] = arena_printf(a,
		                       "the first of %d warnings; 'shardsim advise' "
		                       "answers all of them",
		                       others + 1);
	return OK;
}
