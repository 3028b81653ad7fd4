#include "perf/groups.h"

#include "array/mesh.h"
#include "array/seat.h"
#include "plan/devices.h"
#include "plan/groups.h"

#include <string.h>

enum status perf_groups_along(struct groups *out, struct arena *a, const int32_t *ids,
                              int32_t n, const char *text, struct where mesh_at,
                              const char *name, struct where axis_at, struct error *e)
{
	struct mesh mesh;
	struct part part;
	struct move move = {.from_dim = -1, .to_dim = -1, .nparts = 1, .parts = &part};
	int32_t *placed;
	int axis;

	if (mesh_parse(&mesh, a, text, mesh_at, e) != OK)
		return e->code;
	if (mesh.ndevices != n)
		return error_set(e, E_TYPE, mesh_at, "a mesh of %d devices over %d",
		                 (int)mesh.ndevices, (int)n);
	axis = mesh_axis(&mesh, name, strlen(name));
	if (axis < 0)
		return error_set(e, E_TYPE, axis_at, "the mesh has no axis '%s'", name);
	part = (struct part){axis, 1, mesh.axis[axis].size};
	move.factor = part.size;
	*out = groups_of_moves(&mesh, &move, 1, a);
	placed = arena_alloc(a, (size_t)n, sizeof(*placed));
	for (int32_t i = 0; i < n; i++)
		placed[i] = ids[out->ids[i]];
	out->ids = placed;
	return OK;
}

enum status perf_groups_need(int32_t *n, struct arena *a,
                             const struct perf_groups_text *text, struct error *e)
{
	int32_t *devices, listed, most = 0;
	struct mesh mesh;

	*n = 0;
	if (text->devices) {
		if (devices_parse(&devices, &listed, a, text->devices,
		                  where_option("--devices", text->devices),
		                  MESH_DEVICES_MAX, e) != OK)
			return e->code;
		for (int32_t i = 0; i < listed; i++)
			most = devices[i] > most ? devices[i] : most;
		*n = most + 1;
	} else if (text->mesh) {
		if (mesh_parse(&mesh, a, text->mesh, where_option("--mesh", text->mesh),
		               e) != OK)
			return e->code;
		*n = mesh.ndevices;
	}
	return OK;
}

/*
 * Returns the devices of a machine that a mesh, or without one all devices together, takes;
 * *n is how many.
 */
static const int32_t *devices_taken(int32_t *n, struct arena *a, const struct machine *m,
                                    const struct perf_groups_text *text)
{
	struct error ignored = {0};
	struct mesh mesh = {.ndevices = m->ndevices};
	struct seat seat;
	int32_t *devices;

	if (text->mesh)
		mesh_parse(&mesh, a, text->mesh, (struct where){0}, &ignored);
	*n = ignored.code == OK && mesh.ndevices < m->ndevices ? mesh.ndevices
	                                                       : m->ndevices;
	if (seat_find(&seat, m, *n))
		return seat_devices(&seat, *n, a);
	devices = arena_alloc(a, (size_t)*n, sizeof(*devices));
	for (int32_t d = 0; d < *n; d++)
		devices[d] = d;
	return devices;
}

enum status perf_groups(struct groups *out, struct arena *a, const struct machine *m,
                        const struct perf_groups_text *text, struct error *e)
{
	int32_t n, *listed;
	const int32_t *devices;

	if (!text->axis != !text->mesh)
		return error_set(e, E_TYPE,
		                 where_option(text->axis ? "--axis" : "--mesh",
		                              text->axis ? text->axis : text->mesh),
		                 "--axis and --mesh go together");
	if (text->devices) {
		if (devices_parse(&listed, &n, a, text->devices,
		                  where_option("--devices", text->devices), m->ndevices,
		                  e) != OK)
			return e->code;
		devices = listed;
	} else {
		devices = devices_taken(&n, a, m, text);
	}
	*out = (struct groups){.ngroups = 1, .size = n, .ids = devices};
	if (!text->axis)
		return OK;
	return perf_groups_along(out, a, devices, n, text->mesh,
	                         where_option("--mesh", text->mesh), text->axis,
	                         where_option("--axis", text->axis), e);
}
