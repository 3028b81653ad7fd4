#include "plan/position.h"

#include "array/seat.h"

/* Returns whether the problem takes a slice of the machine. */
static bool takes_seat(struct seat *out, const struct problem *p,
                       const struct machine *m)
{
	return !p->from_devices && !p->to_devices && seat_find(out, m, p->ndevices);
}

static bool in_order(const int32_t *device, int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		if (device[i] != i)
			return false;
	return true;
}

/*
 * Returns the platform device of every number, those of the slice being at `on`. Without
 * lists the numbers of two meshes are those of the larger one in some order.
 */
static const int32_t *devices_on(const struct problem *p, const int32_t *on,
                                 struct arena *a)
{
	int32_t *device;

	if (!p->platform)
		return on;
	device = arena_alloc(a, (size_t)p->ndevices, sizeof(*device));
	for (int32_t d = 0; d < p->ndevices; d++)
		device[d] = on[p->platform[d]];
	return device;
}

const int32_t *position_devices(const struct problem *p, const struct machine *m,
                                struct arena *a)
{
	struct seat seat;
	const int32_t *on;

	if (!takes_seat(&seat, p, m))
		return p->platform;
	on = seat_devices(&seat, p->ndevices, a);
	return in_order(on, p->ndevices) ? p->platform : devices_on(p, on, a);
}

void position_take(struct problem *p, const struct machine *m)
{
	struct seat seat;
	struct text name = {0};
	const int32_t *on;

	if (!m || !takes_seat(&seat, p, m))
		return;
	seat_print(&name, &seat, p->ndevices);
	p->position = text_take(&name, p->arena);
	on = seat_devices(&seat, p->ndevices, p->arena);
	if (in_order(on, p->ndevices))
		return;
	p->platform = devices_on(p, on, p->arena);
	p->from_devices = on;
	if (p->to_mesh.ndevices != p->mesh.ndevices)
		p->to_devices = on;
}

int32_t position_needs(const struct problem *p)
{
	int32_t most = p->ndevices - 1;

	for (int32_t d = 0; p->platform && d < p->ndevices; d++)
		most = p->platform[d] > most ? p->platform[d] : most;
	return most + 1;
}
