/* What hosts add to a move: rows beside what the clocks say. */
#include "move/move.h"

#include "planner/best/best.h"

#include <math.h>

/* Returns how many communicating steps the longest plan of a call has. */
static int64_t steps_of_call(const struct move_result *r, const struct moved_call *call)
{
	int64_t most = 0;

	for (int32_t i = 0; i < call->nruns; i++) {
		const struct plan *p = r->array[call->run[i].array].m.plan;
		int64_t n = 0;

		for (int k = 0; k < p->nsteps; k++)
			n += op_communicates(p->step[k].op);
		most = n > most ? n : most;
	}
	return most;
}

/* Adds the calls and the bytes that every site sends and receives. */
static void add_calls(struct host_time *out, const struct move_result *r,
                      const struct order_case *order)
{
	const struct order_waves *waves = &r->waves;
	double sent_most = 0, received_most = 0;

	for (int32_t s = 0; s < order->nsites; s++) {
		double sent = 0, received = 0;
		int64_t calls = 0;

		for (int64_t i = 0; i < waves->wave.n; i++)
			for (int32_t k = 0; k < waves->wave.at[i].nruns; k++) {
				const struct order_wave *wave = &waves->wave.at[i];
				const struct order_run *run =
					&waves->run.at[wave->first + k];
				const struct order_call *call = &order->call[run->call];
				int64_t n = wave->repeats * run->count;

				if (call->on[s])
					calls += n *
					         steps_of_call(r, &r->call[run->call]);
				if (call->on[s] & SITE_FROM)
					sent += (double)n * call->source;
				if (call->on[s] & SITE_TO)
					received += (double)n * call->target;
			}
		out->calls = calls > out->calls ? calls : out->calls;
		sent_most = fmax(sent_most, sent);
		received_most = fmax(received_most, received);
	}
	out->call_s = (double)out->calls * out->costs->call_s;
	out->pack_s = (sent_most + received_most) / out->costs->pack_Bps;
}

/* Adds the time to gather arrays of a kind on their source mesh. */
static enum status add_gather(double *out, const struct move_array *array,
                              struct bench *b, struct arena *a, struct error *e)
{
	struct problem_text text = array->text;
	struct problem p;
	struct measurement m;

	text.to = "{replicated}";
	text.to_mesh = text.to_devices = NULL;
	text.memory_limit = "none";
	if (problem_make(&p, a, &text, e) != OK)
		return e->code;
	bench_place(b, &p);
	measure_plan(&m, b, &p, &planner_best, a);
	*out += m.plan ? (double)array->count *
	                         b->prices.plan(b->prices.self, m.plan).cost
	               : NAN;
	return OK;
}

enum status move_gather(double *out, const struct move_work *w, struct bench *b,
                        struct arena *a, struct error *e)
{
	*out = 0;
	for (int64_t i = 0; i < w->array.n; i++)
		if (add_gather(out, &w->array.at[i], b, a, e) != OK)
			return e->code;
	return OK;
}

enum status move_host(struct move_result *out, const struct move_work *w,
                      const struct order_case *order, const struct host_costs *costs,
                      struct bench *b, struct arena *a, struct error *e)
{
	struct host_time *host = arena_alloc(a, 1, sizeof(*host));

	host->costs = costs;
	add_calls(host, out, order);
	out->host = host;
	return move_gather(&host->gather_s, w, b, a, e);
}
