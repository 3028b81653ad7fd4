/*
 * core: what a collective over nodes waits for where one process per node serves all of its
 * devices on one core. Open MPI binds each process to a core where it starts two or fewer, unless
 * it is told otherwise (mpirun(1), "--bind-to"), and Slurm gives a task one core. The library has a
 * thread for each device that sends to a NIC or receives from it, and these then take turns on the
 * two hardware threads of that core.
 *
 *   wait    c (d/2 - 1) (17 us + 8 o 0.5 us) for d > 2 threads, c crossings of the network one after
 *           another: what crosses waits for the turns of the other threads. In a turn a thread goes
 *           up to 8 times through the o sends and receives that it has at a time, then it yields
 *           (ncclProxyProgress in proxy.cc of the library, NCCL_PROGRESS_APPENDOP_FREQ)
 *   least   k 0.25 us, 0.5 on each of the two hardware threads, where k are the chunks that the
 *           process sends and receives: of nvls-tree those of its heads, of plain sends of 128 KiB,
 *           where each device is taken to have as many and as large ones as any. Rings and trees have
 *           larger chunks, and never wait for it
 *
 * A channel of a ring or a tree leaves a node by one NIC and enters it by one, so o is twice the
 * channels by the NICs; broadcasts and reduces do one of both. nvls-tree has a send and a receive for
 * each channel on every head, and plain sends have two channels to each of eight peers at a time.
 *
 * 17 us and 0.5 us are the best of a grid for three clusters: all-reduces of two DGX H100 by two, four
 * and eight devices of a node (cnh-dgx-2n-*), seven collectives of two nodes of B200 (orcd-ubuntu-*, both
 * by `mpirun` without a binding) and all-reduces of two of MI250X (hpc-ai-envs21-mi250x-2n, Slurm):
 * 10 and 25 us, 0.4 and 0.6 are worse by 0.3 to 3 %. The second alone says what large
 * arrays take where chunks are small: 0.23 us a chunk for all-reduces of 16 GiB on B200, 0.28 for
 * all-to-alls, and at most 0.26 on H100, whose chunks are twice as large. Processes that are not
 * bound (`-bind-to none`, NCCL_IGNORE_CPU_AFFINITY=1) show nothing of either. Waits are of chance:
 * neighbouring sizes differ by a factor of two. As other steps they vanish behind the wires of large
 * rings with Simple (hidden_s() in nccl_choose.c).
 */
#include "collective/nccl.h"
#include "collective/nccl_data.h"

#include "base/memory.h"

#include <math.h>

enum {
	CORE_THREADS = 2,  /* hardware threads of a core */
	PASSES = 8,        /* NCCL_PROGRESS_APPENDOP_FREQ */
	SEND_CHANNELS = 2, /* of one send, at least */
};

/* Bytes from which on the library uses another channel: 512 threads, or 640, by so many each. */
static const double channel_bytes[PROTOCOLS] = {512 * 8, 640 * 8, 512 * 64};

double nccl_core_wait_s(const struct machine *m, const struct nccl_core *core,
                        double crossings)
{
	const struct nccl_caller *caller = &nccl_callers[m->launch];
	double others = fmax(0, core->threads / CORE_THREADS - 1);

	return crossings * others *
	       (caller->core_turn_s + PASSES * core->operations * caller->core_step_s);
}

double nccl_core_chunks_s(const struct machine *m, const struct nccl_core *core)
{
	return core->chunks * nccl_callers[m->launch].core_step_s /
	       fmax(1, fmin(CORE_THREADS, core->threads));
}

struct nccl_core nccl_core_sends(int32_t devices, int32_t peers, double bytes, bool both)
{
	double ways = both ? 2 : 1;
	double chunks = fmax(1, ceil(bytes / nccl_data.net_chunk_bytes));
	double at_once = fmin(peers, nccl_data.batch);

	return (struct nccl_core){.threads = devices,
	                          .operations =
	                                  ways * at_once * fmin(SEND_CHANNELS, chunks),
	                          .chunks = ways * devices * peers * chunks};
}

/*
 * Returns how many channels of rings or trees the library uses for so many bytes, if the group has as
 * many.
 */
static double channels_used(const struct nccl_group *g, enum nccl_kind kind,
                            enum protocol p, double bytes)
{
	double each = channel_bytes[p];

	if (kind == NCCL_RING && p != PROTOCOL_SIMPLE)
		each *= g->n;
	return fmax(1, fmin(nccl_net_channels(g), floor(bytes / each)));
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

/*
 * The heads send and receive with each channel. On Blackwell the library's later releases have chunks
 * of 64 KiB at most, but for up to four devices a node over two nodes, if GPUs and NICs of 400 Gb/s
 * share PCIe switches, as is taken for granted here (ncclNvlsTreeSm100Tuning in nvls.cc). The turns of
 * nccl_nvls.c were measured with rounds of 128 KiB, which is left at that.
 */
static struct nccl_core of_switches(const struct nccl_group *g, double bytes,
                                    int32_t devices)
{
	int row = nccl_generation(g->machine->tuning.value[TUNING_CC]);
	bool small = row == NCCL_GENERATIONS - 1 && (g->per_node > 4 || g->nodes > 2);
	double most = small ? 64 * 1024 : INFINITY;
	double chunk = fmin(most, nccl_nvls_tree_chunk(g, bytes));
	double heads = nccl_nvls_heads(g);
	double channels =
		fmax(1, fmin(nccl_data.nvls_channels[row], bytes / heads / chunk));
	double edges = 2. * (g->nodes - 1) / g->nodes;

	return (struct nccl_core){.threads = devices,
	                          .operations = 2 * edges * channels,
	                          .chunks = 2 * edges * bytes / chunk *
	                                    fmin(1, devices / heads)};
}

/* Each channel leaves a node by one NIC and enters it by one, or does one of both. */
static struct nccl_core of_channels(const struct nccl_group *g, enum nccl_kind kind,
                                    enum protocol p, enum op op, double bytes,
                                    int32_t devices)
{
	int32_t share = devices_per_nic(g->machine);
	double nics = fmax(1, (double)g->per_node / share);
	double used = channels_used(g, kind, p, bytes) / nics;
	bool one_way = op == OP_BROADCAST || op == OP_REDUCE;

	return (struct nccl_core){.threads =
	                                  ceil((double)devices / share) * fmin(1, used),
	                          .operations = (one_way ? 1 : 2) * fmax(1, used)};
}

struct nccl_core nccl_core_of(const struct nccl_group *g, const struct nccl_algorithm *a,
                              enum protocol p, enum op op, double bytes, int32_t devices)
{
	if (!devices || g->nodes < 2 || !a->crossings)
		return (struct nccl_core){0};
	if (a->kind == NCCL_NVLS_TREE)
		return of_switches(g, bytes, devices);
	if (a->kind == NCCL_NONE)
		return nccl_core_sends(devices, nccl_peers_across(g), bytes / g->n,
		                       true);
	return of_channels(g, a->kind, p, op, bytes, devices);
}

unsigned char *nccl_core_uses(const struct machine *m)
{
	bool on_core = nccl_callers[m->launch].core_turn_s > 0;

	return on_core ? xcalloc((size_t)m->ndevices, 1) : NULL;
}

int32_t nccl_core_devices(bool *both, const struct machine *m, unsigned char *uses)
{
	bool nodes = m->nfabrics && m->fabric[0].ndomains && !nccl_is_network(m, 0);
	int32_t most = 1, *count;

	*both = false;
	if (!uses)
		return 0;
	count = xcalloc((size_t)m->ndevices, sizeof(*count));
	for (int32_t d = 0; nodes && d < m->ndevices; d++) {
		int32_t process =
			nccl_is_rack(m) ? nccl_tray(m, d) : m->fabric[0].domain[d];

		*both = *both || uses[d] == (CORE_SENDS | CORE_RECEIVES);
		if (uses[d] && process >= 0 && ++count[process] > most)
			most = count[process];
	}
	xfree(count);
	xfree(uses);
	return most;
}

int32_t nccl_core_groups(const struct machine *m, const struct groups *groups)
{
	unsigned char *uses = nccl_core_uses(m);
	bool both;

	for (int32_t i = 0; uses && i < groups->ngroups; i++) {
		const int32_t *ids = groups->ids + (int64_t)i * groups->size;
		bool crosses = machine_fabric_of_all(m, ids, groups->size) != 0;

		for (int32_t k = 0; crosses && k < groups->size; k++)
			uses[ids[k]] = CORE_SENDS | CORE_RECEIVES;
	}
	return nccl_core_devices(&both, m, uses);
}
