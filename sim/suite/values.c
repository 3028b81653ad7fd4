/* Fields of a suite that have several values: lists and ranges. */
#include "suite/reader.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct values {
	struct reader *reader;
	enum varied_unit unit;
	struct suite_value *value;
	double number[SUITE_VALUES_MAX]; /* of each value; NaN for texts */
	int n;
};

/*
 * Adds a value. Its number, not its text, must differ from the others by more than
 * rounding, since 1024KiB would give the scenario of 1MiB again.
 */
static enum status add_value(struct values *v, const char *text, double number,
                             struct where at)
{
	if (v->n == SUITE_VALUES_MAX)
		return error_set(v->reader->error, E_RANGE, at, "more than %d values",
		                 SUITE_VALUES_MAX);
	for (int i = 0; i < v->n; i++)
		if (fabs(v->number[i] - number) <= 1e-15 * fabs(number))
			return error_set(v->reader->error, E_TYPE, at,
			                 "%.60s is there already as %.60s", text,
			                 v->value[i].text);
	v->number[v->n] = number;
	v->value[v->n++] = (struct suite_value){text, at};
	return OK;
}

/* Returns a number as people write it, which reads back as the same but for rounding. */
static const char *number_text(struct arena *a, enum varied_unit unit, double number)
{
	static const struct {
		enum varied_unit unit;
		double size;
		const char *name;
	} units[] = {
		{VARIED_BYTES, 1 << 30, "GiB"}, {VARIED_BYTES, 1 << 20, "MiB"},
		{VARIED_BYTES, 1 << 10, "KiB"}, {VARIED_RATE, 1e9, "GBps"},
		{VARIED_RATE, 1e6, "MBps"},     {VARIED_TIME, 1e-3, "ms"},
		{VARIED_TIME, 1e-6, "us"},      {VARIED_TIME, 1e-9, "ns"},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		double share = number / units[i].size;

		if (units[i].unit == unit && share >= 1 && share < 1e6 &&
		    (unit != VARIED_BYTES || share == (double)(int64_t)share) &&
		    fabs(strtod(arena_printf(a, "%.15g", share), NULL) * units[i].size -
		         number) <= 1e-15 * number)
			return arena_printf(a, "%.15g%s", share, units[i].name);
	}
	/* Numbers that stand without a unit are not likely to mean so many B/s, seconds or bytes. */
	return arena_printf(a, "%.17g%s", number,
	                    unit == VARIED_RATE && number >= 1e6    ? "Bps"
	                    : unit == VARIED_TIME && number < 1     ? "s"
	                    : unit == VARIED_BYTES && number >= 1e6 ? "B"
	                                                            : "");
}

static enum status read_value_number(struct scan *s, enum varied_unit unit, double *out)
{
	int64_t bytes = 0;

	if (unit == VARIED_RATE)
		return units_scan_rate(s, out);
	if (unit == VARIED_TIME)
		return units_scan_time(s, out);
	if (unit == VARIED_COUNT) {
		scan_int(s, "a degree", 1, INT32_MAX, &bytes);
		*out = (double)bytes;
		return s->error->code;
	}
	units_scan_bytes(s, &bytes);
	*out = (double)bytes;
	return s->error->code;
}

/* Reads how a range goes on: "x2", or "+25GBps"; *factor or *step is what it is, else 0. */
static enum status read_progress(struct scan *s, enum varied_unit unit, int64_t *factor,
                                 double *step)
{
	const char *start;

	*factor = 0;
	*step = 0;
	scan_peek(s);
	start = s->pos;
	if (scan_take(s, "x")) {
		scan_int(s, "a whole factor", 2, 1 << 30, factor);
		return s->error->code;
	}
	if (!scan_take(s, "+"))
		return scan_fail(s, E_SYNTAX,
		                 "expected how the range goes on, such as x2 or %s",
		                 unit == VARIED_BYTES   ? "+1MiB"
		                 : unit == VARIED_RATE  ? "+25GBps"
		                 : unit == VARIED_COUNT ? "+1"
		                                        : "+1us");
	if (read_value_number(s, unit, step) == OK && !(*step > 0))
		scan_fail_at(s, start, E_RANGE, "expected a step above 0");
	return s->error->code;
}

/* Adds all values of "A..B xF" or "A..B +S", whose dots are at `dots`. */
static enum status read_value_range(struct values *v, struct scan *s, const char *dots)
{
	struct arena *a = v->reader->suite->arena;
	const char *start = s->pos;
	struct where at = scan_where(s, start);
	struct scan first = scan_start(arena_strndup(a, start, (size_t)(dots - start)),
	                               at, s->error);
	double number, last, low, step;
	int64_t factor;

	read_value_number(&first, v->unit, &number);
	scan_finish(&first);
	s->pos = dots + 2;
	if (s->error->code != OK || read_value_number(s, v->unit, &last) != OK ||
	    read_progress(s, v->unit, &factor, &step) != OK)
		return s->error->code;
	if (number <= 0 || number > last)
		return scan_fail_at(s, start, E_RANGE,
		                    "expected the lower end first, and above 0");
	low = number;
	/* The last one of a sum may miss the end by rounding. */
	for (int i = 1; number <= last * (1 + 1e-12); i++) {
		if (add_value(v, number_text(a, v->unit, number), number, at) != OK)
			return s->error->code;
		number = factor ? number * (double)factor : low + i * step;
	}
	return OK;
}

/* Reads "A" as it is written, or a range, up to the next comma. */
static enum status read_item(struct values *v, struct scan *s)
{
	const char *start, *dots;
	double number;

	scan_peek(s); /* skips white space */
	start = s->pos;
	dots = strstr(start, "..");
	if (dots && (size_t)(dots - start) < strcspn(start, ","))
		return read_value_range(v, s, dots);
	if (read_value_number(s, v->unit, &number) != OK)
		return s->error->code;
	return add_value(
		v,
		arena_strndup(v->reader->suite->arena, start, (size_t)(s->pos - start)),
		number, scan_where(s, start));
}

static enum status read_words(struct values *v, const char *text, struct where at)
{
	struct scan s;

	if (v->unit == VARIED_TEXT)
		return add_value(v, text, NAN, at);
	s = scan_start(text, at, v->reader->error);
	do {
		if (read_item(v, &s) != OK)
			return s.error->code;
	} while (scan_take(&s, ","));
	return scan_finish(&s);
}

static enum status read_value_text(struct values *v, const yaml_node_t *node)
{
	struct where at;
	const char *text = reader_scalar(v->reader, node, &at);

	return text ? read_words(v, text, at) : v->reader->error->code;
}

/* Adds the texts between commas. */
static enum status read_listed(struct values *v, const char *text, struct where at)
{
	for (;;) {
		size_t n = strcspn(text, ",");

		if (add_value(v, arena_strndup(v->reader->suite->arena, text, n), NAN,
		              at) != OK ||
		    !text[n])
			return v->reader->error->code;
		text += n + 1;
		at.col += (unsigned)n + 1;
	}
}

enum status suite_values_text(struct suite_value **out, int *n, struct reader *r,
                              const char *text, struct where at, enum varied_unit unit)
{
	struct values v = {.reader = r, .unit = unit};
	size_t length = strlen(text);
	bool braces = text[0] == '{';

	if (braces) {
		if (text[length - 1] != '}' || strcspn(text, "}") + 1 != length)
			return error_set(r->error, E_SYNTAX, at,
			                 "expected values in braces, such as "
			                 "{25GBps,50GBps}, or a range such as "
			                 "25GBps..100GBps +25GBps");
		text = arena_strndup(r->suite->arena, text + 1, length - 2);
		at.col++;
	}
	v.value = arena_alloc(r->suite->arena, SUITE_VALUES_MAX, sizeof(*v.value));
	if ((braces && unit == VARIED_TEXT ? read_listed : read_words)(&v, text, at) !=
	    OK)
		return r->error->code;
	*out = v.value;
	*n = v.n;
	return OK;
}

enum status suite_values(struct suite_value **out, int *n, struct reader *r,
                         const yaml_node_t *node, enum varied_unit unit)
{
	struct values v = {.reader = r, .unit = unit};

	v.value = arena_alloc(r->suite->arena, SUITE_VALUES_MAX, sizeof(*v.value));
	if (node->type == YAML_SEQUENCE_NODE) {
		for (yaml_node_item_t *i = node->data.sequence.items.start;
		     i < node->data.sequence.items.top; i++)
			if (read_value_text(
				    &v, yaml_document_get_node(r->document, *i)) != OK)
				return r->error->code;
	} else if (read_value_text(&v, node) != OK) {
		return r->error->code;
	}
	if (v.n == 0)
		return reader_bad(r, node, "an empty list, expected some values");
	*out = v.value;
	*n = v.n;
	return OK;
}
