#include "automap/reshard.h"

/* The axes of a dimension, in order. */
static int list_of(int *out, const struct cuts *c, int dim)
{
	int n = 0;

	for (int i = 0; i < c->n; i++)
		if (c->at[i] == dim)
			out[n++] = c->axis[i];
	return n;
}

/* How many axes of a dimension both forms begin with. */
static int common(const struct cuts *a, const struct cuts *b, int dim)
{
	int x[CUT_AXES], y[CUT_AXES], n = list_of(x, a, dim), m = list_of(y, b, dim);
	int k = 0;

	while (k < n && k < m && x[k] == y[k])
		k++;
	return k;
}

static int length(const struct cuts *c, int dim)
{
	int x[CUT_AXES];

	return list_of(x, c, dim);
}

static void append(struct cuts *c, int axis, int dim)
{
	cuts_add(c, axis, dim);
	*c = cuts_sorted(c);
}

static void drop(struct cuts *c, int axis)
{
	struct cuts kept = {0};

	for (int i = 0; i < c->n; i++)
		if (c->axis[i] != axis)
			cuts_add(&kept, c->axis[i], c->at[i]);
	*c = kept;
}

/* The axis that a form wants next on a dimension; -1: none. */
static int wanted(const struct cuts *now, const struct cuts *to, int dim)
{
	int y[CUT_AXES], m = list_of(y, to, dim), k = common(now, to, dim);

	return k == length(now, dim) && k < m ? y[k] : -1;
}

static bool slice(struct cuts *now, const struct cuts *to)
{
	bool any = false;

	for (int i = 0; i < to->n; i++) {
		int axis = wanted(now, to, to->at[i]);

		if (axis < 0 || now->mask >> axis & 1)
			continue;
		append(now, axis, to->at[i]);
		any = true;
	}
	return any;
}

/* Moves the top axis of a dimension to where it is wanted next. */
static bool exchange(struct cuts *now, const struct cuts *to)
{
	for (int i = 0; i < to->n; i++) {
		int axis = wanted(now, to, to->at[i]), from, x[CUT_AXES], n;

		if (axis < 0 || !(now->mask >> axis & 1))
			continue;
		from = cuts_at(now, axis);
		n = list_of(x, now, from);
		if (x[n - 1] != axis)
			continue;
		drop(now, axis);
		append(now, axis, to->at[i]);
		return true;
	}
	return false;
}

/* Drops what no dimension keeps, unless an exchange may still take it. */
static bool gather(struct cuts *now, const struct cuts *to)
{
	bool any = false;

	for (int i = now->n - 1; i >= 0; i--) {
		int dim = now->at[i], x[CUT_AXES], n = list_of(x, now, dim);

		if (common(now, to, dim) == n)
			continue;
		drop(now, x[n - 1]);
		any = true;
	}
	return any;
}

int reshard_hops(struct hop *out, const struct cuts *from, const struct cuts *to)
{
	struct cuts now = *from;
	int n = 0;

	while (!cuts_equal(&now, to) && n < HOPS_MAX) {
		struct hop *h = &out[n];

		h->from = now;
		if (slice(&now, to))
			h->op = OP_SLICE;
		else if (exchange(&now, to))
			h->op = OP_ALL_TO_ALL;
		else if (gather(&now, to))
			h->op = OP_ALL_GATHER;
		h->to = now;
		if (n && out[n - 1].op == h->op && h->op == OP_ALL_GATHER)
			out[n - 1].to = now;
		else
			n++;
	}
	return n;
}

uint8_t transfer_axes(const struct transfer_step *s)
{
	struct hop hop[HOPS_MAX];
	uint8_t axes = s->axes;
	int n = s->op == OP_EXCHANGE ? reshard_hops(hop, &s->from, &s->to) : 0;

	for (int k = 0; k < n; k++)
		for (int i = 0; i < hop[k].from.n; i++) {
			int axis = hop[k].from.axis[i];

			if (cuts_at(&hop[k].to, axis) != hop[k].from.at[i])
				axes |= (uint8_t)(1 << axis);
		}
	return axes;
}
