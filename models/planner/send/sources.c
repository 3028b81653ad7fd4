#include "planner/send/sources.h"

#include "base/assert.h"
#include "base/keys.h"
#include "planner/send/send.h"

#include <string.h>

/*
 * The most paths that are priced, and steps of choosing senders, for each device. Where
 * replicas times boxes are more paths, the devices that hold a tile and its boxes are
 * cut alike into runs, and each run of devices serves its run of boxes. With an eighth
 * of the paths 11 rows of `best` are dearer; with a fifth of the steps 6 rows of it,
 * and 8 of `direct`.
 */
enum { PATHS_EACH = 384, WORK_EACH = 5000 };

struct sources {
	const struct problem *problem;
	const struct prices *prices;
	struct transfer *box;
	struct arena *arena, *scratch; /* scratch: of one run */
	int64_t paths, work;           /* paths to choose among; the work left for it */
	/*
	 * Tiles are often alike, device for device: a choice that was made is made again, for
	 * no work, so that there is more for those that differ.
	 */
	struct keys made;
	LIST(const int32_t *) senders; /* of each choice that was made */
};

/*
 * Some devices that hold a tile and some boxes of it, whose senders are chosen among
 * these.
 */
struct run {
	const int32_t *holder, *box;
	int64_t nholders, nboxes;
};

/*
 * Fills sender[nboxes] with numbers of holders. The prices follow the elements in memory,
 * and both follow the number of boxes: that is all that a choice depends on.
 */
static void choose_senders(struct sources *sources, int32_t *sender,
                           const struct sending *s, const double *key)
{
	size_t n = (size_t)s->nboxes, paths = n * (size_t)s->nsenders;
	double part = (double)paths / (double)sources->paths;
	int64_t share = (int64_t)(part * (double)sources->work);
	bool fresh;
	int32_t made =
		keys_add(&sources->made, key, (1 + n + paths) * sizeof(*key), &fresh);

	sources->paths -= (int64_t)paths;
	if (!fresh) {
		memcpy(sender, sources->senders.at[made], n * sizeof(*sender));
		return;
	}
	/* what one tile does not need of its share, others may use */
	sources->work -= share;
	send_spread(sender, s, &share);
	sources->work += share;
	*list_add(&sources->senders, sources->arena) =
		arena_dup(sources->arena, sender, n, sizeof(*sender));
}

static void choose_in_run(struct sources *sources, const struct run *r)
{
	size_t n = (size_t)r->nboxes, paths = n * (size_t)r->nholders;
	int32_t *sender = arena_alloc(sources->scratch, n, sizeof(*sender));
	double *key, *elements, *price;

	if (r->nholders > 1 && n > 0) {
		key = arena_alloc(sources->scratch, 1 + n + paths, sizeof(*key));
		elements = key + 1;
		price = elements + n;
		*key = (double)n;
		for (size_t i = 0; i < n; i++) {
			const struct transfer *box = &sources->box[r->box[i]];

			elements[i] = (double)box->elements;
			for (int64_t k = 0; k < r->nholders; k++)
				*price++ = sources->prices->path(sources->prices->self,
				                                 sources->problem,
				                                 r->holder[k], box->dst);
		}
		choose_senders(sources, sender,
		               &(struct sending){(int32_t)n, (int32_t)r->nholders,
		                                 elements, elements + n},
		               key);
	}
	for (size_t i = 0; i < n; i++)
		sources->box[r->box[i]].src = r->holder[sender[i]];
	arena_reset(sources->scratch);
}

/* Cuts a tile's devices and boxes alike, so that no box has more than `most` paths. */
static int64_t cut_runs(struct run *out, const struct holders *h, const int64_t *first,
                        const int32_t *box, int64_t tile, int64_t most)
{
	int64_t holders = h->first[tile + 1] - h->first[tile];
	int64_t n = first[tile + 1] - first[tile];
	int64_t runs = (holders + most - 1) / most;

	assert(holders > 0 || n == 0);
	for (int64_t r = 0; r < runs; r++)
		*out++ = (struct run){h->device + h->first[tile] + holders * r / runs,
		                      box + first[tile] + n * r / runs,
		                      holders * (r + 1) / runs - holders * r / runs,
		                      n * (r + 1) / runs - n * r / runs};
	return runs;
}

void sources_choose(struct transfer *box, int64_t n, const struct holders *h,
                    const struct problem *p, const struct prices *prices)
{
	struct sources sources = {.problem = p,
	                          .prices = prices,
	                          .box = box,
	                          .arena = arena_new(),
	                          .scratch = arena_new(),
	                          .work = WORK_EACH * (int64_t)p->ndevices};
	int64_t most = n > 0 ? PATHS_EACH * (int64_t)p->ndevices / n : 1, nruns = 0;
	int32_t *tile = arena_alloc(sources.arena, (size_t)n, sizeof(*tile)), *of_tile;
	int64_t *first;
	struct run *run;

	sources.made.arena = sources.arena;
	for (int64_t i = 0; i < n; i++)
		tile[i] = box[i].src;
	sort_bins(&first, &of_tile, tile, n, h->ntiles, sources.arena);
	run = arena_alloc(sources.arena, (size_t)(h->ntiles + p->ndevices),
	                  sizeof(*run));
	for (int64_t t = 0; t < h->ntiles; t++)
		nruns += cut_runs(run + nruns, h, first, of_tile, t,
		                  most > 1 ? most : 1);
	for (int64_t r = 0; r < nruns; r++)
		sources.paths += run[r].nholders * run[r].nboxes;
	for (int64_t r = 0; r < nruns; r++)
		choose_in_run(&sources, &run[r]);
	arena_free(sources.scratch);
	arena_free(sources.arena);
}
