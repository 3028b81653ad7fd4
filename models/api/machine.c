/* Machines: from plain numbers, and from the facts of families. */
#include "api/handle.h"

#include "collective/profile.h"
#include "facts/families.h"

#include <math.h>
#include <string.h>

struct machine_making {
	struct api api;
	struct shardsim_machine **out;
	bool torus;
	int naxes;
	const int32_t *shape;
	const bool *wrap;
	int32_t nodes, gpus;
	struct shardsim_link link, net;
	struct shardsim_device device;
};

static bool at_least_0(double x)
{
	return isfinite(x) && x >= 0;
}

static bool check_link(struct api *api, const char *what, struct shardsim_link l)
{
	if (isfinite(l.bandwidth_Bps) && l.bandwidth_Bps > 0 && at_least_0(l.latency_s))
		return true;
	return api_fail(api, SHARDSIM_RANGE,
	                "%s of %g B/s and %g s, expected a bandwidth above 0 and a "
	                "latency of 0 or more",
	                what, l.bandwidth_Bps, l.latency_s);
}

static bool check_device(struct api *api, struct shardsim_device d)
{
	if (at_least_0(d.memory_bytes) && at_least_0(d.memory_Bps) &&
	    at_least_0(d.launch_s))
		return true;
	return api_fail(api, SHARDSIM_RANGE,
	                "a device with memory of %g B at %g B/s and a launch of %g s, "
	                "expected numbers of 0 or more",
	                d.memory_bytes, d.memory_Bps, d.launch_s);
}

/*
 * Returns whether there are devices, and not too many: their links are numbered by
 * int32_t.
 */
static bool check_shape(struct api *api, const int32_t *shape, int n)
{
	int64_t devices = 1;

	for (int i = 0; i < n; i++) {
		if (shape[i] < 1)
			return api_fail(api, SHARDSIM_RANGE,
			                "a length of %d, expected 1 or more",
			                (int)shape[i]);
		devices *= shape[i];
		if (devices > MESH_DEVICES_MAX)
			return api_fail(api, SHARDSIM_RANGE, "more than %d devices",
			                (int)MESH_DEVICES_MAX);
	}
	return true;
}

/* The latency of a way through a switch is half that of the cable up, half down. */
static struct link link_of(struct shardsim_link l, double share)
{
	return (struct link){.bandwidth_Bps = l.bandwidth_Bps,
	                     .latency_s = l.latency_s * share};
}

static bool check_machine(struct machine_making *m)
{
	const int32_t nodes[2] = {m->nodes, m->gpus};

	if (!api_needs_out(&m->api, m->out) || !check_device(&m->api, m->device) ||
	    !check_link(&m->api, "a link", m->link))
		return false;
	if (!m->torus)
		return check_shape(&m->api, nodes, 2) &&
		       (m->nodes == 1 || check_link(&m->api, "a NIC", m->net));
	if (!m->shape)
		return api_fail(&m->api, SHARDSIM_MISUSE, "expected a shape, not NULL");
	if (m->naxes < 1 || m->naxes > TORUS_AXES_MAX)
		return api_fail(&m->api, SHARDSIM_RANGE, "%d axes, expected 1 to %d",
		                m->naxes, (int)TORUS_AXES_MAX);
	return check_shape(&m->api, m->shape, m->naxes);
}

static bool machine_body(void *self)
{
	struct machine_making *m = self;
	struct device device = {m->device.memory_bytes, m->device.memory_Bps,
	                        m->device.launch_s};
	bool wrap[TORUS_AXES_MAX];
	struct shardsim_machine *out;

	if (!check_machine(m))
		return false;
	out = handle_new(HANDLE_MACHINE, sizeof(*out));
	for (int i = 0; i < m->naxes; i++)
		wrap[i] = m->wrap ? m->wrap[i] : true;
	if (m->torus)
		out->machine = machine_torus(out->handle.arena, m->naxes, m->shape,
		                             wrap, link_of(m->link, 1), device);
	else
		out->machine =
			machine_gpu(out->handle.arena, m->nodes, m->gpus,
		                    link_of(m->link, .5), link_of(m->net, .5), device);
	*m->out = out;
	return true;
}

enum shardsim_status shardsim_machine_torus(struct shardsim_machine **out, int naxes,
                                            const int32_t *shape, const bool *wrap,
                                            struct shardsim_link link,
                                            struct shardsim_device device,
                                            struct shardsim_error *error)
{
	struct machine_making m = {.out = out,
	                           .torus = true,
	                           .naxes = naxes,
	                           .shape = shape,
	                           .wrap = wrap,
	                           .link = link,
	                           .device = device};

	if (out)
		*out = NULL;
	return api_call(&m.api, machine_body, &m, error);
}

enum shardsim_status
shardsim_machine_nodes(struct shardsim_machine **out, int32_t nodes, int32_t gpus,
                       struct shardsim_link inside, struct shardsim_link net,
                       struct shardsim_device device, struct shardsim_error *error)
{
	struct machine_making m = {.out = out,
	                           .nodes = nodes,
	                           .gpus = gpus,
	                           .link = inside,
	                           .net = net,
	                           .device = device};

	if (out)
		*out = NULL;
	return api_call(&m.api, machine_body, &m, error);
}

struct machine_reading {
	struct api api;
	struct shardsim_machine **out;
	const char *text, *families;
};

static bool read_body(void *self)
{
	struct machine_reading *r = self;
	struct error *e = &r->api.error;
	struct arena *scratch;
	struct shardsim_machine *out;
	struct family_machine m;
	struct family_size size;
	const char *text = r->text;
	struct machine *machine;

	if (!api_needs_out(&r->api, r->out) ||
	    !api_needs_text(&r->api, r->text, "machine"))
		return false;
	scratch = arena_new();
	if (family_sized(text) &&
	    family_size(&size, scratch, r->families, text, NULL, 0, 0, e) == OK)
		text = size.spec;
	if (e->code != OK ||
	    family_parse(&m, scratch, r->families, text, NULL, 0, e) != OK) {
		if (!strcmp(e->at.file, "--platform") || !strcmp(e->at.file, "--set"))
			e->at.file = "machine";
		return false;
	}
	out = handle_new(HANDLE_MACHINE, sizeof(*out));
	if (family_machine(&machine, out->handle.arena, &m, text, e) != OK)
		return false;
	machine->launch = profile_compiler(machine);
	out->machine = machine;
	arena_free(scratch);
	*r->out = out;
	return true;
}

enum shardsim_status shardsim_machine_read(struct shardsim_machine **out,
                                           const char *text, const char *families,
                                           struct shardsim_error *error)
{
	struct machine_reading r = {.out = out, .text = text, .families = families};

	if (out)
		*out = NULL;
	return api_call(&r.api, read_body, &r, error);
}

int32_t shardsim_machine_devices(const struct shardsim_machine *machine)
{
	return machine && machine->handle.kind == HANDLE_MACHINE
	               ? machine->machine->ndevices
	               : 0;
}
