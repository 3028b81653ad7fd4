#include "validate/machine_log.h"

#include "collective/nccl.h"
#include "platform/platform.h"
#include "validate/gpu.h"
#include "validate/state.h"

#include <string.h>

/* No host has more GPUs; a larger domain of NVLink is made of several. */
enum { HOST_GPUS_MAX = 16 };

static int32_t nodes_of(const struct machine *m)
{
	if (m->nfabrics == 1 && nccl_is_network(m, 0))
		return m->ndevices;
	return m->fabric[0].ndomains;
}

/* Returns whether so many hosts can be the machine's nodes. */
static bool nodes_agree(const struct machine *m, int32_t hosts)
{
	int32_t nodes = nodes_of(m);

	if (m->ndevices / nodes > HOST_GPUS_MAX)
		return hosts % nodes == 0;
	return hosts == nodes;
}

static enum status ranks_check(const struct measured *row, const struct machine *m,
                               const char *platform, struct error *e)
{
	if (!row->devices)
		return error_set(e, E_SYNTAX, row->at,
		                 "a timing of unknown ranks, expected the lines '# "
		                 "Rank ... on HOST' of nccl-tests before it");
	if (row->devices != m->ndevices)
		return error_set(e, E_TYPE, row->at,
		                 "a timing of %d rank%s on %d node%s, but %s has %d "
		                 "devices on %d; expected all '# Rank' lines of a log, "
		                 "or --platform of what it ran on",
		                 (int)row->devices, row->devices == 1 ? "" : "s",
		                 (int)row->nodes, row->nodes == 1 ? "" : "s", platform,
		                 (int)m->ndevices, (int)nodes_of(m));
	if (row->nodes && !nodes_agree(m, row->nodes))
		return error_set(e, E_TYPE, row->at,
		                 "a timing of %d ranks on %d node%s, but %s has its %d "
		                 "devices on %d",
		                 (int)row->devices, (int)row->nodes,
		                 row->nodes == 1 ? "" : "s", platform, (int)m->ndevices,
		                 (int)nodes_of(m));
	return OK;
}

/* Fills in the collective of a row that does not name it. */
static enum status collective_check(struct measured *row, const char *given,
                                    struct error *e)
{
	enum op op;

	if (given && !perf_op(&op, given, where_option("--collective", given), e))
		return e->code;
	if (given && *row->collective && strcmp(given, row->collective) != 0)
		return error_set(e, E_TYPE, row->at,
		                 "a timing of %s, but --collective %s", row->collective,
		                 given);
	if (!given && !*row->collective)
		return error_set(
			e, E_TYPE, row->at,
			"a timing of an unknown collective, expected a line such as '# "
			"Collective test starting: all_gather_perf' before it, or "
			"--collective");
	if (given)
		row->collective = given;
	return OK;
}

/* Keeps the rows of one kind, if there are such, or says that there are none. */
static enum status place_choose(struct measured_table *t, const struct machine_log *l,
                                struct error *e)
{
	int64_t kept = 0;

	for (int64_t i = 0; i < t->n; i++)
		if (t->row[i].in_place == l->in_place)
			t->row[kept++] = t->row[i];
	if (!kept)
		return error_set(e, E_INFEASIBLE, (struct where){.file = l->file[0]},
		                 l->in_place ? "has no timings in place"
		                             : "has timings in place alone, which "
		                               "--in-place takes");
	t->n = kept;
	return OK;
}

/* What a log says of its launch, and how that is called in a row's system. */
static const struct {
	const char *mode, *system;
	enum tuning_key figure;
	const char *unknown; /* where the machine does not have the figure */
} launches[] = {
	{"single", ", one process", TUNING_LAUNCH_EACH_S,
         " (one process; launched as if there were several)"},
	{"graph", ", in a graph", TUNING_LAUNCH_GRAPH_S,
         " (in a graph; launched as if there were none)"},
};

enum { LAUNCHES = (int)(sizeof(launches) / sizeof(*launches)) };

/* Every row is of this platform; entries tell its launches apart by the row's system. */
static void entries_make(struct mapping *out, struct arena *a,
                         const struct machine_log *l)
{
	struct mapping_entry all = {.set = "*",
	                            .stride = 1,
	                            .units = 1,
	                            .platform = l->platform,
	                            .nsettings = l->nset,
	                            .at = where_option("--platform", l->platform)};

	for (int k = 0; k < l->nset; k++)
		all.setting[k] = l->set[k];
	*out = (struct mapping){LAUNCHES + 1,
	                        arena_alloc(a, LAUNCHES + 1, sizeof(*out->entry))};
	for (int i = 0; i <= LAUNCHES; i++) {
		out->entry[i] = all;
		if (i == LAUNCHES)
			return;
		out->entry[i].system = launches[i].system;
		out->entry[i].launch = launches[i].mode;
	}
}

static void row_name(struct measured *row, struct arena *a, const char *platform,
                     const struct machine *m)
{
	const char *slash = strrchr(row->at.file, '/'), *launch = "";

	for (int i = 0; i < LAUNCHES; i++)
		if (!strcmp(row->launch, launches[i].mode))
			launch = m->tuning.value[launches[i].figure] > 0
			                 ? launches[i].system
			                 : launches[i].unknown;
	if (!*row->set)
		row->set = slash ? slash + 1 : row->at.file;
	if (!*row->system)
		row->system = arena_printf(a, "%s%s", platform, launch);
}

enum status machine_log_open(struct validation **out, struct arena *a,
                             const struct machine_log *given, struct error *e)
{
	struct machine_log sized = *given, *l = &sized;
	struct measured_table *t = arena_alloc(a, 1, sizeof(*t));
	struct mapping *mapping = arena_alloc(a, 1, sizeof(*mapping));
	const char *note = NULL;
	struct machine *m;

	*out = NULL;
	if (l->nset > MAPPING_SETTINGS_MAX)
		return error_set(e, E_RANGE, where_option("--set", l->set[l->nset - 1]),
		                 "at most %d settings of a log's platform",
		                 (int)MAPPING_SETTINGS_MAX);
	if (measured_read_all(t, a, l->file, l->nfiles, e) != OK ||
	    platform_resize(&l->platform, a, l->set, l->nset,
	                    t->n ? t->row[0].devices : 0, e) != OK ||
	    platform_machine(&m, a, l->platform, l->set, l->nset, e) != OK)
		return e->code;
	for (int64_t i = 0; i < t->n; i++) {
		if (ranks_check(&t->row[i], m, l->platform, e) != OK ||
		    collective_check(&t->row[i], l->collective, e) != OK)
			return e->code;
		row_name(&t->row[i], a, l->platform, m);
		if (!note)
			note = gpu_differs(a, t->row[i].gpu, m);
	}
	if (place_choose(t, l, e) != OK)
		return e->code;
	entries_make(mapping, a, l);
	if (validation_open(out, a, t, mapping, e) != OK)
		return e->code;
	if (validation_force(*out, &(struct library_text){.launch = l->launch}, e) != OK)
		return e->code;
	(*out)->of_one = true;
	(*out)->note = note;
	(*out)->what = l->in_place ? "timings in place" : "timings out of place";
	return OK;
}
