#include "planner/best_price.h"

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
enum { BOXES_FEW = 8 };

struct step_prices {
	const struct problem *problem;
	const struct prices *prices;
	struct arena *arena; /* of a plan while it is priced */
	int64_t messages;
	size_t n, capacity; /* a power of two */
	struct known *known;
};

struct step_prices *step_prices_new(const struct problem *p, const struct prices *prices)
{
	struct step_prices *x = xmalloc(1, sizeof(*x));

	*x = (struct step_prices){.problem = p, .prices = prices, .capacity = 256};
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

int64_t step_prices_messages(const struct step_prices *x)
{
	return x->messages;
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

struct price step_prices_bound(struct step_prices *x, const struct view *view,
                               const struct layout *from, const struct layout *to)
{
	struct problem p = *x->problem;

	p.array.shape = view->shape;
	p.from = *from;
	p.to = *to;
	p.to_mesh = p.mesh;
	p.two_meshes = false;
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

/* The entry of a permute or an exchange, at least with its bound if that is worth it. */
static struct known *know(struct step_prices *x, const struct script *s, int i)
{
	uint64_t hash = script_step_hash(s, i) | 1;
	struct known *k = find(x->known, x->capacity, hash);

	if (k->hash != 0)
		return k;
	if (2 * ++x->n > x->capacity) {
		grow(x);
		k = find(x->known, x->capacity, hash);
	}
	*k = (struct known){.hash = hash};
	if (boxes_of(s, i) > BOXES_FEW)
		k->bound = step_prices_bound(x, &s->view, script_before(s, i),
		                             &s->step[i].after);
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

static void build(struct step_prices *x, struct known *k, const struct script *s, int i)
{
	struct plan *plan;

	arena_reset(x->arena);
	plan = script_step_plan(s, i, x->prices, x->arena);
	k->priced = true;
	k->impossible = !plan;
	if (!plan)
		return;
	x->messages += messages_of(plan);
	k->price = x->prices->plan(x->prices->self, plan);
}

static bool is_sent(const struct script *s, int i)
{
	return s->step[i].op == OP_PERMUTE || s->step[i].op == OP_EXCHANGE;
}

bool step_prices_script(struct price *out, struct step_prices *x,
                        const struct script *s, const struct price *limit)
{
	struct price sum = {0}, rest = {0};

	for (int i = 0; i < s->n; i++)
		if (!is_sent(s, i))
			sum = price_add(sum, script_price(s, i, x->prices));
	if (limit && price_compare(sum, *limit) > 0)
		return false;
	for (int i = 0; i < s->n; i++) {
		struct known *k = is_sent(s, i) ? know(x, s, i) : NULL;

		if (k && k->impossible)
			return false;
		if (k)
			rest = price_add(rest, k->priced ? k->price : k->bound);
	}
	if (limit && price_compare(price_add(sum, rest), *limit) > 0)
		return false;
	for (int i = 0; i < s->n; i++) {
		struct known *k = is_sent(s, i) ? know(x, s, i) : NULL;

		if (!k)
			continue;
		if (!k->priced)
			build(x, k, s, i);
		if (k->impossible)
			return false;
		sum = price_add(sum, k->price);
		if (limit && price_compare(sum, *limit) > 0)
			return false;
	}
	*out = sum;
	return true;
}
