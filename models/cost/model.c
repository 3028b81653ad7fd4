#include "cost/model.h"

#include "array/routes.h"
#include "base/assert.h"

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
	struct load *load; /* [nlinks] */
	int64_t rounds, tasks;
	int32_t *used; /* [nlinks]: links of this round, in order of first use */
	int32_t nused;
	int32_t *mine; /* [nlinks]: the same of the current task */
	int32_t nmine;
};

struct model *model_new(const struct machine *m)
{
	struct model *model = xmalloc(1, sizeof(*model));
	size_t n = m->nlinks ? (size_t)m->nlinks : 1;

	*model = (struct model){.machine = m, .routes = routes_new(m)};
	model->load = xmalloc(n, sizeof(*model->load));
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

/* Puts the bytes of the current task and round on one link. */
static void link_load(struct model *model, int32_t l, double bytes)
{
	struct load *load = &model->load[l];

	if (load->round != model->rounds) {
		load->round = model->rounds;
		load->round_bytes = 0;
		load->latency_s = INFINITY;
		model->used[model->nused++] = l;
	}
	if (load->task != model->tasks) {
		load->task = model->tasks;
		load->task_bytes = 0;
		model->mine[model->nmine++] = l;
	}
	load->round_bytes += bytes;
	load->task_bytes += bytes;
}

/*
 * Loads the links of the task. Returns its own time, or < 0 where a message has no
 * route.
 */
static double task_s(struct model *model, const struct schedule *s, const struct task *t)
{
	const struct machine *m = model->machine;
	double latency_s = 0, busy_s = 0;

	model->tasks++;
	model->nmine = 0;
	for (int64_t i = 0; i < t->nmessages; i++) {
		const struct message *msg = &s->message[t->first + i];
		double route_s = 0;
		int n;
		const int32_t *links =
			routes_find(&n, model->routes, msg->fabric, msg->src, msg->dst);

		if (n < 0)
			return -1;
		for (int k = 0; k < n; k++) {
			link_load(model, links[k], msg->bytes);
			route_s += m->link[links[k]].latency_s;
		}
		latency_s = larger(latency_s, route_s);
	}
	latency_s = latency_s * t->repeats + t->delay_s;
	busy_s = t->least_s;
	for (int32_t k = 0; k < model->nmine; k++) {
		struct load *load = &model->load[model->mine[k]];
		double own_s = load->task_bytes / m->link[model->mine[k]].bandwidth_Bps;

		load->latency_s = smaller(load->latency_s, latency_s);
		busy_s = larger(busy_s, own_s);
	}
	return busy_s + latency_s;
}

static double round_s(struct model *model, const struct schedule *s,
                      const struct round *r)
{
	double time_s = 0;

	model->rounds++;
	model->nused = 0;
	for (int64_t i = 0; i < r->ntasks; i++) {
		double own_s = task_s(model, s, &s->task[r->first + i]);

		if (own_s < 0)
			return -1;
		time_s = larger(time_s, own_s);
	}
	for (int32_t k = 0; k < model->nused; k++) {
		const struct load *load = &model->load[model->used[k]];
		double link_Bps = model->machine->link[model->used[k]].bandwidth_Bps;

		time_s = larger(time_s, load->round_bytes / link_Bps + load->latency_s);
	}
	return time_s;
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
