/* Figures of families, and shapes. */
#include "facts/kind.h"

#include "base/units.h"

#include <limits.h>
#include <string.h>

enum {
	TORUS = 1 << FAMILY_TORUS,
	NODES = 1 << FAMILY_NODES,
	SWITCH = 1 << NET_SWITCH,
	RAILS = 1 << NET_RAILS,
	TREE = 1 << NET_FAT_TREE,
	DRAGONFLY = 1 << NET_DRAGONFLY,
	ANY_NET = SWITCH | RAILS | TREE | DRAGONFLY
};

/*
 * Which families may have a figure (kinds), and with which nets it counts. Standard
 * values are for nets a family does not have by itself:
 *   net.latency  ib_write_lat of a GB300 cluster: 1.85 us in a rack, about 3.2 us over
 *                three switches, 5.1 us over five, so 0.93, 0.80 and 0.85 us for each
 *                of 2, 4 and 6 cables (Oracle's GB300 guide)
 *   net.ports    half of a 64-port switch, as in a SuperPOD of 32-node units
 *                (jax-ml/scaling-book, gpus.md), whose bisection is full
 */
static const struct {
	const char *name;
	enum unit unit;
	unsigned kinds, nets;
	double standard; /* 0: none, it must be given where it is used */
} figures[FIGURES] = {
	[ICI_PEAK] = {"ici.peak", UNIT_RATE, TORUS, ANY_NET, 0},
	[ICI_BANDWIDTH] = {"ici.bandwidth", UNIT_RATE, TORUS, ANY_NET, 0},
	[ICI_LATENCY] = {"ici.latency", UNIT_TIME, TORUS, ANY_NET, 0},
	[CORE_BANDWIDTH] = {"core.bandwidth", UNIT_RATE, TORUS, ANY_NET, 0},
	[CORE_LATENCY] = {"core.latency", UNIT_TIME, TORUS, ANY_NET, 0},
	[DCN_PEAK] = {"dcn.peak", UNIT_RATE, TORUS, ANY_NET, 0},
	[DCN_BANDWIDTH] = {"dcn.bandwidth", UNIT_RATE, TORUS, ANY_NET, 0},
	[DCN_LATENCY] = {"dcn.latency", UNIT_TIME, TORUS, ANY_NET, 0},
	[LINK_PEAK] = {"nvlink.peak", UNIT_RATE, NODES, ANY_NET, 0},
	[LINK_BANDWIDTH] = {"nvlink.bandwidth", UNIT_RATE, NODES, ANY_NET, 0},
	[LINK_LATENCY] = {"nvlink.latency", UNIT_TIME, NODES, ANY_NET, 0},
	[PCIE_BANDWIDTH] = {"pcie.bandwidth", UNIT_RATE, NODES, ANY_NET, 0},
	[BRIDGE_BANDWIDTH] = {"bridge.bandwidth", UNIT_RATE, NODES, ANY_NET, 0},
	[NIC_PEAK] = {"nic.peak", UNIT_RATE, NODES, ANY_NET, 0},
	[NIC_BANDWIDTH] = {"nic.bandwidth", UNIT_RATE, NODES, ANY_NET, 0},
	[NIC_LATENCY] = {"nic.latency", UNIT_TIME, NODES, SWITCH, 0},
	[NET_LATENCY] = {"net.latency", UNIT_TIME, NODES, ANY_NET & ~SWITCH, 0.85e-6},
	[NET_PORTS] = {"net.ports", UNIT_COUNT, NODES, ANY_NET & ~SWITCH, 32},
	[NET_OVERSUBSCRIPTION] = {"net.oversubscription", UNIT_COUNT, NODES,
                                  RAILS | TREE, 1},
	[NET_GROUPS] = {"net.groups", UNIT_COUNT, NODES, DRAGONFLY, 0},
	[NET_ROUTERS] = {"net.routers", UNIT_COUNT, NODES, DRAGONFLY, 0},
	[NET_GLOBAL] = {"net.global", UNIT_COUNT, NODES, DRAGONFLY, 0},
	[NET_LOCAL] = {"net.local", UNIT_COUNT, NODES, DRAGONFLY, 0},
	[MEMORY_BYTES] = {"memory_bytes", UNIT_BYTES, TORUS | NODES, ANY_NET, 0},
	[MEMORY_BPS] = {"memory_Bps", UNIT_RATE, TORUS | NODES, ANY_NET, 0},
	[LAUNCH_S] = {"launch_s", UNIT_TIME, TORUS | NODES, ANY_NET, 0},
	/* No platform file depends on these, whatever the net. */
	[HOST_CALL_S] = {"host.call_s", UNIT_TIME, TORUS | NODES, 0, 0},
	[HOST_PACK_BPS] = {"host.pack_Bps", UNIT_RATE, TORUS | NODES, 0, 0},
};

const char *figure_name(const struct family *f, enum figure g)
{
	static const char *const xgmi[] = {"xgmi.peak", "xgmi.bandwidth",
	                                   "xgmi.latency"};
	static const char *const link[] = {"link.peak", "link.bandwidth",
	                                   "link.latency"};
	bool inside = g >= LINK_PEAK && g <= LINK_LATENCY, ici = g <= ICI_LATENCY;

	if (inside && !strcmp(f->fabric, "xgmi"))
		return xgmi[g - LINK_PEAK];
	if ((inside || ici) && !strcmp(f->fabric, "link"))
		return link[g - (ici ? ICI_PEAK : LINK_PEAK)];
	return figures[g].name;
}

enum unit figure_unit(enum figure g)
{
	return figures[g].unit;
}

bool figure_known(const struct family *f, enum figure g)
{
	if ((g == CORE_BANDWIDTH || g == CORE_LATENCY) && f->cores < 2)
		return false;
	if (g >= DCN_PEAK && g <= DCN_LATENCY && f->slices < 2)
		return false;
	return figures[g].kinds & 1u << f->kind;
}

/* Returns whether what joins the GPUs of a node has the figure. */
static bool figure_inside(const struct family *f, enum figure g)
{
	switch (g) {
	case PCIE_BANDWIDTH:
	case BRIDGE_BANDWIDTH:
		return f->pcie;
	case LINK_PEAK:
	case LINK_LATENCY:
		return !f->apart;
	case LINK_BANDWIDTH:
		return !f->apart && (f->ncables || !f->pcie);
	default:
		return true;
	}
}

bool figure_used(const struct family *f, enum figure g)
{
	return figure_known(f, g) && figures[g].nets & 1u << f->net &&
	       figure_inside(f, g);
}

/* Refuses a number without a unit, unless the figure's name has it: memory_Bps, launch_s. */
static enum status unit_check(enum figure g, const char *text, struct where at,
                              struct error *e)
{
	bool rate = figures[g].unit == UNIT_RATE;

	if (strchr(figures[g].name, '_') || !units_missing(text))
		return OK;
	return error_set(
		e, E_SYNTAX, at,
		rate ? "%s has no unit, expected such as %sGB/s, %sGiB/s, or %sGb/s "
		       "in bits"
		     : "%s has no unit, expected such as %sus, %sns or %sms",
		text, text, text, text);
}

enum status figure_parse(double *out, enum figure g, const char *text, struct where at,
                         struct error *e)
{
	struct scan s = scan_start(text, at, e);
	int64_t whole;
	enum status status;

	switch (figures[g].unit) {
	case UNIT_TIME:
		if (unit_check(g, text, at, e) != OK)
			return e->code;
		return units_time(text, at, out, e);
	case UNIT_COUNT:
		if (!text[0] || text[strspn(text, "0123456789")])
			return error_set(e, E_SYNTAX, at,
			                 "%s is a whole number, not '%s'",
			                 figures[g].name, text);
		if (!scan_int(&s, figures[g].name, 1, 1 << 20, &whole) ||
		    scan_finish(&s) != OK)
			return e->code;
		*out = (double)whole;
		return OK;
	case UNIT_BYTES:
		status = units_bytes(text, at, &whole, e);
		*out = (double)whole;
		if (status == OK && whole == 0)
			status = error_set(e, E_RANGE, at, "%s must be above 0",
			                   figures[g].name);
		return status;
	case UNIT_RATE:
		break;
	}
	if (unit_check(g, text, at, e) != OK)
		return e->code;
	status = units_rate(text, at, out, e);
	if (status == OK && g != MEMORY_BPS && *out == 0)
		status = error_set(e, E_RANGE, at, "%s must be above 0",
		                   figures[g].name);
	return status;
}

enum status figures_complete(struct family *f, struct where at, struct error *e)
{
	struct text missing = {0};
	enum status status = OK;
	int n = 0;

	for (int g = 0; g < FIGURES; g++) {
		if (!figure_used(f, g) || f->source[g])
			continue;
		if (figures[g].standard == 0) {
			text_printf(&missing, "%s'%s'", n++ ? ", " : "",
			            figure_name(f, g));
			continue;
		}
		f->figure[g] = figures[g].standard;
		f->source[g] = "the standard of this kind of net";
	}
	if (n)
		status = error_set(e, E_SYNTAX, at,
		                   "%s %s missing: %s no standard value", missing.s,
		                   n > 1 ? "are" : "is", n > 1 ? "they have" : "it has");
	text_free(&missing);
	return status;
}

void shape_sort(int32_t *x, int n)
{
	for (int i = 1; i < n; i++)
		for (int j = i; j > 0 && x[j - 1] < x[j]; j--) {
			int32_t t = x[j];

			x[j] = x[j - 1];
			x[j - 1] = t;
		}
}

enum status shape_scan_axes(struct scan *s, int32_t *shape, int n, int32_t most)
{
	for (int a = 0; a < n; a++) {
		int64_t size;

		if (a && !scan_expect(s, "x"))
			return s->error->code;
		if (!scan_int(s, "the length of an axis", 1, most, &size))
			return s->error->code;
		shape[a] = (int32_t)size;
	}
	return OK;
}

enum status shape_scan(struct scan *s, int32_t *shape, int n)
{
	if (shape_scan_axes(s, shape, n, INT32_MAX) != OK)
		return s->error->code;
	return scan_finish(s);
}

void shape_print(struct text *out, const int32_t *shape, int n)
{
	for (int a = 0; a < n; a++)
		text_printf(out, "%s%d", a ? "x" : "", (int)shape[a]);
}

/* Says which length of a shape is too long, and what the family's shapes are. */
static enum status shape_too_long(const struct family *f, int32_t length, int axis,
                                  struct where at, struct error *e)
{
	struct text largest = {0};

	shape_print(&largest, f->largest, f->naxes);
	error_set(e, E_RANGE, at,
	          "%s has no such shape: a length of %d is above %d; its shapes are up "
	          "to %s, in any order",
	          f->name, (int)length, (int)f->largest[axis], largest.s);
	text_free(&largest);
	return e->code;
}

enum status shape_bounds(struct family_machine *m, int32_t per, struct scan *s,
                         const char *text)
{
	const struct family *f = &m->family;
	struct where at = scan_where(s, text);
	int32_t sorted[TORUS_AXES_MAX];
	int64_t n = per;

	memcpy(sorted, m->shape, sizeof(sorted));
	shape_sort(sorted, f->naxes);
	for (int a = 0; a < f->naxes; a++) {
		if (sorted[a] > f->largest[a])
			return shape_too_long(f, sorted[a], a, at, s->error);
		n *= m->shape[a];
		if (n > INT32_MAX / (2 * TORUS_AXES_MAX))
			return error_set(s->error, E_RANGE, at, "too many devices");
	}
	m->ndevices = (int32_t)n;
	return OK;
}
