#include "program/price.h"

#include "program/clean.h"
#include "program/custom.h"
#include "program/read/trips.h"

#include <math.h>
#include <string.h>

void program_replicate(struct program *p)
{
	p->stage = p->stage == STAGE_OPTIMISED ? p->stage : STAGE_PARTITIONED;
	p->ndevices = p->replicas = p->partitions = 1;
}

struct pricer_state {
	struct program_price *out;
	struct arena *a;
	struct program *p;
	struct collector *collector; /* NULL without a machine */
	const bool *scattered;       /* [ops], or NULL: collectives run as they stand */
	const int32_t *gathered; /* [ops] the gather that an op repeats, -1; or NULL */
	const double *share;     /* [ops], or NULL */
	double *runs; /* of each region that is not in line with another, in a step */
};

/* Seconds of the link to the host: what devices reach over PCIe 4 x16, each way. */
static const double HOST_BPS = 25e9;

static void not_known(struct pricer_state *s, const char *why)
{
	if (!s->out->why)
		s->out->why = arena_strdup(s->a, why);
}

/* Adds how often the regions run that a loop, a branch or an asynchronous op calls. */
static void count_called(struct pricer_state *s, const struct instruction *op,
                         double runs)
{
	if (op->async == ASYNC_DONE || op->async == ASYNC_UPDATE)
		return;
	for (int32_t k = 0; k < op->ncalled; k++) {
		int32_t region = op_called(s->p, op, k);

		if (s->p->region.at[region].kind != REGION_CODE)
			continue;
		if (op->code == HLO_WHILE)
			/* The condition of a counted loop is no kernel. */
			s->runs[region] +=
				k ? runs * (double)op->as.loop->trips
				  : (op->as.loop->known
			                     ? 0
			                     : runs * (double)(op->as.loop->trips + 1));
		else if (op->code != HLO_CONDITIONAL || s->p->region.at[region].runs > 0)
			s->runs[region] += runs;
	}
}

static void price_collective(struct pricer_state *s, const struct kernel *k, double runs)
{
	const struct instruction *op = &s->p->op.at[k->op];
	bool scattered = s->scattered && s->scattered[k->op];
	double share = s->share ? s->share[k->op] : 1;
	struct priced one = {.op = k->op,
	                     .code = scattered ? HLO_REDUCE_SCATTER : op->code,
	                     .class = CLASS_COLLECTIVE,
	                     .count = runs};
	struct text why = {0};

	if (op->async == ASYNC_DONE || op->async == ASYNC_UPDATE ||
	    (s->gathered && s->gathered[k->op] >= 0))
		return;
	one.bytes = (double)op_result_bytes(s->p, op);
	one.time_s = NAN;
	one.collective =
		(struct collected){.time_s = NAN, .bound_s = NAN, .best_s = NAN};
	if (op->as.collective->groups >= 0)
		one.collective.group_size =
			s->p->groups.at[op->as.collective->groups].size;
	else
		one.collective.group_size = 2;
	if (scattered)
		one.bytes /= one.collective.group_size;
	if (s->collector) {
		if (collect(&one.collective, s->collector, op, scattered, share, &why))
			one.time_s = one.collective.time_s;
		else
			not_known(s, why.s ? why.s : "a collective cannot run");
	}
	text_free(&why);
	*list_add(&s->out->collective, s->a) = one;
	s->out->combined = s->out->combined || share < 1;
	s->out->communication_s += runs * one.time_s;
	s->out->bound_s +=
		isnan(one.collective.bound_s) ? 0 : runs * one.collective.bound_s;
}

double price_kernel_s(const struct machine *m, const struct kernel *k)
{
	double s = compute_op_s(m, &k->ask);

	if (k->host_bytes > 0)
		return k->host_bytes / HOST_BPS;
	return s < 0 ? NAN : s;
}

static void price_kernel(struct pricer_state *s, const struct kernel *k, double runs)
{
	struct priced one = {.op = k->op,
	                     .code = s->p->op.at[k->op].code,
	                     .class = k->class,
	                     .count = runs,
	                     .time_s = NAN,
	                     .ask = k->ask,
	                     .flops = k->flops,
	                     .transcendentals = k->transcendentals,
	                     .bytes = k->ask.bytes,
	                     .host_bytes = k->host_bytes};

	if (k->ask.kind == COMPUTE_MATMUL || k->ask.kind == COMPUTE_CONVOLUTION)
		one.dot_flops = k->ask.flops;
	if (s->out->machine) {
		one.time_s = price_kernel_s(s->out->machine, k);
		if (isnan(one.time_s))
			not_known(s, "the platform does not say how fast its devices "
			             "compute: bf16_flops, f32_flops, memory_Bps");
	}
	*list_add(&s->out->kernel, s->a) = one;
	if (k->host_bytes > 0) {
		s->out->host_s += runs * one.time_s;
		return;
	}
	s->out->compute_s += runs * one.time_s;
	s->out->class_s[k->class] += runs * one.time_s;
	s->out->flops += runs * one.flops;
	s->out->dot_flops += runs * one.dot_flops;
	s->out->transcendentals += runs * one.transcendentals;
}

/* What the ops of one region take; the regions of its loops follow. */
static bool price_region(struct pricer_state *s, int32_t region, struct text *why)
{
	struct arena *scratch = arena_new();
	double runs = s->runs[region];
	struct kernels k;
	bool good = kernels_make(&k, scratch, s->p, region);

	if (!good)
		text_printf(why, "its calls come to more than %d ops", FLAT_STEPS_MAX);
	for (int64_t i = 0; good && i < k.flat.step.n; i++)
		count_called(s, &s->p->op.at[k.flat.step.at[i].op], runs);
	for (int64_t i = 0; good && i < k.kernel.n; i++) {
		const struct kernel *one = &k.kernel.at[i];
		enum op_class class = one->class;

		if (class == CLASS_COLLECTIVE)
			price_collective(s, one, runs);
		else if (class != CLASS_LOOP && class != CLASS_BRANCH &&
		         class != CLASS_CALL && class != CLASS_TRANSFER)
			price_kernel(s, one, runs);
	}
	arena_free(scratch);
	return good;
}

/* Custom calls that are priced by their bytes are named. */
static void warn_custom(struct program *p)
{
	struct attention at;
	struct matmul mm;

	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];

		if (op->code != HLO_CUSTOM_CALL || !op->as.custom->target.at ||
		    p->region.at[op->region].runs <= 0 || custom_is_name(op) ||
		    custom_is_host_move(op) || custom_attention(&at, p, op) ||
		    custom_matmul(&mm, p, op))
			continue;
		program_warn(
			p, op->line,
			"custom call '%.*s' is not known: it is priced by its bytes",
			(int)op->as.custom->target.length, op->as.custom->target.at);
	}
}

/* Returns the place of an op's name in the program's text, or else that of its line. */
static struct where place_of(const struct program *p, const struct instruction *op)
{
	struct where at = {.file = p->file, .line = (unsigned)op->line, .col = 1};
	const char *start = p->text, *end;

	for (int32_t line = 1; line < op->line && start; line++) {
		start = strchr(start, '\n');
		start = start ? start + 1 : NULL;
	}
	if (!start)
		return at;
	end = start + strcspn(start, "\n");
	if (op->name.at >= start && op->name.at < end)
		at.col = 1 + (unsigned)(op->name.at - start);
	return at;
}

/*
 * Returns whether collectives are among the devices that the program runs on; replicated it
 * has one. Stores the place of the first that is not.
 */
static bool check_devices(struct where *at_op, const struct program *p, struct text *why)
{
	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];
		const struct collective_attr *at = op->as.collective;
		int64_t most = -1;

		if (opcode_class(op->code) != CLASS_COLLECTIVE || !at)
			continue;
		for (int32_t k = 0; k < at->pairs.n; k++)
			most = at->pairs.at[k] > most ? at->pairs.at[k] : most;
		if (at->groups >= 0) {
			const struct replica_groups *g = &p->groups.at[at->groups];

			for (int32_t k = 0; k < g->first[g->ngroups]; k++)
				most = g->ids[k] > most ? g->ids[k] : most;
		}
		if (most < p->ndevices)
			continue;
		*at_op = place_of(p, op);
		text_printf(
			why,
			"a collective with device %lld in a program that runs on %d",
			(long long)most, (int)p->ndevices);
		return false;
	}
	return true;
}

bool program_price(struct program_price *out, struct arena *a, struct program *p,
                   const struct machine *m, const struct price_options *o,
                   struct text *why)
{
	struct pricer_state s = {.out = out, .a = a, .p = p};
	bool good;

	*out = (struct program_price){.program = p, .machine = m};
	good = check_devices(&out->at, p, why);
	s.runs = arena_alloc(a, (size_t)p->region.n, sizeof(*s.runs));
	s.runs[p->entry] = 1;
	if (!o->raw && p->stage != STAGE_OPTIMISED) {
		s.scattered = clean_scattered(a, p);
		s.gathered = clean_gathered(a, p);
		s.share = clean_combined(a, p, s.scattered, s.gathered);
	}
	if (m)
		s.collector = collector_new(p, m, o->devices, o->best);
	trips_warn(p);
	warn_custom(p);
	for (int64_t i = p->region.n; good && i-- > 0;)
		if (s.runs[p->calls_first[i]] > 0)
			good = price_region(&s, p->calls_first[i], why);
	if (s.collector)
		collector_free(s.collector);
	if (!m)
		out->compute_s = out->communication_s = out->bound_s = out->host_s = NAN;
	out->exposed_s = out->communication_s;
	out->step_s = out->compute_s + out->exposed_s + out->host_s;
	return good;
}
