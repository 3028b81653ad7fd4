#include "facts/switches.h"

int32_t switches_hosts(const struct family *f)
{
	return f->nics < f->gpus ? f->nics : f->gpus;
}

/* Says why there are no switches, if somebody asks. */
#define REFUSE(why, ...)                                                               \
	do {                                                                           \
		if (why)                                                               \
			text_printf(why, __VA_ARGS__);                                 \
	} while (0)

/* A leaf switch takes `net.ports` NICs of nodes or, of rails, of one of each. */
static bool leaf_find(struct switches *out, const struct family *f, int32_t nodes,
                      struct text *why)
{
	bool rails = f->net == NET_RAILS;
	int32_t hosts = nodes * switches_hosts(f), n = rails ? nodes : hosts;
	int32_t ports = (int32_t)f->figure[NET_PORTS];
	int32_t over = (int32_t)f->figure[NET_OVERSUBSCRIPTION];

	ports = n < ports ? n : ports;
	if (n % ports) {
		REFUSE(why,
		       "%d %s of %s are no multiple of the %d of a leaf switch; set "
		       "net.ports",
		       (int)n, rails ? "nodes" : "NICs", f->name, (int)ports);
		return false;
	}
	if (hosts > ports && ports % over) {
		REFUSE(why,
		       "a leaf switch with %d cables down has none for each %d of "
		       "them up",
		       (int)ports, (int)over);
		return false;
	}
	out->leaf = ports;
	return true;
}

static bool spread_find(struct switches *out, const struct family *f, int32_t nodes)
{
	int32_t groups = (int32_t)f->figure[NET_GROUPS];
	int32_t routers = (int32_t)f->figure[NET_ROUTERS];
	int32_t ports = (int32_t)f->figure[NET_PORTS], n = nodes * switches_hosts(f);

	for (int32_t g = 1; g <= groups && g <= n; g++) {
		if (n % g)
			continue;
		for (int32_t r = g; r <= routers && r <= n / g; r++)
			if (n / g % r == 0 && n / g / r <= ports) {
				out->groups = g;
				out->routers = r;
				out->ports = n / g / r;
				return true;
			}
	}
	return false;
}

/* Says which smaller and which larger machine would do. */
static void spread_refuse(struct text *why, const struct family *f, int32_t nodes)
{
	struct switches s;
	int32_t fewer = nodes, more = nodes, most = f->largest[0];

	while (fewer > 0 && !spread_find(&s, f, fewer))
		fewer--;
	while (more <= most && !spread_find(&s, f, more))
		more++;
	text_printf(
		why,
		"%d NICs do not spread evenly over up to %d groups of %d routers of "
		"%d; the next fewer nodes that do are %d",
		(int)(nodes * switches_hosts(f)), (int)f->figure[NET_GROUPS],
		(int)f->figure[NET_ROUTERS], (int)f->figure[NET_PORTS], (int)fewer);
	if (more <= most)
		text_printf(why, ", the next more %d", (int)more);
}

bool switches_find(struct switches *out, const struct family *f, int32_t nodes,
                   struct text *why)
{
	*out = (struct switches){0};
	if (f->net == NET_RAILS || f->net == NET_FAT_TREE)
		return leaf_find(out, f, nodes, why);
	if (f->net != NET_DRAGONFLY || spread_find(out, f, nodes))
		return true;
	if (why)
		spread_refuse(why, f, nodes);
	return false;
}
