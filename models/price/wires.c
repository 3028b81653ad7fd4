#include "price/wires.h"

#include "bound/ports.h"

#include <math.h>

/*
 * Returns whether a message between two of the first n devices may take fabric `f`. It
 * may if some device takes it to the first one of its domain: domains are classes, so
 * if all reach the first one by an earlier fabric, they reach each other by it.
 */
static bool fabric_used(const struct machine *m, const struct placement *place, int f,
                        int32_t n, struct arena *a)
{
	const struct fabric *fab = &m->fabric[f];
	int32_t *first = arena_alloc(a, (size_t)fab->ndomains, sizeof(*first));

	for (int32_t d = 0; d < n; d++) {
		int32_t device = placement_device(place, d),
			domain = fab->domain[device];

		if (domain < 0)
			continue;
		if (!first[domain]) {
			first[domain] = device + 1;
			continue;
		}
		if (machine_fabric(m, first[domain] - 1, device) == f)
			return true;
	}
	return false;
}

/*
 * Returns the slowest link that device `d` has on the fabric, or NULL where nobody
 * knows.
 */
static const struct link *slowest_link(const struct machine *m, int f, int32_t d)
{
	const struct fabric *fab = &m->fabric[f];
	int ports = fab->geometry == GEOMETRY_TORUS ? 2 * fab->naxes : 2;
	const struct link *slowest = NULL;

	if (fab->geometry == GEOMETRY_GRAPH || fab->domain[d] < 0)
		return NULL;
	for (int k = 0; k < ports; k++) {
		int32_t l = fab->port[(int64_t)d * ports + k];
		const struct link *link = l < 0 ? NULL : &m->link[l];

		if (link && (!slowest || link->bandwidth_Bps < slowest->bandwidth_Bps))
			slowest = link;
	}
	return slowest;
}

/*
 * Returns the least seconds that a byte takes into the device with the widest way in.
 */
static double receive_s_per_byte(const struct machine *m, const struct placement *place,
                                 int32_t n, struct arena *a)
{
	struct ports *ports = ports_make(m, a);
	double most_Bps = 0;

	for (int32_t d = 0; d < n; d++) {
		int32_t device = placement_device(place, d);
		struct gate in, out;

		ports_gates(&in, &out, ports, &device, 1, -1);
		most_Bps = fmax(most_Bps, in.bandwidth_Bps);
	}
	return most_Bps > 0 ? 1 / most_Bps : 0;
}

struct price_wires price_wires(const struct machine *m, const struct placement *place,
                               int32_t n, struct arena *a)
{
	const struct link *slowest = NULL;

	for (int f = 0; f < m->nfabrics; f++) {
		if (!fabric_used(m, place, f, n, a))
			continue;
		for (int32_t d = 0; d < n; d++) {
			const struct link *link =
				slowest_link(m, f, placement_device(place, d));

			if (link &&
			    (!slowest || link->bandwidth_Bps < slowest->bandwidth_Bps))
				slowest = link;
		}
	}
	for (int32_t l = 0; !slowest && l < m->nlinks; l++)
		if (l == 0 || m->link[l].bandwidth_Bps < slowest->bandwidth_Bps)
			slowest = &m->link[l];
	return (struct price_wires){
		.permute_s_per_byte = slowest ? 1 / slowest->bandwidth_Bps : 0,
		.permute_latency_s = slowest ? slowest->latency_s : 0,
		.receive_s_per_byte = receive_s_per_byte(m, place, n, a),
	};
}
