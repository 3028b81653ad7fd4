#include "measure/links.h"

#include "base/list.h"
#include "plan/plan_json.h"
#include "text/columns.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct links {
	const struct machine *machine;
	double *bytes;   /* [nlinks]: all are 0 between calls */
	int32_t *number; /* [nlinks]: the links in use */
	struct link_load *load;
};

struct links *links_new(const struct machine *m)
{
	struct links *links = xmalloc(1, sizeof(*links));
	size_t n = m->nlinks ? (size_t)m->nlinks : 1;

	*links = (struct links){.machine = m};
	links->bytes = xmalloc(n, sizeof(*links->bytes));
	links->number = xmalloc(n, sizeof(*links->number));
	links->load = xmalloc(n, sizeof(*links->load));
	for (size_t l = 0; l < n; l++)
		links->bytes[l] = 0;
	return links;
}

void links_free(struct links *links)
{
	if (!links)
		return;
	free(links->bytes);
	free(links->number);
	free(links->load);
	free(links);
}

int32_t links_of_tasks(const struct link_load **out, struct links *links,
                       const struct schedule *s, int64_t first, int64_t n)
{
	const struct machine *m = links->machine;
	int32_t route[ROUTE_LINKS_MAX], used = 0;
	int64_t end = first + n;
	bool routed = true;

	for (int64_t t = first; t < end && routed; t++) {
		const struct message *msg = &s->message[s->task[t].first];

		for (int64_t i = s->task[t].nmessages; i > 0 && routed; i--, msg++) {
			int hops = machine_route(m, msg->fabric, msg->src, msg->dst,
			                         route, ROUTE_LINKS_MAX);

			routed = hops >= 0;
			for (int k = 0; k < hops; k++) {
				if (links->bytes[route[k]] == 0)
					links->number[used++] = route[k];
				links->bytes[route[k]] += msg->bytes;
			}
		}
	}
	qsort(links->number, (size_t)used, sizeof(*links->number), compare_int32);
	for (int32_t i = 0; i < used; i++) {
		int32_t l = links->number[i];

		links->load[i] = (struct link_load){l, links->bytes[l]};
		links->bytes[l] = 0;
	}
	*out = links->load;
	return routed ? used : -1;
}

/* A load with the seconds by which it is ranked. */
struct ranked {
	struct link_load load;
	double busy_s;
};

static int by_busy(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->busy_s != y->busy_s)
		return x->busy_s > y->busy_s ? -1 : 1;
	return x->load.link < y->load.link ? -1 : x->load.link > y->load.link;
}

static struct links_top top_of(const struct machine *m, const struct link_load *load,
                               int32_t used, int32_t most, struct arena *a)
{
	int32_t n = used < most ? used : most;
	struct ranked *ranked = xmalloc(used ? (size_t)used : 1, sizeof(*ranked));
	struct link_load *top = arena_alloc(a, (size_t)n, sizeof(*top));

	for (int32_t i = 0; i < used; i++)
		ranked[i] = (struct ranked){
			load[i], load[i].bytes / m->link[load[i].link].bandwidth_Bps};
	qsort(ranked, (size_t)used, sizeof(*ranked), by_busy);
	for (int32_t i = 0; i < n; i++)
		top[i] = ranked[i].load;
	free(ranked);
	return (struct links_top){used, n, top};
}

/* Stores the busiest links of a step, and adds all its loads to `total`, by link. */
static void measure_step(struct links_report *out, struct links *links, double *total,
                         const struct bench *b, int step, int32_t most, struct arena *a)
{
	const struct steps *steps = &out->of.steps;
	struct arena *scratch = arena_new();
	const struct link_load *load;
	struct lowered lowered;
	struct text why = {0};
	int32_t n = 0;

	if (steps->lower(steps->self, &lowered, scratch, step, &why))
		n = links_of_tasks(&load, links, &lowered.schedule, 0,
		                   lowered.schedule.ntasks);
	if (n > 0)
		out->step[step] = top_of(b->machine, load, n, most, a);
	for (int32_t i = 0; i < n; i++)
		total[load[i].link] += load[i].bytes;
	text_free(&why);
	arena_free(scratch);
}

void links_measure(struct links_report *out, const struct bench *b,
                   const struct timed *t, int32_t most, struct arena *a)
{
	struct links *links = links_new(b->machine);
	size_t nlinks = (size_t)b->machine->nlinks;
	double *total = xmalloc(nlinks ? nlinks : 1, sizeof(*total));
	int32_t used = 0;

	*out = (struct links_report){.of = *t};
	out->step = arena_alloc(a, (size_t)t->steps.n, sizeof(*out->step));
	for (size_t l = 0; l < nlinks; l++)
		total[l] = 0;
	for (int i = 0; i < t->steps.n; i++)
		measure_step(out, links, total, b, i, most, a);
	for (int32_t l = 0; l < b->machine->nlinks; l++)
		if (total[l] > 0)
			links->load[used++] = (struct link_load){l, total[l]};
	out->total = top_of(b->machine, links->load, used, most, a);
	free(total);
	links_free(links);
}

double links_busy(const struct bench *b, const struct timed *t, int clock, int step,
                  const struct link_load *load)
{
	double time_s = NAN;

	if (t->time[clock])
		time_s = step < 0 ? t->time_s[clock] : t->time[clock][step].time_s;
	return load->bytes / b->machine->link[load->link].bandwidth_Bps / time_s;
}

/* --- text -------------------------------------------------------------------------- */

static void top_rows(struct columns *t, const struct links_top *top, const char *name,
                     const struct bench *b, const struct timed *of, int step)
{
	for (int32_t i = 0; i < top->n; i++) {
		const struct link_load *load = &top->load[i];
		const char *cell[3 + CLOCKS_MAX] = {
			i ? NULL : name, b->machine->link[load->link].name,
			words_bytes(t->arena, llrint(load->bytes))};

		for (int k = 0; k < b->nclocks; k++) {
			double busy = links_busy(b, of, k, step, load);

			cell[3 + k] = isnan(busy) ? "-"
			                          : arena_printf(t->arena, "%.1f %%",
			                                         100 * busy);
		}
		columns_row(t, cell);
	}
}

void links_text(struct text *out, const struct links_report *r, const struct bench *b,
                struct arena *a)
{
	const char *cell[3 + CLOCKS_MAX] = {"busiest links", "", "bytes"};
	struct columns t;

	if (!r->total.used) {
		text_printf(out, "  no link carries anything\n");
		return;
	}
	columns_start(&t, a, 3 + b->nclocks, 2);
	for (int k = 0; k < b->nclocks; k++)
		cell[3 + k] = arena_printf(a, "busy, %s", b->clock[k]->name);
	columns_row(&t, cell);
	for (int i = 0; i < r->of.steps.n; i++)
		top_rows(&t, &r->step[i], r->of.step[i], b, &r->of, i);
	top_rows(&t, &r->total, arena_printf(a, "total, %d links in use", r->total.used),
	         b, &r->of, -1);
	columns_print(out, &t, 2);
}

/* --- JSON -------------------------------------------------------------------------- */

static json_t *top_json(const struct links_top *top, const struct bench *b,
                        const struct timed *of, int step)
{
	json_t *list = json_array();

	for (int32_t i = 0; i < top->n; i++) {
		const struct link_load *load = &top->load[i];
		const struct link *link = &b->machine->link[load->link];
		json_t *o = json_object(), *busy = json_object();

		json_object_set_new(o, "link", json_string(link->name));
		json_object_set_new(o, "bytes", json_quantity(load->bytes));
		for (int k = 0; k < b->nclocks; k++) {
			double share = links_busy(b, of, k, step, load);

			json_object_set_new(busy, b->clock[k]->name,
			                    isnan(share) ? json_null()
			                                 : json_real(share));
		}
		json_object_set_new(o, "busy", busy);
		json_array_append_new(list, o);
	}
	return list;
}

json_t *links_json(const struct links_report *r, const struct bench *b)
{
	json_t *o = json_object(), *steps = json_array();

	for (int i = 0; i < r->of.steps.n; i++)
		json_array_append_new(steps, top_json(&r->step[i], b, &r->of, i));
	json_object_set_new(o, "used", json_integer(r->total.used));
	json_object_set_new(o, "total", top_json(&r->total, b, &r->of, -1));
	json_object_set_new(o, "steps", steps);
	return o;
}
