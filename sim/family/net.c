/*
 * The network between nodes, which is one cluster of all their NICs. With `nics` per
 * node, NIC i of node k is the host `nic<k * nics + i>`. A GPU with several NICs has
 * one host with the bandwidth of all of them; several GPUs with one NIC share its host.
 */
#include "family/xml.h"

/* Returns the number of hosts of one node. */
static int32_t hosts_of_node(const struct family *f)
{
	return f->nics < f->gpus ? f->nics : f->gpus;
}

static struct cluster net_cluster(const struct family_machine *m)
{
	const struct family *f = &m->family;
	int32_t bonded = f->nics / hosts_of_node(f);

	return (struct cluster){.id = "net",
	                        .prefix = "nic",
	                        .n = m->shape[0] * hosts_of_node(f),
	                        .bandwidth_Bps = bonded * f->figure[NIC_BANDWIDTH],
	                        .latency_s = f->figure[NET_LATENCY]};
}

static struct port net_port(const struct family *f, const char *geometry)
{
	return (struct port){.fabric = "net",
	                     .domain = "net",
	                     .geometry = geometry,
	                     .priority = 1,
	                     .devices = f->gpus / hosts_of_node(f)};
}

static enum status net_refuse(const struct family_machine *m, const char *spec,
                              struct error *e, int32_t n, const char *of, int32_t whole)
{
	return error_set(e, E_RANGE, where_option("--platform", spec),
	                 "%d %s of %s are no multiple of the %d of a leaf switch; set "
	                 "net.ports",
	                 (int)n, of, m->family.name, (int)whole);
}

/*
 * Lists the NICs of a net of rails by unit of nodes, then by their number in the node,
 * then by node, so that a leaf switch takes one rail of a unit.
 */
static void rails_order(struct text *out, const struct family_machine *m, int32_t unit)
{
	int32_t rails = hosts_of_node(&m->family);

	for (int32_t first = 0; first < m->shape[0]; first += unit)
		for (int32_t rail = 0; rail < rails; rail++)
			for (int32_t node = first; node < first + unit; node++)
				text_printf(out, "%s%d", out->length ? "," : "",
				            (int)(node * rails + rail));
}

/*
 * Makes a net of leaf and spine switches, each leaf with a cable to every spine,
 * however many there are. If there are fewer NICs than a leaf takes, there is one leaf
 * (per rail).
 */
static enum status leaf_spine(struct text *out, const struct family_machine *m,
                              const char *spec, struct error *e)
{
	const struct family *f = &m->family;
	struct cluster c = net_cluster(m);
	bool rails = f->net == NET_RAILS;
	int32_t n = rails ? m->shape[0] : c.n; /* a leaf takes `ports` of these */
	int32_t ports = (int32_t)f->figure[NET_PORTS];
	int32_t over = (int32_t)f->figure[NET_OVERSUBSCRIPTION];
	struct text radical = {0}, parameters = {0};

	ports = n < ports ? n : ports;
	if (n % ports)
		return net_refuse(m, spec, e, n, rails ? "nodes" : "NICs", ports);
	if (c.n > ports && ports % over)
		return error_set(e, E_RANGE, where_option("--platform", spec),
		                 "a leaf switch with %d cables down has none for each "
		                 "%d of them up",
		                 (int)ports, (int)over);
	if (rails)
		rails_order(&radical, m, ports);
	if (c.n > ports)
		text_printf(&parameters, "2;%d,%d;1,%d;1,1", (int)ports,
		            (int)(c.n / ports), (int)(ports / over));
	else
		text_printf(&parameters, "1;%d;1;1", (int)ports);
	c.radical = radical.s;
	c.topology = "FAT_TREE";
	c.parameters = parameters.s;
	xml_cluster(out, f, &c, net_port(f, "graph"));
	text_free(&radical);
	text_free(&parameters);
	return OK;
}

struct spread {
	int32_t groups, routers, ports;
};

/*
 * Finds a dragonfly of `n` hosts; returns false if there is none. SimGrid wants every
 * place of it taken, so a part of a machine has fewer of everything: the fewest groups
 * that do, then the fewest routers. There are no more groups than routers in a group,
 * since every router of a group joins it to one other group.
 */
static bool spread_find(struct spread *out, const struct family *f, int32_t n)
{
	int32_t groups = (int32_t)f->figure[NET_GROUPS];
	int32_t routers = (int32_t)f->figure[NET_ROUTERS];
	int32_t ports = (int32_t)f->figure[NET_PORTS];

	for (int32_t g = 1; g <= groups && g <= n; g++) {
		if (n % g)
			continue;
		for (int32_t r = g; r <= routers && r <= n / g; r++)
			if (n / g % r == 0 && n / g / r <= ports) {
				*out = (struct spread){g, r, n / g / r};
				return true;
			}
	}
	return false;
}

static enum status spread_refuse(const struct family_machine *m, const char *spec,
                                 struct error *e)
{
	const struct family *f = &m->family;
	int32_t per = hosts_of_node(f), nodes = m->shape[0];
	struct spread s;

	while (nodes > 0 && !spread_find(&s, f, nodes * per))
		nodes--;
	return error_set(e, E_RANGE, where_option("--platform", spec),
	                 "%d NICs do not spread evenly over up to %d groups of %d "
	                 "routers of %d; the next fewer nodes that do are %d",
	                 (int)(m->shape[0] * per), (int)f->figure[NET_GROUPS],
	                 (int)f->figure[NET_ROUTERS], (int)f->figure[NET_PORTS],
	                 (int)nodes);
}

/*
 * Makes a dragonfly of groups whose routers are joined pairwise; each group is one
 * chassis of SimGrid's.
 */
static enum status dragonfly(struct text *out, const struct family_machine *m,
                             const char *spec, struct error *e)
{
	const struct family *f = &m->family;
	struct cluster c = net_cluster(m);
	struct text parameters = {0};
	struct spread s;

	if (!spread_find(&s, f, c.n))
		return spread_refuse(m, spec, e);
	text_printf(&parameters, "%d,%d;1,1;%d,%d;%d", (int)s.groups,
	            (int)f->figure[NET_GLOBAL], (int)s.routers,
	            (int)f->figure[NET_LOCAL], (int)s.ports);
	c.topology = "DRAGONFLY";
	c.parameters = parameters.s;
	xml_cluster(out, f, &c, net_port(f, "graph"));
	text_free(&parameters);
	return OK;
}

/*
 * Refuses slow devices, unless one switch joins all NICs, which may then have slow
 * ones.
 */
static enum status slow_check(const struct family_machine *m, const char *spec,
                              struct error *e)
{
	const struct family *f = &m->family;
	const char *why = NULL;

	if (overlay_device(m, 0, m->ndevices) == 1)
		return OK;
	if (f->net != NET_SWITCH)
		why = "all NICs of this net are alike; expected net=switch";
	else if (hosts_of_node(f) < f->gpus)
		why = "its NIC is shared with others that are not slow";
	else if (m->ndevices > WRITTEN_HOSTS_MAX)
		why = "too many NICs to write all routes out: more than 2048";
	if (!why)
		return OK;
	return error_set(e, E_TYPE, where_option("--platform", spec),
	                 "a slow device of %s: %s", f->name, why);
}

enum status net_generate(struct text *out, const struct family_machine *m,
                         const char *spec, struct error *e)
{
	const struct family *f = &m->family;
	struct cluster c = net_cluster(m);

	if (slow_check(m, spec, e) != OK)
		return e->code;
	switch (f->net) {
	case NET_RAILS:
	case NET_FAT_TREE:
		return leaf_spine(out, m, spec, e);
	case NET_DRAGONFLY:
		return dragonfly(out, m, spec, e);
	case NET_SWITCH:
	case NETS:
		break;
	}
	c.latency_s = f->figure[NIC_LATENCY] / 2;
	xml_switch(out, m, &c, net_port(f, "switch"));
	return OK;
}
