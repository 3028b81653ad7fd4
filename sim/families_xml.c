#include "families.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A plain decimal number, without exponent, of 15 significant digits. */
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

static void attribute(struct text *out, const char *name, double x, const char *unit)
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
	attribute(out, "value", x, "");
	text_printf(out, "/>\n");
}

struct port {
	const char *fabric, *domain, *geometry;
	int priority;
};

/* The properties of a host, in the order design 6 lists them. */
static void props(struct text *out, const struct family *f, struct port port)
{
	prop(out, "fabric", port.fabric);
	prop(out, "domain", port.domain);
	prop_number(out, "priority", port.priority);
	prop(out, "profile", f->profile);
	prop(out, "geometry", port.geometry);
	prop_number(out, "memory_bytes", f->figure[MEMORY_BYTES]);
	prop_number(out, "memory_Bps", f->figure[MEMORY_BPS]);
	prop_number(out, "launch_s", f->figure[LAUNCH_S]);
}

static void link_attributes(struct text *out, double bandwidth_Bps, double latency_s)
{
	attribute(out, "bw", bandwidth_Bps, "Bps");
	attribute(out, "lat", latency_s, "s");
	text_printf(out, " sharing_policy=\"SPLITDUPLEX\"");
}

/* A switch: SimGrid's flat cluster without a backbone, hosts first .. first + n - 1. */
static void crossbar(struct text *out, const struct family *f, const char *prefix,
                     int32_t first, int32_t n, double bandwidth_Bps, double through_s,
                     struct port port)
{
	text_printf(out,
	            "    <cluster id=\"%s\" prefix=\"%s\" suffix=\"\" "
	            "radical=\"%d-%d\" speed=\"1Gf\"",
	            port.domain, prefix, (int)first, (int)(first + n - 1));
	link_attributes(out, bandwidth_Bps, through_s / 2);
	text_printf(out, ">\n");
	props(out, f, port);
	text_printf(out, "    </cluster>\n");
}

/* The large cluster first: SimGrid takes three times as long with it last. */
static void nodes_generate(struct text *out, const struct family_machine *m)
{
	const struct family *f = &m->family;

	if (m->shape[0] > 1)
		crossbar(out, f, "nic", 0, m->ndevices, f->figure[NIC_BANDWIDTH],
		         f->figure[NIC_LATENCY],
		         (struct port){"net", "net", "switch", 1});
	for (int32_t node = 0; node < m->shape[0]; node++) {
		char name[32];

		snprintf(name, sizeof(name), "node%d", (int)node);
		crossbar(out, f, "gpu", node * f->gpus, f->gpus,
		         f->figure[NVLINK_BANDWIDTH], f->figure[NVLINK_LATENCY],
		         (struct port){"nvlink", name, "switch", 0});
	}
}

/* SimGrid's own torus always wraps and counts its first axis fastest. */
static void torus_cluster(struct text *out, const struct family_machine *m,
                          struct port port)
{
	const struct family *f = &m->family;

	text_printf(out,
	            "    <cluster id=\"ici\" prefix=\"chip\" suffix=\"\" "
	            "radical=\"0-%d\" speed=\"1Gf\" topology=\"TORUS\" "
	            "topo_parameters=\"",
	            (int)m->ndevices - 1);
	for (int a = f->naxes - 1; a >= 0; a--)
		text_printf(out, "%d%s", (int)m->shape[a], a ? "," : "\"");
	link_attributes(out, f->figure[ICI_BANDWIDTH], f->figure[ICI_LATENCY]);
	text_printf(out, ">\n");
	props(out, f, port);
	text_printf(out, "    </cluster>\n");
}

/*
 * A torus with axes that do not wrap: hosts, one link per direction of each cable, and
 * all routes, as the wires take them. SimGrid's shortest-path zones would break ties by
 * the order of the hosts, which no machine does and which doubles the load of some
 * links.
 */
static void torus_written(struct text *out, const struct family_machine *m,
                          struct port port)
{
	const struct family *f = &m->family;
	struct link link = {.bandwidth_Bps = f->figure[ICI_BANDWIDTH],
	                    .latency_s = f->figure[ICI_LATENCY]};
	struct arena *a = arena_new();
	const struct machine *wires =
		machine_torus(a, f->naxes, m->shape, m->wrap, link, (struct device){0});
	int32_t links[ROUTE_LINKS_MAX];

	for (int32_t d = 0; d < m->ndevices; d++) {
		text_printf(out, "    <host id=\"chip%d\" speed=\"1Gf\">\n", (int)d);
		props(out, f, port);
		text_printf(out, "    </host>\n");
	}
	for (int32_t l = 0; l < wires->nlinks; l++) {
		text_printf(out, "    <link id=\"%s\"", wires->link[l].name);
		attribute(out, "bandwidth", link.bandwidth_Bps, "Bps");
		attribute(out, "latency", link.latency_s, "s");
		text_printf(out, " sharing_policy=\"SHARED\"/>\n");
	}
	for (int64_t pair = 0; pair < (int64_t)m->ndevices * m->ndevices; pair++) {
		int32_t src = (int32_t)(pair / m->ndevices);
		int32_t dst = (int32_t)(pair % m->ndevices);
		int n = machine_route(wires, 0, src, dst, links, ROUTE_LINKS_MAX);

		if (n <= 0)
			continue;
		text_printf(out,
		            "    <route src=\"chip%d\" dst=\"chip%d\" "
		            "symmetrical=\"NO\">",
		            (int)src, (int)dst);
		for (int i = 0; i < n; i++)
			text_printf(out, "<link_ctn id=\"%s\"/>",
			            wires->link[links[i]].name);
		text_printf(out, "</route>\n");
	}
	arena_free(a);
}

static enum status torus_generate(struct text *out, const struct family_machine *m,
                                  const char *spec, struct error *e)
{
	struct text geometry = {0};
	bool own = true;

	text_printf(&geometry, "torus ");
	for (int a = 0; a < m->family.naxes; a++)
		text_printf(&geometry, "%s%d", a ? "x" : "", (int)m->shape[a]);
	text_printf(&geometry, " wrap ");
	for (int a = 0; a < m->family.naxes; a++) {
		text_printf(&geometry, "%d", m->wrap[a]);
		own = own && m->wrap[a];
	}
	if (own)
		torus_cluster(out, m, (struct port){"ici", "pod", geometry.s, 0});
	else if (m->ndevices <= WRITTEN_ROUTES_DEVICES_MAX)
		torus_written(out, m, (struct port){"ici", "pod", geometry.s, 0});
	else
		error_set(e, E_RANGE, where_option("--platform", spec),
		          "axes of this shape do not wrap, which needs all routes "
		          "written "
		          "out: at most %d devices",
		          (int)WRITTEN_ROUTES_DEVICES_MAX);
	text_free(&geometry);
	return e->code;
}

/* As the user typed it, but for what XML has no comments of: control bytes and "--". */
static void comment_append(struct text *out, const char *s)
{
	for (char before = ' '; *s; before = *s++) {
		bool plain = (unsigned char)*s >= ' ' && (*s != '-' || before != '-');

		text_append(out, plain ? s : " ", 1);
	}
}

enum status platform_generate(struct text *out, struct arena *a, const char *spec,
                              const char *const *set, int nset, struct error *e)
{
	struct family_machine m;
	struct text body = {0};
	struct error local = {0};

	if (!e)
		e = &local;
	if (family_parse(&m, a, spec, set, nset, e) == OK) {
		if (m.family.kind == FAMILY_NODES)
			nodes_generate(&body, &m);
		else
			torus_generate(&body, &m, spec, e);
	}
	if (e->code == OK) {
		text_printf(out, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
		                 "\"https://simgrid.org/simgrid.dtd\">\n<!-- ");
		comment_append(out, spec);
		for (int i = 0; i < nset; i++) {
			text_append(out, " ", 1);
			comment_append(out, set[i]);
		}
		text_printf(out, " -->\n<platform version=\"4.1\">\n"
		                 "  <zone id=\"machine\" routing=\"Full\">\n");
		text_append(out, body.s, body.length);
		text_printf(out, "  </zone>\n</platform>\n");
	}
	text_free(&body);
	return e->code;
}
