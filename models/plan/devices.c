#include "plan/devices.h"

#include "base/input.h"
#include "base/list.h"
#include "base/scan.h"

#include <ctype.h>

/* What was read so far; `seen` has a bit for every device below the limit. */
struct listed {
	struct arena *arena;
	LIST(int32_t) devices;
	int32_t limit;
	uint8_t *seen;
};

static bool add_device(struct listed *l, int64_t d)
{
	uint8_t bit = (uint8_t)(1u << (d % 8));

	if (l->seen[d / 8] & bit)
		return false;
	l->seen[d / 8] |= bit;
	*list_add(&l->devices, l->arena) = (int32_t)d;
	return true;
}

/*
 * Reads numbers and ranges; commas and white space both part them, no comma ends them.
 */
static enum status scan_devices(struct listed *l, struct scan *s)
{
	while (!scan_done(s)) {
		const char *start = s->pos;
		int64_t first, last, max = l->limit - 1;
		const char *end;

		if (!scan_int(s, "a device", 0, max, &first))
			return s->error->code;
		last = first;
		if (scan_take(s, "-")) {
			scan_peek(s);
			end = s->pos;
			if (!scan_int(s, "a device", 0, max, &last))
				return s->error->code;
			if (last < first)
				return scan_fail_at(
					s, end, E_RANGE,
					"the range %lld-%lld goes backwards, "
					"expected %lld to %lld after the '-'",
					(long long)first, (long long)last,
					(long long)first, (long long)max);
		}
		for (int64_t d = first; d <= last; d++)
			if (!add_device(l, d))
				return scan_fail_at(s, start, E_TYPE,
				                    "device %lld is listed twice",
				                    (long long)d);
		if (scan_take(s, ",")) {
			if (scan_done(s))
				return scan_fail(s, E_SYNTAX,
				                 "expected a device after the ','");
		} else if (!scan_done(s) && !isdigit((unsigned char)*s->pos)) {
			return scan_fail(s, E_SYNTAX, "expected ',' or a device");
		}
	}
	return OK;
}

enum status devices_parse(int32_t **out, int32_t *n, struct arena *a, const char *text,
                          struct where at, int32_t limit, struct error *e)
{
	struct listed l = {.arena = a, .limit = limit};
	struct scan s;

	if (text[0] == '@') {
		if (!text[1])
			return error_set(e, E_SYNTAX, at,
			                 "expected a file name after '@'");
		at = (struct where){.file = text + 1, .line = 1, .col = 1};
		text = input_text(a, text + 1, e);
		if (!text)
			return e->code;
	}
	l.seen = arena_alloc(a, (size_t)limit / 8 + 1, 1);
	s = scan_start(text, at, e);
	if (scan_devices(&l, &s) != OK)
		return e->code;
	*out = l.devices.at;
	*n = (int32_t)l.devices.n;
	if (*n == 0)
		return scan_fail(&s, E_SYNTAX, "expected devices such as 0-3,8-11");
	return OK;
}
