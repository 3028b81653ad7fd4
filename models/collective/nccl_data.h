/*
 * What NVIDIA's library's times hang on beside the machine: who calls it, and the constants of
 * its generations. Sources are in nccl_data.c.
 */
#ifndef SHARDSIM_COLLECTIVE_NCCL_DATA_H
#define SHARDSIM_COLLECTIVE_NCCL_DATA_H

#include "collective/nccl.h"

/* --- who calls -------------------------------------------------------------------- */

/*
 * What of a collective's time hangs on the program that calls the library. Launches of
 * modes process, single and graph are the platform's own.
 */
struct nccl_caller {
	const char *name, *help;
	double launch_s;   /* in place of the platform's; 0: the platform's */
	double call_s;     /* beside the launch */
	double ll_step_us; /* of a step of LL inside a node, at least */
	double node_sends_s; /* of all-to-alls, and sends to several peers, in one process */
	bool one_process; /* for all devices of a node */
	/* Of a network thread on its one core: a turn, and a chunk (nccl_core.c); 0: it has more. */
	double core_turn_s, core_step_s;
	bool in_a_row; /* calls that do not wait for one another, as in a loop of a test */
	/*
	 * How many times as long wires take on Hopper where devices reduce or permute. Where it is
	 * given, those of small groups take longer as well (nccl_small_group). Measured,
	 * and not explained. 0: neither.
	 */
	double reduce_wires;
	/*
	 * The families on which its calls were timed, ended by NULL; elsewhere its constants are
	 * borrowed. NULL: they are the families' own.
	 */
	const char *const *timed;
};

/* By enum launch_mode. */
extern const struct nccl_caller nccl_callers[LAUNCH_MODES];

/* Returns the microseconds of a step inside a node for the machine's caller. */
double nccl_inside_us(const struct nccl_group *g, enum nccl_kind kind, enum protocol p);

/*
 * Returns whether the machine's nodes are racks: hosts have 16 GPUs or fewer, and a larger node is a
 * rack, whose trays of four are hosts.
 */
bool nccl_is_rack(const struct machine *m);

/* Returns the first device of the tray of a rack (nccl_is_rack()) that holds a device. */
int32_t nccl_tray(const struct machine *m, int32_t d);

/* Returns whether one process runs both devices of a node where a process runs all of a host. */
bool nccl_one_process(const struct machine *m, int32_t a, int32_t b);

/*
 * Returns how many times as long as in a group of eight wires take in one of two devices, or of
 * three or four: what gathers of XLA on H100 show (measured-xla.csv).
 */
double nccl_small_group(const struct nccl_group *g);

/*
 * Returns how many times as long as links say wires of a node take that reduce or permute, for the
 * caller.
 */
double nccl_caller_wires(const struct machine *m);

/* Returns the same of a group of one node, which may be small, and reduces or does not. */
double nccl_slow_wires(const struct nccl_group *g, bool reduces);

/* --- constants, microseconds and GB/s as in the library's source ------------------ */

/* Rows of the bandwidth tables: Volta, Ampere, Hopper, Blackwell. */
enum { NCCL_GENERATIONS = 4, NCCL_SPEEDS = 12 };

struct nccl_data {
	double base_us[NCCL_KINDS][PROTOCOLS];
	double nvlink_us[NCCL_KINDS][PROTOCOLS];
	double net_us[NCCL_KINDS][PROTOCOLS];
	double net_overhead_us;
	/* Columns: one node, two, more. */
	double ll_GBps[NCCL_GENERATIONS][3];
	double ring_ll128_us[NCCL_GENERATIONS]; /* of a step, measured; 0: the library's */
	/* Of a host for each block of a kernel, and for each send and receive (nccl_enqueue_s()). */
	double block_us[NCCL_GENERATIONS], send_us[NCCL_GENERATIONS];
	double ring_ll128_GBps[NCCL_GENERATIONS][3];
	double tree_ll128_GBps[NCCL_GENERATIONS][3];
	double tree_GBps[NCCL_GENERATIONS][3];
	double tree_share; /* of what rings carry that trees do, by the library's own model */
	double nvls_tree_GBps[NCCL_GENERATIONS][3];
	double nvls_efficiency[NCCL_GENERATIONS];
	/*
	 * Measured, of the switch of one node (nccl_nvls.c): what it takes beside a launch, and
	 * for each head; the turn of a head in a round of chunks; rounds of a pipeline's fill;
	 * and the share of the links that a switch has.
	 */
	double nvls_us[NCCL_GENERATIONS], nvls_head_us;
	double nvls_turn_us[NCCL_GENERATIONS], nvls_rounds, nvls_share;
	/* The same over several nodes; rounds are those of each level of the tree. */
	double nvls_tree_us, nvls_tree_turn_us[NCCL_GENERATIONS], nvls_tree_rounds;
	int nvls_arity; /* heads of a switch, and devices of a gather or scatter by it, at most */
	int nvls_channels[NCCL_GENERATIONS];
	double rccl_ring_bytes; /* rccl_passes_over() */
	double few_channel_Bps; /* of each of nccl_few_channels(), measured */
	double block_links;     /* nccl_sends.c, measured */
	double sends_wires[NCCL_GENERATIONS]; /* nccl_sends_wires(), measured */
	double sends_links; /* the same over direct links of AMD's GPUs, measured */
	double lone_block[NCCL_GENERATIONS]; /* nccl_wire.c, measured */
	double pair_wires, four_wires;       /* nccl_small_group(), measured */
	double net_call_us; /* of a call across a network, until the host's proxies see it; measured */
	/* Of sends across a network: a channel, their channels, a chunk, sends at once. */
	double net_channel_Bps;
	double old_channel_Bps[NCCL_GENERATIONS]; /* before 2.29 (net_send_channels), measured */
	int send_channels[NCCL_GENERATIONS];
	double net_chunk_bytes;
	int batch;
	int tray; /* GPUs of a host of a rack (GB200 NVL72: 18 trays of 4) */
	/* By floor(log2(bytes / 64)). */
	double tree_correction[PROTOCOLS][23];
	double nvlink_GBps[NCCL_GENERATIONS]; /* of one link */
	struct nccl_graph one_node[NCCL_GENERATIONS], nvls[NCCL_GENERATIONS];
	int channels_across[NCCL_GENERATIONS];
	int links[NCCL_GENERATIONS]; /* of a GPU */
	/* What the search tries for channels of one node, fastest first; then zeros. */
	double speeds_GBps[NCCL_GENERATIONS][NCCL_SPEEDS];
};

extern const struct nccl_data nccl_data;

/*
 * Returns the factor on the steps of rings with Simple over several nodes: 1.4, below
 * compute capability 80 1.9. The library's model has it for all-reduce; all-gathers and
 * reduce-scatters were measured to be as slow (measured.csv, set xxrjun-N10G8).
 */
double nccl_far_ring(double cc);

/* Returns the row of a compute capability; 0, not given, is taken for Ampere. */
int nccl_generation(double cc);

#endif
