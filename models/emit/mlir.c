#include "emit/mlir.h"

#include "emit/put.h"

#include <string.h>

static const struct {
	const char *dtype, *type, *zero;
} types[] = {
	{"pred", "i1", "false"},
	{"s2", "i2", "0"},
	{"s4", "i4", "0"},
	{"s8", "i8", "0"},
	{"s16", "i16", "0"},
	{"s32", "i32", "0"},
	{"s64", "i64", "0"},
	{"u2", "ui2", "0"},
	{"u4", "ui4", "0"},
	{"u8", "ui8", "0"},
	{"u16", "ui16", "0"},
	{"u32", "ui32", "0"},
	{"u64", "ui64", "0"},
	{"f16", "f16", "0.0"},
	{"bf16", "bf16", "0.0"},
	{"f32", "f32", "0.0"},
	{"f64", "f64", "0.0"},
	{"c64", "complex<f32>", "(0.0, 0.0)"},
	{"c128", "complex<f64>", "(0.0, 0.0)"},
	{"f8e5m2", "f8E5M2", "0.0"},
	{"f8e4m3", "f8E4M3", "0.0"},
	{"f8e4m3fn", "f8E4M3FN", "0.0"},
	{"f8e4m3b11fnuz", "f8E4M3B11FNUZ", "0.0"},
	{"f8e3m4", "f8E3M4", "0.0"},
	{"f8e5m2fnuz", "f8E5M2FNUZ", "0.0"},
	{"f8e4m3fnuz", "f8E4M3FNUZ", "0.0"},
	{"f8e8m0fnu", "f8E8M0FNU", "1.0"},
	{"f4e2m1fn", "f4E2M1FN", "0.0"},
};

void mlir_type(const char **type, const char **zero, const struct dtype *d)
{
	*type = d->name;
	*zero = "0";
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strcmp(types[i].dtype, d->name) == 0) {
			*type = types[i].type;
			*zero = types[i].zero;
		}
}

void put_tensor(struct text *out, const char *type, const struct shape *s)
{
	text_printf(out, "tensor<");
	for (int i = 0; i < s->rank; i++)
		text_printf(out, "%lldx", (long long)s->dim[i]);
	text_printf(out, "%s>", type);
}

void put_sdy_mesh(struct text *out, const struct mesh *m, const char *name)
{
	text_printf(out, "sdy.mesh @%s = <[", name);
	for (int i = 0; i < m->naxes; i++) {
		text_printf(out, i ? ", " : "");
		put_quoted(out, m->axis[i].name, '"');
		text_printf(out, "=%d", (int)m->axis[i].size);
	}
	text_printf(out, "]");
	if (m->ids) {
		text_printf(out, ", device_ids=");
		put_list(out, m->ids, m->ndevices);
	}
	text_printf(out, ">\n");
}
