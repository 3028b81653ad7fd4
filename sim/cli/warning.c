#include "cli/warning.h"

#include "base/input.h"
#include "notation/xla_warning.h"

#include <string.h>

enum status warning_read(struct problem_text *out, struct arena *a, const char *arg,
                         struct error *e)
{
	struct where at = where_option("--xla-warning", arg);
	struct xla_warning w;
	const char *text = arg;

	if (strcmp(arg, "-") == 0 || arg[0] == '@') {
		const char *path = arg[0] == '@' ? arg + 1 : "/dev/stdin";
		struct text whole = {0};

		input_read(&whole, path, e);
		text = text_take(&whole, a);
		if (e->code != OK)
			return e->code;
		at = (struct where){.file = path, .line = 1, .col = 1};
	}
	if (xla_warning_parse(&w, a, text, at, e) != OK)
		return e->code;
	out->from = w.from;
	out->from_at = w.from_at;
	out->to = w.to;
	out->to_at = w.to_at;
	if (out->array)
		return OK;
	if (w.shard && !w.array)
		return error_set(e, E_TYPE, w.array_at,
		                 "%s has another rank than its sharding, expected "
		                 "--array",
		                 w.shard);
	if (!w.array)
		return error_set(
			e, E_TYPE, w.from_at,
			"this warning does not tell the array, expected --array");
	out->array = w.array;
	out->array_at = w.array_at;
	return OK;
}
