/*
 * PCIe inside a node. Every two neighbouring GPUs have a switch and share one link up
 * into it and one down from it. A bridge between the two halves of the node has one
 * link each way. Two GPUs with a cable between them use that instead.
 */
#include "family/xml.h"

static void pcie_wires(struct text *out, const struct family *here, const char *node)
{
	double latency_s = here->figure[LINK_LATENCY];
	char name[64];

	for (int way = 0; way < 2; way++) {
		for (int32_t i = 0; i < here->gpus / 2; i++) {
			snprintf(name, sizeof(name), "%s_pcie%d_%s", node, (int)i,
			         way ? "down" : "up");
			xml_link(out, name, here->figure[PCIE_BANDWIDTH], latency_s);
		}
		snprintf(name, sizeof(name), "%s_bridge%d", node, way);
		xml_link(out, name, here->figure[BRIDGE_BANDWIDTH], latency_s);
	}
}

static bool gpus_cabled(const struct family *here, int32_t a, int32_t b)
{
	for (int i = 0; i < here->ncables; i++) {
		const struct cable *c = &here->cable[i];

		if ((c->a == a && c->b == b) || (c->a == b && c->b == a))
			return true;
	}
	return false;
}

void pcie_generate(struct text *out, const struct family *here, int32_t first,
                   const char *node)
{
	int32_t g = here->gpus, half = g / 2;

	pcie_wires(out, here, node);
	for (int32_t pair = 0; pair < g * g; pair++) {
		int32_t from = pair / g, to = pair % g;

		if (from == to)
			continue;
		text_printf(
			out,
			"    <route src=\"gpu%d\" dst=\"gpu%d\" symmetrical=\"NO\">",
			(int)(first + from), (int)(first + to));
		if (gpus_cabled(here, from, to)) {
			text_printf(out, "<link_ctn id=\"gpu%d_gpu%d\"/></route>\n",
			            (int)(first + from), (int)(first + to));
			continue;
		}
		text_printf(out, "<link_ctn id=\"%s_pcie%d_up\"/>", node,
		            (int)(from / 2));
		if (from / half != to / half)
			text_printf(out, "<link_ctn id=\"%s_bridge%d\"/>", node,
			            (int)(from / half));
		text_printf(out, "<link_ctn id=\"%s_pcie%d_down\"/></route>\n", node,
		            (int)(to / 2));
	}
}
