#include "placement/lshs.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

/* What a copy inside of a node counts of its bytes. */
static const double NODE_SHARE = 0.1;

int32_t block_make(struct block_graph *g, double bytes, int32_t device, bool sum,
                   const int32_t *in, int32_t nin)
{
	assert(device < g->ndevices);
	*list_add(&g->op, g->arena) = (struct block_op){
		.nin = nin,
		.in = nin ? arena_dup(g->arena, in, (size_t)nin, sizeof(*in)) : NULL,
		.bytes = bytes,
		.device = device,
		.sum = sum};
	return (int32_t)g->op.n - 1;
}

int32_t block_there(struct block_graph *g, double bytes, int32_t device)
{
	return block_make(g, bytes, device, false, NULL, 0);
}

/* Devices that hold a block, the first one first, and how deep it is made. */
struct block {
	double bytes;
	int32_t level;
	LIST(int32_t) on;
};

/* An operation in the making: its blocks that wait, as numbers of blocks. */
struct open_op {
	LIST(int32_t) left;
	int32_t missing; /* operands that are not there yet */
	bool done;
};

struct placing {
	const struct block_graph *g;
	struct block_run *run;
	struct arena *arena;
	enum block_policy policy;
	LIST(struct block)
	block; /* of every operation first, then those between sums */
	struct open_op *open;
	int32_t turn; /* the next device in turn */
	double top[LOADS];
};

static bool holds(const struct block *b, int32_t device)
{
	for (int64_t i = 0; i < b->on.n; i++)
		if (b->on.at[i] == device)
			return true;
	return false;
}

static double load_bytes(const struct block_graph *g, double bytes, int32_t src,
                         int32_t dst)
{
	return src / g->per_node == dst / g->per_node ? NODE_SHARE * bytes : bytes;
}

/* Returns the price if an operation on these blocks ran on a device. */
static double try_device(const struct placing *p, const int32_t *in, int32_t nin,
                         double bytes, int32_t device)
{
	const struct block_run *r = p->run;
	double memory = r->load[LOAD_MEMORY][device] + bytes;
	double received = r->load[LOAD_IN][device], sent_top = p->top[LOAD_OUT];

	for (int32_t i = 0; i < nin; i++) {
		const struct block *b = &p->block.at[in[i]];
		int32_t src;
		double sent;

		if (holds(b, device))
			continue;
		src = b->on.at[0];
		memory += b->bytes;
		received += load_bytes(p->g, b->bytes, src, device);
		sent = r->load[LOAD_OUT][src];
		/* One that sends several of them sends all. */
		for (int32_t k = 0; k <= i; k++) {
			const struct block *other = &p->block.at[in[k]];

			if (!holds(other, device) && other->on.at[0] == src)
				sent += load_bytes(p->g, other->bytes, src, device);
		}
		sent_top = fmax(sent_top, sent);
	}
	return fmax(p->top[LOAD_MEMORY], memory) + fmax(p->top[LOAD_IN], received) +
	       sent_top;
}

static void add_load(struct placing *p, int row, int32_t device, double bytes)
{
	p->run->load[row][device] += bytes;
	p->top[row] = fmax(p->top[row], p->run->load[row][device]);
}

/* Runs an operation on a device and returns the number of the block that it makes. */
static void run_on(struct placing *p, int32_t block, const int32_t *in, int32_t nin,
                   double bytes, int32_t device)
{
	int32_t level = 0;

	for (int32_t i = 0; i < nin; i++)
		level = p->block.at[in[i]].level > level ? p->block.at[in[i]].level
		                                         : level;
	for (int32_t i = 0; i < nin; i++) {
		struct block *b = &p->block.at[in[i]];
		int32_t src = b->on.at[0];
		double load = load_bytes(p->g, b->bytes, src, device);

		if (holds(b, device))
			continue;
		*list_add(&p->run->copy, p->arena) =
			(struct block_copy){src, device, level, b->bytes};
		add_load(p, LOAD_MEMORY, device, b->bytes);
		add_load(p, LOAD_IN, device, load);
		add_load(p, LOAD_OUT, src, load);
		*list_add(&b->on, p->arena) = device;
	}
	p->block.at[block].bytes = bytes;
	p->block.at[block].level = level + 1;
	*list_add(&p->block.at[block].on, p->arena) = device;
	add_load(p, LOAD_MEMORY, device, bytes);
	if (level + 1 > p->run->levels)
		p->run->levels = level + 1;
}

/* Puts the two blocks that a sum takes next in front of those that wait. */
static void pick_two(const struct placing *p, struct open_op *open)
{
	int64_t n = open->left.n, first = 0, second = 1;
	int best = 0;

	for (int64_t i = 0; i < n && p->policy == POLICY_LSHS && best < 2; i++)
		for (int64_t k = i + 1; k < n && best < 2; k++) {
			int32_t x = p->block.at[open->left.at[i]].on.at[0];
			int32_t y = p->block.at[open->left.at[k]].on.at[0];
			int near = x == y ? 2 : x / p->g->per_node == y / p->g->per_node;

			if (near > best) {
				best = near;
				first = i;
				second = k;
			}
		}
	for (int k = 0; k < 2; k++) {
		int64_t at = k ? second : first;
		int32_t block = open->left.at[at];

		memmove(&open->left.at[k + 1], &open->left.at[k],
		        (size_t)(at - k) * sizeof(block));
		open->left.at[k] = block;
	}
}

/* The blocks that an operation takes next: all of them, or two of a sum. */
static int32_t next_blocks(const struct placing *p, int32_t op)
{
	struct open_op *open = &p->open[op];

	if (!p->g->op.at[op].sum || open->left.n <= 2)
		return (int32_t)open->left.n;
	pick_two(p, open);
	return 2;
}

/* Returns whether something of it can run: all operands are there, or two of a sum. */
static bool is_ready(const struct placing *p, int32_t op)
{
	const struct open_op *open = &p->open[op];

	if (open->done)
		return false;
	return !open->missing || (p->g->op.at[op].sum && open->left.n >= 2);
}

/* Returns whether what runs next of an operation is its last part. */
static bool is_last(const struct placing *p, int32_t op, int32_t n)
{
	return !p->open[op].missing && p->open[op].left.n == n;
}

/* Tells those that wait for an operation that its block is there. */
static void tell(struct placing *p, int32_t op)
{
	const struct block_graph *g = p->g;

	p->open[op].done = true;
	for (int64_t k = op + 1; k < g->op.n; k++)
		for (int32_t i = 0; i < g->op.at[k].nin; i++)
			if (g->op.at[k].in[i] == op) {
				p->open[k].missing--;
				*list_add(&p->open[k].left, p->arena) = op;
			}
}

/* Runs what is next of an operation. */
static void commit(struct placing *p, int32_t op, int32_t device)
{
	struct open_op *open = &p->open[op];
	int32_t n = next_blocks(p, op), block = op;
	bool last = is_last(p, op, n);

	if (!last) {
		block = (int32_t)p->block.n;
		*list_add(&p->block, p->arena) = (struct block){0};
	}
	run_on(p, block, open->left.at, n, p->g->op.at[op].bytes, device);
	memmove(open->left.at, open->left.at + n,
	        (size_t)(open->left.n - n) * sizeof(*open->left.at));
	open->left.n -= n;
	if (last)
		tell(p, op);
	else
		*list_add(&open->left, p->arena) = block;
}

/* Finds the operation and the device with the least price. */
static int32_t choose(const struct placing *p, int32_t *device)
{
	double least = INFINITY;
	int32_t chosen = -1;

	for (int32_t op = 0; op < p->g->op.n; op++) {
		const struct block_op *o = &p->g->op.at[op];
		int32_t n, first = 0, end = p->g->ndevices;

		if (!is_ready(p, op))
			continue;
		n = next_blocks(p, op);
		if (o->device >= 0 && is_last(p, op, n)) {
			first = o->device;
			end = first + 1;
		}
		for (int32_t d = first; d < end; d++) {
			double price =
				try_device(p, p->open[op].left.at, n, o->bytes, d);

			if (price < least * (1 - 1e-12)) {
				least = price;
				chosen = op;
				*device = d;
			}
		}
	}
	return chosen;
}

/* Finds the first operation that is ready, and the device whose turn it is. */
static int32_t take_turn(struct placing *p, int32_t *device)
{
	for (int32_t op = 0; op < p->g->op.n; op++) {
		const struct block_op *o = &p->g->op.at[op];

		if (!is_ready(p, op))
			continue;
		if (o->device >= 0 && is_last(p, op, next_blocks(p, op)))
			*device = o->device;
		else
			*device = p->turn++ % p->g->ndevices;
		return op;
	}
	return -1;
}

void block_place(struct block_run *out, const struct block_graph *g,
                 enum block_policy policy, struct arena *a)
{
	struct placing p = {.g = g, .run = out, .arena = a, .policy = policy};
	int32_t op, device;

	*out = (struct block_run){.levels = 0};
	for (int k = 0; k < LOADS; k++)
		out->load[k] = arena_alloc(a, (size_t)g->ndevices, sizeof(double));
	p.open = arena_alloc(a, (size_t)g->op.n, sizeof(*p.open));
	for (op = 0; op < g->op.n; op++) {
		*list_add(&p.block, a) = (struct block){0};
		p.open[op].missing = g->op.at[op].nin;
	}
	for (op = 0; op < g->op.n; op++)
		if (!g->op.at[op].nin) {
			run_on(&p, op, NULL, 0, g->op.at[op].bytes, g->op.at[op].device);
			p.block.at[op].level = 0;
			tell(&p, op);
		}
	for (;;) {
		op = policy == POLICY_LSHS ? choose(&p, &device)
		                           : take_turn(&p, &device);
		if (op < 0)
			break;
		commit(&p, op, device);
	}
}

double block_price(const struct block_run *r, int32_t ndevices)
{
	double sum = 0;

	for (int k = 0; k < LOADS; k++) {
		double top = 0;

		for (int32_t d = 0; d < ndevices; d++)
			top = fmax(top, r->load[k][d]);
		sum += top;
	}
	return sum;
}
