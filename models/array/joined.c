#include "array/machine.h"

int machine_fabric_of_all(const struct machine *m, const int32_t *ids, int32_t n)
{
	for (int f = 0; f < m->nfabrics; f++) {
		const int32_t *domain = m->fabric[f].domain;
		int32_t k = 0;

		while (k < n && domain[ids[k]] >= 0 && domain[ids[k]] == domain[ids[0]])
			k++;
		if (k == n)
			return f;
	}
	return -1;
}

/*
 * Returns whether another fabric joins the devices that share a port of this one with
 * them.
 */
static bool sharers_joined(const struct machine *m, int f, const int32_t *ids, int32_t n)
{
	int32_t share = m->fabric[f].share;

	for (int32_t i = 0; i < n && share > 1; i++) {
		int32_t first = ids[i] / share * share;

		for (int32_t d = first; d < first + share && d < m->ndevices; d++)
			if (machine_fabric(m, ids[i], d) < 0)
				return false;
	}
	return true;
}

bool machine_joins(const struct machine *m, const int32_t *ids, int32_t n)
{
	int f = machine_fabric_of_all(m, ids, n);

	if (f >= 0 && sharers_joined(m, f, ids, n))
		return true;
	for (int32_t i = 0; i < n; i++)
		for (int32_t k = i + 1; k < n; k++)
			if (machine_fabric(m, ids[i], ids[k]) < 0)
				return false;
	return true;
}
