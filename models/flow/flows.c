#include "flow/forest.h"

/* Of all messages and depths: 128 MiB. */
enum { CELLS_MAX = 1 << 24 };

/* Places of all messages that a network can send: of its edges, then those of each hub. */
struct places {
	const struct network *net;
	int64_t *first;  /* [hubs + 1] */
	int32_t *number; /* [first[hubs]] of a message that is sent, from 1; 0: none */
};

static struct places places_make(const struct network *net, struct arena *a)
{
	struct places p = {.net = net};

	p.first = arena_alloc(a, (size_t)net->nhubs + 1, sizeof(*p.first));
	p.first[0] = net->nedges;
	for (int32_t h = 0; h < net->nhubs; h++)
		p.first[h + 1] = p.first[h] + (int64_t)net->hub[h].n * net->hub[h].n;
	p.number = arena_alloc(a, (size_t)p.first[net->nhubs], sizeof(*p.number));
	return p;
}

/* Returns the edge between two devices. */
static int32_t edge_of(const struct network *net, int32_t src, int32_t dst)
{
	int32_t e = net->out[src];

	while (net->edge[e].dst != dst)
		e++;
	return e;
}

/* Returns the place of a message as a symmetry makes it. */
static int64_t place_of(const struct places *p, const struct flow_message *m,
                        const int32_t *to)
{
	const struct network *net = p->net;
	int32_t src = to[m->src], dst = to[m->dst], fabric = m->via - net->nedges;
	int fabrics = net->machine->nfabrics;
	const struct flow_port *port;

	if (fabric < 0)
		return edge_of(net, src, dst);
	port = &net->port[src * fabrics + fabric];
	return p->first[port->hub] + (int64_t)port->at * net->hub[port->hub].n +
	       net->port[dst * fabrics + fabric].at;
}

/* Marks which messages some image of a hop is; returns how many. */
static int32_t mark(struct places *p, const struct forest *f, const struct symmetry *s)
{
	int32_t n = 0;

	for (int64_t i = 0; i < f->hops.n; i++) {
		const struct flow_message *m = &f->hops.at[i].message;

		if (p->number[place_of(p, m, s->image)])
			continue;
		for (int32_t g = 0; g < s->order; g++) {
			int32_t *number =
				&p->number[place_of(p, m, s->image + (int64_t)g * s->n)];

			n += *number == 0;
			*number = 1;
		}
	}
	return n;
}

/* Numbers the messages that are marked, and lists them. */
static void list_messages(struct flows *out, struct places *p)
{
	const struct network *net = p->net;
	int32_t n = 0;

	for (int32_t e = 0; e < net->nedges; e++) {
		if (!p->number[e])
			continue;
		out->message[n] =
			(struct flow_message){net->edge[e].src, net->edge[e].dst, e};
		p->number[e] = ++n;
	}
	for (int32_t h = 0; h < net->nhubs; h++) {
		const struct flow_hub *hub = &net->hub[h];

		for (int64_t i = p->first[h]; i < p->first[h + 1]; i++) {
			if (!p->number[i])
				continue;
			out->message[n] = (struct flow_message){
				hub->member[(i - p->first[h]) / hub->n],
				hub->member[(i - p->first[h]) % hub->n],
				net->nedges + hub->fabric};
			p->number[i] = ++n;
		}
	}
}

/* Returns where the bytes of a hop are, as a symmetry makes it. */
static int64_t cell_of(const struct flows *f, const struct places *p,
                       const struct flow_hop *h, const int32_t *to)
{
	int64_t message = p->number[place_of(p, &h->message, to)] - 1;

	return (message * f->depths + h->depth) * f->heights + flows_class(f, h->height);
}

bool flows_of_forest(struct flows *out, const struct forest *f,
                     const struct network *net, const struct symmetry *s,
                     struct arena *a)
{
	struct places p = places_make(net, a);
	int64_t cells;
	double *total;

	*out = (struct flows){.depths = f->depths, .busiest_s = f->busiest_s};
	out->nmessages = mark(&p, f, s);
	cells = (int64_t)out->nmessages * f->depths;
	if (cells > CELLS_MAX)
		return false;
	out->heights = f->depths < FLOW_HEIGHTS_MAX ? f->depths : FLOW_HEIGHTS_MAX;
	if (cells * out->heights > CELLS_MAX || net->nhubs > 0)
		out->heights = 1;
	cells *= out->heights;
	out->message = arena_alloc(a, (size_t)out->nmessages, sizeof(*out->message));
	list_messages(out, &p);
	out->bytes = arena_alloc(a, (size_t)cells, sizeof(*out->bytes));
	total = arena_alloc(a, (size_t)cells, sizeof(*total));
	for (int64_t i = 0; i < f->hops.n; i++)
		total[cell_of(out, &p, &f->hops.at[i], s->image)] += f->hops.at[i].bytes;
	for (int64_t i = 0; i < f->hops.n; i++) {
		const struct flow_hop *h = &f->hops.at[i];
		int64_t cell = cell_of(out, &p, h, s->image);
		double bytes = total[cell] / s->order;

		total[cell] = 0;
		for (int32_t g = 0; g < s->order && bytes > 0; g++)
			out->bytes[cell_of(out, &p, h, s->image + (int64_t)g * s->n)] +=
				bytes;
	}
	return true;
}
