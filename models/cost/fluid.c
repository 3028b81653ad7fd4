#include "cost/fluid.h"

#include "cost/alike.h"
#include "cost/fair_memo.h"
#include "cost/model.h"
#include "cost/parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct fluid {
	const struct machine *machine;
	double precision_Bps;
	struct pieces *pieces;
	struct parallel *parallel, *other; /* two systems at a time, to be compared */
	struct fair_memo *memo;
};

/* Where to say why there is no time. */
struct reason {
	char *text;
	size_t size;
};

struct fluid *fluid_new(const struct machine *m)
{
	struct fluid *w = xmalloc(1, sizeof(*w));

	*w = (struct fluid){.machine = m,
	                    .precision_Bps = fair_precision_Bps(m),
	                    .pieces = pieces_new(m),
	                    .parallel = parallel_new(m),
	                    .other = parallel_new(m),
	                    .memo = fair_memo_new()};
	return w;
}

void fluid_free(struct fluid *w)
{
	if (!w)
		return;
	pieces_free(w->pieces);
	parallel_free(w->parallel);
	parallel_free(w->other);
	fair_memo_free(w->memo);
	xfree(w);
}

/*
 * Where every end of a task is felt by all others, the work is as tasks times uses; else
 * it is some hundredth of that. Nobody waits for the former.
 */
static bool is_hopeless(const struct fair *f)
{
	return (double)f->ntasks * (double)f->nuses > 25. * FLUID_WORK_MAX;
}

/* Seconds of a system; < 0 if finding them takes too much work. */
static double system_s(const struct fluid *w, const struct fair *f)
{
	struct fair kinds;
	bool folded = alike_fold(&kinds, f);
	const struct fair *least = folded ? &kinds : f;
	double seconds = -1;

	if (!is_hopeless(least))
		seconds = fair_s(least, w->precision_Bps, FLUID_WORK_MAX);
	if (folded)
		fair_free(&kinds);
	return seconds;
}

/*
 * The system of the round that was parted last: of one of its pieces where all are alike,
 * else of the whole.
 */
static const struct fair *round_system(double *until_s, struct fluid *w,
                                       const struct schedule *s, const struct round *r,
                                       const struct piece *piece, int32_t n)
{
	const struct fair *f =
		parallel_make(until_s, w->parallel, s, r, w->pieces, &piece[0]);

	for (int32_t i = 1; i < n; i++) {
		double other_until_s;
		const struct fair *other = parallel_make(&other_until_s, w->other, s, r,
		                                         w->pieces, &piece[i]);

		if (!fair_equal(f, other))
			return parallel_make(until_s, w->parallel, s, r, w->pieces,
			                     NULL);
		*until_s = fmax(*until_s, other_until_s);
	}
	return f;
}

static double round_s(struct fluid *w, const struct schedule *s, const struct round *r,
                      struct reason why)
{
	const struct piece *piece;
	const struct fair *f;
	double seconds, until_s;
	int32_t n = 0;

	switch (pieces_find(&piece, &n, w->pieces, s, r)) {
	case PIECES_NO_ROUTE:
		snprintf(why.text, why.size, "a message has no route on %s",
		         w->machine->name);
		return CLOCK_FAILED_S;
	case PIECES_TOO_LARGE:
		snprintf(why.text, why.size,
		         "the routes of a round have more than %d links, too many for "
		         "fluid; model takes them",
		         PIECES_LINKS_MAX);
		return CLOCK_REFUSED_S;
	case PIECES_OK:
		break;
	}
	f = round_system(&until_s, w, s, r, piece, n);
	if (!fair_memo_find(&seconds, w->memo, f)) {
		seconds = system_s(w, f);
		fair_memo_add(w->memo, f, seconds);
	}
	if (seconds >= 0)
		return fmax(seconds, until_s);
	snprintf(
		why.text, why.size,
		"%lld transfers share %d links in too many ways for fluid; model takes "
		"them",
		(long long)f->ntasks, (int)f->nlinks);
	return CLOCK_REFUSED_S;
}

double fluid_clock(void *self, const struct schedule *s, char *message, size_t size)
{
	double total_s = 0;

	for (int64_t r = 0; r < s->nrounds; r++) {
		double seconds =
			round_s(self, s, &s->round[r], (struct reason){message, size});

		if (seconds < 0)
			return seconds;
		total_s += seconds;
	}
	return total_s;
}
