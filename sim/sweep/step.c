/* A training step as a case of a sweep. */
#include "sweep/step.h"

#include "base/scan.h"
#include "base/units.h"
#include "facts/model.h"
#include "program/step_time.h"
#include "program/sure.h"

#include <math.h>
#include <string.h>

const struct planner sweep_step_planner = {
	.name = "step",
	.help = "a training step, of which nothing is planned",
};

static bool set_count(int64_t *out, const char *text, struct where at, const char *what,
                      struct error *e)
{
	struct scan s;

	if (!text)
		return e->code == OK;
	s = scan_start(text, at, e);
	return scan_int(&s, what, 1, MODEL_DIM_MAX, out) && scan_finish(&s) == OK;
}

static bool set_recompute(struct model_train *t, const struct suite_step *step,
                          struct error *e)
{
	static const char *const words[] = {[RECOMPUTE_NONE] = "none",
	                                    [RECOMPUTE_SELECTIVE] = "selective",
	                                    [RECOMPUTE_FULL] = "full"};

	for (size_t i = 0; step->recompute && i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i], step->recompute)) {
			t->recompute = (int)i;
			return true;
		}
	if (!step->recompute)
		return true;
	error_set(e, E_SYNTAX, step->recompute_at,
	          "recompute is '%.40s', expected none, selective or full",
	          step->recompute);
	return false;
}

enum status sweep_step_model(struct architecture *out, struct arena *a,
                             const struct suite_step *step, struct error *e)
{
	struct model_train *t = &out->train;

	if (architecture_read(out, a, step->path, e) != OK ||
	    !set_count(&t->global_batch, step->batch, step->batch_at,
	               "a number of sequences", e) ||
	    !set_count(&t->micro_batch, step->micro_batch, step->micro_batch_at,
	               "a number of sequences", e) ||
	    !set_count(&t->seq, step->seq, step->seq_at, "a number of tokens", e) ||
	    !set_recompute(t, step, e))
		return e->code;
	if (t->seq && t->global_batch && t->micro_batch)
		return OK;
	return error_set(e, E_TYPE,
	                 (struct where){.file = step->path, .line = 1, .col = 1},
	                 "the model does not tell train.%s, expected it here or in the "
	                 "suite",
	                 !t->seq            ? "seq"
	                 : !t->global_batch ? "global_batch"
	                                    : "micro_batch");
}

/* Says that the step does not fit, whose time is left out as of a plan that does not. */
static void refuse_memory(struct row *r, struct arena *a, double needs, double has)
{
	struct text t = {0};

	text_printf(&t, "needs ");
	units_print_bytes(&t, needs);
	text_printf(&t, ", the device has ");
	units_print_capacity(&t, has);
	r->status = OUTCOME_OVER_MEMORY;
	r->message = text_take(&t, a);
}

void sweep_step(struct row *r, const struct suite_step *step, const struct machine *m,
                const struct likely_table *likely, struct arena *a)
{
	double device = m->device[0].memory_bytes;
	struct architecture model;
	struct step_degrees degrees;
	struct step_time s;
	struct likely sure;
	struct error e = {0};

	if (sweep_step_model(&model, a, step, &e) != OK ||
	    step_degrees_parse(&degrees, a, step->parallel, (struct where){0}, &e) != OK ||
	    step_time(&s, a, &model, &degrees, m, NULL, OVERLAP_ASYNC,
	              (struct where){0}, &e) != OK ||
	    isnan(s.step_s)) {
		r->status = OUTCOME_NOT_APPLICABLE;
		r->message = arena_strdup(a, e.code != OK ? e.text : s.price.why);
		return;
	}
	r->devices = s.facts.devices;
	r->peak_live_bytes = (int64_t)ceil(s.peak_bytes);
	if (device > 0 && s.peak_bytes > device) {
		refuse_memory(r, a, s.peak_bytes, device);
		return;
	}
	sure = step_likely(likely, m, &model, s.step_s);
	r->time_s = s.step_s;
	r->low_s = sure.low;
	r->high_s = sure.high;
	r->compute_s = s.price.compute_s;
	r->exposed_s = s.price.exposed_s;
	r->bubble_s = s.bubble_s;
	r->other_s = s.contention_s + s.idle_s;
	r->mfu = s.mfu;
}
