#include "validate/program/steps.h"

#include "base/scan.h"
#include "facts/model.h"
#include "platform/platform.h"
#include "program/step_time.h"
#include "program/sure.h"
#include "text/progress.h"
#include "validate/sheet.h"

#include <math.h>
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
	DISPATCH,
	EXPERTS_OVERLAP,
	HELD_OUT,
	COLUMNS
};
static const char *const columns[COLUMNS] = {
	"set",          "name",
	"detail",       "source",
	"measured_s",   "left_out",
	"platform",     "model",
	"parallel",     "seq",
	"global_batch", "micro_batch",
	"precision",    "fuse",
	"sequence",     "zero",
	"recompute",    "attention",
	"interleave",   "units",
	"dispatch",     "experts_overlap",
	"held_out",
};

struct table_reader {
	struct arena *arena, *scratch;
	struct sheet sheet;
	struct error *error;
	struct progress *progress;
	struct likely_table likely;
	struct machine *machine; /* of the last row that had one, and what it was called */
	const char *platform;
};

bool step_table_is(const char *path)
{
	return csv_names(path, "parallel", "global_batch");
}

static enum status read_count(struct table_reader *r, int64_t row, enum column k,
                              int64_t most, int64_t blank, int64_t *out)
{
	struct scan s = scan_start(sheet_text(&r->sheet, row, k),
	                           sheet_where(&r->sheet, row, k), r->error);

	*out = blank;
	if (!sheet_field(&r->sheet, row, k))
		return OK;
	return scan_int(&s, columns[k], blank, most, out) ? scan_finish(&s)
	                                                  : r->error->code;
}

/* Reads one of several words, and stores its number; a blank gives 0. */
static enum status read_word(struct table_reader *r, int64_t row, enum column k,
                             const char *const *words, int *out)
{
	const char *text = sheet_field(&r->sheet, row, k);
	struct text all = {0};

	*out = 0;
	for (int i = 0; text && words[i]; i++) {
		if (!strcmp(words[i], text)) {
			*out = i;
			text_free(&all);
			return OK;
		}
		text_printf(&all, "%s%s", i ? ", " : "", words[i]);
	}
	if (text)
		error_set(r->error, E_SYNTAX, sheet_where(&r->sheet, row, k),
		          "%s is '%.40s', expected one of %s", columns[k], text, all.s);
	text_free(&all);
	return text ? r->error->code : OK;
}

static const char *const flags[] = {"no", "yes", NULL};

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
	const char *platform = sheet_field(&r->sheet, row, PLATFORM);

	if (!platform)
		return error_set(r->error, E_SYNTAX,
		                 sheet_where(&r->sheet, row, PLATFORM),
		                 "platform is blank, and so is left_out");
	if (r->platform && !strcmp(r->platform, platform))
		return OK;
	r->platform = platform;
	platform_machine(&r->machine, r->arena, platform, NULL, 0, r->error);
	return error_in_file(r->error, sheet_where(&r->sheet, row, PLATFORM));
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
		return error_set(r->error, E_TYPE, sheet_where(&r->sheet, row, UNITS),
		                 "%lld devices of %lld do not spread over %lld units",
		                 (long long)devices, (long long)n, (long long)units);
	*out = list = arena_alloc(r->scratch, (size_t)devices, sizeof(*list));
	each = devices / units;
	for (int64_t i = 0; i < devices; i++)
		list[i] = (int32_t)(i / each * (n / units) + i % each);
	return OK;
}

/* The arena of the table holds it, as errors name it. */
static const char *model_path(struct table_reader *r, int64_t row)
{
	const char *path = sheet_path(&r->sheet, row, MODEL, r->arena);

	if (!path)
		error_set(r->error, E_SYNTAX, sheet_where(&r->sheet, row, MODEL),
		          "model is blank, and so is left_out");
	return path;
}

/* What a row simulates, in the scratch arena. */
static enum status read_job(struct step_job *out, struct table_reader *r, int64_t row)
{
	static const char *const dispatches[] = {"copies", "nodes", NULL};
	struct architecture *m = &out->model;
	struct step_degrees *d = &out->degrees;
	const char *path = model_path(r, row);
	int overlap;

	if (!path || architecture_read(m, r->scratch, path, r->error) != OK ||
	    read_train(r, row, &m->train) != OK ||
	    read_word(r, row, DISPATCH, dispatches, &m->moe.dispatch) != OK ||
	    read_word(r, row, EXPERTS_OVERLAP, flags, &overlap) != OK ||
	    step_degrees_parse(d, r->scratch, sheet_text(&r->sheet, row, PARALLEL),
	                       sheet_where(&r->sheet, row, PARALLEL), r->error) != OK ||
	    open_machine(r, row) != OK)
		return r->error->code;
	m->moe.overlap = overlap;
	out->machine = r->machine;
	out->ndevices = step_devices(d);
	return spread(&out->devices, r, row, out->ndevices);
}

static enum status simulate_row(struct measured_step *out, struct table_reader *r,
                                int64_t row)
{
	struct step_job job;
	const struct step_degrees *d = &job.degrees;
	struct step_time s;
	int held_out;

	if (read_word(r, row, HELD_OUT, flags, &held_out) != OK ||
	    read_job(&job, r, row) != OK)
		return r->error->code;
	out->held_out = held_out;
	out->devices = job.ndevices;
	out->experts = job.model.moe.experts > 0;
	out->tensor = d->tensor > 1;
	out->pipeline = d->pipeline > 1;
	out->context = d->context > 1;
	if (step_time(&s, r->scratch, &job.model, d, r->machine, job.devices,
	              OVERLAP_ASYNC, sheet_where(&r->sheet, row, PARALLEL),
	              r->error) != OK)
		return r->error->code;
	out->params = s.facts.params;
	out->time_s = s.step_s;
	out->likely_s = step_likely(&r->likely, r->machine, &job.model, s.step_s);
	out->compute_s = s.price.compute_s;
	out->exposed_s = s.price.exposed_s;
	out->matmul_s = s.price.class_s[CLASS_MATMUL];
	out->attention_s = s.price.class_s[CLASS_CUSTOM];
	out->communication_s = s.price.communication_s;
	out->bubble_s = s.bubble_s;
	out->idle_s = s.idle_s;
	out->layers = s.facts.layers;
	out->expert_bytes = s.facts.expert_bytes;
	out->peak_bytes = s.peak_bytes;
	out->device_bytes = r->machine->device[0].memory_bytes;
	if (isnan(s.step_s))
		out->left_out = arena_strdup(r->arena, s.price.why);
	return OK;
}

static bool same_step(const struct table_reader *r, int64_t a, int64_t b)
{
	for (int k = PLATFORM; k < COLUMNS; k++)
		if (strcmp(sheet_text(&r->sheet, a, k), sheet_text(&r->sheet, b, k)) != 0)
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
	const char *platform = sheet_text(&r->sheet, row, PLATFORM);

	*out = (struct measured_step){
		.set = sheet_text(&r->sheet, row, SET),
		.name = sheet_text(&r->sheet, row, NAME),
		.detail = sheet_text(&r->sheet, row, DETAIL),
		.source = sheet_text(&r->sheet, row, SOURCE),
		.left_out = sheet_field(&r->sheet, row, LEFT_OUT),
		.platform = platform,
		.family = arena_printf(r->arena, "%.*s", (int)strcspn(platform, ":"),
	                               platform),
		.model = sheet_text(&r->sheet, row, MODEL),
		.parallel = sheet_text(&r->sheet, row, PARALLEL),
		.precision = sheet_text(&r->sheet, row, PRECISION),
		.time_s = NAN,
		.compute_s = NAN,
		.exposed_s = NAN,
		.matmul_s = NAN,
		.attention_s = NAN,
		.communication_s = NAN,
		.bubble_s = NAN,
		.idle_s = NAN,
		.likely_s = {NAN, NAN},
		.without_s = {NAN, NAN, NAN},
		.peak_bytes = NAN,
		.device_bytes = NAN,
		.line = csv_where(&r->sheet.csv, row).line,
	};
	return sheet_number(&out->measured_s, &r->sheet, row, MEASURED);
}

/* --- left out in turn ------------------------------------------------------------------ */

/* How far a constant is moved to find a slope. */
static const double MOVED = 1.1;

/* Simulates a row on its machine, which is open, as that is now. */
static enum status time_again(double *out, struct table_reader *r, int64_t row)
{
	struct measured_step again = {.time_s = NAN};

	if (simulate_row(&again, r, row) == OK)
		*out = again.time_s;
	return r->error->code;
}

static enum status find_slopes(struct measured_step *s, struct table_reader *r,
                               int64_t row)
{
	double *value = r->machine->tuning.value, moved_s = NAN;

	for (int k = 0; k < STEP_CONSTANTS && !isnan(s->time_s); k++) {
		enum tuning_key key = step_constants[k];
		double own = s->own[k] = value[key];
		enum status status;

		if (!(own > 0))
			continue;
		value[key] = own * MOVED;
		status = time_again(&moved_s, r, row);
		value[key] = own;
		if (status != OK)
			return status;
		s->slope[k] =
			(moved_s - s->time_s) / (step_constant_term(k, own * MOVED) -
		                                 step_constant_term(k, own));
	}
	return OK;
}

/*
 * Simulates a row with the constants of a fit; NULL: there is none. One that was not fitted may
 * have been fitted to this very row before: then there is no answer.
 */
static enum status time_without(double *out, struct table_reader *r,
                                const struct measured_step *s, int64_t row,
                                const struct step_fit *fit)
{
	struct tuning own;
	enum status status;

	*out = NAN;
	if (!fit || !step_fit_tells(fit, s) || open_machine(r, row) != OK)
		return r->error->code;
	own = r->machine->tuning;
	for (int k = 0; k < STEP_CONSTANTS; k++)
		r->machine->tuning.value[step_constants[k]] = fit->value[k];
	status = time_again(out, r, row);
	r->machine->tuning = own;
	return status;
}

/* Rows of one set and model that are equal but for what was measured have equal times. */
static const struct measured_step *timed_before(const struct step_table *t,
                                                struct table_reader *r, int64_t row)
{
	for (int64_t k = 0; k < row; k++)
		if (!isnan(t->row[k].time_s) && !strcmp(t->row[k].set, t->row[row].set) &&
		    !strcmp(t->row[k].name, t->row[row].name) && same_step(r, k, row))
			return &t->row[k];
	return NULL;
}

static enum status hold_out_rows(struct step_table *t, struct table_reader *r,
                                 struct arena *a)
{
	step_table_fit(t, a);
	for (int64_t i = 0; i < t->n; i++) {
		struct measured_step *s = &t->row[i];
		const struct measured_step *before = timed_before(t, r, i);

		progress_row(r->progress, 0, false);
		if (isnan(s->time_s))
			continue;
		for (int held = 0; held < STEP_HELD; held++)
			if (before)
				s->without_s[held] = before->without_s[held];
			else if (time_without(&s->without_s[held], r, s, i,
			                      step_table_fit_of(
						      t, s, (enum step_held)held)) != OK)
				return r->error->code;
		arena_reset(r->scratch);
	}
	return OK;
}

/* The first row that runs the same and is not left out; itself if there is none before it. */
static int64_t row_like(const struct table_reader *r, int64_t row)
{
	int64_t k = 0;

	while (k < row &&
	       (sheet_text(&r->sheet, k, LEFT_OUT)[0] || !same_step(r, k, row)))
		k++;
	return k;
}

static bool same_kin(const struct table_reader *r, int64_t a, int64_t b)
{
	for (int k = SET; k < COLUMNS; k++)
		if ((k <= NAME || k >= PLATFORM) && k != SEQ && k != GLOBAL_BATCH &&
		    k != MICRO_BATCH &&
		    strcmp(sheet_text(&r->sheet, a, k), sheet_text(&r->sheet, b, k)) != 0)
			return false;
	return true;
}

static int64_t row_kin(const struct table_reader *r, int64_t row)
{
	int64_t k = 0;

	while (k < row && (sheet_text(&r->sheet, k, LEFT_OUT)[0] || !same_kin(r, k, row)))
		k++;
	return k;
}

static enum status run_rows(struct step_table *t, struct table_reader *r, bool hold_out)
{
	for (int64_t i = 0; i < t->n; i++) {
		int64_t k;

		progress_row(r->progress, 0, false);
		if (read_row(&t->row[i], r, i) != OK)
			return r->error->code;
		if (t->row[i].left_out)
			continue;
		k = row_like(r, i);
		if (k < i)
			copy_result(&t->row[i], &t->row[k]);
		else if (simulate_row(&t->row[i], r, i) != OK ||
		         (hold_out && find_slopes(&t->row[i], r, i) != OK))
			return r->error->code;
		arena_reset(r->scratch);
	}
	return OK;
}

enum status step_table_read(struct step_table *out, struct arena *a, const char *path,
                            bool hold_out, struct error *e)
{
	struct progress progress;
	struct table_reader r = {.arena = a, .error = e, .progress = &progress};

	if (sheet_read(&r.sheet, a, path, columns, COLUMNS, NEEDED, e) != OK ||
	    likely_read(&r.likely, a, e) != OK)
		return e->code;
	*out = (struct step_table){.n = r.sheet.csv.nrows};
	progress_begin(&progress, (hold_out ? 2 : 1) * out->n);
	out->row = arena_alloc(a, (size_t)out->n + 1, sizeof(*out->row));
	r.scratch = arena_new();
	if (run_rows(out, &r, hold_out) == OK && hold_out)
		hold_out_rows(out, &r, a);
	progress_end(&progress);
	arena_free(r.scratch);
	return e->code;
}

enum status step_jobs_read(struct step_jobs *out, struct arena *a, const char *path,
                           struct error *e)
{
	struct table_reader r = {.arena = a, .scratch = a, .error = e};

	if (sheet_read(&r.sheet, a, path, columns, COLUMNS, NEEDED, e) != OK)
		return e->code;
	*out = (struct step_jobs){.n = r.sheet.csv.nrows};
	out->row = arena_alloc(a, (size_t)out->n + 1, sizeof(*out->row));
	for (int64_t i = 0; i < out->n; i++) {
		struct step_job *job = &out->row[i];

		*job = (struct step_job){
			.set = sheet_text(&r.sheet, i, SET),
			.name = sheet_text(&r.sheet, i, NAME),
			.platform = sheet_text(&r.sheet, i, PLATFORM),
			.precision = sheet_text(&r.sheet, i, PRECISION),
			.left_out = sheet_field(&r.sheet, i, LEFT_OUT),
			.like = i,
			.kin = i,
		};
		if (sheet_number(&job->measured_s, &r.sheet, i, MEASURED) != OK)
			return e->code;
		if (job->left_out)
			continue;
		job->kin = row_kin(&r, i);
		job->like = row_like(&r, i);
		if (job->like == i && read_job(job, &r, i) != OK)
			return e->code;
	}
	return OK;
}
