#include "text/order.h"

#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum unit { NO_UNIT, BYTES, RATE, TIME };

/* A byte, or a number, which has the place of digits among bytes. */
struct part {
	unsigned char byte;
	enum unit unit;
	double value;
};

static bool is_digit(char c)
{
	return isdigit((unsigned char)c) != 0;
}

/* Reads digits, and a fraction; the locale's decimal point does not matter. */
static double take_number(const char **s)
{
	double value = 0, weight = 1;

	for (; is_digit(**s); ++*s)
		value = value * 10 + (**s - '0');
	if (**s == '.' && is_digit((*s)[1]))
		for (++*s; is_digit(**s); ++*s)
			value += (weight /= 10) * (**s - '0');
	return value;
}

static double take_exponent(const char **s)
{
	const char *p = *s;
	double sign = 1;

	if (*p != 'e' && *p != 'E')
		return 1;
	p++;
	if (*p == '+' || *p == '-')
		sign = *p++ == '-' ? -1 : 1;
	if (!is_digit(*p))
		return 1;
	*s = p;
	return pow(10, sign * take_number(s));
}

/* Returns the unit of a number with letters, of `length` bytes, and stores its value. */
static enum unit unit_of(const char *number, size_t length, double *value)
{
	char text[40];
	struct where at = {0};
	struct error e = {0};
	int64_t bytes;

	/* Every unit ends in one of these; rows by the thousand have a shape instead. */
	if (length >= sizeof(text) || !strchr("BbsKMGT", number[length - 1]))
		return NO_UNIT;
	memcpy(text, number, length);
	text[length] = '\0';
	if (units_bytes(text, at, &bytes, &e) == OK) {
		*value = (double)bytes;
		return BYTES;
	}
	e = (struct error){0};
	if (units_rate(text, at, value, &e) == OK)
		return RATE;
	e = (struct error){0};
	return units_time(text, at, value, &e) == OK ? TIME : NO_UNIT;
}

/* Takes the next part; `whole` tells that a number here is a figure by itself. */
static struct part take_part(const char **s, bool whole)
{
	const char *start = *s, *letters, *end;
	struct part part = {.byte = '0'};
	double value;

	if (!is_digit(*start)) {
		part.byte = (unsigned char)*start;
		*s += *start != '\0';
		return part;
	}
	part.value = take_number(s);
	if (whole)
		part.value *= take_exponent(s);
	letters = end = *s;
	while (isalpha((unsigned char)*end) || *end == '/')
		end++;
	if (end == letters || is_digit(*end))
		return part;
	part.unit = unit_of(start, (size_t)(end - start), &value);
	if (part.unit != NO_UNIT) {
		part.value = value;
		*s = end;
	}
	return part;
}

static int compare_parts(const struct part *a, const struct part *b)
{
	if (a->byte != b->byte)
		return a->byte < b->byte ? -1 : 1;
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

int order_compare(const char *a, const char *b)
{
	const char *p = a, *q = b;
	int order = strcmp(a, b);

	if (order == 0)
		return 0;
	while (*p || *q) {
		struct part x = take_part(&p, p == a || p[-1] == '=');
		struct part y = take_part(&q, q == b || q[-1] == '=');
		int parts = compare_parts(&x, &y);

		if (parts)
			return parts;
	}
	return order;
}

int order_names(const void *a, const void *b)
{
	return order_compare(*(const char *const *)a, *(const char *const *)b);
}
