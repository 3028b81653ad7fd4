#include "validate/program/steps.h"

#include "base/input.h"
#include "base/scan.h"
#include "facts/model.h"
#include "platform/platform.h"
#include "program/step_time.h"
#include "text/csv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum column {
	SET,
	NAME,
	DETAIL,
	SOURCE,
	MEASURED,
	LEFT_OUT,
	PLATFORM,
	MODEL,
	PARALLEL,
	SEQ,
	GLOBAL_BATCH,
	NEEDED,
	MICRO_BATCH = NEEDED,
	PRECISION,
	FUSE,
	SEQUENCE,
	ZERO,
	RECOMPUTE,
	ATTENTION,
	INTERLEAVE,
	UNITS,
	COLUMNS
};
static const char *const columns[COLUMNS] = {
	"set",          "name",        "detail",    "source",     "measured_s",
	"left_out",     "platform",    "model",     "parallel",   "seq",
	"global_batch", "micro_batch", "precision", "fuse",       "sequence",
	"zero",         "recompute",   "attention", "interleave", "units",
};

struct table_reader {
	struct arena *arena, *scratch;
	struct csv csv;
	int column[COLUMNS];
	struct error *error;
	struct machine *machine; /* of the last row that had one, and what it was called */
	const char *platform;
};

bool step_table_is(const char *path)
{
	return csv_names(path, "parallel", "global_batch");
}

/* Returns a field; NULL where it is blank. */
static const char *field(const struct table_reader *r, int64_t row, enum column k)
{
	const char *text = csv_field(&r->csv, row, r->column[k]);

	return *text ? text : NULL;
}

static struct where where_of(const struct table_reader *r, int64_t row, enum column k)
{
	return csv_where_field(&r->csv, row, r->column[k]);
}

static enum status read_count(struct table_reader *r, int64_t row, enum column k,
                              int64_t most, int64_t blank, int64_t *out)
{
	struct scan s = scan_start(csv_field(&r->csv, row, r->column[k]),
	                           where_of(r, row, k), r->error);

	*out = blank;
	if (!field(r, row, k))
		return OK;
	return scan_int(&s, columns[k], blank, most, out) ? scan_finish(&s)
	                                                  : r->error->code;
}

/* Reads one of several words, and stores its number; a blank gives 0. */
static enum status read_word(struct table_reader *r, int64_t row, enum column k,
                             const char *const *words, int *out)
{
	const char *text = field(r, row, k);
	struct text all = {0};

	*out = 0;
	for (int i = 0; text && words[i]; i++) {
		if (!strcmp(words[i], text)) {
			*out = i;
			return OK;
		}
		text_printf(&all, "%s%s", i ? ", " : "", words[i]);
	}
	if (text)
		error_set(r->error, E_SYNTAX, where_of(r, row, k),
		          "%s is '%.40s', expected one of %s", columns[k], text, all.s);
	text_free(&all);
	return text ? r->error->code : OK;
}

/* --- one row -------------------------------------------------------------------------- */

static void set_precision(struct model_train *t, int precision)
{
	bool amp = precision == 1 || precision == 3, fp8 = precision >= 2;

	t->residual_dtype = amp ? dtype_find("f32", 3) : NULL;
	t->matmul_dtype = fp8 ? dtype_find("f8e4m3fn", 8) : NULL;
}

static enum status read_train(struct table_reader *r, int64_t row, struct model_train *t)
{
	static const char *const precisions[] = {"bf16", "amp", "fp8", "amp-fp8", NULL};
	static const char *const fuses[] = {"eager", "compiled", NULL};
	static const char *const recomputes[] = {"none", "selective", "full", NULL};
	static const char *const attentions[] = {"flash", "math", "torch", NULL};
	static const char *const flags[] = {"no", "yes", NULL};
	int precision, sequence;

	if (read_count(r, row, SEQ, MODEL_DIM_MAX, 1, &t->seq) != OK ||
	    read_count(r, row, GLOBAL_BATCH, MODEL_DIM_MAX, 1, &t->global_batch) != OK ||
	    read_count(r, row, MICRO_BATCH, MODEL_DIM_MAX, 1, &t->micro_batch) != OK ||
	    read_count(r, row, ZERO, 3, 0, &t->zero) != OK ||
	    read_count(r, row, INTERLEAVE, MODEL_LAYERS_MAX, 1, &t->interleave) != OK ||
	    read_word(r, row, PRECISION, precisions, &precision) != OK ||
	    read_word(r, row, FUSE, fuses, &t->fuse) != OK ||
	    read_word(r, row, RECOMPUTE, recomputes, &t->recompute) != OK ||
	    read_word(r, row, ATTENTION, attentions, &t->attention) != OK ||
	    read_word(r, row, SEQUENCE, flags, &sequence) != OK)
		return r->error->code;
	set_precision(t, precision);
	t->sequence_parallel = sequence;
	return OK;
}

static enum status open_machine(struct table_reader *r, int64_t row)
{
	const char *platform = field(r, row, PLATFORM);

	if (!platform)
		return error_set(r->error, E_SYNTAX, where_of(r, row, PLATFORM),
		                 "platform is blank, and so is left_out");
	if (r->platform && !strcmp(r->platform, platform))
		return OK;
	r->platform = platform;
	return platform_machine(&r->machine, r->arena, platform, NULL, 0, r->error);
}

/* The devices of the job, spread over so many units of the machine; NULL: the first ones. */
static enum status spread(const int32_t **out, struct table_reader *r, int64_t row,
                          int64_t devices)
{
	int64_t units, each, n = r->machine->ndevices;
	int32_t *list;

	*out = NULL;
	if (read_count(r, row, UNITS, n, 1, &units) != OK || units == 1)
		return r->error->code;
	if (devices % units || n % units || devices > n)
		return error_set(r->error, E_TYPE, where_of(r, row, UNITS),
		                 "%lld devices of %lld do not spread over %lld units",
		                 (long long)devices, (long long)n, (long long)units);
	*out = list = arena_alloc(r->scratch, (size_t)devices, sizeof(*list));
	each = devices / units;
	for (int64_t i = 0; i < devices; i++)
		list[i] = (int32_t)(i / each * (n / units) + i % each);
	return OK;
}

static const char *model_path(struct table_reader *r, int64_t row)
{
	const char *model = field(r, row, MODEL);
	const char *slash = strrchr(r->csv.path, '/');

	if (!model)
		error_set(r->error, E_SYNTAX, where_of(r, row, MODEL),
		          "model is blank, and so is left_out");
	else if (*model != '/' && slash)
		return arena_printf(r->scratch, "%.*s/%s", (int)(slash - r->csv.path),
		                    r->csv.path, model);
	return model;
}

static enum status simulate_row(struct measured_step *out, struct table_reader *r,
                                int64_t row)
{
	struct where at = where_of(r, row, PARALLEL);
	const char *parallel = csv_field(&r->csv, row, r->column[PARALLEL]);
	const char *path = model_path(r, row);
	const int32_t *devices;
	struct architecture m;
	struct step_degrees d;
	struct step_time s;

	if (!path || architecture_read(&m, r->scratch, path, r->error) != OK ||
	    read_train(r, row, &m.train) != OK ||
	    step_degrees_parse(&d, r->scratch, parallel, at, r->error) != OK ||
	    open_machine(r, row) != OK)
		return r->error->code;
	out->devices = d.data * d.fsdp * d.tensor * d.context * d.pipeline;
	out->experts = m.moe.experts > 0;
	out->tensor = d.tensor > 1;
	out->pipeline = d.pipeline > 1;
	out->context = d.context > 1;
	if (spread(&devices, r, row, out->devices) != OK ||
	    step_time(&s, r->scratch, &m, &d, r->machine, devices, OVERLAP_ASYNC, at,
	              r->error) != OK)
		return r->error->code;
	out->params = s.facts.params;
	out->time_s = s.step_s;
	out->compute_s = s.price.compute_s;
	out->exposed_s = s.price.exposed_s;
	out->matmul_s = s.price.class_s[CLASS_MATMUL];
	out->attention_s = s.price.class_s[CLASS_CUSTOM];
	out->communication_s = s.price.communication_s;
	out->bubble_s = s.bubble_s;
	out->idle_s = s.idle_s;
	out->layers = s.facts.layers;
	out->expert_layers = s.facts.expert_layers;
	out->peak_bytes = s.peak_bytes;
	out->device_bytes = r->machine->device[0].memory_bytes;
	if (isnan(s.step_s))
		out->left_out = arena_strdup(r->arena, s.price.why);
	return OK;
}

static bool same_step(const struct table_reader *r, int64_t a, int64_t b)
{
	for (int k = PLATFORM; k < COLUMNS; k++)
		if (strcmp(csv_field(&r->csv, a, r->column[k]),
		           csv_field(&r->csv, b, r->column[k])) != 0)
			return false;
	return true;
}

static void copy_result(struct measured_step *to, const struct measured_step *from)
{
	struct measured_step read = *to;

	*to = *from;
	to->set = read.set;
	to->name = read.name;
	to->detail = read.detail;
	to->source = read.source;
	to->measured_s = read.measured_s;
	to->line = read.line;
}

static enum status read_row(struct measured_step *out, struct table_reader *r,
                            int64_t row)
{
	const char *measured = csv_field(&r->csv, row, r->column[MEASURED]);
	const char *platform = csv_field(&r->csv, row, r->column[PLATFORM]);
	char *end;

	*out = (struct measured_step){
		.set = csv_field(&r->csv, row, r->column[SET]),
		.name = csv_field(&r->csv, row, r->column[NAME]),
		.detail = csv_field(&r->csv, row, r->column[DETAIL]),
		.source = csv_field(&r->csv, row, r->column[SOURCE]),
		.left_out = field(r, row, LEFT_OUT),
		.platform = platform,
		.family = arena_printf(r->arena, "%.*s", (int)strcspn(platform, ":"),
	                               platform),
		.model = csv_field(&r->csv, row, r->column[MODEL]),
		.parallel = csv_field(&r->csv, row, r->column[PARALLEL]),
		.precision = csv_field(&r->csv, row, r->column[PRECISION]),
		.measured_s = strtod(measured, &end),
		.time_s = NAN,
		.compute_s = NAN,
		.exposed_s = NAN,
		.matmul_s = NAN,
		.attention_s = NAN,
		.communication_s = NAN,
		.bubble_s = NAN,
		.idle_s = NAN,
		.peak_bytes = NAN,
		.device_bytes = NAN,
		.line = csv_where(&r->csv, row).line,
	};
	if (*end || !isdigit((unsigned char)*measured) || strpbrk(measured, "xX") ||
	    !(out->measured_s > 0) || isinf(out->measured_s))
		return error_set(r->error, E_SYNTAX, where_of(r, row, MEASURED),
		                 "measured_s is '%.40s', expected a number above 0",
		                 measured);
	return OK;
}

static enum status run_rows(struct step_table *t, struct table_reader *r)
{
	for (int64_t i = 0; i < t->n; i++) {
		int64_t k = 0;

		if (read_row(&t->row[i], r, i) != OK)
			return r->error->code;
		if (t->row[i].left_out)
			continue;
		while (k < i && (csv_field(&r->csv, k, r->column[LEFT_OUT])[0] ||
		                 !same_step(r, k, i)))
			k++;
		if (k < i)
			copy_result(&t->row[i], &t->row[k]);
		else if (simulate_row(&t->row[i], r, i) != OK)
			return r->error->code;
		arena_reset(r->scratch);
	}
	return OK;
}

enum status step_table_read(struct step_table *out, struct arena *a, const char *path,
                            struct error *e)
{
	struct table_reader r = {.arena = a, .error = e};
	const char *text = input_text(a, path, e);

	if (!text || csv_read(&r.csv, a, path, text, e) != OK ||
	    csv_columns(r.column, &r.csv, columns, COLUMNS, NEEDED, e) != OK)
		return e->code;
	out->n = r.csv.nrows;
	out->row = arena_alloc(a, (size_t)out->n + 1, sizeof(*out->row));
	r.scratch = arena_new();
	run_rows(out, &r);
	arena_free(r.scratch);
	return e->code;
}
