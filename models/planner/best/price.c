#include "planner/best/price.h"

#include "planner/best/key.h"

#include <stdlib.h>

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
	struct arena *arena;   /* of a plan while it is priced */
	struct script_key key; /* of the step that is looked at */
	int64_t work, most;    /* messages */
};

struct step_prices *step_prices_new(const struct problem *p, const struct prices *prices)
{
	struct step_prices *steps = xmalloc(1, sizeof(*steps));

	*steps = (struct step_prices){.problem = p, .prices = prices, .most = INT64_MAX};
	steps->arena = arena_new();
	prices->forget(prices->self);
	return steps;
}

void step_prices_free(struct step_prices *steps)
{
	if (!steps)
		return;
	arena_free(steps->arena);
	script_key_free(&steps->key);
	free(steps);
}

int64_t step_prices_work(const struct step_prices *steps)
{
	return steps->work;
}

void step_prices_limit(struct step_prices *steps, int64_t most)
{
	steps->most = most;
}

static struct price bound_of_step(struct step_prices *steps, const struct view *view,
                                  const struct layout *from, const struct layout *to)
{
	struct problem p = *steps->problem;

	p.array.shape = view->shape;
	p.from = *from;
	p.to = *to;
	p.to_mesh = p.mesh;
	p.two_meshes = false;
	steps->work += BOUND_WORK * p.ndevices;
	return steps->prices->bound(steps->prices->self, &p);
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
 * The note on a permute or an exchange, at least with its bound if that is worth it: not
 * without a limit that it may be above.
 */
static struct price_note *note_of(struct step_prices *steps, const struct script *s,
                                  int i, const struct price *limit)
{
	struct price_note *note;

	script_sent_key(&steps->key, s, i);
	note = steps->prices->note(steps->prices->self, steps->key.at,
	                           script_key_size(&steps->key));
	if (!note->bounded && limit && boxes_of(s, i) > BOXES_FEW)
		note->bound = bound_of_step(steps, &s->view, script_before(s, i),
		                            &s->step[i].after);
	note->bounded = true;
	return note;
}

/* Of exchanges and permutes; all other steps are priced from a table as a rule. */
static int64_t messages_of(const struct plan *plan)
{
	int64_t n = 0;

	for (int i = 0; i < plan->nsteps; i++)
		n += plan->step[i].ntransfers + plan->step[i].npairs;
	return n;
}

static bool is_much(const struct step_prices *steps, const struct script *s, int i)
{
	int64_t work = boxes_of(s, i) * steps->problem->ndevices;

	return steps->work + work > steps->most;
}

static void build_step(struct step_prices *steps, struct price_note *note,
                       const struct script *s, int i)
{
	struct plan *plan;

	arena_reset(steps->arena);
	plan = script_step_plan(s, i, steps->prices, steps->arena);
	note->priced = true;
	note->impossible = !plan;
	steps->work += STEP_WORK + steps->problem->ndevices;
	if (!plan)
		return;
	steps->work += messages_of(plan);
	note->price = steps->prices->plan(steps->prices->self, plan);
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
static bool bound_script(struct price *out, struct price_note **notes,
                         struct step_prices *steps, const struct script *s,
                         struct price sum, const struct price *limit)
{
	*out = sum;
	for (int i = 0; i < s->n; i++) {
		const struct price_note *note;

		if (!is_sent(s, i))
			continue;
		note = notes[i] = note_of(steps, s, i, limit);
		if (note->impossible)
			return false;
		if (!note->priced && is_much(steps, s, i))
			return false;
		*out = price_add(*out, note->priced ? note->price : note->bound);
	}
	return !is_above(*out, limit);
}

bool step_prices_script(struct price *out, struct step_prices *steps,
                        const struct script *s, const struct price *limit)
{
	struct price_note *notes[SCRIPT_STEPS_MAX];
	struct price sum = {0};

	for (int i = 0; i < s->n; i++)
		if (!is_sent(s, i))
			sum = price_add(sum, script_price(s, i, steps->prices));
	if (is_above(sum, limit))
		return false;
	if (!bound_script(out, notes, steps, s, sum, limit))
		return false;
	for (int i = 0; i < s->n; i++) {
		struct price_note *note = notes[i];

		if (!is_sent(s, i))
			continue;
		if (!note->priced)
			build_step(steps, note, s, i);
		if (note->impossible)
			return false;
		sum = price_add(sum, note->price);
		if (is_above(sum, limit))
			return false;
	}
	*out = sum;
	return true;
}
