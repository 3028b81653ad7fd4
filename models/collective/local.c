#include "collective/local.h"

#include "base/assert.h"
#include "collective/profile.h"

int32_t placement_device(const struct placement *place, int32_t d)
{
	return place && place->platform ? place->platform[d] : d;
}

int32_t placement_size(const struct placement *place, const struct machine *m)
{
	return place && place->platform ? place->n : m->ndevices;
}

struct local_rates local_rates(const struct machine *m, const struct placement *place,
                               int32_t n)
{
	struct local_rates rates = {0};

	assert(placement_size(place, m) >= n);
	rates.launch_s = profile_launch_s(m, place ? place->platform : NULL, n);
	for (int32_t d = 0; d < n; d++) {
		const struct device *device = &m->device[placement_device(place, d)];

		if (device->memory_Bps > 0 && 1 / device->memory_Bps > rates.s_per_byte)
			rates.s_per_byte = 1 / device->memory_Bps;
	}
	return rates;
}

double local_traffic_bytes(enum op op, double before_bytes, double after_bytes,
                           int32_t q, bool unpack)
{
	switch (op) {
	case OP_SLICE:
	case OP_PAD:
	case OP_PARTIAL:
		return 2 * after_bytes;
	case OP_ALL_GATHER:
		return unpack ? 2 * after_bytes : 0;
	case OP_ALL_TO_ALL:
		return 4 * before_bytes;
	case OP_ALL_REDUCE:
		return 2 * 3 * before_bytes * (q - 1) / q;
	case OP_REDUCE_SCATTER:
		return 3 * before_bytes * (q - 1) / q;
	default:
		assert(op == OP_PERMUTE);
		return 0;
	}
}
