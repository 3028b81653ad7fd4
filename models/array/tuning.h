/*
 * What a platform says of the library that runs its collectives and of the kernels that
 * run on its devices, beyond links and memory: a few constants, measured or fitted. Plain data, read
 * from the host property `constants` ("step=0.8 fill_s=3e-06"); what they do is the
 * profiles' business (collective/profile.h).
 */
#ifndef SHARDSIM_ARRAY_TUNING_H
#define SHARDSIM_ARRAY_TUNING_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

enum tuning_key {
	TUNING_CC,       /* compute capability times ten: 70, 80, 90, 100; 0 none */
	TUNING_STEP,     /* factor on the library's latency per step inside a node */
	TUNING_NET_STEP, /* the same across nodes */
	TUNING_NET_LATENCY_S, /* of a message across nodes, beside the library's own latency */
	TUNING_NET_POST_S, /* of a ring over nodes, a step inside takes so long or longer */
	TUNING_FILL_S,     /* pipeline fill and drain, inside a node */
	TUNING_NET_FILL_S,  /* the same across nodes */
	TUNING_SEND_S,      /* cost of one peer of a set of sends, inside a node */
	TUNING_NET_SEND_S,  /* the same across nodes */
	TUNING_SEND_WAIT_S, /* what each of these adds to each peer before it, inside */
	TUNING_NET_RENDEZVOUS_S, /* each crossing of a network by a message too large to be eager */
	TUNING_NET_CHUNK_BYTES, /* what a channel passes on at once with Simple (nccl_tree.c) */
	TUNING_NET_SIMPLE,     /* 1: over several nodes there is Simple alone */
	TUNING_NET_LL128,      /* 0: over several nodes there is no LL128 */
	TUNING_NET_SEND_SHARE, /* of the NIC's bandwidth, what plain sends reach */
	/* Of a send to one peer across, for NVIDIA; 0: as many as its NIC fills, as NCCL since 2.29. */
	TUNING_NET_SEND_CHANNELS,
	TUNING_CHANNEL_BPS, /* one channel of a send or a tree; 0: no limit */
	/*
	 * What NCCL's search finds on the machine, by which its own model ranks: channels and
	 * the speed of each inside a node (bwIntra); 0: by the rules of nccl_tuner.c.
	 */
	TUNING_GRAPH_CHANNELS, /* of rings and trees, on one node */
	TUNING_GRAPH_BPS,
	TUNING_GRAPH_NVLS_CHANNELS, /* of switches that reduce, for all devices of a node */
	TUNING_GRAPH_NVLS_BPS,
	TUNING_GRAPH_NET_CHANNELS, /* of rings and trees, on several nodes */
	TUNING_GRAPH_NET_BPS, /* of one of these between nodes (bwInter), rings' inside too */
	TUNING_GRAPH_TREE_BPS, /* of trees' inside a node of several */
	TUNING_LAUNCH_EACH_S,  /* one process for all devices: each launch */
	TUNING_LAUNCH_GRAPH_S, /* in a captured graph: in place of launch_s */
	TUNING_SCHEDULED, /* 1: it takes schedules of messages (collective/scheduled.c) */
	TUNING_SCHEDULED_ROUND_S, /* each round of these after the first: a launch, or a barrier */
	/* What kernels reach on one device (cost/compute.h); peaks of dense matmuls. */
	TUNING_BF16_FLOPS, /* operations per second; 0: not known, as of the next three */
	TUNING_F8_FLOPS,
	TUNING_INT8_FLOPS,
	TUNING_F32_FLOPS,
	TUNING_MATMUL_SHARE, /* of the peak, what large matmuls of 16 bits or less reach */
	TUNING_F32_SHARE,    /* the same of f32_flops */
	TUNING_MATMUL_S,     /* what each adds to its flops / rate */
	TUNING_ATTENTION_SHARE, /* of the bf16 peak, what attention kernels reach */
	TUNING_ATTENTION_BACK_SHARE, /* the same backward */
	TUNING_MEMORY_SHARE,         /* of memory_Bps, what kernels reach */
	TUNING_KERNEL_S,             /* no kernel takes less */
	/* Of whole steps (sim/program/step_time.h). */
	TUNING_CONTENTION, /* of communication beside kernels, how much longer these take */
	TUNING_TORCH_ATTENTION_SHARE, /* as attention_share, of PyTorch's kernels */
	TUNING_EAGER_STEP_S,          /* idle time of an eager framework in each step */
	/*
	 * Bytes of tokens that go to experts in a second in which neither kernels nor
	 * collectives run; 0: no such time. The second where moe.dispatch is `nodes`.
	 */
	TUNING_EXPERTS_BPS,
	TUNING_EXPERTS_NODES_BPS,
	/* As contention, of tokens on their way to experts beside kernels of another micro
	 * batch (moe.overlap): the share of the processors that send them. */
	TUNING_EXPERTS_CONTENTION,
	TUNINGS
};

/* In SI units; a key that was not given has its default: 1 for factors and shares. */
struct tuning {
	double value[TUNINGS];
};

extern const struct tuning tuning_default;

/* Returns "step", "fill_s" and so on. */
const char *tuning_name(enum tuning_key key);

/* Returns the key of that name of `length` bytes, -1 if there is none. */
int tuning_find(const char *name, size_t length);

/* Returns whether the key is a switch, which is 0 or 1. */
bool tuning_is_switch(enum tuning_key key);

/*
 * Reads "key=number ..." with single spaces between; plain decimal numbers >= 0.
 * E_SYNTAX or E_RANGE with the place inside the text: a key unknown or there twice, no
 * number, a share of 0 or above 1.
 */
enum status tuning_parse(struct tuning *out, const char *text, struct where at,
                         struct error *e);

/* Appends what differs from the default, in the same form; nothing if nothing does. */
void tuning_print(struct text *out, const struct tuning *t);

#endif
