/*
 * MSCCL XML, the schedules that MSCCL and RCCL run: every GPU has thread blocks, each with at
 * most one peer to send to and one to receive from, and their steps move chunks between the
 * buffers i (the tile before the plan), o (the one after it) and s (all tiles between).
 *
 * Blocks and boxes become runs of memory; the chunk is the greatest that all runs are whole
 * numbers of. Each connection has a thread block at either end, all local copies of a GPU
 * share one more. A step waits for the last writers of what it reads, which is all that
 * keeps steps of the plan apart: no tile is overwritten. A sum receives and adds, member after
 * member; an all-reduce is a reduce-scatter and an all-gather of the linear buffer.
 *
 * The rules are those of the readers: at most 64 steps in a thread block, 72 chunks in a
 * step, 32 thread blocks of a GPU on a channel; one dependency each, more by `nop` before.
 */
#include "emit/kinds.h"

#include "emit/msccl.h"

#include <string.h>

enum {
	STEPS_MAX = 64,
	CHUNKS_MAX = 71, /* of a step: fewer than 72 */
	BLOCKS_MAX = 32  /* of a GPU on a channel */
};

/* A step of a thread block. */
struct item {
	const char *type;
	int32_t from, to; /* tiles; -1: none */
	int64_t from_at, to_at, n;
	int32_t wait_block, wait_step; /* -1: none */
	bool waited;
};

struct block {
	int32_t send, recv; /* peers; -1: none */
	int32_t channel;
	LIST(struct item) items;
};

struct writer {
	int32_t block, step; /* -1: nobody */
};

struct gpu {
	LIST(struct block) blocks;
	int32_t *of_send; /* the block for a peer, itself for copies; -1: none yet */
	int32_t *of_recv;
	int32_t *on;            /* [devices]: thread blocks on each channel */
	struct writer **writer; /* [tile][chunk] */
};

struct msccl {
	struct hops hops;
	struct text *why;
	int64_t chunk;
	int32_t channels;
	struct gpu *gpu;
};

/* --- what is not said ----------------------------------------------------------------- */

static bool can_say(const struct plan *p, struct text *why)
{
	const struct problem *q = p->problem;

	if (!problem_even(q) || p->from.kind == LAYOUT_MAXIMAL ||
	    p->to.kind == LAYOUT_MAXIMAL)
		text_printf(why, "tiles are not equal");
	else if (q->two_meshes && !q->same_devices)
		text_printf(why, "source and target are on other devices");
	else if (p->nsteps == 0)
		text_printf(why, "there is nothing to move");
	else if (q->array.dtype->bits % 8)
		text_printf(why, "an element of %d bits is no whole byte",
		            q->array.dtype->bits);
	for (int k = 0; k < p->nsteps && !why->length; k++) {
		const struct step *s = &p->step[k];

		if (s->op == OP_PAD || s->op == OP_PARTIAL || s->gathers || s->start ||
		    (s->op == OP_PERMUTE && s->transfers))
			text_printf(why, "step %d is a %s with parts of tiles", k + 1,
			            op_name(s->op));
	}
	if (!why->length)
		return true;
	text_printf(why, "; mpi says every plan");
	return false;
}

static int64_t divisor(int64_t a, int64_t b)
{
	return b ? divisor(b, a % b) : a;
}

/* --- thread blocks -------------------------------------------------------------------- */

static void add_block(struct msccl *m, int32_t at, int32_t send, int32_t recv,
                      int32_t channel)
{
	struct gpu *g = &m->gpu[at];

	if (recv >= 0)
		g->of_recv[recv] = (int32_t)g->blocks.n;
	else
		g->of_send[send >= 0 ? send : at] = (int32_t)g->blocks.n;
	g->on[channel]++;
	m->channels = channel < m->channels ? m->channels : channel + 1;
	*list_add(&g->blocks, m->hops.arena) =
		(struct block){.send = send, .recv = recv, .channel = channel};
}

/* Makes both ends of a connection, on the first channel that has room for them. */
static void connect(struct msccl *m, int32_t src, int32_t dst)
{
	int32_t channel = 0;

	while (m->gpu[src].on[channel] == BLOCKS_MAX ||
	       m->gpu[dst].on[channel] == BLOCKS_MAX)
		channel++;
	if (src == dst) {
		add_block(m, src, -1, -1, channel);
		return;
	}
	add_block(m, src, dst, -1, channel);
	add_block(m, dst, -1, src, channel);
}

/* Appends the step, behind one `nop` for each of its dependencies but the last. */
static void add_item(struct msccl *m, struct gpu *g, int32_t block, struct item item,
                     int32_t *wait)
{
	struct block *b = &g->blocks.at[block];

	for (int32_t k = 0; k < g->blocks.n; k++) {
		if (wait[k] < 0)
			continue;
		if (item.wait_block >= 0)
			*list_add(&b->items, m->hops.arena) =
				(struct item){.type = "nop",
			                      .from = -1,
			                      .to = -1,
			                      .wait_block = item.wait_block,
			                      .wait_step = item.wait_step};
		item.wait_block = k;
		item.wait_step = wait[k];
		g->blocks.at[k].items.at[wait[k]].waited = true;
	}
	*list_add(&b->items, m->hops.arena) = item;
	if (item.to < 0)
		return;
	for (int64_t i = 0; i < item.n; i++)
		g->writer[item.to][item.to_at + i] =
			(struct writer){block, (int32_t)b->items.n - 1};
}

/* Adds a step of a GPU that reads (unless from < 0) and writes (unless to < 0) chunks. */
static void add_work(struct msccl *m, int32_t at, int32_t block, struct item item)
{
	struct gpu *g = &m->gpu[at];
	int32_t *wait = arena_alloc(m->hops.arena, (size_t)g->blocks.n, sizeof(*wait));

	for (int32_t k = 0; k < g->blocks.n; k++)
		wait[k] = -1;
	for (int64_t i = 0; item.from >= 0 && i < item.n; i++) {
		struct writer w = g->writer[item.from][item.from_at + i];

		if (w.block >= 0 && w.block != block && w.step > wait[w.block])
			wait[w.block] = w.step;
	}
	item.wait_block = item.wait_step = -1;
	add_item(m, g, block, item, wait);
}

static void add_hop(struct msccl *m, const struct hop *h)
{
	struct gpu *src = &m->gpu[h->src], *dst = &m->gpu[h->dst];

	if (src->of_send[h->dst] < 0)
		connect(m, h->src, h->dst);
	for (int64_t at = 0; at < h->n / m->chunk; at += CHUNKS_MAX) {
		int64_t left = h->n / m->chunk - at;
		struct item item = {.type = h->adds ? "re" : "cpy",
		                    .from = h->from,
		                    .to = h->to,
		                    .from_at = h->from_at / m->chunk + at,
		                    .to_at = h->to_at / m->chunk + at,
		                    .n = left < CHUNKS_MAX ? left : CHUNKS_MAX};
		struct item sent = item, got = item;

		if (h->src == h->dst) {
			add_work(m, h->src, src->of_send[h->src], item);
			continue;
		}
		sent.type = "s";
		sent.to = -1;
		add_work(m, h->src, src->of_send[h->dst], sent);
		got.type = h->adds ? "rrc" : "r";
		got.from = h->adds ? h->to : -1;
		got.from_at = got.to_at;
		add_work(m, h->dst, dst->of_recv[h->src], got);
	}
}

static bool refuse_steps(struct msccl *m, int64_t steps)
{
	text_printf(
		m->why,
		"a thread block has %lld steps, at most %d run; tiles cut along their "
		"first dimension have fewer, larger runs",
		(long long)steps, STEPS_MAX);
	return false;
}

/* Finds before there are tables of all chunks whether the copies of each pair are few. */
static bool few_steps(struct msccl *m)
{
	int64_t n = m->hops.plan->problem->ndevices, most = 0;
	int64_t *count = arena_alloc(m->hops.arena, (size_t)(n * n), sizeof(*count));

	for (int64_t i = 0; i < m->hops.list.n; i++) {
		const struct hop *h = &m->hops.list.at[i];
		int64_t *pair = &count[h->src * n + h->dst];

		*pair += (h->n / m->chunk + CHUNKS_MAX - 1) / CHUNKS_MAX;
		most = *pair > most ? *pair : most;
	}
	return most <= STEPS_MAX || refuse_steps(m, most);
}

/* Makes the thread blocks of all GPUs; false with the reason if one has too many steps. */
static bool add_blocks(struct msccl *m)
{
	int32_t n = m->hops.plan->problem->ndevices;
	int64_t most = 0;

	m->gpu = arena_alloc(m->hops.arena, (size_t)n, sizeof(*m->gpu));
	for (int32_t d = 0; d < n; d++) {
		struct gpu *g = &m->gpu[d];

		g->of_send = arena_alloc(m->hops.arena, (size_t)n, sizeof(*g->of_send));
		g->of_recv = arena_alloc(m->hops.arena, (size_t)n, sizeof(*g->of_recv));
		memset(g->of_send, -1, (size_t)n * sizeof(*g->of_send));
		memset(g->of_recv, -1, (size_t)n * sizeof(*g->of_recv));
		/* A channel has room for 15 peers, so that there are enough. */
		g->on = arena_alloc(m->hops.arena, (size_t)n + 1, sizeof(*g->on));
		g->writer = arena_alloc(m->hops.arena, (size_t)m->hops.size.n,
		                        sizeof(struct writer *));
		for (int64_t k = 0; k < m->hops.size.n; k++) {
			size_t bytes = (size_t)(m->hops.size.at[k] / m->chunk) *
			               sizeof(**g->writer);

			g->writer[k] = arena_alloc(m->hops.arena, 1, bytes);
			memset(g->writer[k], -1, bytes);
		}
	}
	for (int64_t i = 0; i < m->hops.list.n; i++)
		add_hop(m, &m->hops.list.at[i]);
	for (int32_t d = 0; d < n; d++)
		for (int64_t b = 0; b < m->gpu[d].blocks.n; b++)
			if (m->gpu[d].blocks.at[b].items.n > most)
				most = m->gpu[d].blocks.at[b].items.n;
	/* What waits for several others has more steps than it copies. */
	return most <= STEPS_MAX || refuse_steps(m, most);
}

/* --- the text ------------------------------------------------------------------------- */

/* Returns the buffer of a tile, and adds where it begins there to *at. */
static const char *buffer_of(const struct msccl *m, int32_t tile, int64_t *at)
{
	if (tile <= 0)
		return "i";
	if (tile == m->hops.size.n - 1)
		return "o";
	for (int32_t k = 1; k < tile; k++)
		*at += m->hops.size.at[k] / m->chunk;
	return "s";
}

static void put_item(struct msccl *m, struct text *out, const struct item *i,
                     int64_t number)
{
	int64_t from_at = i->from < 0 ? -1 : i->from_at,
		to_at = i->to < 0 ? -1 : i->to_at;
	const char *from = buffer_of(m, i->from, &from_at);
	const char *to = buffer_of(m, i->to, &to_at);

	text_printf(
		out,
		"      <step s=\"%lld\" type=\"%s\" srcbuf=\"%s\" srcoff=\"%lld\" "
		"dstbuf=\"%s\" dstoff=\"%lld\" cnt=\"%lld\" depid=\"%d\" deps=\"%d\" "
		"hasdep=\"%d\"/>\n",
		(long long)number, i->type, from, (long long)from_at, to,
		(long long)to_at, (long long)i->n, i->wait_block, i->wait_step,
		i->waited);
}

static void put_gpu(struct msccl *m, struct text *out, int32_t d)
{
	const struct gpu *g = &m->gpu[d];
	int64_t scratch = 0;

	for (int64_t k = 1; k + 1 < m->hops.size.n; k++)
		scratch += m->hops.size.at[k] / m->chunk;
	text_printf(out,
	            "  <gpu id=\"%d\" i_chunks=\"%lld\" o_chunks=\"%lld\" "
	            "s_chunks=\"%lld\">\n",
	            d, (long long)(m->hops.size.at[0] / m->chunk),
	            (long long)(m->hops.size.at[m->hops.size.n - 1] / m->chunk),
	            (long long)scratch);
	for (int64_t b = 0; b < g->blocks.n; b++) {
		const struct block *block = &g->blocks.at[b];

		text_printf(
			out,
			"    <tb id=\"%lld\" send=\"%d\" recv=\"%d\" chan=\"%d\">\n",
			(long long)b, block->send, block->recv, block->channel);
		for (int64_t i = 0; i < block->items.n; i++)
			put_item(m, out, &block->items.at[i], i);
		text_printf(out, "    </tb>\n");
	}
	text_printf(out, "  </gpu>\n");
}

/* Returns the collective whose buffers have such sizes; readers size theirs by it. */
static const char *collective(const struct msccl *m)
{
	int64_t in = m->hops.size.at[0], out = m->hops.size.at[m->hops.size.n - 1];
	int64_t n = m->hops.plan->problem->ndevices;

	if (in == out)
		return m->hops.plan->from.nunreduced ? "allreduce" : "alltoall";
	return out == in * n ? "allgather" : in == out * n ? "reducescatter" : "custom";
}

static void put_algorithm(struct msccl *m, struct text *out)
{
	int64_t in = m->hops.size.at[0], end = m->hops.size.at[m->hops.size.n - 1];
	int64_t most = in > end ? in : end;
	int32_t n = m->hops.plan->problem->ndevices;
	long long bytes = dtype_bytes(m->hops.plan->problem->array.dtype, most);

	text_printf(out,
	            "<algo name=\"plan\" proto=\"Simple\" nchannels=\"%d\" "
	            "nchunksperloop=\"%lld\" ngpus=\"%d\" coll=\"%s\" inplace=\"0\" "
	            "outofplace=\"1\" minBytes=\"%lld\" maxBytes=\"%lld\">\n",
	            m->channels, (long long)(most / m->chunk), n, collective(m), bytes,
	            bytes);
	for (int32_t d = 0; d < n; d++)
		put_gpu(m, out, d);
	text_printf(out, "</algo>\n");
}

static enum emitted emit_msccl(struct text *out, const struct emission *what,
                               struct arena *scratch, struct text *why)
{
	const struct plan *p = what->plan;
	struct msccl m = {.hops = {.plan = p, .arena = scratch}, .why = why};
	bool done = can_say(p, why);

	*list_add(&m.hops.size, scratch) = layout_local_elements(&p->from, &p->shape);
	for (int k = 0; k < p->nsteps && done; k++)
		done = hops_add_step(&m.hops, k, why);
	if (done && m.hops.list.n > HOPS_MAX) {
		text_printf(why, "it moves more than %d runs of memory", HOPS_MAX);
		done = false;
	}
	if (!done)
		return EMIT_CANNOT;
	for (int64_t k = 0; k < m.hops.size.n; k++)
		m.chunk = divisor(m.hops.size.at[k], m.chunk);
	for (int64_t i = 0; i < m.hops.list.n; i++) {
		m.chunk = divisor(m.hops.list.at[i].from_at, m.chunk);
		m.chunk = divisor(m.hops.list.at[i].to_at, m.chunk);
		m.chunk = divisor(m.hops.list.at[i].n, m.chunk);
	}
	if (!few_steps(&m) || !add_blocks(&m))
		return EMIT_CANNOT;
	emit_heading(out, &emitter_msccl, what);
	put_algorithm(&m, out);
	return EMITTED;
}

const struct emitter emitter_msccl = {
	.name = "msccl",
	.help = "XML that MSCCL and RCCL run, for equal tiles that are few runs of "
		"memory",
	.comment = "<!-- ",
	.comment_end = " -->",
	.emit = emit_msccl,
};
