#include "family/xml.h"

#include <stdlib.h>
#include <string.h>

/* Prints a number with 15 significant digits, without an exponent. */
static void decimal(struct text *out, double x)
{
	char rounded[32], plain[400];
	double value;

	snprintf(rounded, sizeof(rounded), "%.15g", x);
	value = strtod(rounded, NULL);
	for (int digits = 0; digits <= 300; digits++) {
		snprintf(plain, sizeof(plain), "%.*f", digits, value);
		if (strtod(plain, NULL) == value)
			break;
	}
	text_printf(out, "%s", plain);
}

/* Prints ` name="1234.5unit"` with 15 significant digits, without an exponent. */
static void xml_attribute(struct text *out, const char *name, double x, const char *unit)
{
	text_printf(out, " %s=\"", name);
	decimal(out, x);
	text_printf(out, "%s\"", unit);
}

static void prop(struct text *out, const char *name, const char *value)
{
	text_printf(out, "      <prop id=\"%s\" value=\"%s\"/>\n", name, value);
}

static void prop_number(struct text *out, const char *name, double x)
{
	text_printf(out, "      <prop id=\"%s\"", name);
	xml_attribute(out, "value", x, "");
	text_printf(out, "/>\n");
}

/* Prints the attributes of a cluster's links, of which there is one per direction. */
static void xml_link_attributes(struct text *out, double bandwidth_Bps, double latency_s)
{
	xml_attribute(out, "bw", bandwidth_Bps, "Bps");
	xml_attribute(out, "lat", latency_s, "s");
	text_printf(out, " sharing_policy=\"SPLITDUPLEX\"");
}

void xml_link(struct text *out, const char *name, double bandwidth_Bps, double latency_s)
{
	text_printf(out, "    <link id=\"%s\"", name);
	xml_attribute(out, "bandwidth", bandwidth_Bps, "Bps");
	xml_attribute(out, "latency", latency_s, "s");
	text_printf(out, " sharing_policy=\"SHARED\"/>\n");
}

void xml_props(struct text *out, const struct family *f, struct port port)
{
	struct text constants = {0};

	prop(out, "fabric", port.fabric);
	prop(out, "domain", port.domain);
	prop_number(out, "priority", port.priority);
	prop(out, "profile", f->profile);
	prop(out, "geometry", port.geometry);
	if (port.devices > 1)
		prop_number(out, "devices", port.devices);
	if (port.domain_devices)
		prop_number(out, "domain_devices", port.domain_devices);
	prop_number(out, "memory_bytes", f->figure[MEMORY_BYTES]);
	prop_number(out, "memory_Bps",
	            f->figure[MEMORY_BPS] * (port.slow > 0 ? port.slow : 1));
	prop_number(out, "launch_s", f->figure[LAUNCH_S]);
	tuning_print(&constants, &f->tuning);
	if (constants.length)
		prop(out, "constants", constants.s);
	text_free(&constants);
}

void xml_host(struct text *out, const struct family *f, const char *prefix,
              int32_t number, struct port port)
{
	text_printf(out, "    <host id=\"%s%d\" speed=\"1Gf\">\n", prefix, (int)number);
	xml_props(out, f, port);
	text_printf(out, "    </host>\n");
}

void xml_cluster(struct text *out, const struct family *f, const struct cluster *c,
                 struct port port)
{
	text_printf(out, "    <cluster id=\"%s\" prefix=\"%s\" suffix=\"\" radical=\"",
	            c->id, c->prefix);
	if (c->radical)
		text_printf(out, "%s", c->radical);
	else
		text_printf(out, "%d-%d", (int)c->first, (int)(c->first + c->n - 1));
	text_printf(out, "\" speed=\"1Gf\"");
	if (c->topology)
		text_printf(out, " topology=\"%s\" topo_parameters=\"%s\"", c->topology,
		            c->parameters);
	if (c->copies)
		text_printf(out, " copies=\"%d\"", (int)c->copies);
	xml_link_attributes(out, c->bandwidth_Bps, c->latency_s);
	text_printf(out, ">\n");
	xml_props(out, f, port);
	text_printf(out, "    </cluster>\n");
}

void xml_switch(struct text *out, const struct family_machine *m,
                const struct cluster *c, struct port port)
{
	const struct family *f = &m->family;
	int32_t each = port.devices;

	if (overlay_device(m, c->first * each, c->n * each) == 1) {
		xml_cluster(out, f, c, port);
		return;
	}
	text_printf(out, "    <zone id=\"%s\" routing=\"Full\">\n", c->id);
	for (int32_t i = c->first; i < c->first + c->n; i++) {
		char name[64];

		port.slow = overlay_device(m, i * each, each);
		xml_host(out, f, c->prefix, i, port);
		for (int down = 0; down < 2; down++) {
			snprintf(name, sizeof(name), "%s%d_%s", c->prefix, (int)i,
			         down ? "down" : "up");
			xml_link(out, name, c->bandwidth_Bps * port.slow, c->latency_s);
		}
	}
	for (int64_t pair = 0; pair < (int64_t)c->n * c->n; pair++) {
		int src = (int)(c->first + pair / c->n);
		int dst = (int)(c->first + pair % c->n);

		if (src != dst)
			text_printf(out,
			            "    <route src=\"%s%d\" dst=\"%s%d\" "
			            "symmetrical=\"NO\"><link_ctn id=\"%s%d_up\"/>"
			            "<link_ctn id=\"%s%d_down\"/></route>\n",
			            c->prefix, src, c->prefix, dst, c->prefix, src,
			            c->prefix, dst);
	}
	text_printf(out, "    </zone>\n");
}
