/* Machines of families, without their platform files. */
#include "facts/families.h"

#include <stdlib.h>
#include <string.h>

/* Returns a figure as a platform file says it, with 15 digits. */
static double said(double x)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", x);
	return strtod(text, NULL);
}

static struct link link_of(double bandwidth_Bps, double latency_s)
{
	return (struct link){.bandwidth_Bps = said(bandwidth_Bps),
	                     .latency_s = said(latency_s)};
}

/* Returns what of the machine only wires that are written out can say, or NULL. */
static const char *needs_wires(const struct family_machine *m)
{
	const struct family *f = &m->family;

	if (m->noverlays)
		return "slow or missing links and devices";
	if (f->kind == FAMILY_TORUS)
		return m->slices > 1  ? "several slices"
		       : f->cores > 1 ? "chips of several devices"
		                      : NULL;
	if (f->ncables || f->pcie)
		return "cables between the GPUs of a node";
	if (f->apart)
		return "no links between the GPUs of a node";
	if (m->shape[0] == 1)
		return NULL;
	return f->nics < f->gpus      ? "NICs that GPUs share"
	       : f->net != NET_SWITCH ? "a net of several switches"
	                              : NULL;
}

static struct machine *torus_of(struct arena *a, const struct family_machine *m,
                                struct device device)
{
	const struct family *f = &m->family;
	struct link ici = link_of(f->figure[ICI_BANDWIDTH], f->figure[ICI_LATENCY]);

	return m->twist ? machine_twisted(a, f->naxes, m->shape, ici, device)
	                : machine_torus(a, f->naxes, m->shape, m->wrap, ici, device);
}

/* Half of a switch's latency is that of the way up, half that of the way down. */
static struct machine *nodes_of(struct arena *a, const struct family_machine *m,
                                struct device device)
{
	const struct family *f = &m->family;
	int32_t bonded = f->nics > f->gpus ? f->nics / f->gpus : 1;

	return machine_gpu(
		a, m->shape[0], f->gpus,
		link_of(f->figure[LINK_BANDWIDTH], f->figure[LINK_LATENCY] / 2),
		link_of(f->figure[NIC_BANDWIDTH] * bonded, f->figure[NIC_LATENCY] / 2),
		device);
}

enum status family_machine(struct machine **out, struct arena *a,
                           const struct family_machine *m, const char *spec,
                           struct error *e)
{
	const struct family *f = &m->family;
	const char *why = needs_wires(m);
	struct device device = {said(f->figure[MEMORY_BYTES]),
	                        said(f->figure[MEMORY_BPS]), said(f->figure[LAUNCH_S])};
	struct machine *made;

	if (why)
		return error_set(e, E_INFEASIBLE, where_option("machine", spec),
		                 "%s has %s, which only its platform file says",
		                 f->name, why);
	made = f->kind == FAMILY_TORUS ? torus_of(a, m, device) : nodes_of(a, m, device);
	made->name = arena_strdup(a, spec);
	for (int k = 0; k < TUNINGS; k++)
		made->tuning.value[k] = said(f->tuning.value[k]);
	for (int i = 0; i < made->nfabrics; i++)
		made->fabric[i].profile = arena_strdup(a, f->profile);
	if (f->kind == FAMILY_NODES)
		made->fabric[0].name = arena_strdup(a, f->fabric);
	*out = made;
	return OK;
}
