#include "validate/program/programs.h"

#include "platform/platform.h"
#include "program/price.h"
#include "validate/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum column {
	SET,
	MODEL,
	PHASE,
	SOURCE,
	DEVICES,
	PLATFORM,
	PROGRAM,
	KERNELS,
	MEASURED,
	OUTLIER,
	LEFT_OUT,
	COLUMNS
};
static const char *const columns[COLUMNS] = {
	"set",  "model",   "phase",      "source",  "devices",  "platform",
	"file", "kernels", "measured_s", "outlier", "left_out",
};

struct table_reader {
	struct sheet sheet;
	struct arena *arena;
	const char *programs;
	struct kernel_lists lists; /* of the table of kernels at `kernels` */
	const char *kernels;
	struct error *error;
};

bool program_table_is(const char *path)
{
	return csv_names(path, "file", "kernels");
}

/* Whether two lists of kernels say the same. */
static bool same_kernels(const struct kernel_list *a, const struct kernel_list *b)
{
	if (a->kernel.n != b->kernel.n)
		return false;
	for (int64_t i = 0; i < a->kernel.n; i++) {
		const struct listed_kernel *x = &a->kernel.at[i], *y = &b->kernel.at[i];

		if (x->count != y->count || x->ask.kind != y->ask.kind ||
		    x->ask.dtype != y->ask.dtype || x->ask.b != y->ask.b ||
		    x->ask.m != y->ask.m || x->ask.n != y->ask.n ||
		    x->ask.k != y->ask.k || x->ask.flops != y->ask.flops ||
		    x->ask.bytes != y->ask.bytes)
			return false;
	}
	return true;
}

/* Reads a program; a reason in `left_out` if it is more than kernels. */
static enum status read_program(struct measured_program *out, struct table_reader *r,
                                const char *path)
{
	const struct price_options how = {.best = false};
	struct arena *scratch = arena_new();
	struct kernel_list *list = arena_alloc(r->arena, 1, sizeof(*list));
	struct program_price price;
	struct text why = {0};
	struct program p;

	if (program_read(&p, scratch, path, r->error) == OK) {
		program_replicate(&p);
		if (!program_price(&price, scratch, &p, NULL, &how, &why))
			out->left_out = price.at.line
			                        ? arena_printf(r->arena, "line %u: %s",
			                                       price.at.line, why.s)
			                        : arena_strdup(r->arena, why.s);
		else if (price.collective.n)
			out->left_out = "its devices talk to each other";
		else
			kernel_list_of(list, r->arena, &price, out->file);
		for (int64_t i = 0; i < list->kernel.n; i++)
			if (list->kernel.at[i].host_bytes > 0)
				out->left_out = "it moves arrays to the host";
		out->kernels = out->left_out ? NULL : list;
		out->from_text = true;
	}
	text_free(&why);
	arena_free(scratch);
	return r->error->code;
}

static enum status find_kernels(struct measured_program *out, struct table_reader *r,
                                int64_t row)
{
	const char *path = sheet_path(&r->sheet, row, PROGRAM, r->arena);
	const char *kernels = sheet_path(&r->sheet, row, KERNELS, r->arena);
	const struct kernel_list *listed = NULL;

	if (r->programs)
		path = arena_printf(r->arena, "%s/%s", r->programs, out->file);
	if (kernels && (!r->kernels || strcmp(kernels, r->kernels) != 0)) {
		r->kernels = kernels;
		if (kernel_lists_read(&r->lists, r->arena, kernels, r->error) != OK)
			return r->error->code;
	}
	if (kernels)
		listed = kernel_lists_find(&r->lists, out->file);
	if (!access(path, R_OK)) {
		if (read_program(out, r, path) != OK)
			return r->error->code;
		out->differs =
			listed && out->kernels && !same_kernels(out->kernels, listed);
		return OK;
	}
	out->kernels = listed;
	if (!listed)
		out->left_out =
			r->programs || !kernels
				? "the program is not there"
				: "neither the program nor its kernels are there";
	return OK;
}

static enum status read_row(struct measured_program *out, struct table_reader *r,
                            int64_t row)
{
	const struct sheet *s = &r->sheet;
	const char *platform = sheet_text(s, row, PLATFORM);
	double devices;

	*out = (struct measured_program){
		.set = sheet_text(s, row, SET),
		.model = sheet_text(s, row, MODEL),
		.phase = sheet_text(s, row, PHASE),
		.source = sheet_text(s, row, SOURCE),
		.file = sheet_field(s, row, PROGRAM),
		.outlier = sheet_field(s, row, OUTLIER),
		.left_out = sheet_field(s, row, LEFT_OUT),
		.platform = platform,
		.family = arena_printf(r->arena, "%.*s", (int)strcspn(platform, ":"),
	                               platform),
		.time_s = NAN,
		.held_out_s = NAN,
		.line = csv_where(&s->csv, row).line,
	};
	if (sheet_number(&out->measured_s, s, row, MEASURED) != OK ||
	    sheet_number(&devices, s, row, DEVICES) != OK)
		return r->error->code;
	if (devices != floor(devices) || devices > INT32_MAX)
		return error_set(r->error, E_RANGE, sheet_where(s, row, DEVICES),
		                 "devices is %g, expected a whole number", devices);
	out->devices = (int64_t)devices;
	if (!out->file)
		return error_set(r->error, E_SYNTAX, sheet_where(s, row, PROGRAM),
		                 "file is blank, expected a program's");
	return OK;
}

/* Times a row on its machine; one of equal rows before it may have opened that. */
static enum status time_row(struct program_table *t, int64_t row, struct table_reader *r)
{
	struct measured_program *p = &t->row[row];
	int64_t k = 0;

	while (k < row &&
	       (!t->row[k].machine || strcmp(t->row[k].platform, p->platform) != 0))
		k++;
	p->machine = t->row[k].machine;
	if (!p->machine && platform_machine(&p->machine, r->arena, p->platform, NULL, 0,
	                                    r->error) != OK)
		return r->error->code;
	p->time_s = kernel_list_s(p->kernels, p->machine);
	if (p->time_s < 0) {
		p->left_out = "its machine does not say how fast it computes";
		p->time_s = NAN;
		p->kernels = NULL;
		return OK;
	}
	for (int64_t i = 0; i < p->kernels->kernel.n; i++) {
		const struct listed_kernel *one = &p->kernels->kernel.at[i];

		p->kind_s[one->ask.kind] +=
			one->count * compute_op_s(p->machine, &one->ask);
	}
	return OK;
}

enum status program_table_read(struct program_table *out, struct arena *a,
                               const char *path, const char *programs, struct error *e)
{
	struct table_reader r = {.arena = a, .programs = programs, .error = e};

	*out = (struct program_table){0};
	if (sheet_read(&r.sheet, a, path, columns, COLUMNS, COLUMNS, e) != OK)
		return e->code;
	out->n = r.sheet.csv.nrows;
	out->row = arena_alloc(a, (size_t)out->n + 1, sizeof(*out->row));
	for (int64_t i = 0; i < out->n; i++) {
		if (read_row(&out->row[i], &r, i) != OK ||
		    (!out->row[i].left_out && find_kernels(&out->row[i], &r, i) != OK) ||
		    (out->row[i].kernels && time_row(out, i, &r) != OK))
			return e->code;
	}
	program_table_hold_out(out, a);
	return OK;
}
