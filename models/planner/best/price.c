#include "planner/best/price.h"

#include <stdlib.h>
#include <string.h>

/* What is known of a permute or an exchange. */
struct known {
	uint64_t hash; /* 0: free */
	bool priced, impossible;
	struct price bound, price;
};

/*
 * A bound takes as long as an exchange of a few boxes for each device: of those with
 * less the price is asked at once.
 */
enum { BOXES_FEW = 32 };

/* Messages that take as long as a bound does by devices, and as what each step takes. */
enum { BOUND_WORK = 8, STEP_WORK = 60 };

struct step_prices {
	const struct problem *problem;
	const struct prices *prices;
	struct arena *arena; /* of a plan while it is priced */
	int64_t work, most;  /* messages */
	size_t n, capacity;  /* a power of two */
	struct known *known;
};

struct step_prices *step_prices_new(const struct problem *p, const struct prices *prices)
{
	struct step_prices *x = xmalloc(1, sizeof(*x));

	*x = (struct step_prices){.problem = p, .prices = prices, .capacity = 256};
	x->most = INT64_MAX;
	x->arena = arena_new();
	x->known = xmalloc(x->capacity, sizeof(*x->known));
	memset(x->known, 0, x->capacity * sizeof(*x->known));
	return x;
}

void step_prices_free(struct step_prices *x)
{
	if (!x)
		return;
	arena_free(x->arena);
	free(x->known);
	free(x);
}

int64_t step_prices_work(const struct step_prices *x)
{
	return x->work;
}

void step_prices_limit(struct step_prices *x, int64_t most)
{
	x->most = most;
}

static struct known *find(struct known *known, size_t capacity, uint64_t hash)
{
	size_t i = hash & (capacity - 1);

	while (known[i].hash != 0 && known[i].hash != hash)
		i = (i + 1) & (capacity - 1);
	return &known[i];
}

static void grow(struct step_prices *x)
{
	size_t capacity = 2 * x->capacity;
	struct known *known = xmalloc(capacity, sizeof(*known));

	memset(known, 0, capacity * sizeof(*known));
	for (size_t i = 0; i < x->capacity; i++)
		if (x->known[i].hash != 0)
			*find(known, capacity, x->known[i].hash) = x->known[i];
	free(x->known);
	x->known = known;
	x->capacity = capacity;
}

static struct price bound_of(struct step_prices *x, const struct view *view,
                             const struct layout *from, const struct layout *to)
{
	struct problem p = *x->problem;

	p.array.shape = view->shape;
	p.from = *from;
	p.to = *to;
	p.to_mesh = p.mesh;
	p.two_meshes = false;
	x->work += BOUND_WORK * p.ndevices;
	return x->prices->bound(x->prices->self, &p);
}

/* How many tiles of the layout before a step meet one of that after it, about. */
static int64_t boxes_of(const struct script *s, int i)
{
	struct shape before = layout_local(script_before(s, i), &s->view.shape);
	struct shape after = layout_local(&s->step[i].after, &s->view.shape);
	int64_t n = 1;

	for (int dim = 0; dim < before.rank; dim++)
		if (after.dim[dim] > before.dim[dim])
			n *= after.dim[dim] / before.dim[dim];
	return n;
}

/*
 * The entry of a permute or an exchange, at least with its bound if that is worth it: not
 * without a limit that it may be above.
 */
static struct known *know(struct step_prices *x, uint64_t hash, const struct script *s,
                          int i, const struct price *limit)
{
	struct known *k = find(x->known, x->capacity, hash);

	if (k->hash != 0)
		return k;
	if (2 * ++x->n > x->capacity) {
		grow(x);
		k = find(x->known, x->capacity, hash);
	}
	*k = (struct known){.hash = hash};
	if (limit && boxes_of(s, i) > BOXES_FEW)
		k->bound = bound_of(x, &s->view, script_before(s, i), &s->step[i].after);
	return k;
}

/* Of exchanges and permutes; all other steps are priced from a table as a rule. */
static int64_t messages_of(const struct plan *plan)
{
	int64_t n = 0;

	for (int i = 0; i < plan->nsteps; i++)
		n += plan->step[i].ntransfers + plan->step[i].npairs;
	return n;
}

static bool is_much(const struct step_prices *x, const struct script *s, int i)
{
	int64_t work = boxes_of(s, i) * x->problem->ndevices;

	return x->work + work > x->most;
}

static void build(struct step_prices *x, struct known *k, const struct script *s, int i)
{
	struct plan *plan;

	arena_reset(x->arena);
	plan = script_step_plan(s, i, x->prices, x->arena);
	k->priced = true;
	k->impossible = !plan;
	x->work += STEP_WORK + x->problem->ndevices;
	if (!plan)
		return;
	x->work += messages_of(plan);
	k->price = x->prices->plan(x->prices->self, plan);
}

static bool is_sent(const struct script *s, int i)
{
	return s->step[i].op == OP_PERMUTE || s->step[i].op == OP_EXCHANGE;
}

static bool is_above(struct price price, const struct price *limit)
{
	return limit && price_compare(price, *limit) > 0;
}

/* What the steps that are built take at least; `sum` is of all others. */
static bool bound_script(struct price *out, uint64_t *hash, struct step_prices *x,
                         const struct script *s, struct price sum,
                         const struct price *limit)
{
	*out = sum;
	for (int i = 0; i < s->n; i++) {
		const struct known *k;

		if (!is_sent(s, i))
			continue;
		hash[i] = script_sent_hash(s, i) | 1;
		k = know(x, hash[i], s, i, limit);
		if (k->impossible)
			return false;
		if (!k->priced && is_much(x, s, i))
			return false;
		*out = price_add(*out, k->priced ? k->price : k->bound);
	}
	return !is_above(*out, limit);
}

bool step_prices_script(struct price *out, struct step_prices *x,
                        const struct script *s, const struct price *limit)
{
	uint64_t hash[SCRIPT_STEPS_MAX];
	struct price sum = {0};

	for (int i = 0; i < s->n; i++)
		if (!is_sent(s, i))
			sum = price_add(sum, script_price(s, i, x->prices));
	if (is_above(sum, limit))
		return false;
	if (!bound_script(out, hash, x, s, sum, limit))
		return false;
	for (int i = 0; i < s->n; i++) {
		struct known *k;

		if (!is_sent(s, i))
			continue;
		k = find(x->known, x->capacity, hash[i]);
		if (!k->priced)
			build(x, k, s, i);
		if (k->impossible)
			return false;
		sum = price_add(sum, k->price);
		if (is_above(sum, limit))
			return false;
	}
	*out = sum;
	return true;
}
