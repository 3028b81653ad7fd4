/*
 * The platform file of nodes of GPUs. This file joins the GPUs of a node, net.c the
 * nodes.
 */
#include "family/xml.h"

#include <string.h>

/*
 * Finds the way from each GPU to each other, and stores the GPU after `src` in next[src
 * * gpus + dst]. The way has the fewest links, of these ways the widest narrowest link,
 * and of these the next GPU with the lowest number.
 */
static void ways_find(int32_t *next, const struct family *f, struct arena *a)
{
	size_t g = (size_t)f->gpus;
	int32_t *direct = arena_alloc(a, g * g, sizeof(*direct));
	int32_t *width = arena_alloc(a, g * g, sizeof(*width));
	int32_t *found = arena_alloc(a, g * g, sizeof(*found));

	for (int i = 0; i < f->ncables; i++) {
		const struct cable *c = &f->cable[i];
		size_t up = (size_t)c->a * g + (size_t)c->b;
		size_t down = (size_t)c->b * g + (size_t)c->a;

		direct[up] = direct[down] = width[up] = width[down] = c->n;
		next[up] = c->b;
		next[down] = c->a;
	}
	for (size_t links = 2; links < g; links++) {
		memset(found, 0, g * g * sizeof(*found));
		for (size_t pair = 0; pair < g * g; pair++) {
			size_t src = pair / g, dst = pair % g;

			for (size_t by = 0; by < g; by++) {
				int32_t first = direct[src * g + by];
				int32_t rest = width[by * g + dst];
				int32_t least = first < rest ? first : rest;

				if (src == dst || width[pair] || least <= found[pair])
					continue;
				found[pair] = least;
				next[pair] = (int32_t)by;
			}
		}
		for (size_t pair = 0; pair < g * g; pair++)
			width[pair] += found[pair];
	}
}

/* Returns whether there is a cable between two GPUs of the machine. */
static bool cables_between(const void *self, int32_t a, int32_t b)
{
	const struct family *f = self;

	for (int i = 0; i < f->ncables; i++) {
		const struct cable *c = &f->cable[i];

		if (a / f->gpus == b / f->gpus &&
		    ((a % f->gpus == c->a && b % f->gpus == c->b) ||
		     (a % f->gpus == c->b && b % f->gpus == c->a)))
			return true;
	}
	return false;
}

/* Returns the family without the cables that are missing in the node of GPU `first`. */
static struct family cables_left(const struct family_machine *m, int32_t first,
                                 struct arena *a)
{
	struct family here = m->family;
	struct cable *left = arena_alloc(a, (size_t)m->family.ncables, sizeof(*left));

	here.cable = left;
	here.ncables = 0;
	for (int i = 0; i < m->family.ncables; i++) {
		const struct cable *c = &m->family.cable[i];

		if (overlay_cable(m, 1, first + c->a, first + c->b) > 0)
			left[here.ncables++] = *c;
	}
	return here;
}

/* Appends the hosts and links of a node without a switch. */
static void cabled_wires(struct text *out, const struct family_machine *m,
                         const struct family *here, int32_t first, struct port port)
{
	for (int32_t i = 0; i < here->gpus; i++) {
		port.slow = overlay_device(m, first + i, 1);
		xml_host(out, here, "gpu", first + i, port);
	}
	for (int i = 0; i < here->ncables * 2; i++) {
		const struct cable *c = &here->cable[i / 2];
		int32_t from = first + (i % 2 ? c->b : c->a);
		int32_t to = first + (i % 2 ? c->a : c->b);
		char name[64];

		snprintf(name, sizeof(name), "gpu%d_gpu%d", (int)from, (int)to);
		xml_link(out, name,
		         c->n * here->figure[LINK_BANDWIDTH] *
		                 overlay_cable(m, 1, from, to),
		         here->figure[LINK_LATENCY]);
	}
}

/* Appends the routes of a node over its cables. */
static void cabled_routes(struct text *out, const struct family *here, int32_t first,
                          struct arena *a)
{
	size_t g = (size_t)here->gpus;
	int32_t *next = arena_alloc(a, g * g, sizeof(*next));

	ways_find(next, here, a);
	for (int32_t pair = 0; pair < here->gpus * here->gpus; pair++) {
		int32_t at = pair / here->gpus, dst = pair % here->gpus;

		if (at == dst)
			continue;
		text_printf(out,
		            "    <route src=\"gpu%d\" dst=\"gpu%d\" "
		            "symmetrical=\"NO\">",
		            (int)(first + at), (int)(first + dst));
		for (; at != dst; at = next[at * here->gpus + dst])
			text_printf(out, "<link_ctn id=\"gpu%d_gpu%d\"/>",
			            (int)(first + at),
			            (int)(first + next[at * here->gpus + dst]));
		text_printf(out, "</route>\n");
	}
}

/* Appends a node without a switch: its hosts, its links, and the routes over them. */
static enum status node_cabled(struct text *out, const struct family_machine *m,
                               int32_t first, struct port port, const char *spec,
                               struct error *e)
{
	struct arena *a = arena_new();
	struct family here = cables_left(m, first, a);

	if (!here.pcie && !cables_join(&here))
		error_set(e, E_TYPE, where_option("--platform", spec),
		          "the missing links leave no way to some GPU of %s",
		          port.domain);
	else if (here.pcie && overlay_device(m, first, here.gpus) != 1)
		error_set(e, E_TYPE, where_option("--platform", spec),
		          "a slow device of %s: its PCIe switch is shared with another "
		          "that is not slow",
		          here.name);
	if (e->code == OK) {
		text_printf(out, "    <zone id=\"%s\" routing=\"Full\">\n", port.domain);
		cabled_wires(out, m, &here, first, port);
		if (here.pcie)
			pcie_generate(out, &here, first, port.domain);
		else
			cabled_routes(out, &here, first, a);
		text_printf(out, "    </zone>\n");
	}
	arena_free(a);
	return e->code;
}

static void node_switched(struct text *out, const struct family_machine *m,
                          int32_t first, struct port port)
{
	const struct family *f = &m->family;
	struct cluster gpu = {.id = port.domain,
	                      .prefix = "gpu",
	                      .first = first,
	                      .n = f->gpus,
	                      .bandwidth_Bps = f->figure[LINK_BANDWIDTH],
	                      .latency_s = f->figure[LINK_LATENCY] / 2};

	xml_switch(out, m, &gpu, port);
}

/* Appends all nodes, which are alike, as one. */
static void nodes_alike(struct text *out, const struct family_machine *m)
{
	const struct family *f = &m->family;
	struct cluster gpu = {.id = "node",
	                      .prefix = "gpu",
	                      .n = f->gpus,
	                      .copies = m->shape[0],
	                      .bandwidth_Bps = f->figure[LINK_BANDWIDTH],
	                      .latency_s = f->figure[LINK_LATENCY] / 2};

	xml_cluster(out, f, &gpu,
	            (struct port){.fabric = f->fabric,
	                          .domain = "node",
	                          .geometry = "switch",
	                          .devices = 1,
	                          .domain_devices = f->gpus});
}

/*
 * Puts the large cluster first, since SimGrid takes three times as long with it last.
 */
enum status nodes_generate(struct text *out, const struct family_machine *m,
                           const char *spec, struct error *e)
{
	const struct family *f = &m->family;

	bool cabled = f->ncables || f->pcie;

	if (overlay_check(m, 1, cabled ? cables_between : NULL, f, e) != OK)
		return e->code;
	if (m->shape[0] > 1 || f->apart)
		net_generate(out, m, spec, e);
	if (m->brief && !cabled && !f->apart && m->shape[0] > 1 &&
	    overlay_device(m, 0, m->ndevices) == 1) {
		nodes_alike(out, m);
		return e->code;
	}
	for (int32_t node = 0; node < m->shape[0] && e->code == OK && !f->apart; node++) {
		char name[32];
		struct port port = {.fabric = f->fabric,
		                    .domain = name,
		                    .geometry = cabled ? "graph" : "switch",
		                    .devices = 1};

		snprintf(name, sizeof(name), "node%d", (int)node);
		if (cabled)
			node_cabled(out, m, node * f->gpus, port, spec, e);
		else
			node_switched(out, m, node * f->gpus, port);
	}
	return e->code;
}
