#include "flow/pipeline.h"

#include <math.h>

/* What flows put on links as depths are added one by one. */
struct tally {
	const struct flows *flows;
	const struct network *network;
	double *load; /* [nlinks] seconds */
	double busiest_s;
};

static void add_depth(struct tally *t, int32_t depth)
{
	for (int32_t m = 0; m < t->flows->nmessages; m++) {
		double bytes = t->flows->bytes[(int64_t)m * t->flows->depths + depth];
		const int32_t *list;
		int32_t pair[2], n;

		if (bytes == 0)
			continue;
		n = network_links(t->network, &t->flows->message[m], &list, pair);
		for (int32_t i = 0; i < n; i++) {
			t->load[list[i]] += bytes * t->network->s_per_byte[list[i]];
			t->busiest_s = fmax(t->busiest_s, t->load[list[i]]);
		}
	}
}

static struct tally tally_make(const struct flows *flows, const struct network *network,
                               struct arena *a)
{
	return (struct tally){flows, network,
	                      arena_alloc(a, (size_t)network->nlinks, sizeof(double)),
	                      0};
}

/* Returns the longest latency of a message that is sent. */
static double longest_s(const struct flows *flows, const struct network *network)
{
	double most_s = 0;

	for (int32_t m = 0; m < flows->nmessages; m++) {
		const int32_t *list;
		int32_t pair[2];
		int32_t n = network_links(network, &flows->message[m], &list, pair);
		double s = 0;

		for (int32_t i = 0; i < n; i++)
			s += network->latency_s[list[i]];
		most_s = fmax(most_s, s);
	}
	return most_s;
}

struct pipeline pipeline_make(const struct flows *flows, const struct network *network,
                              int32_t fewest, struct arena *a)
{
	struct tally first = tally_make(flows, network, a);
	struct tally last = tally_make(flows, network, a);
	double latency_s = longest_s(flows, network), ends_s = 0, chunks = 1;
	int32_t depths = flows->depths;
	struct pipeline p = {.depths = depths};

	for (int32_t d = 0; d < depths; d++) {
		add_depth(&first, d);
		if (d < depths - 1)
			ends_s += first.busiest_s;
		if (d > 0) {
			add_depth(&last, depths - d);
			ends_s += last.busiest_s;
		}
	}
	ends_s = fmax(ends_s - (depths - 1) * first.busiest_s, 0);
	if (depths > 1)
		chunks = latency_s > 0 ? round(sqrt(ends_s / latency_s)) : PIPELINE_CHUNKS_MAX;
	p.chunks = (int32_t)fmin(fmax(chunks, fmax(depths, fewest)), PIPELINE_CHUNKS_MAX);
	p.seconds = first.busiest_s + ends_s / p.chunks +
	            (p.chunks + depths - 1) * latency_s;
	return p;
}

int32_t pipeline_rounds(const struct pipeline *p)
{
	return 2 * p->depths - 1;
}

struct pipeline_round pipeline_round(const struct pipeline *p, int32_t i)
{
	int32_t middle = p->depths - 1;

	if (i < middle)
		return (struct pipeline_round){0, i, 1};
	if (i == middle)
		return (struct pipeline_round){0, middle, p->chunks - middle};
	return (struct pipeline_round){i - middle, middle, 1};
}
