/*
 * The network between nodes, which is one cluster of all their NICs. With `nics` per
 * node, NIC i of node k is the host `nic<k * nics + i>`. A GPU with several NICs has
 * one host with the bandwidth of all of them; several GPUs with one NIC share its host.
 */
#include "family/xml.h"

#include "facts/switches.h"

static struct cluster net_cluster(const struct family_machine *m)
{
	const struct family *f = &m->family;
	int32_t bonded = f->nics / switches_hosts(f);

	return (struct cluster){.id = "net",
	                        .prefix = "nic",
	                        .n = m->shape[0] * switches_hosts(f),
	                        .bandwidth_Bps = bonded * f->figure[NIC_BANDWIDTH],
	                        .latency_s = f->figure[NET_LATENCY]};
}

static struct port net_port(const struct family *f, const char *geometry)
{
	return (struct port){.fabric = "net",
	                     .domain = "net",
	                     .geometry = geometry,
	                     .priority = 1,
	                     .devices = f->gpus / switches_hosts(f)};
}

/*
 * Lists the NICs of a net of rails by unit of nodes, then by their number in the node,
 * then by node, so that a leaf switch takes one rail of a unit.
 */
static void rails_order(struct text *out, const struct family_machine *m, int32_t unit)
{
	int32_t rails = switches_hosts(&m->family);

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
static void leaf_spine(struct text *out, const struct family_machine *m, int32_t ports)
{
	const struct family *f = &m->family;
	struct cluster c = net_cluster(m);
	int32_t over = (int32_t)f->figure[NET_OVERSUBSCRIPTION];
	struct text radical = {0}, parameters = {0};

	if (f->net == NET_RAILS)
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
}

/*
 * Makes a dragonfly of groups whose routers are joined pairwise; each group is one
 * chassis of SimGrid's.
 */
static void dragonfly(struct text *out, const struct family_machine *m,
                      const struct switches *s)
{
	const struct family *f = &m->family;
	struct cluster c = net_cluster(m);
	struct text parameters = {0};

	text_printf(&parameters, "%d,%d;1,1;%d,%d;%d", (int)s->groups,
	            (int)f->figure[NET_GLOBAL], (int)s->routers,
	            (int)f->figure[NET_LOCAL], (int)s->ports);
	c.topology = "DRAGONFLY";
	c.parameters = parameters.s;
	xml_cluster(out, f, &c, net_port(f, "graph"));
	text_free(&parameters);
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
	else if (switches_hosts(f) < f->gpus)
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
	struct switches s;
	struct text why = {0};

	if (slow_check(m, spec, e) != OK)
		return e->code;
	if (!switches_find(&s, f, m->shape[0], &why)) {
		error_set(e, E_RANGE, where_option("--platform", spec), "%s", why.s);
		text_free(&why);
		return e->code;
	}
	switch (f->net) {
	case NET_RAILS:
	case NET_FAT_TREE:
		leaf_spine(out, m, s.leaf);
		return OK;
	case NET_DRAGONFLY:
		dragonfly(out, m, &s);
		return OK;
	case NET_SWITCH:
	case NETS:
		break;
	}
	c.latency_s = f->figure[NIC_LATENCY] / 2;
	xml_switch(out, m, &c, net_port(f, "switch"));
	return OK;
}
