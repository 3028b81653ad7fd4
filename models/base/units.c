#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	double factor;
};

/* Longer names before their prefixes: the first that matches is taken. */
static const struct unit byte_units[] = {
	{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
	{"kB", 1e3},     {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
	{"TB", 1e12},    {"K", 0x1p10},   {"k", 0x1p10},   {"M", 0x1p20},
	{"G", 0x1p30},   {"T", 0x1p40},   {"B", 1},        {NULL, 1},
};

/* A small b is a bit. */
static const struct unit bit_units[] = {
	{"Kib", 0x1p7},   {"Mib", 0x1p17}, {"Gib", 0x1p27}, {"Tib", 0x1p37},
	{"kb", 1e3 / 8},  {"Kb", 1e3 / 8}, {"Mb", 1e6 / 8}, {"Gb", 1e9 / 8},
	{"Tb", 1e12 / 8}, {"b", 0.125},    {NULL, 1},
};

static const struct unit time_units[] = {
	{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {NULL, 1},
};

static const struct unit flop_units[] = {
	{"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18}, {NULL, 1},
};

bool units_in_range(double figure)
{
	return figure == 0 || (figure >= 1e-18 && figure <= 1e24);
}

static const struct unit *take_unit(struct scan *s, const struct unit *u)
{
	for (; u->name; u++) {
		size_t n = strlen(u->name);

		if (strncmp(s->pos, u->name, n) != 0)
			continue;
		s->pos += n;
		return u;
	}
	return u;
}

/*
 * Reads digits with an optional fraction and exponent; strtold alone would take "inf",
 * "0x1". `what` ends in an example. Long double holds every whole number up to 2^62.
 */
static enum status scan_number(struct scan *s, const char *what, long double *out)
{
	char *end;

	if (!isdigit((unsigned char)scan_peek(s)) && scan_peek(s) != '.')
		return scan_fail(s, E_SYNTAX, "expected %s", what);
	if (s->pos[0] == '0' && (s->pos[1] == 'x' || s->pos[1] == 'X'))
		return scan_fail(s, E_SYNTAX, "expected %s, in decimal", what);
	errno = 0;
	*out = strtold(s->pos, &end);
	if (errno == ERANGE) /* too small is as bad as too large */
		*out = INFINITY;
	if (end == s->pos)
		return scan_fail(s, E_SYNTAX, "expected %s", what);
	s->pos = end;
	return OK;
}

/*
 * Finds the whole number that a product of a decimal fraction and a unit stands for,
 * which rounding may have missed: 1.001 kB. Returns false if it is none.
 */
static bool round_whole(long double *value)
{
	long double whole = rintl(*value), slack = *value * 0x1p-60L;

	if (fabsl(*value - whole) > (slack < 0.01L ? slack : 0.01L))
		return false;
	*value = whole;
	return true;
}

static enum status unit_end(struct scan *s, const char *expected)
{
	if (isalnum((unsigned char)*s->pos) || *s->pos == '/')
		return scan_fail(s, E_SYNTAX, "unknown unit, expected %s", expected);
	return s->error->code;
}

enum status units_scan_bytes(struct scan *s, int64_t *out)
{
	const char *start;
	long double value;

	scan_peek(s);
	start = s->pos;
	if (scan_number(s, "a size such as 16MiB", &value) != OK)
		return s->error->code;
	value *= take_unit(s, byte_units)->factor;
	if (unit_end(s, "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB, K, M, G or T") != OK)
		return s->error->code;
	if (!(value <= 0x1p62L))
		return scan_fail_at(s, start, E_RANGE,
		                    "size out of range, expected at most 2^62 bytes");
	if (!round_whole(&value))
		return scan_fail_at(
			s, start, E_RANGE,
			"%.*s is not a whole number of bytes, expected such as "
			"%lld, the nearest below",
			(int)(s->pos - start), start, (long long)value);
	*out = (int64_t)value;
	return OK;
}

enum status units_scan_rate(struct scan *s, double *out_Bps)
{
	const char *start;
	const struct unit *u;
	long double value;

	scan_peek(s);
	start = s->pos;
	if (scan_number(s, "a rate such as 25GB/s", &value) != OK)
		return s->error->code;
	u = take_unit(s, bit_units);
	if (!u->name)
		u = take_unit(s, byte_units);
	if (u->name && !scan_take(s, "/s") && !scan_take(s, "ps"))
		return scan_fail(
			s, E_SYNTAX,
			"expected '/s' or 'ps' as in 25GB/s, or in bits 200Gb/s");
	*out_Bps = (double)value * u->factor;
	if (unit_end(s, "a rate such as 25GB/s, or in bits 200Gb/s") != OK)
		return s->error->code;
	if (!units_in_range(*out_Bps) || (*out_Bps == 0 && value != 0))
		return scan_fail_at(s, start, E_RANGE,
		                    "rate out of range, expected 0 or 1e-18 to 1e24 "
		                    "B/s");
	return OK;
}

enum status units_scan_time(struct scan *s, double *out_s)
{
	const char *start;
	long double value;

	scan_peek(s);
	start = s->pos;
	if (scan_number(s, "a time such as 1.5us", &value) != OK)
		return s->error->code;
	*out_s = (double)value * take_unit(s, time_units)->factor;
	if (unit_end(s, "ns, us, ms or s") != OK)
		return s->error->code;
	if (!units_in_range(*out_s) || (*out_s == 0 && value != 0))
		return scan_fail_at(s, start, E_RANGE,
		                    "time out of range, expected 0 or 1e-18 to 1e24 s");
	return OK;
}

enum status units_bytes(const char *text, struct where at, int64_t *out, struct error *e)
{
	struct scan s = scan_start(text, at, e);

	units_scan_bytes(&s, out);
	return scan_finish(&s);
}

enum status units_rate(const char *text, struct where at, double *out_Bps,
                       struct error *e)
{
	struct scan s = scan_start(text, at, e);

	units_scan_rate(&s, out_Bps);
	return scan_finish(&s);
}

enum status units_time(const char *text, struct where at, double *out_s, struct error *e)
{
	struct scan s = scan_start(text, at, e);

	units_scan_time(&s, out_s);
	return scan_finish(&s);
}

enum status units_flops(const char *text, struct where at, double *out, struct error *e)
{
	static const char expected[] = "expected such as 989TFLOPS or 989e12";
	struct scan s = scan_start(text, at, e);
	const struct unit *u;
	long double value;

	if (scan_number(&s, "a peak such as 989TFLOPS or 989e12", &value) != OK)
		return e->code;
	u = take_unit(&s, flop_units);
	if (u->name && !scan_take(&s, "FLOPS") && !scan_take(&s, "FLOP/s"))
		return scan_fail(&s, E_SYNTAX, "unknown unit, %s", expected);
	if (!scan_done(&s))
		return scan_fail(&s, E_SYNTAX, "unknown unit, %s", expected);
	*out = (double)value * u->factor;
	if (*out != 0 && !(*out >= 1e9 && *out <= 1e24))
		return error_set(e, E_RANGE, at, "out of range, %s", expected);
	return OK;
}

bool units_missing(const char *text)
{
	struct error none = {0};
	struct scan s = scan_start(text, (struct where){0}, &none);
	long double value;

	return scan_number(&s, "a number", &value) == OK && scan_done(&s) && value != 0;
}

/*
 * Prints a value in the largest unit not above it or, if it is below the first, in the
 * first.
 */
static void print_scaled(struct text *out, double value, const struct unit *u, int n)
{
	int i = n - 1;

	while (i > 0 && value < u[i].factor)
		i--;
	text_printf(out, "%.4g %s", value / u[i].factor, u[i].name);
}

void units_print_bytes(struct text *out, double bytes)
{
	static const struct unit scale[] = {{"B", 1},
	                                    {"KiB", 0x1p10},
	                                    {"MiB", 0x1p20},
	                                    {"GiB", 0x1p30},
	                                    {"TiB", 0x1p40}};

	print_scaled(out, bytes, scale, 5);
}

void units_print_capacity(struct text *out, double bytes)
{
	static const struct unit scale[] = {
		{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}};

	for (int i = 0; i < 4; i++) {
		double n = bytes / scale[i].factor;

		if (n >= 1 && n < 1e4 && n == floor(n)) {
			text_printf(out, "%.0f %s", n, scale[i].name);
			return;
		}
	}
	units_print_bytes(out, bytes);
}

void units_print_memory(struct text *out, double bytes)
{
	struct text sold = {0}, held = {0};

	units_print_bytes(&held, bytes);
	units_print_capacity(&sold, bytes);
	text_printf(out, "%s", held.s);
	if (strcmp(held.s, sold.s) != 0)
		text_printf(out, " (%s)", sold.s);
	text_free(&held);
	text_free(&sold);
}

void units_print_time(struct text *out, double seconds)
{
	static const struct unit scale[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};

	print_scaled(out, seconds, scale, 3);
}

void units_print_rate(struct text *out, double Bps)
{
	static const struct unit scale[] = {
		{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};

	print_scaled(out, Bps, scale, 5);
}
