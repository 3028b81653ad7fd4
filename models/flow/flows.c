#include "flow/forest.h"

/* Marks of which pairs some image of a hop is a message, and by what. */
static void mark(int32_t *via, const struct forest *f, const struct symmetry *s)
{
	for (int64_t i = 0; i < f->hops.n; i++) {
		const struct flow_message *m = &f->hops.at[i].message;

		if (via[(int64_t)m->src * s->n + m->dst])
			continue;
		for (int32_t g = 0; g < s->order; g++) {
			const int32_t *to = s->image + (int64_t)g * s->n;

			via[(int64_t)to[m->src] * s->n + to[m->dst]] = m->via + 1;
		}
	}
}

/* Returns the edge between two devices. */
static int32_t edge_of(const struct network *net, int32_t src, int32_t dst)
{
	int32_t e = net->out[src];

	while (net->edge[e].dst != dst)
		e++;
	return e;
}

/* Sums equal hops into totals[pair * depths + depth]. */
static double *sum_hops(const struct forest *f, int32_t n, struct arena *a)
{
	double *total = arena_alloc(a, (size_t)n * (size_t)n * (size_t)f->depths,
	                            sizeof(*total));

	for (int64_t i = 0; i < f->hops.n; i++) {
		const struct flow_hop *h = &f->hops.at[i];
		int64_t pair = (int64_t)h->message.src * n + h->message.dst;

		total[pair * f->depths + h->depth] += h->bytes;
	}
	return total;
}

void flows_of_forest(struct flows *out, const struct forest *f,
                     const struct network *net, const struct symmetry *s, struct arena *a)
{
	int32_t n = net->n, *via = arena_alloc(a, (size_t)n * (size_t)n, sizeof(*via));
	int64_t pairs = (int64_t)n * n;
	double *total = sum_hops(f, n, a);

	*out = (struct flows){.depths = f->depths, .busiest_s = f->busiest_s};
	mark(via, f, s);
	for (int64_t p = 0; p < pairs; p++)
		out->nmessages += via[p] != 0;
	out->message = arena_alloc(a, (size_t)out->nmessages, sizeof(*out->message));
	out->bytes = arena_alloc(a, (size_t)out->nmessages * (size_t)f->depths,
	                         sizeof(*out->bytes));
	out->nmessages = 0;
	for (int64_t p = 0; p < pairs; p++) {
		struct flow_message m = {(int32_t)(p / n), (int32_t)(p % n), via[p] - 1};

		if (!via[p])
			continue;
		if (m.via < net->nedges)
			m.via = edge_of(net, m.src, m.dst);
		out->message[out->nmessages] = m;
		via[p] = ++out->nmessages;
	}
	for (int64_t i = 0; i < f->hops.n; i++) {
		const struct flow_hop *h = &f->hops.at[i];
		int64_t pair = (int64_t)h->message.src * n + h->message.dst;
		double bytes = total[pair * f->depths + h->depth] / s->order;

		total[pair * f->depths + h->depth] = 0;
		for (int32_t g = 0; g < s->order && bytes > 0; g++) {
			const int32_t *to = s->image + (int64_t)g * n;
			int32_t m = via[(int64_t)to[h->message.src] * n +
			                to[h->message.dst]];

			out->bytes[(int64_t)(m - 1) * f->depths + h->depth] += bytes;
		}
	}
}
