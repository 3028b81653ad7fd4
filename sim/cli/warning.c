#include "cli/warning.h"

#include "base/input.h"
#include "notation/xla_warning.h"

#include <string.h>

enum status warning_read(struct problem_text *out, const char **note, struct arena *a,
                         const char *arg, struct error *e)
{
	struct where at = where_option("--xla-warning", arg);
	struct xla_warning warning;
	const char *text = arg;

	*note = NULL;
	if (strcmp(arg, "-") == 0 || arg[0] == '@') {
		const char *path = arg[0] == '@' ? arg + 1 : "/dev/stdin";
		struct text whole = {0};

		input_read(&whole, path, e);
		text = text_take(&whole, a);
		if (e->code != OK)
			return e->code;
		at = (struct where){.file = path, .line = 1, .col = 1};
	}
	if (xla_warning_parse(&warning, a, text, at, e) != OK)
		return e->code;
	out->from = warning.from;
	out->from_at = warning.from_at;
	out->to = warning.to;
	out->to_at = warning.to_at;
	if (out->array)
		return OK;
	if (warning.shard && !warning.array)
		return error_set(e, E_TYPE, warning.array_at,
		                 "%s has another rank than its sharding, expected "
		                 "--array",
		                 warning.shard);
	if (!warning.array)
		return error_set(
			e, E_TYPE, warning.from_at,
			"this warning does not tell the array, expected --array");
	*note = arena_printf(
		a,
		"the warning names %s, one shard of the source; the array is "
		"taken as that times the source's tiles, %s, unless --array "
		"says it",
		warning.shard, warning.array);
	out->array = warning.array;
	out->array_at = warning.array_at;
	return OK;
}
