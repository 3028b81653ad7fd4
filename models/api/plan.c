/* Plans: made, read, checked and walked. */
#include "api/handle.h"

#include "api/json.h"
#include "api/planners.h"
#include "plan/check.h"
#include "plan/memory.h"
#include "plan/plan_text.h"
#include "plan/view.h"
#include "price/price.h"

#include <string.h>

/* --- handles --- */

static const struct shardsim_move *moves_of(const struct plan *p, const struct step *s,
                                            struct arena *a)
{
	struct shardsim_move *move = arena_alloc(a, (size_t)s->nmoves, sizeof(*move));

	for (int i = 0; i < s->nmoves; i++)
		move[i] = (struct shardsim_move){view_dim(p, s->move[i].from_dim),
		                                 view_dim(p, s->move[i].to_dim),
		                                 s->move[i].factor};
	return move;
}

static const int32_t *pairs_of(const struct step *s, struct arena *a)
{
	int32_t *pair = arena_alloc(a, 2 * (size_t)s->npairs, sizeof(*pair));

	for (int32_t i = 0; i < s->npairs; i++) {
		pair[2 * i] = s->pairs[i].src;
		pair[2 * i + 1] = s->pairs[i].dst;
	}
	return pair;
}

static const struct shardsim_transfer *transfers_of(const struct step *s,
                                                    struct arena *a)
{
	struct shardsim_transfer *transfer =
		arena_alloc(a, (size_t)s->ntransfers, sizeof(*transfer));

	for (int64_t i = 0; i < s->ntransfers; i++) {
		const struct transfer *t = &s->transfers[i];

		transfer[i] = (struct shardsim_transfer){t->src, t->dst, t->elements,
		                                         t->bounds};
	}
	return transfer;
}

static struct shardsim_step step_of(const struct plan *p, int step, struct arena *a)
{
	const struct step *s = &p->step[step];
	struct text text = {0}, layout = {0};

	step_print(&text, p, step);
	view_print_layout(&layout, p, &s->after, s->mesh);
	return (struct shardsim_step){
		.op = op_name(s->op),
		.text = text_take(&text, a),
		.layout = text_take(&layout, a),
		.communicates = op_communicates(s->op),
		.recv_bytes = s->recv_bytes,
		.send_bytes = s->send_bytes,
		.padding_bytes = s->padding_bytes,
		.nmoves = s->nmoves,
		.move = moves_of(p, s, a),
		.ngroups = s->groups.ngroups,
		.group_size = s->groups.size,
		.npairs = s->npairs,
		.group = s->groups.ids,
		.pair = pairs_of(s, a),
		.ntransfers = s->ntransfers,
		.transfer = transfers_of(s, a),
	};
}

/* Completes the handle of a finished plan, which lies in its arena. */
static void finish_plan(struct shardsim_plan *out,
                        const struct shardsim_problem *problem, const struct plan *plan)
{
	struct arena *a = out->handle.arena;
	struct shardsim_step *step = arena_alloc(a, (size_t)plan->nsteps, sizeof(*step));

	for (int i = 0; i < plan->nsteps; i++)
		step[i] = step_of(plan, i, a);
	out->problem = problem;
	out->plan = plan;
	out->step = step;
	handle_hold(&out->handle, &problem->handle);
}

/* --- planning --- */

struct planning {
	struct api api;
	struct shardsim_plan **out;
	const struct shardsim_problem *problem;
	const struct shardsim_machine *machine;
	const char *name;
};

/* Runs the planner; the plan is the arena's. */
static enum answer run_planner(const struct plan **out, struct planning *p,
                               const struct planner *planner, struct arena *a,
                               struct text *why)
{
	struct problem *problem =
		arena_dup(a, &p->problem->problem, 1, sizeof(*problem));
	const struct placement *place;
	struct pricer *pricer = NULL;
	struct prices prices = prices_bytes;
	struct plan *plan = NULL;
	enum answer answer;

	if (p->machine) {
		place = problem_place(p->problem, p->machine->machine, a);
		problem->platform = place ? place->platform : NULL;
		pricer = pricer_new(p->machine->machine, place);
		prices = pricer_prices(pricer);
		problem_use_memory(problem, p->machine->machine);
	}
	answer = planner_run(planner, &plan, problem, &prices, a, why);
	pricer_free(pricer);
	*out = plan;
	return answer;
}

static bool check_planning(struct planning *p)
{
	return api_needs_out(&p->api, p->out) &&
	       api_needs(&p->api, p->problem, HANDLE_PROBLEM) &&
	       (!p->machine ||
	        (api_needs(&p->api, p->machine, HANDLE_MACHINE) &&
	         problem_fits(&p->api, p->problem, p->machine->machine))) &&
	       api_needs_text(&p->api, p->name, "planner");
}

static bool plan_body(void *self)
{
	struct planning *p = self;
	const struct planner *planner;
	const struct plan *plan;
	struct shardsim_plan *out;
	struct text why = {0};
	enum answer answer;

	if (!check_planning(p))
		return false;
	planner = planners_find(p->name);
	if (!planner)
		return api_fail(&p->api, SHARDSIM_RANGE, "unknown planner '%.40s'",
		                p->name);
	out = handle_new(HANDLE_PLAN, sizeof(*out));
	answer = run_planner(&plan, p, planner, out->handle.arena, &why);
	if (answer != ANSWER_PLAN)
		return api_fail(&p->api,
		                answer == ANSWER_OVER_MEMORY ? SHARDSIM_OVER_MEMORY
		                                             : SHARDSIM_NOT_APPLICABLE,
		                "%s", why.s ? why.s : "no reason was given");
	if (!plan_check(plan, &why))
		return api_fail(&p->api, SHARDSIM_WRONG, "%s", why.s ? why.s : "");
	text_free(&why);
	finish_plan(out, p->problem, plan);
	*p->out = out;
	return true;
}

enum shardsim_status shardsim_plan(struct shardsim_plan **out,
                                   const struct shardsim_problem *problem,
                                   const struct shardsim_machine *machine,
                                   const char *planner, struct shardsim_error *error)
{
	struct planning p = {
		.out = out, .problem = problem, .machine = machine, .name = planner};

	if (out)
		*out = NULL;
	return api_call(&p.api, plan_body, &p, error);
}

/* --- reading --- */

struct plan_reading {
	struct api api;
	struct shardsim_plan **out;
	const struct shardsim_problem *problem;
	const char *text;
};

static bool plan_read_body(void *self)
{
	struct plan_reading *r = self;
	struct shardsim_plan *out;
	const char *text;
	struct plan *plan;
	enum status status;

	if (!api_needs_out(&r->api, r->out) ||
	    !api_needs(&r->api, r->problem, HANDLE_PROBLEM) ||
	    !api_needs_text(&r->api, r->text, "plan"))
		return false;
	out = handle_new(HANDLE_PLAN, sizeof(*out));
	text = arena_strdup(out->handle.arena, r->text);
	if (strchr("{[", text[strspn(text, " \t\r\n")]) &&
	    text[strspn(text, " \t\r\n")])
		status = json_read_plan(&plan, &r->problem->problem, out->handle.arena,
		                        text, &r->api.error);
	else
		status = plan_parse(&plan, &r->problem->problem, out->handle.arena,
		                    text, where_option("plan", text), &r->api.error);
	if (status != OK)
		return false;
	finish_plan(out, r->problem, plan);
	*r->out = out;
	return true;
}

enum shardsim_status shardsim_plan_read(struct shardsim_plan **out,
                                        const struct shardsim_problem *problem,
                                        const char *text, struct shardsim_error *error)
{
	struct plan_reading r = {.out = out, .problem = problem, .text = text};

	if (out)
		*out = NULL;
	return api_call(&r.api, plan_read_body, &r, error);
}

/* --- looking at it --- */

struct look {
	struct api api;
	const struct shardsim_plan *plan;
	int step;
	struct shardsim_step *out_step;
	struct shardsim_figures *out_figures;
};

static bool check_body(void *self)
{
	struct look *l = self;
	struct text why = {0};

	if (api_needs(&l->api, l->plan, HANDLE_PLAN) && !plan_check(l->plan->plan, &why))
		api_fail(&l->api, SHARDSIM_WRONG, "%s", why.s ? why.s : "");
	return false;
}

enum shardsim_status shardsim_check(const struct shardsim_plan *plan,
                                    struct shardsim_error *error)
{
	struct look l = {.plan = plan};

	return api_call(&l.api, check_body, &l, error);
}

static bool figures_body(void *self)
{
	struct look *l = self;
	const struct plan *p;

	if (!api_needs_out(&l->api, l->out_figures) ||
	    !api_needs(&l->api, l->plan, HANDLE_PLAN))
		return false;
	p = l->plan->plan;
	*l->out_figures = (struct shardsim_figures){
		.planner = p->planner,
		.nsteps = p->nsteps,
		.recv_bytes = p->recv_bytes,
		.send_bytes = p->send_bytes,
		.peak_array_bytes = p->peak_array_bytes,
		.peak_live_bytes = p->peak_live_bytes,
	};
	return false;
}

enum shardsim_status shardsim_figures(struct shardsim_figures *out,
                                      const struct shardsim_plan *plan,
                                      struct shardsim_error *error)
{
	struct look l = {.plan = plan, .out_figures = out};

	return api_call(&l.api, figures_body, &l, error);
}

static bool step_body(void *self)
{
	struct look *l = self;

	if (!api_needs_out(&l->api, l->out_step) ||
	    !api_needs(&l->api, l->plan, HANDLE_PLAN))
		return false;
	if (l->step < 0 || l->step >= l->plan->plan->nsteps)
		return api_fail(&l->api, SHARDSIM_MISUSE,
		                "step %d of a plan of %d steps, counted from 0",
		                l->step, l->plan->plan->nsteps);
	*l->out_step = l->plan->step[l->step];
	return false;
}

enum shardsim_status shardsim_step(struct shardsim_step *out,
                                   const struct shardsim_plan *plan, int step,
                                   struct shardsim_error *error)
{
	struct look l = {.plan = plan, .step = step, .out_step = out};

	return api_call(&l.api, step_body, &l, error);
}
