#include "cli/notes.h"

#include "planner/planner.h"

/* Adds a note for each dimension of a layout some of whose tiles have no element. */
static int note_padding(const char **note, struct arena *a, const struct problem *p,
                        const struct layout *l, int64_t devices, const char *option)
{
	int n = 0;

	for (int dim = 0; dim < l->rank; dim++) {
		int64_t extent = p->array.shape.dim[dim], tiles = layout_shards(l, dim);
		int64_t full, idle;

		if (!extent || tiles < 2)
			continue;
		full = (extent + tiles - 1) / tiles;
		full = (extent + full - 1) / full;
		idle = (tiles - full) * (devices / tiles);
		if (!idle)
			continue;
		note[n++] =
			arena_printf(a,
		                     "%s pads: dimension %d of %lld elements over %lld "
		                     "devices%s: %lld device%s "
		                     "only padding",
		                     option, dim, (long long)extent, (long long)devices,
		                     tiles == devices ? ""
		                                      : arena_printf(a, ", %lld ways",
		                                                     (long long)tiles),
		                     (long long)idle, idle > 1 ? "s hold" : " holds");
	}
	return n;
}

const char *const *notes_of(struct arena *a, const struct problem *p,
                            const char *const *first)
{
	const char **note =
		arena_alloc(a, 2 * RANK_MAX + NOTES_FIRST + 1, sizeof(*note));
	int n = 0;

	while (*first && n < NOTES_FIRST)
		note[n++] = *first++;
	n += note_padding(note + n, a, p, &p->from, p->mesh.ndevices, "--from");
	n += note_padding(note + n, a, p, &p->to, p->to_mesh.ndevices, "--to");
	note[n] = NULL;
	return note;
}

const char *const *notes_of_warning(struct arena *a, const char *const *notes,
                                    struct bench *b, const struct problem *p)
{
	struct measurement today, then;
	const char **more;
	size_t n = 0;

	measure_plan(&today, b, p, planner_find("xla", 3), a);
	if (!today.plan || today.plan->full_remat)
		return notes;
	measure_plan(&then, b, p, planner_find("xla-2021", 8), a);
	while (notes[n])
		n++;
	more = arena_alloc(a, n + 2, sizeof(*more));
	for (size_t i = 0; i < n; i++)
		more[i] = notes[i];
	more[n] = then.plan && then.plan->full_remat
	                  ? "XLA as of today (xla) does this without full "
	                    "rematerialization: an older one logged the warning, as "
	                    "xla-2021 would"
	                  : "neither XLA as of today (xla) nor that of 2021 "
	                    "rematerializes "
	                    "fully here: one of another time logged the warning";
	return more;
}
