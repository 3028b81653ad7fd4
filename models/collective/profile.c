#include "collective/profile.h"

#include "collective/collective.h"
#include "collective/device_ring.h"
#include "collective/nccl_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct profile
	tpu = {.name = "tpu",
               .help = "collectives of XLA on TPUs, by geometry",
               .fill = true},
	nccl = {.name = "nccl",
                .help = "collectives of NVIDIA's library",
                .library = nccl_algorithms},
	rccl = {.name = "rccl",
                .help = "collectives of AMD's library",
                .library = rccl_algorithms},
	p2 = {.name = "p2",
              .help = "a ring in device order for every collective, as P2 simulates",
              .first = &algorithm_device_ring},
	plain = {.name = "plain", .help = "by geometry, at the cost of the links alone"};

const struct profile *const profiles[] = {&tpu, &nccl, &rccl, &p2, &plain, NULL};

enum status profile_check(const char *name, struct where at, struct error *e)
{
	for (int i = 0; profiles[i]; i++)
		if (!strcmp(name, profiles[i]->name))
			return OK;
	return error_set(e, E_RANGE, at,
	                 "unknown profile '%s', expected tpu, nccl, rccl, p2 or plain",
	                 name);
}

const struct profile *profile_of_fabric(const struct machine *m, int fabric)
{
	const char *name = m->fabric[fabric].profile;

	for (int i = 0; profiles[i]; i++)
		if (name && !strcmp(name, profiles[i]->name))
			return profiles[i];
	return &plain;
}

const struct profile *profile_of(const struct machine *m, const struct groups *g)
{
	int last = -1;

	for (int32_t i = 0; i < g->ngroups; i++) {
		int f = machine_fabric_of_all(m, g->ids + (int64_t)i * g->size, g->size);

		if (f < 0)
			return &plain;
		last = f > last ? f : last;
	}
	return last < 0 ? &plain : profile_of_fabric(m, last);
}

bool profile_switch_adds(const struct machine *m, int fabric)
{
	if (m->fabric[fabric].geometry != GEOMETRY_SWITCH || nccl_is_network(m, fabric) ||
	    nccl_data.nvls_efficiency[nccl_generation(m->tuning.value[TUNING_CC])] <= 0)
		return false;
	for (int k = 0; k < m->nfabrics; k++)
		if (profile_of_fabric(m, k)->library == nccl_algorithms)
			return true;
	return false;
}

/* Returns the most of the devices that one domain of the first fabric holds. */
static int32_t most_per_node(const struct machine *m, const int32_t *devices, int32_t n)
{
	int32_t domains = m->nfabrics ? m->fabric[0].ndomains : 0, most = 1;
	int32_t *count;

	if (!domains || nccl_is_network(m, 0))
		return 1;
	count = xmalloc((size_t)domains, sizeof(*count));
	memset(count, 0, (size_t)domains * sizeof(*count));
	for (int32_t i = 0; i < n; i++) {
		int32_t domain = m->fabric[0].domain[devices ? devices[i] : i];

		if (domain >= 0 && ++count[domain] > most)
			most = count[domain];
	}
	xfree(count);
	return most;
}

enum launch_mode profile_compiler(const struct machine *m)
{
	const struct profile *p = m->nfabrics ? profile_of_fabric(m, 0) : &plain;
	bool timed = p == &nccl && nccl_generation(m->tuning.value[TUNING_CC]) >= 2;

	return p == &tpu || timed ? LAUNCH_XLA : LAUNCH_PROCESS;
}

const char *profile_caller(const struct machine *m)
{
	const struct profile *p = m->nfabrics ? profile_of_fabric(m, 0) : &plain;

	return p->library  ? nccl_callers[m->launch].name
	       : p == &tpu ? nccl_callers[LAUNCH_XLA].name
	                   : NULL;
}

void profile_print_caller(struct text *out, const struct machine *m)
{
	if (m && m->nfabrics && profile_of_fabric(m, 0)->library)
		text_printf(out, ", launch %s", profile_caller(m));
}

/* Returns the launch of the slowest of the devices. */
static double slowest_launch_s(const struct machine *m, const int32_t *devices,
                               int32_t n)
{
	double launch_s = 0;

	for (int32_t i = 0; i < n; i++)
		launch_s = fmax(launch_s, m->device[devices ? devices[i] : i].launch_s);
	return launch_s;
}

/* Returns how long one process launches on all of its devices, where each takes so much more. */
static double launches_s(const struct machine *m, const int32_t *devices, int32_t n,
                         double more_s)
{
	return most_per_node(m, devices, n) *
	       (m->tuning.value[TUNING_LAUNCH_EACH_S] + more_s);
}

double profile_launch_s(const struct machine *m, const int32_t *devices, int32_t n)
{
	const struct nccl_caller *caller = &nccl_callers[m->launch];
	const double *tuning = m->tuning.value;
	bool library = m->nfabrics && profile_of_fabric(m, 0)->library;
	double launch_s = slowest_launch_s(m, devices, n);

	if (m->launch == LAUNCH_GRAPH && tuning[TUNING_LAUNCH_GRAPH_S] > 0)
		return tuning[TUNING_LAUNCH_GRAPH_S];
	if (library && n > 0 && caller->launch_s > 0 && !m->launch_given)
		launch_s = caller->launch_s;
	if (library && n > 0)
		launch_s += caller->call_s;
	if (caller->one_process)
		launch_s = fmax(launch_s, launches_s(m, devices, n, 0));
	return launch_s;
}

double profile_call_s(const struct machine *m, const int32_t *devices, int32_t n,
                      double more_s, double s)
{
	if (!nccl_callers[m->launch].one_process)
		return profile_launch_s(m, devices, n);
	return fmax(slowest_launch_s(m, devices, n),
	            launches_s(m, devices, n, more_s) - s);
}
