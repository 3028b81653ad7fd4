#include "cli/problem_options.h"

#define TEXT(member) .at = offsetof(struct problem_text, member)

const struct option_row problem_table[] = {
	{"array", 0, "TYPE[SHAPE]", "the array, such as bf16[8192,8192]", TEXT(array)},
	{"mesh", 0, "AXES", "the mesh, first axis most major: x=4,y=2", TEXT(mesh)},
	{"to-mesh", 0, "AXES", "another mesh for the target layout", TEXT(to_mesh)},
	{"from", 0, "LAYOUT",
         "the layout it is in: JAX, HLO, Shardy, DTensor or paper notation", TEXT(from)},
	{"to", 0, "LAYOUT", "the layout it is needed in", TEXT(to)},
	{"num-devices", 0, "N", "devices, for HLO layouts without --mesh",
         TEXT(num_devices)},
	{"memory-limit", 0, "SIZE",
         "largest live array on a device, such as 2GiB; none: no limit at all",
         TEXT(memory_limit)},
	{"vocabulary", 0, "any|portable",
         "which steps best and direct may use; portable: no boxes, no strided tiles",
         TEXT(vocabulary)},
	{"devices", 0, "LIST|@FILE",
         "platform devices of the mesh, row-major (default: a slice of a torus, "
         "else the first)",
         TEXT(devices)},
	{"to-devices", 0, "LIST|@FILE",
         "platform devices of the target mesh (default: those of the mesh)",
         TEXT(to_devices)},
	{0},
};

static struct where place_of(const char *option, const char *text)
{
	return text ? where_option(option, text) : (struct where){0};
}

void problem_places(struct problem_text *t)
{
	t->array_at = place_of("--array", t->array);
	t->mesh_at = place_of("--mesh", t->mesh);
	t->to_mesh_at = place_of("--to-mesh", t->to_mesh);
	t->from_at = place_of("--from", t->from);
	t->to_at = place_of("--to", t->to);
	t->num_devices_at = place_of("--num-devices", t->num_devices);
	t->devices_at = place_of("--devices", t->devices);
	t->to_devices_at = place_of("--to-devices", t->to_devices);
	t->memory_limit_at = place_of("--memory-limit", t->memory_limit);
	t->vocabulary_at = place_of("--vocabulary", t->vocabulary);
}
