#include "automap/price.h"

#include "automap/change.h"
#include "automap/try.h"
#include "base/keys.h"
#include "program/custom.h"

#include <math.h>
#include <string.h>

/* Devices of a mesh up to which `best` is asked, which takes long on larger ones. */
enum { BEST_MOST = 512 };

struct pricing {
	struct automap_price *out;
	struct arena *a;
	const struct automap_ask *ask;
	const struct automap_found *f;
	const struct graph *g;
	struct automap_evaluator ev;
	const int32_t *devices;      /* the platform's, of each position of the mesh */
	struct collector *collector; /* NULL without a machine */
	struct keys changes;
	LIST(const struct plan *) plan; /* by the number of the change */
	LIST(struct collected *)
	step; /* each of the plan's steps; NULL without a machine */
	LIST(struct reshard) reshard;
};

/* --- kernels ---------------------------------------------------------------------- */

static double seconds(const struct pricing *p, double s)
{
	return p->ask->machine && s >= 0 ? s : NAN;
}

static int32_t op_of(const struct graph *g, int32_t op)
{
	return g->flat->step.at[g->op.at[op].step].op;
}

/* As kernels of programs that are not searched are (program/kernels.h). */
static enum op_class class_of(const struct program *p, const struct instruction *op,
                              const struct compute_ask *ask)
{
	enum op_class class = opcode_class(op->code);
	struct attention at;

	if (ask->kind == COMPUTE_MATMUL || ask->kind == COMPUTE_CONVOLUTION ||
	    custom_attention(&at, p, op))
		return class;
	return class == CLASS_MATMUL || class == CLASS_CALL ? CLASS_ELEMENTWISE : class;
}

static void add_kernel(struct pricing *p, struct priced one)
{
	struct program_price *price = &p->out->price;

	*list_add(&price->kernel, p->a) = one;
	price->class_s[one.class] += one.count * one.time_s;
	price->dot_flops += one.count * one.dot_flops;
}

static void add_kernels(struct pricing *p)
{
	const struct evaluator *e = &p->ev.evaluator;

	for (int64_t i = 0; i < p->g->kernel.n; i++) {
		const struct graph_kernel *k = &p->g->kernel.at[i];
		const struct graph_op *o = &p->g->op.at[k->op];
		const struct instruction *op = &p->g->program->op.at[op_of(p->g, k->op)];
		struct priced one = {.op = op_of(p->g, k->op),
		                     .code = op->code,
		                     .count = o->weight * o->times * e->times[k->op],
		                     .ask = evaluated_kernel(e, p->f->cutting, k),
		                     .time_s = NAN,
		                     .flops = NAN};

		one.class = class_of(p->g->program, op, &one.ask);
		one.bytes = one.ask.bytes;
		if (one.ask.flops > 0)
			one.flops = one.ask.flops;
		if (one.ask.kind == COMPUTE_MATMUL ||
		    one.ask.kind == COMPUTE_CONVOLUTION)
			one.dot_flops = one.ask.flops;
		if (e->tariff)
			one.time_s =
				seconds(p, e->tariff->kernel(e->tariff->self, &one.ask));
		add_kernel(p, one);
	}
}

/* --- changes of layout ------------------------------------------------------------ */

/* The op that a step is for: that needs the array, or else that makes it. */
static int32_t op_for(const struct graph *g, const struct transfer_step *s)
{
	int32_t op = s->before >= 0 ? s->before : g->value.at[s->value].op;
	const struct region *entry = &g->program->region.at[g->program->entry];

	if (op >= 0)
		return op_of(g, op);
	return g->program->value.at[entry->param.at[g->value.at[s->value].argument]].op;
}

/* The plan that was priced, of `n` steps. */
static const struct plan *plan_of(struct pricing *p, const struct transfer_step *s,
                                  int64_t n)
{
	struct problem *problem = arena_alloc(p->a, 1, sizeof(*problem));
	struct hop hop[HOPS_MAX];
	const struct plan *plan = NULL;

	change_problem(problem, p->a, &p->out->mesh, p->f->device,
	               p->g->value.at[s->value].type, &s->from, &s->to, s->axes);
	if (p->ask->machine && p->ask->planner && s->op == OP_EXCHANGE &&
	    reshard_hops(hop, &s->from, &s->to) > 1)
		plan = machine_tariff_plan(p->ev.of, p->a, problem);
	return plan && plan->nsteps == n ? plan : change_plan(p->a, problem, s);
}

static struct collected *collect_steps(struct pricing *p, const struct plan *plan)
{
	struct collected *out =
		arena_alloc(p->a, (size_t)plan->nsteps + 1, sizeof(*out));
	struct text why = {0};

	for (int k = 0; p->collector && k < plan->nsteps; k++)
		if (op_communicates(plan->step[k].op) &&
		    !collect_step(&out[k], p->collector, plan, k, &why))
			out[k] = (struct collected){.time_s = NAN,
			                            .bound_s = NAN,
			                            .best_s = NAN,
			                            .group_size = 2};
	text_free(&why);
	return out;
}

/* The number of a step's change, equal ones of which are planned and timed once. */
static int32_t change_of(struct pricing *p, const struct transfer_step *s, int64_t n)
{
	const struct value_type *type = p->g->value.at[s->value].type;
	struct {
		const struct dtype *dtype;
		int64_t op, axes, n, rank, dim[RANK_MAX];
		struct cuts from, to;
	} key;
	int32_t number;
	bool fresh;

	memset(&key, 0, sizeof(key));
	key.dtype = type->dtype;
	key.op = s->op;
	key.axes = s->axes;
	key.n = n;
	key.rank = type->rank;
	memcpy(key.dim, type->dim, (size_t)type->rank * sizeof(*key.dim));
	for (int i = 0; i < s->from.n; i++)
		cuts_add(&key.from, s->from.axis[i], s->from.at[i]);
	for (int i = 0; i < s->to.n; i++)
		cuts_add(&key.to, s->to.axis[i], s->to.at[i]);
	number = keys_add(&p->changes, &key, sizeof(key), &fresh);
	if (fresh) {
		*list_add(&p->plan, p->a) = plan_of(p, s, n);
		*list_add(&p->step, p->a) = collect_steps(p, p->plan.at[number]);
	}
	return number;
}

static void add_moved(struct pricing *p, const struct moved *m, int32_t op,
                      const struct step *step, const struct collected *collected)
{
	const struct dtype *dtype =
		p->g->value.at[p->ev.evaluator.lowered.step.at[m->step].value].type->dtype;
	struct priced one = {
		.op = op,
		.code = partition_opcode(m->op),
		.class = CLASS_COLLECTIVE,
		.count = m->times,
		.time_s = seconds(p, m->s),
		.collective = *collected,
		.bytes = (double)dtype_bytes(dtype, shape_elements(&step->local))};

	if (op_communicates(m->op)) {
		if (!p->collector)
			one.collective = (struct collected){
				.bound_s = NAN,
				.best_s = NAN,
				.group_size =
					step->groups.ngroups ? step->groups.size : 2};
		*list_add(&p->out->price.collective, p->a) = one;
		return;
	}
	one.class = opcode_class(one.code);
	one.flops = 0;
	/* What stands beside a collective is in its seconds. */
	if (!p->ask->machine || m->s > 0)
		add_kernel(p, one);
}

/* Adds the parts of a step of the cuts from `first` on; returns how many there are. */
static int64_t add_change(struct pricing *p, int64_t first)
{
	const struct evaluator *e = &p->ev.evaluator;
	const struct moved *m = &e->moved.at[first];
	const struct transfer_step *s = &e->lowered.step.at[m->step];
	int32_t op = op_for(p->g, s), number;
	const struct plan *plan;
	int64_t n = 1;

	while (first + n < e->moved.n && m[n].step == m->step)
		n++;
	number = change_of(p, s, n);
	plan = p->plan.at[number];
	for (int64_t k = 0; k < n; k++)
		add_moved(p, &m[k], op, &plan->step[k], &p->step.at[number][k]);
	*list_add(&p->reshard, p->a) = (struct reshard){.op = op,
	                                                .array = plan->problem->array,
	                                                .from = plan->problem->from,
	                                                .to = plan->problem->to,
	                                                .plan = plan,
	                                                .count = m->times,
	                                                .full_remat = plan->full_remat,
	                                                .live = true};
	return n;
}

static void add_changes(struct pricing *p)
{
	const struct evaluator *e = &p->ev.evaluator;
	bool best = p->out->mesh.ndevices <= BEST_MOST;
	struct reshard_ask costs = {.annotated = &p->out->program,
	                            .mesh = &p->out->mesh,
	                            .machine = p->ask->machine,
	                            .devices = p->devices,
	                            .planner = p->ask->planner,
	                            .best = best};

	if (p->ask->machine)
		p->collector = collector_new(NULL, p->ask->machine, p->devices, best);
	for (int64_t i = 0; i < e->moved.n;)
		i += add_change(p, i);
	if (p->collector)
		collector_free(p->collector);
	costs.n = p->reshard.n;
	costs.reshard = p->reshard.at;
	reshards_price(&p->out->reshards, p->a, &costs);
}

/* --- all of it -------------------------------------------------------------------- */

static const char *names_of(struct arena *a, const struct mesh *m, int axes)
{
	struct text out = {0};

	for (int i = 0; i < m->naxes; i++)
		if (axes >> i & 1)
			text_printf(&out, "%s%s", out.length ? "," : "",
			            m->axis[i].name);
	return text_take(&out, a);
}

/*
 * Waiting, by the axes of the collectives that are waited for. Of layers that are not run one by one
 * beside kernels only the proportions are known.
 */
static void add_exposed(struct pricing *p, double all_s)
{
	const struct evaluator *e = &p->ev.evaluator;
	double exposed_s[1 << CUT_AXES] = {0}, sum = 0;
	bool talks[1 << CUT_AXES] = {false};

	for (int32_t i = 0; i < e->lowered.step.n; i++) {
		int axes = transfer_axes(&e->lowered.step.at[i]);

		talks[axes] = axes;
		exposed_s[axes] += p->ask->overlap ? 0 : e->moved_s.at[i];
	}
	if (p->ask->overlap)
		evaluation_overlapped_s(e, p->f->cutting, exposed_s);
	for (int axes = 1; axes < 1 << CUT_AXES; axes++)
		sum += exposed_s[axes];
	p->out->axis = arena_alloc(p->a, 1 << CUT_AXES, sizeof(*p->out->axis));
	for (int axes = 1; axes < 1 << CUT_AXES; axes++)
		if (talks[axes])
			p->out->axis[p->out->naxes++] = (struct program_axis){
				names_of(p->a, &p->out->mesh, axes),
				seconds(p, exposed_s[axes] *
			                           (sum > all_s ? all_s / sum : 1))};
}

static void add_sums(struct pricing *p, const struct evaluation *e, double bound_s)
{
	struct program_price *price = &p->out->price;
	bool known = p->ask->machine && !e->unknown;

	price->machine = p->ask->machine;
	price->compute_s = known ? e->compute_s : NAN;
	price->communication_s = seconds(p, e->communication_s);
	price->step_s = known ? e->step_s : NAN;
	price->exposed_s = known ? e->step_s - e->compute_s : NAN;
	price->host_s = seconds(p, 0);
	price->bound_s = seconds(p, bound_s);
}

void automap_price(struct automap_price *out, struct arena *a,
                   const struct automap_ask *ask, const struct automap_answer *answer)
{
	const struct automap_found *f = &answer->best;
	struct automap_ask with = *ask;
	struct pricing p = {.out = out,
	                    .a = a,
	                    .ask = ask,
	                    .f = f,
	                    .g = ask->graph,
	                    .changes = {.arena = a, .table = {.arena = a}}};
	struct evaluation e;
	int32_t *devices = arena_alloc(a, (size_t)f->mesh.ndevices, sizeof(*devices));

	for (int32_t i = 0; i < f->mesh.ndevices; i++)
		devices[i] = f->device ? f->device[i] : i;
	p.devices = devices;
	*out = (struct automap_price){.program = *ask->graph->program};
	automap_large_axes(&out->mesh, &f->mesh);
	out->program.ndevices = f->mesh.ndevices;
	out->program.stage = STAGE_ANNOTATED;
	out->price.program = &out->program;
	with.shared = ask->machine ? group_prices_new(ask->machine) : NULL;
	automap_evaluator_start(&p.ev, a, &with, f, ask->planner);
	e = evaluate(&p.ev.evaluator, f->cutting);
	add_kernels(&p);
	add_changes(&p);
	add_sums(&p, &e, answer->bound_s);
	add_exposed(&p, out->price.exposed_s);
	machine_tariff_free(p.ev.of);
	group_prices_free(with.shared);
}
