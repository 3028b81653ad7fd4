#include "cost/model.h"

#include "array/routes.h"
#include "base/assert.h"
#include "cost/lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * What one link carries. Nothing is cleared between rounds: `round` and `task` say to
 * which of them the figures belong, counted over the life of the workspace.
 */
struct load {
	int64_t round, task;
	double round_bytes, task_bytes;
	double latency_s; /* the smallest of a task of this round that uses the link */
};

struct model {
	const struct machine *machine;
	struct routes *routes;
	struct lines *lines;
	bool lined[MACHINE_FABRICS_MAX]; /* lines_have() */
	struct load *load;               /* [nlinks] */
	int64_t rounds, tasks;
	int32_t *used; /* [nlinks]: links of this round, in order of first use */
	int32_t nused;
	int32_t *mine; /* [nlinks]: the same of the current task */
	int32_t nmine;
	double route_s; /* the longest route of the current task */
	double time_s;  /* of the slowest task of the current round */
};

struct model *model_new(const struct machine *m)
{
	struct model *model = xmalloc(1, sizeof(*model));
	size_t n = m->nlinks ? (size_t)m->nlinks : 1;

	*model = (struct model){
		.machine = m, .routes = routes_new(m), .lines = lines_new(m)};
	model->load = xmalloc(n, sizeof(*model->load));
	for (int f = 0; f < m->nfabrics; f++)
		model->lined[f] = lines_have(model->lines, f);
	model->used = xmalloc(n, sizeof(*model->used));
	model->mine = xmalloc(n, sizeof(*model->mine));
	for (int32_t l = 0; l < m->nlinks; l++)
		model->load[l] = (struct load){0};
	return model;
}

struct routes *model_routes(struct model *model)
{
	return model->routes;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	routes_free(model->routes);
	lines_free(model->lines);
	xfree(model->load);
	xfree(model->used);
	xfree(model->mine);
	xfree(model);
}

/* Return what fmax() and fmin() do, but without a call; nothing here is NaN. */
static inline double larger(double a, double b)
{
	return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Begins a link's figures of the current task and, if it is new to that, round. */
static void link_begin(struct model *model, struct load *load, int32_t l)
{
	if (load->round != model->rounds) {
		load->round = model->rounds;
		load->round_bytes = 0;
		load->latency_s = INFINITY;
		model->used[model->nused++] = l;
	}
	load->task = model->tasks;
	load->task_bytes = 0;
	model->mine[model->nmine++] = l;
}

/*
 * Puts the bytes of the current task and round on one link, and returns its latency. A
 * link of this task is one of this round.
 */
static inline double link_load(struct model *model, int32_t l, double bytes)
{
	struct load *load = &model->load[l];

	if (load->task != model->tasks)
		link_begin(model, load, l);
	load->round_bytes += bytes;
	load->task_bytes += bytes;
	return model->machine->link[l].latency_s;
}

void model_round(struct model *model)
{
	model->rounds++;
	model->nused = 0;
	model->time_s = 0;
}

void model_task(struct model *model)
{
	lines_load(model->lines, NULL, NULL);
	model->tasks++;
	model->nmine = 0;
	model->route_s = 0;
}

/* Loads the links of a route, and returns its latency; < 0 without a route. */
static double route_load(struct model *model, int32_t fabric, int32_t src, int32_t dst,
                         double bytes)
{
	const int32_t *links;
	double route_s = 0;
	int n;

	if (model->lined[fabric]) {
		route_s = lines_send(model->lines, &links, &n, fabric, src, dst, bytes);
		for (int k = 0; k < n; k++)
			link_load(model, links[k], bytes);
		return route_s;
	}
	links = routes_find(&n, model->routes, fabric, src, dst);
	if (n < 0)
		return -1;
	for (int k = 0; k < n; k++)
		route_s += link_load(model, links[k], bytes);
	return route_s;
}

bool model_message(struct model *model, int32_t fabric, int32_t src, int32_t dst,
                   double bytes)
{
	const struct fabric *f = &model->machine->fabric[fabric];
	double route_s;

	if (f->geometry == GEOMETRY_SWITCH && src != dst) {
		route_s = link_load(model, f->port[2 * (int64_t)src], bytes);
		route_s += link_load(model, f->port[2 * (int64_t)dst + 1], bytes);
	} else {
		route_s = route_load(model, fabric, src, dst, bytes);
	}
	model->route_s = larger(model->route_s, route_s);
	return route_s >= 0;
}

static void load_line(void *self, int32_t link, double bytes)
{
	link_load(self, link, bytes);
}

double model_task_wire_s(struct model *model)
{
	double busy_s = 0;

	lines_load(model->lines, load_line, model);
	for (int32_t k = 0; k < model->nmine; k++) {
		int32_t l = model->mine[k];

		busy_s = larger(busy_s, model->load[l].task_bytes /
		                                model->machine->link[l].bandwidth_Bps);
	}
	return busy_s;
}

double model_task_route_s(const struct model *model)
{
	return model->route_s;
}

void model_task_end(struct model *model, double wire_s, int32_t repeats, double delay_s,
                    double least_s)
{
	double latency_s = model->route_s * repeats + delay_s;

	for (int32_t k = 0; k < model->nmine; k++) {
		struct load *load = &model->load[model->mine[k]];

		load->latency_s = smaller(load->latency_s, latency_s);
	}
	model->time_s = larger(model->time_s, larger(wire_s, least_s) + latency_s);
}

double model_round_end(struct model *model)
{
	double time_s = model->time_s;

	for (int32_t k = 0; k < model->nused; k++) {
		const struct load *load = &model->load[model->used[k]];
		double link_Bps = model->machine->link[model->used[k]].bandwidth_Bps;

		time_s = larger(time_s, load->round_bytes / link_Bps + load->latency_s);
	}
	return time_s;
}

double model_round_least_s(const struct model *model)
{
	return model->time_s;
}

/* Loads the links of the task. Returns false where a message has no route. */
static bool load_task(struct model *model, const struct schedule *s,
                      const struct task *t)
{
	model_task(model);
	for (int64_t i = 0; i < t->nmessages; i++) {
		const struct message *msg = &s->message[t->first + i];

		if (!model_message(model, msg->fabric, msg->src, msg->dst, msg->bytes))
			return false;
	}
	model_task_end(model, model_task_wire_s(model), t->repeats, t->delay_s,
	               t->least_s);
	return true;
}

static double round_s(struct model *model, const struct schedule *s,
                      const struct round *r)
{
	model_round(model);
	for (int64_t i = 0; i < r->ntasks; i++)
		if (!load_task(model, s, &s->task[r->first + i]))
			return -1;
	return model_round_end(model);
}

double model_schedule_s(struct model *model, const struct schedule *s)
{
	double total_s = 0;

	for (int64_t r = 0; r < s->nrounds; r++) {
		double time_s = round_s(model, s, &s->round[r]);

		if (time_s < 0)
			return -1;
		total_s += time_s;
	}
	return total_s;
}

double model_clock(void *self, const struct schedule *s, char *message, size_t size)
{
	struct model *model = self;
	double time_s = model_schedule_s(model, s);

	if (time_s < 0)
		snprintf(message, size,
		         "the routes of %s are known to the simulator only",
		         model->machine->name);
	return time_s;
}
