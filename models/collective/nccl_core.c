/*
 * core: what a collective over nodes waits for where one process per node serves all of its
 * devices on one core. Open MPI binds each process to a core where it starts two or fewer, unless
 * it is told otherwise (mpirun(1), "--bind-to"), and Slurm gives a task one core. The library has a
 * thread for each device that sends to a NIC or receives from it, and these then take turns on the
 * two hardware threads of that core.
 *
 *   wait    c ((d/2)^2 - 1) t for d > 2 devices of a node that use the network, c crossings of it
 *           one after another and turns of t: a part crosses while the threads of both its
 *           devices run, and of (d/2)^2 pairs of turns one is that
 *
 * Two DGX H100 show t (cnh-dgx-2n-g2 to -g8, `mpirun -n 2` without a binding): all-reduces by two
 * devices of a node take what they do elsewhere, by four 0.2 ms more, and by eight 1.1, from the
 * size on at which the library uses several channels. So do those of two nodes of MI250X by eight
 * (hpc-ai-envs21-mi250x-2n, Slurm). In the one log t is 36 us with eight devices and 34 with
 * four. Processes that are not bound (`-bind-to none`, NCCL_IGNORE_CPU_AFFINITY=1) show nothing of
 * it. Waits are of chance: neighbouring sizes differ by a factor of two. As other steps they vanish
 * behind the wires of large rings with Simple (hidden_s() in nccl_choose.c).
 */
#include "collective/nccl.h"
#include "collective/nccl_data.h"

#include "base/memory.h"

#include <math.h>

enum { CORE_THREADS = 2 }; /* hardware threads of a core */

/* Bytes from which on the library uses another channel: 512 threads, or 640, by so many each. */
static const double channel_bytes[PROTOCOLS] = {512 * 8, 640 * 8, 512 * 64};

double nccl_core_s(const struct machine *m, double devices, double crossings)
{
	double turns = devices / CORE_THREADS;

	return crossings * fmax(0, turns * turns - 1) *
	       nccl_callers[m->launch].core_turn_s;
}

/* Returns how many channels the library uses for so many bytes, if the group has as many. */
static double channels_used(const struct nccl_group *g, enum nccl_kind kind,
                            enum protocol p, double bytes)
{
	double each = channel_bytes[p];

	if (kind == NCCL_NONE)
		return g->per_node;
	if (kind == NCCL_RING && p != PROTOCOL_SIMPLE)
		each *= g->n;
	return fmax(1, floor(bytes / each));
}

/* Returns how many devices share a NIC of the network. */
static int32_t devices_per_nic(const struct machine *m)
{
	int32_t share = 1;

	for (int k = 0; k < m->nfabrics; k++)
		if (nccl_is_network(m, k) && m->fabric[k].share > share)
			share = m->fabric[k].share;
	return share;
}

double nccl_core_group_s(const struct nccl_group *g, const struct nccl_algorithm *a,
                         enum protocol p, enum op op, double bytes, int32_t devices)
{
	double nics, used;

	if (!devices || g->nodes < 2 || !a->crossings)
		return 0;
	nics = fmax(1, (double)g->per_node / devices_per_nic(g->machine));
	used = fmin(1, channels_used(g, a->kind, p, bytes) / nics);
	return nccl_core_s(g->machine, devices * used, a->crossings(g, op));
}

bool *nccl_core_uses(const struct machine *m)
{
	bool on_core = nccl_callers[m->launch].core_turn_s > 0;

	return on_core ? xcalloc((size_t)m->ndevices, sizeof(bool)) : NULL;
}

int32_t nccl_core_devices(const struct machine *m, bool *uses)
{
	bool nodes = m->nfabrics && m->fabric[0].ndomains && !nccl_is_network(m, 0);
	int32_t share = devices_per_nic(m), most = 1, *count;

	if (!uses)
		return 0;
	count = xcalloc((size_t)m->ndevices, sizeof(*count));
	for (int32_t d = 0; nodes && d < m->ndevices; d++) {
		int32_t process =
			nccl_is_rack(m) ? nccl_tray(m, d) : m->fabric[0].domain[d];

		if (uses[d] && process >= 0 && ++count[process] > most)
			most = count[process];
	}
	xfree(count);
	xfree(uses);
	return (most + share - 1) / share;
}

int32_t nccl_core_groups(const struct machine *m, const struct groups *groups)
{
	bool *uses = nccl_core_uses(m);

	for (int32_t i = 0; uses && i < groups->ngroups; i++) {
		const int32_t *ids = groups->ids + (int64_t)i * groups->size;
		bool crosses = machine_fabric_of_all(m, ids, groups->size) != 0;

		for (int32_t k = 0; crosses && k < groups->size; k++)
			uses[ids[k]] = true;
	}
	return nccl_core_devices(m, uses);
}
