#include "plan/check_state.h"

struct state state_start(const struct plan *p, struct arena *a, struct text *why)
{
	const struct problem *q = p->problem;
	struct state s = {.plan = p,
	                  .arena = a,
	                  .rank = p->shape.rank,
	                  .lists = p->shape.rank + 1,
	                  .ndevices = q->ndevices,
	                  .why = why};
	struct tilemap map = tilemap_make(&p->from, &q->mesh, &p->shape, a);
	size_t cells = (size_t)s.ndevices * (size_t)s.lists;

	s.partials = map.partials;
	s.held = arena_alloc(a, (size_t)s.ndevices, sizeof(*s.held));
	s.given = arena_alloc(a, (size_t)s.ndevices, sizeof(*s.given));
	s.list = arena_alloc(a, cells, sizeof(*s.list));
	for (int32_t d = 0; d < s.ndevices; d++) {
		struct list *tile = s.list + (int64_t)d * s.lists;

		if (!tilemap_has(&map, d))
			continue;
		for (int dim = 0; dim < s.rank; dim++) {
			int64_t size = map.tile.dim[dim];
			int64_t index = map.index[(int64_t)d * s.rank + dim];

			tile[dim] = list_of(a, index * size, (index + 1) * size);
		}
		tile[s.rank] = list_of(a, map.partial[d], map.partial[d] + 1);
	}
	return s;
}

struct list *state_tile(const struct state *s, int32_t device)
{
	return s->list + (int64_t)device * s->lists;
}

bool state_wrong(struct state *s, int step, const char *reason, int32_t device)
{
	text_printf(s->why, "step %d (%s): %s", step + 1,
	            op_name(s->plan->step[step].op), reason);
	if (device >= 0)
		text_printf(s->why, " (device %d)", device);
	return false;
}
