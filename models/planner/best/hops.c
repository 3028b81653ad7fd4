#include "planner/best/hops.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The work of finding a step that may be priced already, and of its note. */
enum { LEG_WORK = 20, NOTE_WORK = 10 };

/*
 * On more devices senders go by numbers alone: assignments take longer than their messages
 * say, so that plans took 1.4 times as long on 512. Without paths 150 to 200 more of 2,352
 * pairs stay open on 24 devices whose axes do not lie along those of the machine.
 */
enum { PATHS_DEVICES = 128 };

/*
 * The choices of digits that are tried for each that tells copies apart (senders.h), on
 * meshes of few prime digits. Without them 4 of 2,352 pairs stay open on an
 * open torus of 2x4, up to 10 % dearer, and none with them. On 24 devices there is too little
 * work for them: 36 pairs stay open with them, and none without.
 */
enum { CHOICES = 4, BASE_MAX = SENDERS_BASE * SENDERS_BASE * SENDERS_BASE };

/* Returns whether the sizes of all axes are powers of primes. */
static bool has_prime_axes(const struct mesh *m)
{
	for (int x = 0; x < m->naxes; x++) {
		int32_t size = m->axis[x].size, prime = 2;

		while (size > 1 && size % prime)
			prime++;
		while (size > 1 && size % prime == 0)
			size /= prime;
		if (size > 1)
			return false;
	}
	return true;
}

/* What legs are known by, told from steps of scripts by `tag`. */
enum { TAG_EXCHANGE = UINT8_MAX, TAG_COLLECTIVE, TAGS };
struct leg_key {
	uint32_t senders, tag;
	uint8_t types[TYPE_KEY_MAX > (int)TYPE_MOVES_MAX ? (int)TYPE_KEY_MAX
	                                                 : (int)TYPE_MOVES_MAX];
};

void hops_begin(struct hops *out, struct best_pool *pool,
                const struct types_between *types, const struct view *view,
                uint32_t number, struct arena *a)
{
	const struct problem *p = pool->best->problem;

	out->pool = pool;
	out->types = types;
	out->arena = a;
	out->tags = number * TAGS;
	out->few = best_pool_has_few_digits(pool);
	out->senders = p->ndevices <= PATHS_DEVICES ? SENDERS_PATHS : SENDERS_RULE;
	/* that senders go by numbers may hang on how axes are cut (key.c) */
	out->has_keys = out->senders == SENDERS_PATHS || has_prime_axes(&p->mesh);
	script_begin(&out->script, p);
	out->script.view = *view;
}

/*
 * Returns the seconds of a step from a layout, INFINITY if they are not known; where they are
 * more than `most_s`, some that are.
 */
static double step_s(struct hops *hops, const struct layout *from,
                     const struct script_step *step, double most_s)
{
	const struct price most = {.cost = most_s};
	struct script *s = &hops->script;
	struct price price;

	s->from = *from;
	s->to = step->after;
	s->n = 1;
	s->step[0] = *step;
	hops->pool->work += LEG_WORK;
	step_prices_script(&price, hops->pool->steps, s,
	                   isfinite(most_s) ? &most : NULL);
	return price.cost;
}

/* A step between two types, which is written where its price is not known. */
struct leg {
	const struct type *before, *after;
	struct layout from;
	struct script_step step; /* the collective, or an exchange */
	bool written;
};

static void write_leg(struct leg *leg, struct hops *hops)
{
	const struct types_between *t = hops->types;

	if (!leg->written) {
		layout_of_type(&leg->from, leg->before, &t->pieces, t->mesh);
		type_step(&leg->step, t, leg->before, leg->after, true, hops->arena);
	}
	leg->written = true;
}

static struct price_note *note_of(struct hops *hops, const struct leg_key *key,
                                  size_t size)
{
	const struct prices *prices = hops->pool->best->prices;

	return prices->note(prices->self, key, offsetof(struct leg_key, types) + size);
}

static double build_exchange_s(struct hops *hops, struct leg *leg, uint32_t senders,
                               double most_s)
{
	struct script_step exchange = {.op = OP_EXCHANGE, .senders = senders};

	write_leg(leg, hops);
	exchange.after = leg->step.after;
	return step_s(hops, &leg->from, &exchange, most_s);
}

static void consider(struct hop *hop, double seconds, uint32_t senders)
{
	if (seconds < hop->seconds)
		*hop = (struct hop){.seconds = seconds, .senders = senders};
}

/* Returns a leg as an exchange. */
static struct hop build_exchange(struct hops *hops, struct leg *leg, double most_s)
{
	struct hop hop = {.seconds = INFINITY, .senders = hops->senders};
	const struct problem *p = hops->pool->best->problem;
	uint32_t base = 1;

	consider(&hop, build_exchange_s(hops, leg, hops->senders, most_s),
	         hops->senders);
	for (int k = hops->few ? best_copies(p, &leg->from) : 0;
	     k > 0 && base <= BASE_MAX; k--, base *= SENDERS_BASE)
		for (uint32_t choice = 0; choice < CHOICES; choice++) {
			uint32_t senders = SENDERS_MIXED + choice * base;

			consider(&hop, build_exchange_s(hops, leg, senders, most_s),
			         senders);
		}
	return hop;
}

/* Returns a leg as an exchange, whose seconds are INFINITY if they are not known. */
static struct hop exchange_hop(struct hops *hops, struct leg *leg, double most_s)
{
	struct leg_key key = {.senders = hops->senders,
	                      .tag = hops->tags + TAG_EXCHANGE};
	struct price_note *note;
	struct hop hop;

	if (!hops->has_keys)
		return build_exchange(hops, leg, most_s);
	note = note_of(hops, &key,
	               type_key(key.types, hops->types, leg->before, leg->after));
	hops->pool->work += NOTE_WORK;
	if (!note->priced || (note->more && note->price.cost <= most_s)) {
		hop = build_exchange(hops, leg, most_s);
		note->price.cost = hop.seconds;
		note->more = hop.seconds > most_s;
		note->choice = hop.senders;
		note->priced = isfinite(hop.seconds);
	}
	return (struct hop){.seconds = note->price.cost, .senders = note->choice};
}

double hop_collective_s(struct hops *hops, const struct type *before,
                        const struct type *after, double most_s)
{
	enum op op = type_op(before, after);
	struct leg leg = {.before = before, .after = after};
	struct leg_key key = {.tag = hops->tags + TAG_COLLECTIVE};
	struct price_note *note;

	if (op == OP_EXCHANGE)
		return INFINITY;
	note = note_of(hops, &key,
	               type_moves(key.types, hops->types, op, before, after));
	hops->pool->work += NOTE_WORK;
	if (!note->priced || (note->more && note->price.cost <= most_s)) {
		write_leg(&leg, hops);
		note->price.cost = leg.step.op == OP_EXCHANGE
		                           ? INFINITY
		                           : step_s(hops, &leg.from, &leg.step, most_s);
		note->more = note->price.cost > most_s;
		note->priced = true;
	}
	return note->price.cost;
}

struct hop hop_exchange(struct hops *hops, const struct type *before,
                        const struct type *after, double most_s)
{
	struct leg leg = {.before = before, .after = after};

	if (hops->pool->best->problem->vocabulary == VOCABULARY_PORTABLE ||
	    type_op(before, after) == OP_SLICE)
		return (struct hop){.seconds = INFINITY};
	return exchange_hop(hops, &leg, most_s);
}
