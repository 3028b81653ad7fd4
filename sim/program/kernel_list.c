#include "program/kernel_list.h"

#include "base/input.h"
#include "base/keys.h"
#include "program/price.h"
#include "text/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[COMPUTE_KINDS] = {
	[COMPUTE_MEMORY] = "memory",
	[COMPUTE_MATMUL] = "matmul",
	[COMPUTE_CONVOLUTION] = "convolution",
	[COMPUTE_ATTENTION] = "attention",
	[COMPUTE_ATTENTION_BACK] = "attention-back",
	[COMPUTE_ATTENTION_TORCH] = "attention-torch",
};

/* What makes kernels equal; its bytes are compared. */
struct key {
	int64_t kind;
	const struct dtype *dtype;
	double number[7];
};

void kernel_list_of(struct kernel_list *out, struct arena *a,
                    const struct program_price *price, const char *file)
{
	struct keys keys = {.arena = a, .table = {.arena = a}};

	*out = (struct kernel_list){.file = file};
	for (int64_t i = 0; i < price->kernel.n; i++) {
		const struct priced *one = &price->kernel.at[i];
		const struct compute_ask *ask = &one->ask;
		const struct key key = {(int64_t)ask->kind,
		                        ask->dtype,
		                        {ask->b, ask->m, ask->n, ask->k, ask->flops,
		                         ask->bytes, one->host_bytes}};
		bool fresh;
		int32_t k = keys_add(&keys, &key, sizeof(key), &fresh);

		if (fresh)
			*list_add(&out->kernel, a) = (struct listed_kernel){
				*ask, .host_bytes = one->host_bytes};
		out->kernel.at[k].count += one->count;
	}
}

/* --- as CSV --------------------------------------------------------------------------- */

enum column { FILE_NAME, KIND, DTYPE, COUNT, B, M, N, K, FLOPS, BYTES, COLUMNS };
static const char *const columns[COLUMNS] = {"file", "kind", "dtype", "count", "b",
                                             "m",    "n",    "k",     "flops", "bytes"};

void kernel_list_csv_head(FILE *out)
{
	for (int k = 0; k < COLUMNS; k++)
		csv_put(out, columns[k], k == 0);
	fprintf(out, "\n");
}

void kernel_list_csv(FILE *out, const struct kernel_list *l)
{
	for (int64_t i = 0; i < l->kernel.n; i++) {
		const struct listed_kernel *one = &l->kernel.at[i];
		const struct compute_ask *ask = &one->ask;
		bool host = one->host_bytes > 0;
		const double number[] = {
			ask->b, ask->m,     ask->n,
			ask->k, ask->flops, host ? one->host_bytes : ask->bytes};

		csv_put(out, l->file, true);
		csv_put(out, host ? "host" : kinds[ask->kind], false);
		csv_put(out, ask->dtype ? ask->dtype->name : "", false);
		fprintf(out, ",%.17g", one->count);
		for (size_t k = 0; k < sizeof(number) / sizeof(*number); k++)
			fprintf(out, number[k] > 0 ? ",%.17g" : ",", number[k]);
		fprintf(out, "\n");
	}
}

struct list_reader {
	const struct csv *csv;
	int column[COLUMNS];
	struct error *error;
};

/* Reads a number of at least 0; a blank is 0. */
static bool read_number(double *out, const struct list_reader *r, int64_t row,
                        enum column k)
{
	const char *text = csv_field(r->csv, row, r->column[k]);
	char *end;

	*out = strtod(text, &end);
	if (!*end && *out >= 0 && isfinite(*out))
		return true;
	error_set(r->error, E_SYNTAX, csv_where_field(r->csv, row, r->column[k]),
	          "%s is '%.40s', expected a number", columns[k], text);
	return false;
}

static bool read_kind(struct compute_ask *out, const struct list_reader *r, int64_t row)
{
	const char *kind = csv_field(r->csv, row, r->column[KIND]);
	const char *dtype = csv_field(r->csv, row, r->column[DTYPE]);
	int k = 0;

	while (k < COMPUTE_KINDS && strcmp(kinds[k], kind) != 0)
		k++;
	out->kind = (enum compute_kind)k;
	out->dtype = dtype_find(dtype, strlen(dtype));
	if (k == COMPUTE_KINDS)
		error_set(r->error, E_SYNTAX,
		          csv_where_field(r->csv, row, r->column[KIND]),
		          "unknown kind of kernel '%.40s'", kind);
	else if ((*dtype || k == COMPUTE_MATMUL || k == COMPUTE_CONVOLUTION) &&
	         !out->dtype)
		error_set(r->error, E_SYNTAX,
		          csv_where_field(r->csv, row, r->column[DTYPE]),
		          "unknown data type '%.40s'", dtype);
	return r->error->code == OK;
}

static bool read_kernel(struct listed_kernel *out, const struct list_reader *r,
                        int64_t row)
{
	struct compute_ask *ask = &out->ask;

	*out = (struct listed_kernel){0};
	return read_kind(ask, r, row) && read_number(&out->count, r, row, COUNT) &&
	       read_number(&ask->b, r, row, B) && read_number(&ask->m, r, row, M) &&
	       read_number(&ask->n, r, row, N) && read_number(&ask->k, r, row, K) &&
	       read_number(&ask->flops, r, row, FLOPS) &&
	       read_number(&ask->bytes, r, row, BYTES);
}

enum status kernel_lists_read(struct kernel_lists *out, struct arena *a,
                              const char *path, struct error *e)
{
	struct keys keys = {.arena = a, .table = {.arena = a}};
	const char *text = input_text(a, path, e);
	struct csv csv;
	struct list_reader r = {.csv = &csv, .error = e};

	*out = (struct kernel_lists){0};
	if (!text || csv_read(&csv, a, path, text, e) != OK ||
	    csv_columns(r.column, &csv, columns, COLUMNS, COLUMNS, e) != OK)
		return e->code;
	for (int64_t i = 0; i < csv.nrows; i++) {
		const char *file = csv_field(&csv, i, r.column[FILE_NAME]);
		struct listed_kernel one;
		struct kernel_list *l;
		bool fresh;
		int32_t k;

		if (!read_kernel(&one, &r, i))
			return e->code;
		k = keys_add(&keys, file, strlen(file), &fresh);
		if (fresh)
			*list_add(&out->list, a) = (struct kernel_list){.file = file};
		l = &out->list.at[k];
		*list_add(&l->kernel, a) = one;
	}
	return OK;
}

const struct kernel_list *kernel_lists_find(const struct kernel_lists *l,
                                            const char *file)
{
	for (int64_t i = 0; i < l->list.n; i++)
		if (!strcmp(l->list.at[i].file, file))
			return &l->list.at[i];
	return NULL;
}

double kernel_list_s(const struct kernel_list *l, const struct machine *m)
{
	double sum = 0;

	for (int64_t i = 0; i < l->kernel.n; i++) {
		double s = compute_op_s(m, &l->kernel.at[i].ask);

		if (s < 0)
			return -1;
		sum += l->kernel.at[i].count * s;
	}
	return sum;
}
