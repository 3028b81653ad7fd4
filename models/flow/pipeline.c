#include "flow/pipeline.h"

#include <math.h>

/* Lags that are told apart, and the share of their number to which chunks are chosen. */
enum { LAGS = 16, EXACT = 64 };

/* What a message carries of one depth, in trees of one class. */
struct cell {
	int32_t message, depth, class;
	double bytes;
};

/* Cells by an order: those that rounds with i + 1 depths have more than such with i. */
struct order {
	const struct cell *cell;
	int64_t first[FLOW_DEPTH_MAX + 2]; /* of them cell[first[i]]..cell[first[i + 1]) */
};

/* How busy a link is that messages of each lag take, in one round; below 0: none does. */
struct busy {
	double s[LAGS];
};

/* What chunks are chosen by. */
struct choice {
	const struct flows *flows;
	const struct network *network;
	struct pipeline pipeline;
	double lag_s[LAGS];
	struct order begin, end;         /* by depth; by the depths below in the tree */
	struct busy *begins, *ends;      /* [depths] in the first rounds, and in the last ones */
	double *load;   /* [nlinks] seconds, of a round */
	uint32_t *lags; /* [nlinks] of messages that take it: a bit each */
};

/* --- what there is to send -------------------------------------------------------- */

/* Returns the latency of a message. */
static double latency_s(const struct network *network, const struct flow_message *m)
{
	const int32_t *list;
	int32_t pair[2], n = network_links(network, m, &list, pair);
	double s = 0;

	for (int32_t i = 0; i < n; i++)
		s += network->latency_s[list[i]];
	return s;
}

/* Returns which of so many equal parts of the longest latency is the least to hold one. */
static int32_t part_of(double latency_s, double longest_s)
{
	int32_t part = (int32_t)ceil(LAGS * (latency_s / longest_s) - 1e-9) - 1;

	return part > 0 ? part : 0;
}

/* Numbers the lags that there are, and returns how many. */
static int32_t number_lags(int32_t *lag, int32_t n, double *lag_s)
{
	int32_t number[LAGS] = {0}, nlags = 0;

	for (int32_t m = 0; m < n; m++)
		number[lag[m]] = 1;
	for (int k = 0; k < LAGS; k++) {
		if (!number[k])
			continue;
		lag_s[nlags] = lag_s[k];
		number[k] = nlags++;
	}
	for (int32_t m = 0; m < n; m++)
		lag[m] = number[lag[m]];
	return nlags;
}

/*
 * Finds the lag of every message, and stores the latency of each lag. Those of a switch share
 * links, and so have that of the longest one.
 */
static void find_lags(struct pipeline *out, double *lag_s, const struct flows *flows,
                      const struct network *network, struct arena *a)
{
	int32_t n = flows->nmessages;
	int32_t *lag = arena_alloc(a, (size_t)n, sizeof(*lag));
	double *s = arena_alloc(a, (size_t)n, sizeof(*s)), longest_s = 0;
	double switch_s = 0;

	for (int32_t m = 0; m < n; m++) {
		int32_t fabric = flows->message[m].via - network->nedges;

		s[m] = latency_s(network, &flows->message[m]);
		longest_s = fmax(longest_s, s[m]);
		if (fabric >= 0)
			switch_s = fmax(switch_s, s[m]);
	}
	for (int32_t m = 0; m < n && longest_s > 0; m++) {
		int32_t fabric = flows->message[m].via - network->nedges;
		double of_s = fabric >= 0 ? switch_s : s[m];

		lag[m] = part_of(of_s, longest_s);
		lag_s[lag[m]] = fmax(lag_s[lag[m]], of_s);
	}
	out->nlags = number_lags(lag, n, lag_s);
	out->lag = lag;
}

/* Returns how many chunks there are of what goes along trees of a class. */
static int32_t chunks_of(const struct choice *c, int32_t class, int32_t chunks)
{
	return c->pipeline.spread
	               ? chunks + c->flows->depths - flows_height(c->flows, class)
	               : chunks;
}

/* Returns the number of rounds before the last one in which a cell still moves. */
static int32_t rounds_left(const struct choice *c, const struct cell *cell)
{
	return (c->pipeline.spread ? flows_height(c->flows, cell->class)
	                           : c->flows->depths) -
	       1 - cell->depth;
}

static int64_t count_cells(const struct flows *f)
{
	int64_t cells = (int64_t)f->nmessages * f->depths * f->heights, n = 0;

	for (int64_t i = 0; i < cells; i++)
		n += f->bytes[i] > 0;
	return n;
}

/* Sorts all cells by when they begin, or how long before the end they end. */
static struct order sort_cells(const struct choice *c, bool end, struct arena *a)
{
	const struct flows *f = c->flows;
	int64_t cells = (int64_t)f->nmessages * f->depths * f->heights;
	struct cell *list = arena_alloc(a, (size_t)count_cells(f), sizeof(*list));
	struct order out = {.cell = list};
	int64_t next[FLOW_DEPTH_MAX + 1];

	for (int pass = 0; pass < 2; pass++) {
		for (int64_t i = 0; i < cells; i++) {
			struct cell cell = {(int32_t)(i / f->heights / f->depths),
			                    (int32_t)(i / f->heights % f->depths),
			                    (int32_t)(i % f->heights), f->bytes[i]};
			int32_t at;

			if (cell.bytes == 0)
				continue;
			at = end ? rounds_left(c, &cell) : cell.depth;
			if (pass == 0)
				out.first[at + 1]++;
			else
				list[next[at]++] = cell;
		}
		for (int32_t d = 0; d < f->depths && pass == 0; d++) {
			next[d] = out.first[d];
			out.first[d + 1] += out.first[d];
		}
	}
	return out;
}

/* --- what that takes -------------------------------------------------------------- */

/* Adds seconds to a link that a message of some lag takes. */
static void add_load(struct busy *busy, struct choice *c, int32_t link, int32_t lag,
                     double s)
{
	double load_s = c->load[link] += s;

	c->lags[link] |= 1U << lag;
	for (uint32_t left = c->lags[link]; left; left &= left - 1) {
		double *most_s = &busy->s[__builtin_ctz(left)];

		*most_s = fmax(*most_s, load_s);
	}
}

/* Finds how busy links are in rounds, of which each has cells that the one before had not. */
static void find_busy(struct busy *out, struct choice *c, const struct order *order,
                      int32_t chunks)
{
	const struct flows *f = c->flows;
	struct busy busy;

	for (int k = 0; k < LAGS; k++)
		busy.s[k] = -1;
	for (int32_t l = 0; l < c->network->nlinks; l++) {
		c->load[l] = 0;
		c->lags[l] = 0;
	}
	for (int32_t d = 0; d < f->depths; d++) {
		for (int64_t i = order->first[d]; i < order->first[d + 1]; i++) {
			const struct cell *cell = &order->cell[i];
			int32_t m = cell->message, pair[2];
			const int32_t *list;
			int32_t n = network_links(c->network, &f->message[m], &list,
			                          pair);
			double bytes = cell->bytes / chunks_of(c, cell->class, chunks);

			for (int32_t k = 0; k < n; k++)
				add_load(&busy, c, list[k], c->pipeline.lag[m],
				         bytes * c->network->s_per_byte[list[k]]);
		}
		out[d] = busy;
	}
}

/* Returns what a round takes, of so many with equal chunks. */
static double round_s(const struct choice *c, const struct busy *b, int32_t chunks)
{
	double most_s = 0;

	for (int32_t k = 0; k < c->pipeline.nlags; k++)
		if (b->s[k] >= 0)
			most_s = fmax(most_s, b->s[k] / chunks + c->lag_s[k]);
	return most_s;
}

/*
 * Returns what all rounds take. Where low trees are not spread all chunks are equal, and the
 * links of those of one chunk so much busier.
 */
static double all_s(struct choice *c, int32_t chunks)
{
	int32_t depths = c->flows->depths, equal = c->pipeline.spread ? 1 : chunks;
	double s;

	if (c->pipeline.spread) {
		find_busy(c->begins, c, &c->begin, chunks);
		find_busy(c->ends, c, &c->end, chunks);
	}
	s = (chunks - depths + 1) * round_s(c, &c->begins[depths - 1], equal);
	for (int32_t d = 0; d < depths - 1; d++)
		s += round_s(c, &c->begins[d], equal) + round_s(c, &c->ends[d], equal);
	return s;
}

/* Takes a number of chunks, at least `fewest`, if that is faster. */
static bool try_chunks(struct choice *c, int32_t chunks, int32_t fewest)
{
	double s;

	if (chunks < fewest || chunks > PIPELINE_CHUNKS_MAX)
		return false;
	s = all_s(c, chunks);
	if (s >= c->pipeline.seconds)
		return false;
	c->pipeline.chunks = chunks;
	c->pipeline.seconds = s;
	return true;
}

/* Goes from a number of chunks to better ones, by steps that are halved. */
static void improve_chunks(struct choice *c, int32_t step, int32_t fewest)
{
	for (; step > 0 && step >= c->pipeline.chunks / EXACT; step /= 2)
		if (!try_chunks(c, c->pipeline.chunks - step, fewest))
			try_chunks(c, c->pipeline.chunks + step, fewest);
}

/* --- all of it -------------------------------------------------------------------- */

/* Stores what messages carry in the first rounds, or in the last ones. */
static const double *list_rounds(const struct choice *c, const struct order *order,
                                 struct arena *a)
{
	const struct flows *f = c->flows;
	int32_t depths = f->depths;
	double *bytes = arena_alloc(a, (size_t)f->nmessages * (size_t)depths,
	                            sizeof(*bytes));

	for (int32_t d = 0; d < depths; d++) {
		for (int64_t i = order->first[d]; i < order->first[d + 1]; i++) {
			const struct cell *cell = &order->cell[i];

			bytes[(int64_t)cell->message * depths + d] +=
				cell->bytes /
				chunks_of(c, cell->class, c->pipeline.chunks);
		}
		for (int32_t m = 0; m < f->nmessages && d > 0; m++)
			bytes[(int64_t)m * depths + d] +=
				bytes[(int64_t)m * depths + d - 1];
	}
	return bytes;
}

/* Chooses chunks that are alike in all trees: doubled as long as that helps, then improved. */
static void choose_equal(struct choice *c, int32_t fewest, struct arena *a)
{
	c->end = sort_cells(c, true, a);
	find_busy(c->begins, c, &c->begin, 1);
	find_busy(c->ends, c, &c->end, 1);
	c->pipeline.seconds = INFINITY;
	for (int32_t n = fewest; try_chunks(c, n, fewest); n *= 2)
		;
	improve_chunks(c, c->pipeline.chunks / 2, fewest);
}

/* Spreads low trees over all rounds, if that is faster; there are fewer of these, then. */
static void choose_spread(struct choice *c, int32_t fewest, struct arena *a)
{
	struct choice spread = *c;

	spread.pipeline.spread = true;
	spread.end = sort_cells(&spread, true, a);
	spread.pipeline.seconds = INFINITY;
	try_chunks(&spread, c->pipeline.chunks, fewest);
	improve_chunks(&spread, c->pipeline.chunks / 8, fewest);
	if (spread.pipeline.seconds < c->pipeline.seconds)
		*c = spread;
}

struct pipeline pipeline_make(const struct flows *flows, const struct network *network,
                              int32_t fewest, struct arena *a)
{
	struct choice c = {.flows = flows, .network = network};
	size_t depths = (size_t)flows->depths, nlinks = (size_t)network->nlinks;

	fewest = fewest > flows->depths ? fewest : flows->depths;
	c.pipeline = (struct pipeline){.depths = flows->depths};
	find_lags(&c.pipeline, c.lag_s, flows, network, a);
	c.begins = arena_alloc(a, depths, sizeof(*c.begins));
	c.ends = arena_alloc(a, depths, sizeof(*c.ends));
	c.load = arena_alloc(a, nlinks, sizeof(*c.load));
	c.lags = arena_alloc(a, nlinks, sizeof(*c.lags));
	c.begin = sort_cells(&c, false, a);
	choose_equal(&c, fewest, a);
	if (flows->heights > 1)
		choose_spread(&c, fewest, a);
	c.pipeline.begins = list_rounds(&c, &c.begin, a);
	c.pipeline.ends = list_rounds(&c, &c.end, a);
	return c.pipeline;
}

int32_t pipeline_chunks(const struct pipeline *p, const struct flows *f, int32_t height)
{
	return p->spread ? p->chunks + p->depths - flows_height(f, flows_class(f, height))
	                 : p->chunks;
}

int32_t pipeline_rounds(const struct pipeline *p)
{
	return 2 * p->depths - 1;
}

int32_t pipeline_repeats(const struct pipeline *p, int32_t i)
{
	return i == p->depths - 1 ? p->chunks - p->depths + 1 : 1;
}

double pipeline_bytes(const struct pipeline *p, int32_t message, int32_t i)
{
	int64_t first = (int64_t)message * p->depths;

	if (i < p->depths)
		return p->begins[first + i] * pipeline_repeats(p, i);
	return p->ends[first + 2 * p->depths - 2 - i];
}
