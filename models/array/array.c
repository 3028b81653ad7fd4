#include "array/array.h"

#include <string.h>

const struct dtype dtypes[] = {
	{"pred", "bool", 8},
	{"s2", "int2", 2},
	{"s4", "int4", 4},
	{"s8", "int8", 8},
	{"s16", "int16", 16},
	{"s32", "int32", 32},
	{"s64", "int64", 64},
	{"u2", "uint2", 2},
	{"u4", "uint4", 4},
	{"u8", "uint8", 8},
	{"u16", "uint16", 16},
	{"u32", "uint32", 32},
	{"u64", "uint64", 64},
	{"f16", "float16", 16},
	{"bf16", "bfloat16", 16},
	{"f32", "float32", 32},
	{"f64", "float64", 64},
	{"c64", "complex64", 64},
	{"c128", "complex128", 128},
	{"f8e5m2", "float8_e5m2", 8},
	{"f8e4m3", "float8_e4m3", 8},
	{"f8e4m3fn", "float8_e4m3fn", 8},
	{"f8e4m3b11fnuz", "float8_e4m3b11fnuz", 8},
	{"f8e3m4", "float8_e3m4", 8},
	{"f8e5m2fnuz", "float8_e5m2fnuz", 8},
	{"f8e4m3fnuz", "float8_e4m3fnuz", 8},
	{"f8e8m0fnu", "float8_e8m0fnu", 8},
	{"f4e2m1fn", "float4_e2m1fn", 4},
	{NULL, NULL, 0},
};

static const int64_t ELEMENTS_MAX = INT64_C(1) << 62;

static bool named(const char *name, const char *start, size_t length)
{
	return strlen(name) == length && memcmp(name, start, length) == 0;
}

const struct dtype *dtype_find(const char *start, size_t length)
{
	for (const struct dtype *d = dtypes; d->name; d++)
		if (named(d->name, start, length) || named(d->long_name, start, length))
			return d;
	return NULL;
}

static enum status scan_shape(struct shape *out, int bits, struct scan *s)
{
	int64_t total = 1;

	while (scan_peek(s) != ']') {
		const char *start;
		int64_t dim;

		if (out->rank > 0 && !scan_take(s, ","))
			return scan_fail(s, E_SYNTAX, "expected ',' or ']'");
		scan_peek(s);
		start = s->pos;
		if (out->rank == RANK_MAX)
			return scan_fail(s, E_RANGE, "expected at most %d dimensions",
			                 RANK_MAX);
		if (!scan_int(s, "a dimension", 1, ELEMENTS_MAX, &dim))
			return s->error->code;
		if (__builtin_mul_overflow(total, dim, &total) ||
		    total > ELEMENTS_MAX / bits)
			return scan_fail_at(
				s, start, E_RANGE,
				"too many elements, expected at most 2^62 bits "
				"in the array");
		out->dim[out->rank++] = dim;
	}
	scan_expect(s, "]");
	return OK;
}

enum status array_scan(struct array *out, struct scan *s)
{
	const char *start;
	size_t length;

	*out = (struct array){0};
	if (!scan_name(s, &start, &length))
		return scan_fail(s, E_SYNTAX,
		                 "expected an array such as bf16[8192,8192]");
	out->dtype = dtype_find(start, length);
	if (!out->dtype)
		return scan_fail_at(
			s, start, E_TYPE,
			"unknown element type '%.*s', expected one of those "
			"that 'shardsim list dtypes' prints",
			(int)(length < 40 ? length : 40), start);
	if (!scan_expect(s, "["))
		return s->error->code;
	return scan_shape(&out->shape, out->dtype->bits, s);
}

enum status array_parse(struct array *out, const char *text, struct where at,
                        struct error *e)
{
	struct scan s = scan_start(text, at, e);

	array_scan(out, &s);
	return scan_finish(&s);
}

void array_print(struct text *out, const struct array *a)
{
	text_printf(out, "%s[", a->dtype->name);
	for (int i = 0; i < a->shape.rank; i++)
		text_printf(out, "%s%lld", i ? "," : "", (long long)a->shape.dim[i]);
	text_printf(out, "]");
}

int64_t shape_elements(const struct shape *s)
{
	int64_t n = 1;

	for (int i = 0; i < s->rank; i++)
		n *= s->dim[i];
	return n;
}

int64_t dtype_bytes(const struct dtype *d, int64_t elements)
{
	if (d->bits % 8 == 0)
		return elements * (d->bits / 8);
	return (elements * d->bits + 7) / 8;
}
