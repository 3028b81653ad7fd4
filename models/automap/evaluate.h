/*
 * What a set of cuts costs: the collectives that it needs, the time of a step and the
 * memory of a device.
 *
 * Time is the sum of all kernels, each on its part of the arrays (cost/compute.h), and of
 * all collectives, unless these are to run beside kernels (evaluator_overlap()). Memory is what arguments take, and what is computed
 * from the op that makes it to its last use, in the order of the text (program/liveness.h
 * has the same rule for programs that are partitioned); a gathered copy lives from its
 * first to its last use in its phase.
 *
 * A step may go through its passes several times before it updates (micro batches). Gradients are
 * then added up where they are made: what is all-reduced is so once, at the end, what is scattered
 * is so in every pass, as nobody has room for the whole; both are held throughout. The additions
 * themselves are not counted. With recomputation every layer (automap/repeat.h) runs forward once
 * more in the backward pass, with its collectives, and of what it computes only what it hands on
 * to others is held until then, besides what one layer computes.
 */
#ifndef SHARDSIM_AUTOMAP_EVALUATE_H
#define SHARDSIM_AUTOMAP_EVALUATE_H

#include "array/machine.h"
#include "automap/reshard.h"

enum { COUNT_GATHER, COUNT_REDUCE, COUNT_SCATTER, COUNT_ALL_TO_ALL, COUNTS };

/* What one collective costs: a question of the evaluation to whoever knows the machine. */
struct collective_ask {
	enum op op; /* OP_ALL_GATHER, OP_ALL_REDUCE, OP_REDUCE_SCATTER, OP_ALL_TO_ALL, OP_SLICE */
	struct cuts from, to; /* forms before and after; of an all-reduce the same */
	uint8_t axes;         /* summed over, of reductions */
	double bytes;         /* on a device before it */
	bool unpack; /* a gathered array has to be put together (planner/planner.h) */
};

/* A step of a reshard, as of a plan. */
struct reshard_part {
	enum op op;
	double bytes, s; /* on a device before it */
};

struct planned_reshard {
	int n;
	const struct reshard_part *part;
};

/*
 * Prices: `reshard` of a change of layout that takes several steps as it is planned; NULL, or where
 * it returns NULL, the steps are those of reshard.h. `collective` returns seconds, `kernel` of a kernel's part, < 0: not known. */
struct cut_prices {
	double (*collective)(void *self, const struct collective_ask *ask);
	double (*kernel)(void *self, const struct compute_ask *ask);
	/* Which stream takes collectives over axes whose bits are set (program/timeline.h). */
	int (*stream)(void *self, unsigned axes);
	const struct planned_reshard *(*reshard)(void *self,
	                                         const struct value_type *type,
	                                         const struct cuts *from,
	                                         const struct cuts *to);
	void *self;
};

/*
 * What a device does for a change of layout, or for a sum: a collective or a local pass. Of several
 * parts of one change the first collective takes the time of the local passes, too, which have none.
 */
struct moved {
	int32_t step; /* of lowered.step; its parts follow each other */
	enum op op;
	double times, s; /* how often, and the seconds of once */
};

struct evaluation {
	double count[COUNTS];
	double bytes[COUNTS];  /* on a device, before each; reductions too */
	double time_s[COUNTS]; /* of communication_s */
	/*
	 * step_s 0: nothing is priced. Where collectives overlap it is less than the sum.
	 * compute_s has slices that stand alone.
	 */
	double step_s, compute_s, communication_s;
	bool unknown; /* some kernel's time is not known, and is left out */
	double params_bytes, peak_bytes;
};

/* What a step of a set of cuts takes. */
struct transfer_cost {
	struct planned_reshard of;
	struct reshard_part *own; /* where nobody planned it: its parts */
	int room;
};

struct evaluator {
	const struct graph *graph;
	const struct cut_prices *tariff; /* NULL: counts and memory alone */
	struct lowered_cuts lowered;
	/* What is known until the cuts change that it hangs on. */
	struct transfer_cost *cost;     /* by the slots of steps */
	double *held_bytes;             /* [values] */
	double *kernel_s;               /* [kernels] of one layer; < 0: not known */
	bool *stale;                    /* [kernels] it is not known yet */
	int32_t *first_kernel, *kernel; /* [ops + 1], kernels that run as the op does */
	double *alloc, *release;        /* [ops] */
	/* Of evaluator_repeat(). */
	double micro_batches; /* 1: an update behind every pass */
	double *times;  /* [ops] how often one runs in a step; without the weight */
	bool *gradient; /* [values] made by passes and read by updates alone */
	int32_t *again; /* [values] layer in which it is computed again; -1: in none */
	int32_t *last_forward; /* [values] op of the forward pass that reads it last */
	double *layer_bytes;   /* what each of these layers computes */
	int32_t nlayers;
	/* Of evaluator_overlap(). */
	bool overlap;
	int32_t *next_instance; /* [values] of the first layer: the second's; -1: it has none */
	/* Of what was evaluated last. */
	LIST(struct moved) moved;
	LIST(double) moved_s; /* of each of lowered.step, in all */
};

/* All is the arena's; the graph and the tariff are borrowed. */
void evaluator_start(struct evaluator *out, struct arena *a, const struct graph *g,
                     const struct cut_prices *tariff);

/*
 * Passes run `micro_batches` times in a step, of as much data as the program says; with
 * `recompute` layers are computed again.
 */
void evaluator_repeat(struct evaluator *e, struct arena *a, double micro_batches,
                      bool recompute);

/*
 * Collectives run beside kernels from now on, as OVERLAP_ASYNC has it (program/timeline.h), for
 * tariffs that have streams; step_s is when all is done. Passes of micro batches are one pass whose
 * kernels and collectives take as long as all of theirs. What gathers ahead hold is not counted.
 */
void evaluator_overlap(struct evaluator *e, struct arena *a);

/*
 * Returns the seconds of what was evaluated last, so: for evaluate(). Adds how long kernels wait
 * for collectives over the axes whose bits are set to exposed_s[bits]; NULL: nowhere.
 */
double evaluation_overlapped_s(const struct evaluator *e, const struct cutting *c,
                               double *exposed_s);

/* Returns a kernel as one device runs it in what was evaluated last. */
struct compute_ask evaluated_kernel(const struct evaluator *e, const struct cutting *c,
                                    const struct graph_kernel *k);

/* Evaluates cuts; the steps are in e->lowered until the next time. */
struct evaluation evaluate(struct evaluator *e, const struct cutting *c);

/* Returns the COUNT_* of an op; -1: it has none. */
int count_of(enum op op);

/* Returns "all-gather", "all-reduce", ... of a COUNT_*. */
const char *count_name(int count);

#endif
