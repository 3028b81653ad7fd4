/* Rules of windows that slide over an array, and of reshapes. */
#include "program/rules_build.h"

/* A spatial dimension: window count and window size, the larger one major. */
static void spatial_dim(struct rule_build *b, const struct conv_attr *c, int32_t i)
{
	int64_t count = rule_size(b, 2, c->out_spatial[i]);
	int64_t size = rule_size(b, 1, c->kernel_spatial[i]);
	int32_t moves = rule_factor(b, count, FACTOR_PERMUTE, false);
	int32_t sums = rule_factor(b, size, FACTOR_REDUCE, false);

	rule_put(b, 0, c->spatial[i], count >= size ? moves : sums);
	rule_put(b, 0, c->spatial[i], count >= size ? sums : moves);
	rule_put(b, 1, c->kernel_spatial[i], sums);
	rule_put(b, 2, c->out_spatial[i], moves);
}

void rule_convolution(struct rule_build *b)
{
	const struct conv_attr *c = b->op->as.conv;
	int64_t out = rule_size(b, 2, c->out_feature);
	int64_t groups = c->feature_groups > 1 ? c->feature_groups : c->batch_groups;
	int32_t f;

	/* Groups are major in what they split. */
	if (groups > 1) {
		f = rule_factor(b, groups, FACTOR_PASS, false);
		rule_put(b, 0, c->feature_groups > 1 ? c->feature : c->batch, f);
		rule_put(b, 1, c->kernel_out, f);
		rule_put(b, 2, c->out_feature, f);
		out /= groups;
	}
	f = rule_factor(b, rule_size(b, 2, c->out_batch), FACTOR_PASS, false);
	rule_put(b, 0, c->batch, f);
	rule_put(b, 2, c->out_batch, f);
	f = rule_factor(b, out, FACTOR_PASS, false);
	rule_put(b, 1, c->kernel_out, f);
	rule_put(b, 2, c->out_feature, f);
	f = rule_factor(b, rule_size(b, 1, c->kernel_in), FACTOR_REDUCE, false);
	rule_put(b, 0, c->feature, f);
	rule_put(b, 1, c->kernel_in, f);
	for (int32_t i = 0; i < c->nspatial; i++)
		spatial_dim(b, c, i);
}

/* A window of one element that goes over all elements does nothing. */
static bool trivial_window(const struct window *w, int32_t d)
{
	return (!w->size || w->size[d] == 1) && (!w->stride || w->stride[d] == 1) &&
	       (!w->low || !w->low[d]) && (!w->high || !w->high[d]) &&
	       (!w->lhs_dilate || w->lhs_dilate[d] == 1) &&
	       (!w->rhs_dilate || w->rhs_dilate[d] == 1);
}

/* Of a window's two arrays the one with an element for each place has the sizes. */
void rule_reduce_window(struct rule_build *b)
{
	const struct window *w = b->op->as.window;
	int32_t places = b->op->code == HLO_REDUCE_WINDOW ? b->r->noperands : 1;

	for (int32_t d = 0; d < b->r->tensor[0].rank; d++) {
		int32_t f = rule_factor(
			b, rule_size(b, places, d),
			trivial_window(w, d) ? FACTOR_PASS : FACTOR_PERMUTE, false);

		for (int32_t t = 0; t < b->r->ntensors; t++)
			if (b->r->tensor[t].rank == b->r->tensor[0].rank)
				rule_put(b, t, d, f);
	}
}

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* One side of a reshape: where it stands, and what its factors so far make. */
struct walk {
	int32_t tensor, dim;
	int64_t rest;   /* of the dimension */
	int64_t placed; /* product of the factors */
};

static void place(struct rule_build *b, struct walk *w, int32_t f, int64_t size)
{
	rule_put(b, w->tensor, w->dim, f);
	w->rest /= size;
	w->placed *= size;
}

static void place_own(struct rule_build *b, struct walk *w, int64_t size)
{
	place(b, w, rule_factor(b, size, FACTOR_PASS, false), size);
}

/* Goes to the next dimension that has something left; those of one element stand alone. */
static bool advance(struct rule_build *b, struct walk *w)
{
	while (w->rest == 1) {
		if (++w->dim >= b->r->tensor[w->tensor].rank)
			return false;
		w->rest = rule_size(b, w->tensor, w->dim);
		if (w->rest == 1)
			place_own(b, w, 1);
	}
	return true;
}

/* The side that is behind takes what it needs to catch up, if its dimension has it. */
static void catch_up(struct rule_build *b, struct walk *behind, const struct walk *other)
{
	int64_t g = common_divisor(behind->rest, other->rest);
	int64_t missing = other->placed / behind->placed;

	if (other->placed % behind->placed == 0 && behind->rest % missing == 0)
		place_own(b, behind, missing);
	else
		place_own(b, behind, g < behind->rest ? behind->rest / g : behind->rest);
}

/* Shardy's walk over both shapes from the major side. */
bool rule_reshape(struct rule_build *b)
{
	struct walk in = {0, -1, 1, 1}, out = {1, -1, 1, 1};

	for (int32_t d = 0; d < b->r->tensor[0].rank; d++)
		if (rule_size(b, 0, d) == 0)
			return false;
	for (;;) {
		bool more_in = advance(b, &in), more_out = advance(b, &out);
		int64_t g;

		if (!more_in || !more_out || in.rest < 1 || out.rest < 1)
			break;
		g = common_divisor(in.rest, out.rest);
		if (in.placed == out.placed && g > 1) {
			int32_t f = rule_factor(b, g, FACTOR_PASS, false);

			place(b, &in, f, g);
			place(b, &out, f, g);
		} else if (in.placed == out.placed) {
			place_own(b, &in, in.rest);
			place_own(b, &out, out.rest);
		} else if (in.placed < out.placed) {
			catch_up(b, &in, &out);
		} else {
			catch_up(b, &out, &in);
		}
	}
	/* What one side has left when the other has ended is its own. */
	for (struct walk *w = &in; w; w = w == &in ? &out : NULL)
		while (advance(b, w) && w->rest > 1)
			place_own(b, w, w->rest);
	return true;
}
