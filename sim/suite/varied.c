#include "suite/varied.h"

#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool ends_in(const char *key, const char *end)
{
	size_t n = strlen(key), k = strlen(end);

	return n >= k && strcmp(key + n - k, end) == 0;
}

enum varied_unit varied_unit(const char *key)
{
	if (ends_in(key, "bytes"))
		return VARIED_BYTES;
	if (ends_in(key, ".bandwidth") || ends_in(key, "_Bps"))
		return VARIED_RATE;
	if (ends_in(key, ".latency") || ends_in(key, "_s"))
		return VARIED_TIME;
	return VARIED_TEXT;
}

double varied_value(enum varied_unit unit, const char *text)
{
	struct where at = {0};
	struct error e = {0};
	double value = NAN;
	int64_t bytes;
	char *end;

	switch (unit) {
	case VARIED_BYTES:
		if (units_bytes(text, at, &bytes, &e) == OK)
			value = (double)bytes;
		break;
	case VARIED_RATE:
		units_rate(text, at, &value, &e);
		break;
	case VARIED_TIME:
		units_time(text, at, &value, &e);
		break;
	case VARIED_TEXT:
	case VARIED_COUNT:
		value = strtod(text, &end);
		return end > text && !*end && isfinite(value) ? value : NAN;
	}
	return e.code == OK ? value : NAN;
}
