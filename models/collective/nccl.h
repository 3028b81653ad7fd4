/*
 * Collectives as NVIDIA's library runs them (AMD's is its offspring): the library picks
 * one of its algorithms and one of its protocols by the size of the arrays and the
 * shape of the group. One file per algorithm; callers and constants are in nccl_data.h, the
 * library's own model of its time, by which it chooses, in nccl_tuner.c.
 *
 * A collective becomes one round with one task per group, or several of what does not
 * share its pace (nccl_sends.c). Its messages carry the bytes that its protocol puts on
 * the wire; its time is
 *
 *   launch + steps + w + 2 sqrt(w fill)
 *
 * where w is the wire time of the busiest link. The clocks charge w and one latency of the
 * longest route; what is left of the steps, and the last term, are the delay_s of the task.
 * The last term is the fill and drain of a pipeline that passes W bytes on in chunks of c
 * over D hops, each with an overhead o: (D - 1 + W/c)(o + c/B) is smallest for the best c,
 * (sqrt(w) + sqrt(fill))^2 with w = W/B and fill = (D - 1) o. Chunks of 64 KiB to 4 MiB
 * exist; where the best one is another, sizes far from those it was fitted on, the term is a
 * little too small. Trees with Simple and switches have chunks of given sizes, and other
 * terms in its place (nccl_tree.c, nccl_nvls.c). Where the devices of a node share a core,
 * crossings wait for it (nccl_core.c).
 *
 * The constants step, net_step, fill_s, net_fill_s and those of sends are the
 * platform's (array/tuning.h). Bytes: V the gathered array, S the send buffer, as in
 * collective.h.
 */
#ifndef SHARDSIM_COLLECTIVE_NCCL_H
#define SHARDSIM_COLLECTIVE_NCCL_H

#include "array/machine.h"
#include "collective/lower.h"
#include "collective/schedule.h"
#include "plan/plan.h"

/*
 * LL: lines of 8 bytes, half of them flags. LL128: 120 of 128 bytes are data. Simple:
 * bulk chunks with fences.
 */
enum protocol { PROTOCOL_LL, PROTOCOL_LL128, PROTOCOL_SIMPLE, PROTOCOLS };

const char *protocol_name(enum protocol p); /* "ll", "ll128", "simple" */

/* Returns the bytes on the wire for each byte of data. */
double protocol_wire(enum protocol p);

/*
 * A group as the library sees it: its members node after node, by rising device in
 * each. A node is a domain of the last fabric that is no network; a network is called
 * net or dcn, or is the last of several fabrics and no torus. Rail i of two nodes joins
 * their members i.
 */
struct nccl_group {
	const struct machine *machine;
	int32_t n, nodes;
	int32_t per_node;     /* of the largest node */
	const int32_t *ids;   /* [n] */
	const int32_t *start; /* [nodes + 1] of each node in ids */
};

bool nccl_is_network(const struct machine *m, int fabric);

/* Returns the group of `n` >= 1 distinct devices; arrays are the arena's. */
struct nccl_group nccl_group_make(struct arena *a, const struct machine *m,
                                  const int32_t *ids, int32_t n);

/* Returns whether every node has equally many members. */
bool nccl_even(const struct nccl_group *g);

/*
 * Returns whether the fabric inside the (first) node or, if `across`, between nodes is
 * a switch.
 */
bool nccl_switch(const struct nccl_group *g, bool across);

/*
 * Returns whether a switch joins the members of the first node, or a direct link each two of
 * them.
 */
bool nccl_paired(const struct nccl_group *g);

/*
 * Returns whether AMD's library lays only two rings over a group, all of one node. It has tables
 * of rings for the eight or sixteen devices of a node (src/graph/rome_models.cc) and searches
 * freely for up to four; for five to seven, which no table fits, it ends its search at two rings
 * (src/graph/search.cc), each of which becomes two channels (src/graph/connect.cc). A group over
 * several nodes has no such limit.
 */
bool nccl_few_rings(const struct nccl_group *g);

/* Returns the same of any `n` devices of one node that a fabric joins; false without one (< 0). */
bool nccl_few_devices(const struct machine *m, int fabric, int32_t n);

/*
 * Returns how many channels limit what each device of such rings passes on: four of two rings, and
 * eight among three devices; 0: links do.
 */
int nccl_few_channels(const struct nccl_group *g);

/* Returns the bandwidth of the slowest link between neighbours of a ring inside the first node. */
double nccl_slowest_Bps(const struct nccl_group *g);

/*
 * Appends messages of `bytes` from each member of a node to the next one, the last to
 * the first. Where direct links join all members, these carry it as the rings do that
 * the library lays over such links: in proportion to their bandwidth as far as everyone
 * then sends and receives equally much. Where they do not, half goes each way round; where the
 * rings are few, half goes each way round the ring whose slowest link is the fastest.
 */
void nccl_inside(struct schedule *out, const struct nccl_group *g, int32_t node,
                 double bytes);

/*
 * Appends messages of `bytes` in all from one node to another over their common
 * rails.
 */
void nccl_across(struct schedule *out, const struct nccl_group *g, int32_t from,
                 int32_t to, double bytes);

/* Appends the edges of a double binary tree of V over the nodes, up and down. */
void nccl_double_tree(struct schedule *out, const struct nccl_group *g, double bytes);

/*
 * Returns the parent of a node in the first or second of the two trees, -1 for its
 * root.
 */
int32_t nccl_tree_parent(int32_t nodes, int32_t node, bool second);

/*
 * Returns the seconds of so many crossings of the network one after another, each by a
 * message of `bytes`: from 16 KiB on, what sender and receiver take to meet
 * (net_rendezvous_s); smaller ones are sent into buffers that wait. 16 KiB is what
 * libfabric's provider of Slingshot has unless FI_CXI_RDZV_THRESHOLD says otherwise.
 */
double nccl_rendezvous_s(const struct nccl_group *g, double crossings, double bytes);

/* Returns floor(log2 x), x >= 1. */
int nccl_log2(double x);

/* Which rows of the tables an algorithm has. */
enum nccl_kind {
	NCCL_TREE,
	NCCL_RING,
	NCCL_NVLS,
	NCCL_NVLS_TREE,
	NCCL_PAT,
	NCCL_KINDS,
	NCCL_NONE = NCCL_KINDS /* not known to the tables */
};

/*
 * Returns the microseconds of a step across nodes: the library's, times net_step, and what
 * the network's software adds to a message (net_latency_s), with Simple twice, for a flush
 * follows; as the library's own model takes what a network plugin tells it.
 */
double nccl_across_us(const struct nccl_group *g, enum nccl_kind kind, enum protocol p);

/*
 * Returns zero for each device of the machine, to which what it does over a network is to be added;
 * NULL where no process has one core for all devices of a node (nccl_core.c).
 */
unsigned char *nccl_core_uses(const struct machine *m);

enum { CORE_SENDS = 1, CORE_RECEIVES = 2 };

/*
 * Frees these. Returns how many devices of a node, or of a tray of a rack, share its core, at most;
 * 0: NULL. Stores whether some device both sends and receives.
 */
int32_t nccl_core_devices(bool *both, const struct machine *m, unsigned char *uses);

/* What the network threads of a node have to do that share a core (nccl_core.c). */
struct nccl_core {
	double threads;    /* which have something to do */
	double operations; /* sends and receives that each of these has at a time */
	double chunks; /* which the node sends and receives in all; 0: they never limit it */
};

/*
 * Returns the seconds that so many crossings of the network, one after another, wait for the other
 * threads of that core.
 */
double nccl_core_wait_s(const struct machine *m, const struct nccl_core *core,
                        double crossings);

/* Returns the seconds that the core needs for all chunks. */
double nccl_core_chunks_s(const struct machine *m, const struct nccl_core *core);

/*
 * Returns the work of sends of `bytes` to each of so many peers by so many devices of a node, or of as
 * many receives, or of both.
 */
struct nccl_core nccl_core_sends(int32_t devices, int32_t peers, double bytes,
                                 bool both);

/* Returns how many crossings of a tree over the nodes follow one another, up and down again. */
double nccl_tree_crossings(const struct nccl_group *g, enum op op);

struct nccl_algorithm {
	const char *name, *help;
	enum nccl_kind kind;
	bool (*applies)(const struct nccl_group *g, enum op op, enum protocol p);
	/*
	 * Appends its messages for V (or S) bytes of data to the open task, and more.
	 */
	void (*messages)(struct schedule *out, const struct nccl_group *g, enum op op,
	                 double bytes);
	/*
	 * Returns the seconds of its steps beyond a launch, which holds the base
	 * latency of LL.
	 */
	double (*steps_s)(const struct nccl_group *g, enum op op, enum protocol p);
	/*
	 * Returns whether its devices are free for the caller's next call while a part of them is
	 * still at this one. NULL: they never are.
	 */
	bool (*overlaps)(const struct nccl_group *g, enum op op);
	/*
	 * Returns what of these passes while a device is free for the next call, where the caller
	 * does not wait; the library knows nothing of it when it chooses. NULL: nothing.
	 */
	double (*saved_s)(const struct nccl_group *g, enum op op, enum protocol p,
	                  double bytes);
	/*
	 * Returns the seconds that wires, and what uses them in turn, take at least, for V (or S)
	 * bytes of data; NULL: none.
	 */
	double (*least_s)(const struct nccl_group *g, enum op op, enum protocol p,
	                  double bytes);
	/*
	 * Returns the same of the network's software, of which the library knows nothing
	 * when it chooses; NULL: none.
	 */
	double (*meet_s)(const struct nccl_group *g, enum op op, enum protocol p,
	                 double bytes);
	/*
	 * Returns how many crossings of the network follow one another (nccl_core_of()); NULL: its
	 * groups have one device of a node each.
	 */
	double (*crossings)(const struct nccl_group *g, enum op op);
	/*
	 * Returns the seconds that chunks take beside the wires, where their size is
	 * given; < 0 where the best chunk is taken. NULL: it always is.
	 */
	double (*chunks_s)(const struct nccl_group *g, enum op op, enum protocol p,
	                   double bytes, double wire_s);
	/* Returns what its steps take more, by the size of its messages; NULL: nothing. */
	double (*large_s)(const struct nccl_group *g, double bytes);
};

/* Returns nccl_core_devices() of the devices of those of the groups that cross a network. */
int32_t nccl_core_groups(const struct machine *m, const struct groups *groups);

/*
 * Returns the work of an algorithm, where `devices` of a node share its core (0: none do, and
 * there is none): as many of them use the network as the library uses channels for that many bytes.
 */
struct nccl_core nccl_core_of(const struct nccl_group *g,
                              const struct nccl_algorithm *a, enum protocol p,
                              enum op op, double bytes, int32_t devices);

/* Those of each library, ended by NULL; of equally cheap ones the first is taken. */
extern const struct nccl_algorithm *const nccl_algorithms[];
extern const struct nccl_algorithm *const rccl_algorithms[];

/*
 * Returns whether AMD's library passes over the algorithm for an all-reduce of so many bytes,
 * though it may be faster: over two nodes it takes a ring, and no tree, from 64 MiB on. The tables of
 * its own model say so (src/graph/tuning.cc of github.com/ROCm/rccl; that of MI300X from 128 MiB on,
 * where at 64 both take the same here, so that one figure does for all). They
 * multiply the bandwidth of a ring by n / (2(n - 1)) and that of a tree by 1/2, and on two nodes a
 * tree's with Simple by 0.11 as well on MI300X and MI355X, and by 0.91 before; what they add by size
 * changes none of it from there on. All-reduces of two nodes of MI355X take what rings do
 * (mi355x-2n, mi355x-nair-2n).
 */
bool rccl_passes_over(const struct nccl_algorithm *a, const struct nccl_group *g,
                      double bytes);

/*
 * Appends the collective as the library's cheapest algorithm and protocol for it, by
 * the time above with w of the group alone, or what `m->forced` leaves of them. The library's own
 * model chooses where the forced algorithm is "tuner", and among GPUs of one switch
 * from Hopper on (nccl_choose.c). The devices of a
 * group must be joined (collective.h). False with the reason in `why`. Fills schedule,
 * algorithm and protocol of *out.
 */
bool nccl_lower(struct lowered *out, const struct nccl_algorithm *const *list,
                const struct machine *m, enum op op, const struct groups *groups,
                double bytes, struct text *why);

/* Returns whether the user leaves every choice to the library's own model, which is no algorithm. */
bool nccl_asks_tuner(const struct machine *m);

/* --- wire time of tasks (nccl_wire.c) --------------------------------------------- */

/* A workspace for one machine, O(links). */
struct nccl_wire;

struct nccl_wire *nccl_wire_new(struct arena *a, const struct machine *m);

/*
 * Times one task alone: its busiest link, and its longest route. Returns false without
 * a route.
 */
bool nccl_wire_task(double *wire_s, double *route_s, struct nccl_wire *wire,
                    const struct schedule *s, const struct task *t);

/*
 * Returns the seconds of the rounds, of each the larger of what its slowest task takes
 * alone and of the busiest link with the least latency of a task.
 */
double nccl_wire_rounds_s(const struct schedule *s, struct nccl_wire *wire);

/*
 * All that a time needs of the messages of a schedule: the busiest link of each kind,
 * with its bytes, and the links of the longest route. It stays right while bandwidths of
 * links change, if links of a kind remain alike; of latencies, if the route remains the
 * longest.
 */
struct nccl_load {
	bool joined; /* false: without a route, and nothing else is filled */
	int n, nroute;
	int32_t *link; /* [n] */
	double *bytes; /* [n] */
	bool *network; /* [n] is it a link of a network? */
	int32_t *route;
};

/*
 * Makes the load of the links by kind. `kind` is [nlinks], with numbers from 0 to
 * nkinds - 1. Arrays are the arena's.
 */
void nccl_load_make(struct nccl_load *out, struct nccl_wire *wire,
                    const struct schedule *s, const int32_t *kind, int32_t nkinds,
                    struct arena *a);

/*
 * Does as nccl_wire_task() for messages `factor` times as large, those on networks by a
 * further `net_factor`.
 */
bool nccl_load_time(double *wire_s, double *route_s, const struct nccl_load *l,
                    const struct machine *m, double factor, double net_factor);

/* --- times again and again (nccl_choose.c) ---------------------------------------- */

/*
 * A collective of one group whose time is asked for many sizes and constants of the
 * machine, as fits do: every algorithm's messages are laid once.
 */
struct nccl_prepared;

/*
 * Prepares a group for links whose bandwidth may change later, with `kind` as above;
 * the ids of the group, which runs alone, are borrowed. Returns NULL if devices are not joined.
 */
struct nccl_prepared *nccl_prepare(struct arena *a,
                                   const struct nccl_algorithm *const *list,
                                   const struct machine *m, enum op op,
                                   const int32_t *ids, int32_t n, const int32_t *kind,
                                   int32_t nkinds);

/*
 * Returns what the clock `model` says of nccl_lower's schedule for `bytes` > 0 per
 * group (V or S), with the machine as it is, without launch; < 0 if nothing applies.
 * *algorithm and *protocol get the names of what was chosen.
 */
double nccl_prepared_s(struct nccl_prepared *p, double bytes, const char **algorithm,
                       const char **protocol);

/* What of a set of plain sends its cost hangs on, besides its wires. */
struct nccl_sends {
	int32_t inside,
		across; /* most messages of any device, inside nodes and across */
	bool network;   /* some message crosses a network */
	bool switched; /* some message inside a node takes a switch, not direct links */
	double most_bytes;        /* of a message inside a node */
	double most_across_bytes; /* of one across a network */
	int32_t ranks;            /* devices that send or receive in the whole step */
	int32_t core_devices; /* of a node that cross in the step and share a core; 0: none do */
	bool core_both; /* some of them both send and receive across */
	bool several;   /* nodes in the step: some message of it crosses a network */
	bool apart; /* processes in the step: some message leaves one (nccl_one_process) */
	bool lone; /* no device has two peers one way, or one round both ways (nccl_send_round) */
	bool later; /* a round after the first of a call, which that has paid for */
};

/*
 * Returns the round of the library's sends, from 1 on, in which a rank sends to another: in round r
 * each sends to the one that is r further on and receives from the one r before it, over the same
 * channels (enqueue.cc, p2pSchedule in init.cc). Where a rank's send and receive have different rounds,
 * as in swaps of neighbours among more than two, each has channels of its own.
 */
int32_t nccl_send_round(int32_t src, int32_t dst, int32_t ranks);

/* Stores `ranks`, `core_devices`, `several`, `apart` and `lone` of a schedule, clears the rest. */
void nccl_sends_step(struct nccl_sends *out, const struct schedule *s,
                     struct nccl_wire *wire);

/*
 * Finishes a task that is a set of plain sends of that step: what crosses a network gets
 * its bytes on the wire, and the task the cost of as many peers as the busiest sender or
 * receiver has (of an all-to-all those are as many, and the constants are measured on
 * these), its fill inside a node, and the limit of channels of its largest message. Where all
 * tasks are one call, `again` ([messages of the schedule], else NULL) says of which messages
 * peers are not counted, and there is no fill if any message of the call crosses a network.
 */
void nccl_sends_task(struct schedule *s, struct task *t, struct nccl_wire *wire,
                     const struct nccl_sends *step, const bool *again);

/*
 * Stores the delay_s and least_s that a task of such sends has (schedule.h), whose bytes
 * need wire_s and whose longest route takes route_s.
 */
void nccl_sends_cost(double *delay_s, double *least_s, const struct machine *m,
                     const struct nccl_sends *sends, double wire_s, double route_s);

/*
 * Returns how many times as long as links say the wires of a node take for sends to so many peers. To
 * several they do on Hopper: all-to-alls reach 343 to 348 GB/s on 8 H100, where rings have 367 and
 * permutes 363 (xxrjun-N1G8), and from XLA 340. To one they do from XLA, which permutes 2 GiB among 8 H100 in
 * 7.35 ms, in a shift and in swaps (measured-xla.csv), where nccl-tests takes 5.9.
 */
double nccl_sends_wires(const struct machine *m, int32_t peers);

/*
 * Returns the seconds that the channels of a node need for a send of `bytes` to each of so
 * many peers, among `ranks` devices.
 */
double nccl_channels_s(const struct machine *m, int32_t ranks, int32_t peers,
                       double bytes);

/* Returns the seconds in which the blocks of all channels copy `bytes`; 0 where none is known. */
double nccl_blocks_s(const struct machine *m, double bytes);

/*
 * Returns the seconds that sends of `bytes` to each of so many peers of a node take more
 * where they are too large for LL: what the library's model has for a step of Simple beyond
 * one of LL, and what they wait for one another (send_wait_s), which those of LL do while
 * wires are busy. A send to one peer was measured to take neither.
 */
double nccl_sends_large_s(const struct machine *m, int32_t peers, double bytes);

/*
 * Returns what sends to so many peers across a network take more than a step of LL: they have shared
 * buffers, and with these the library has Simple alone, whatever their size
 * (src/transport/net.cc). Each further batch of eight peers takes such a step.
 */
double nccl_sends_far_s(const struct machine *m, int32_t peers);

/* Returns in how many batches, one after another, the library sends to so many peers; 1 at least. */
double nccl_send_batches(int32_t peers);

/*
 * Returns the seconds that the first chunks of sends of `bytes` across a network to each of so many
 * peers take beside the wires, which are busy for wire_s: they are copied into a buffer before
 * and out of one behind, while those of the other sends of a batch wait for the same NIC. One
 * send alone was measured to take none of it (use3a-b200-sr1-*), eight 42 us on NICs of 45 GB/s
 * (cwraw-h200-2n). 0 for AMD's library, of which timings show little of it (mi355x-nair-2n).
 */
double nccl_sends_chunks_s(const struct machine *m, int32_t peers, double bytes,
                           double wire_s);

/* --- the library's own model (nccl_tuner.c) --------------------------------------- */

/*
 * Returns the seconds that a process takes, beside its launch on a device, to enqueue a collective of
 * a group of n and `bytes` (V or S). Of an all-to-all that is a time for each of its 2n sends and
 * receives after the first, but none by AMD's library, which has a call for it, and none of a permute.
 * Else it is one for each block of the kernel after the first. There is a block for each 4 KiB and
 * device, as the library adds channels to rings with LL (src/enqueue.cc), up to the channels of a node;
 * that stands for all algorithms and protocols, as larger arrays have all channels anyway.
 */
double nccl_enqueue_s(const struct machine *m, enum op op, int32_t n, double bytes);

/* Channels that the library's search finds, and the speed of each. */
struct nccl_graph {
	int channels;
	double intra_GBps, inter_GBps;
};

struct nccl_case {
	enum op op;
	int32_t n, nodes;
	int cc;
	bool amd;              /* processors of the hosts */
	double net_latency_us; /* that a network plugin tells */
	struct nccl_graph graph[NCCL_KINDS];
	double bytes; /* V */
};

/* Returns for how many of a group's devices a node's switch has channels. */
int nccl_nvls_heads(const struct nccl_group *g);

/*
 * Returns the bytes of a chunk of nvls-tree, which a head sends or receives by each channel: 128 KiB,
 * from four nodes on 64, and less where V has few rounds (calcCollChunking in enqueue.cc of the library).
 */
double nccl_nvls_tree_chunk(const struct nccl_group *g, double bytes);

/* Returns how many peers on other nodes a member of the smallest node has. */
int32_t nccl_peers_across(const struct nccl_group *g);

/*
 * Returns the microseconds by the library's model; INFINITY if it does not allow the
 * pair.
 */
double nccl_tuner_us(const struct nccl_case *c, enum nccl_kind kind, enum protocol p);

/*
 * Returns the case of a group on its machine, with the graphs that the platform states
 * (graph_channels and so on of array/tuning.h), those it does not by the rules here.
 */
struct nccl_case nccl_case_of(const struct nccl_group *g, enum op op, double bytes);

/* Returns the channels of rings and trees over several nodes, stated or by the rules. */
int nccl_net_channels(const struct nccl_group *g);

/*
 * Returns the channels for which the library's model states what one of a tree carries: one for
 * each NIC (or bond of NICs) of a node, and twice as many of half the speed where they have 25 GB/s
 * or more, but not for more than four on Hopper or later that its search gives less than 50 GB/s
 * (src/graph/search.cc). Those are NICs of 400 Gb/s; NICs of 800 Gb/s are given more, and 60 GB/s
 * tell the two apart here.
 */
int nccl_tree_channels(const struct nccl_group *g);

#endif
