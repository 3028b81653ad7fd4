#include "program/step_time.h"

#include <math.h>
#include <string.h>

static const int32_t *first_devices(struct arena *a, int32_t n)
{
	int32_t *out = arena_alloc(a, (size_t)n + 1, sizeof(*out));

	for (int32_t i = 0; i < n; i++)
		out[i] = i;
	return out;
}

static enum status write_and_read(struct step_time *out, struct arena *a,
                                  const struct architecture *m,
                                  const struct step_degrees *d, struct where at,
                                  struct error *e)
{
	struct text text = {0}, why = {0};
	enum status status;

	if (step_text(&text, &out->facts, m, d, &why))
		status = program_of_text(&out->program, a, text.s, text.length, "step",
		                         e);
	else
		status = error_set(e, E_TYPE, at, "%s", why.s);
	if (status == OK) { /* the text is of any step, the program of this model's */
		const char *name = arena_strdup(a, m->name);

		out->program.name = (struct span){name, (int32_t)strlen(name)};
	}
	text_free(&text);
	text_free(&why);
	return status;
}

/*
 * Returns how many devices of the job from the first on are joined by the nearest
 * fabric.
 */
static int64_t node_devices(const struct machine *m, const int32_t *devices, int64_t n)
{
	const int32_t *domain = m->fabric[0].domain;
	int64_t k = 0;

	while (k < n && k < m->ndevices &&
	       domain[devices ? devices[k] : k] == domain[devices ? devices[0] : 0])
		k++;
	return k;
}

/*
 * Sends tokens to experts beside the kernels of another micro batch, as far as there are
 * such kernels (moe.overlap). What sends takes its share of the processors: a second of it
 * lets the kernels do 1 - share of a second's work.
 */
static void hide_dispatch(struct step_time *out, double share)
{
	struct program_price *p = &out->price;
	double *exposed_s = out->overlapped.exposed_s, sent_s = 0, beside_s, hidden_s;

	for (int64_t i = 0; i < out->program.op.n && exposed_s; i++)
		if (out->program.op.at[i].code == HLO_ALL_TO_ALL)
			sent_s += exposed_s[i];
	if (!(sent_s > 0))
		return;
	beside_s = p->compute_s - (p->communication_s - p->exposed_s);
	hidden_s = out->facts.paired * fmin(sent_s, beside_s / (1 - fmin(share, 0.99)));
	if (!(hidden_s > 0))
		return;
	for (int64_t i = 0; i < out->program.op.n; i++)
		if (out->program.op.at[i].code == HLO_ALL_TO_ALL)
			exposed_s[i] *= 1 - hidden_s / sent_s;
	p->exposed_s -= hidden_s;
	p->step_s -= hidden_s;
	out->contention_s += share * hidden_s;
}

static void add_up(struct step_time *out, const double *tuning, enum overlap overlap)
{
	const struct program_price *p = &out->price;
	double hidden = p->communication_s - p->exposed_s, experts_Bps;

	/* A sum of many spans may miss the rest by a rounding error. */
	if (hidden > 1e-9 * p->communication_s)
		out->contention_s = tuning[TUNING_CONTENTION] * hidden;
	if (out->facts.paired > 0 && overlap != OVERLAP_NONE)
		hide_dispatch(out, tuning[TUNING_EXPERTS_CONTENTION]);
	experts_Bps = tuning[out->facts.expert_nodes ? TUNING_EXPERTS_NODES_BPS
	                                             : TUNING_EXPERTS_BPS];
	if (experts_Bps > 0)
		out->idle_s = out->facts.expert_bytes / experts_Bps;
	if (out->facts.eager)
		out->idle_s += tuning[TUNING_EAGER_STEP_S];
	out->bubble_s = out->facts.bubble * (p->step_s + out->contention_s);
	out->step_s =
		p->why ? NAN
		       : p->step_s + out->contention_s + out->idle_s + out->bubble_s;
}

enum status step_time(struct step_time *out, struct arena *a,
                      const struct architecture *m, const struct step_degrees *d,
                      const struct machine *machine, const int32_t *devices,
                      enum overlap overlap, struct where at, struct error *e)
{
	struct price_options how = {.best = false, .raw = true};
	struct step_degrees inside = *d;
	struct text why = {0};
	double peak = machine->tuning.value[TUNING_BF16_FLOPS];
	bool good;

	*out = (struct step_time){0};
	inside.inside = node_devices(machine, devices, step_devices(d));
	if (write_and_read(out, a, m, &inside, at, e) != OK)
		return e->code;
	if (out->facts.devices > machine->ndevices)
		return error_set(e, E_INFEASIBLE, at,
		                 "the step runs on %lld devices, and %s has %d",
		                 (long long)out->facts.devices, machine->name,
		                 (int)machine->ndevices);
	how.devices = devices ? devices : first_devices(a, out->program.ndevices);
	good = program_price(&out->price, a, &out->program, machine, &how, &why) &&
	       liveness_of(&out->live, NULL, a, &out->program);
	text_free(&why);
	if (!good)
		return error_set(e, E_RANGE, at, "the step has too many ops");
	program_overlap(&out->overlapped, a, &out->price, how.devices, overlap);
	add_up(out, machine->tuning.value, overlap);
	out->tokens_per_s = out->facts.tokens / out->step_s / (double)out->facts.devices;
	out->mfu = peak > 0 ? out->facts.model_flops / out->step_s / peak : NAN;
	out->peak_bytes = out->live.peak_bytes + out->facts.held_bytes;
	return OK;
}
