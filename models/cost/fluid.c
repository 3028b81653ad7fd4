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
	struct parallel *parallel, *other; /* to compare two systems */
	struct fair_memo *memo;
};

/* The buffer for the reason why there is no time. */
struct reason {
	char *text;
	size_t size;
};

struct fluid *fluid_new(const struct machine *m)
{
	struct fluid *fluid = xmalloc(1, sizeof(*fluid));

	*fluid = (struct fluid){.machine = m,
	                        .precision_Bps = fair_precision_Bps(m),
	                        .pieces = pieces_new(m),
	                        .parallel = parallel_new(m),
	                        .other = parallel_new(m),
	                        .memo = fair_memo_new()};
	return fluid;
}

void fluid_free(struct fluid *fluid)
{
	if (!fluid)
		return;
	pieces_free(fluid->pieces);
	parallel_free(fluid->parallel);
	parallel_free(fluid->other);
	fair_memo_free(fluid->memo);
	xfree(fluid);
}

static const double HOPELESS_WORK = 50. * FLUID_WORK_MAX;

/*
 * Returns whether the work is beyond all patience. Where the end of any task changes
 * the rates of all others, the work is the number of tasks times that of uses; else it
 * is a thirtieth of that, or a hundredth.
 */
static bool is_hopeless(const struct fair *f)
{
	return (double)f->ntasks * (double)f->nuses > HOPELESS_WORK;
}

/* Returns the seconds of a system, or < 0 if finding them takes too much work. */
static double system_s(const struct fluid *fluid, const struct fair *f)
{
	struct fair kinds;
	/* More kinds of tasks, each with a use or more, are hopeless. */
	int64_t most = (int64_t)sqrt(HOPELESS_WORK);
	bool folded = alike_fold(&kinds, f, most);
	double seconds = -1;

	if (!folded && !is_hopeless(f))
		fair_write_out(&kinds, f);
	else if (!folded)
		return seconds;
	if (!is_hopeless(&kinds))
		seconds = fair_s(&kinds, fluid->precision_Bps, FLUID_WORK_MAX);
	fair_free(&kinds);
	return seconds;
}

/*
 * Returns the system of the round that was parted last: that of one of its pieces where
 * all are alike, else that of the whole round.
 */
static const struct fair *round_system(double *until_s, struct fluid *fluid,
                                       const struct schedule *s, const struct round *r,
                                       const struct piece *piece, int32_t n)
{
	const struct fair *f =
		parallel_make(until_s, fluid->parallel, s, r, fluid->pieces, &piece[0]);

	for (int32_t i = 1; i < n; i++) {
		double other_until_s;
		const struct fair *other = parallel_make(
			&other_until_s, fluid->other, s, r, fluid->pieces, &piece[i]);

		if (!fair_equal(f, other))
			return parallel_make(until_s, fluid->parallel, s, r,
			                     fluid->pieces, NULL);
		*until_s = fmax(*until_s, other_until_s);
	}
	return f;
}

static double round_s(struct fluid *fluid, const struct schedule *s,
                      const struct round *r, struct reason why)
{
	const struct piece *piece;
	const struct fair *f;
	double seconds, until_s;
	int32_t n = 0;

	switch (pieces_find(&piece, &n, fluid->pieces, s, r)) {
	case PIECES_NO_ROUTE:
		snprintf(why.text, why.size, "a message has no route on %s",
		         fluid->machine->name);
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
	f = round_system(&until_s, fluid, s, r, piece, n);
	if (!f->use) /* too large to be kept */
		seconds = system_s(fluid, f);
	else if (!fair_memo_find(&seconds, fluid->memo, f)) {
		seconds = system_s(fluid, f);
		fair_memo_add(fluid->memo, f, seconds);
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
