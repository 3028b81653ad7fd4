#include "price/group_prices.h"

#include "base/keys.h"
#include "collective/device_ring.h"
#include "collective/lower.h"
#include "collective/profile.h"
#include "collective/two_level.h"
#include "cost/model.h"
#include "plan/groups.h"
#include "price/curve.h"
#include "price/even.h"
#include "price/price.h"
#include "price/shifts.h"
#include "price/translates.h"

#include <stdlib.h>
#include <string.h>

/* A collective of one level of another (collective/two_level.h), over groups of its own. */
struct price_level {
	enum op op;
	int32_t number;
	double bytes; /* for each byte of the other */
};

/* How the seconds of an op over groups of a number are come by. */
enum form { FORM_UNKNOWN, FORM_TIMED, FORM_LEVELS, FORM_SHIFTS };

struct op_prices {
	enum form form;
	struct curve curve; /* what was timed */
	int nlevels;
	struct price_level level[TWO_LEVEL_MOST];
	struct shifts shifts;
};

/* Groups that are priced alike: of even machines their shape is known, of others those to price. */
struct wire_groups {
	struct even_shape shape; /* nodes 0: they have none */
	struct groups few;
	bool translates; /* they stand for all (price/translates.h) */
	int32_t set;     /* the number of those with the same devices in any order */
};

struct group_prices {
	struct arena *arena, *scratch;
	struct machine machine; /* with nothing forced, as all prices are (price/price.h) */
	struct even_prices *even;            /* NULL: the machine is not even */
	const struct translates *translates; /* NULL: it is no torus */
	struct model *model;
	struct keys groups, prices;
	LIST(struct wire_groups) group; /* by the number of their key */
	LIST(struct op_prices) known;   /* by the number of the key */
};

struct group_prices *group_prices_new(const struct machine *m)
{
	struct group_prices *p = xmalloc(1, sizeof(*p));

	*p = (struct group_prices){.arena = arena_new(), .machine = *m};
	p->scratch = arena_new();
	p->machine.forced = (struct forced){0};
	p->machine.tuning.value[TUNING_SCHEDULED] = 0;
	p->groups.arena = p->prices.arena = p->arena;
	p->even = even_prices_new(m);
	p->translates = translates_new(p->arena, m);
	p->model = model_new(&p->machine);
	return p;
}

void group_prices_free(struct group_prices *p)
{
	if (!p)
		return;
	even_prices_free(p->even);
	model_free(p->model);
	arena_free(p->arena);
	arena_free(p->scratch);
	xfree(p);
}

/* --- groups ----------------------------------------------------------------------- */

static int32_t number_of(struct group_prices *p, struct even_shape shape,
                         struct groups g, bool *fresh)
{
	size_t n = (size_t)g.ngroups * (size_t)g.size;
	int32_t *key = arena_alloc(p->scratch, n + 4, sizeof(*key)), number;

	key[0] = shape.nodes;
	key[1] = shape.per_node;
	key[2] = shape.apart;
	key[3] = g.size;
	if (n)
		memcpy(key + 4, g.ids, n * sizeof(*key));
	number = keys_add(&p->groups, key, (n + 4) * sizeof(*key), fresh);
	if (!*fresh)
		return number;
	/* The key is kept, and is the groups. */
	g.ids = (const int32_t *)p->groups.key.at[number].at + 4;
	*list_add(&p->group, p->arena) =
		(struct wire_groups){.shape = shape, .few = g, .set = number};
	return number;
}

static struct groups sorted(struct groups g, struct arena *a)
{
	size_t n = (size_t)g.ngroups * (size_t)g.size;
	int32_t *ids = arena_dup(a, g.ids, n, sizeof(*ids));

	for (int32_t i = 0; i < g.ngroups; i++)
		qsort(ids + (int64_t)i * g.size, (size_t)g.size, sizeof(*ids),
		      compare_int32);
	g.ids = ids;
	return g;
}

/* The number of groups of platform devices in any order, of which those are kept that stand for all. */
static int32_t number_few(struct group_prices *p, struct groups g)
{
	const struct even_shape none = {0};
	int32_t *ids = arena_dup(p->scratch, g.ids, (size_t)g.ngroups * (size_t)g.size,
	                         sizeof(*ids));
	int32_t number, set;
	struct groups few;
	bool fresh;

	qsort(ids, (size_t)g.ngroups, (size_t)g.size * sizeof(*ids), compare_int32);
	g.ids = ids;
	few = translates_few(p->translates, &g, p->scratch);
	number = number_of(p, none, few, &fresh);
	if (fresh) {
		p->group.at[number].translates = few.ids != ids;
		set = number_of(p, none, sorted(few, p->scratch), &fresh);
		p->group.at[number].set = set;
	}
	return number;
}

int32_t group_prices_number(struct group_prices *p, const struct mesh *mesh,
                            const int32_t *device, const struct part *part, int nparts)
{
	struct move move = {-1, -1, 1, nparts, part};
	struct even_shape shape = {0};
	struct groups g = {0};
	int32_t *ids;
	bool fresh;

	arena_reset(p->scratch);
	if (p->even)
		shape = even_shape_of(p->even, mesh, device, part, nparts);
	if (shape.nodes)
		return number_of(p, shape, g, &fresh);
	g = groups_of_moves(mesh, &move, 1, p->scratch);
	if (device) {
		ids = arena_alloc(p->scratch, (size_t)mesh->ndevices, sizeof(*ids));
		for (int32_t i = 0; i < mesh->ndevices; i++)
			ids[i] = device[g.ids[i]];
		g.ids = ids;
	}
	return number_few(p, g);
}

/* --- seconds ---------------------------------------------------------------------- */

struct sum {
	struct model *model;
	double seconds;
};

/* A round_fn. */
static bool add_round(void *self, const struct schedule *s)
{
	struct sum *sum = self;
	double seconds = model_schedule_s(sum->model, s);

	sum->seconds = seconds < 0 ? PRICE_IMPOSSIBLE_S : sum->seconds + seconds;
	return seconds >= 0;
}

static bool has_fill(const struct group_prices *p)
{
	return p->machine.tuning.value[TUNING_FILL_S] ||
	       p->machine.tuning.value[TUNING_NET_FILL_S];
}

/*
 * Whether what groups take is convex in the bytes (price/curve.h): pipelines fill by their square root,
 * and of rings in two orders the faster one is taken.
 */
static bool is_convex(const struct group_prices *p, const struct groups *g,
                      const struct lowered *l)
{
	return p->translates && !has_fill(p) &&
	       ((strcmp(l->algorithm, "ring") && strcmp(l->algorithm, "device-ring")) ||
	        !device_ring_differs(g));
}

static double lowered_s(struct group_prices *p, const struct groups *g, enum op op,
                        double bytes, bool *any_order, bool *convex)
{
	struct sum sum = {p->model, 0};
	struct lowered lowered;
	struct text why = {0};
	bool done;

	arena_reset(p->scratch);
	done = lower_collective_rounds(&lowered, p->scratch, &p->machine, op, *g, bytes,
	                               add_round, &sum, &why) &&
	       sum.seconds < PRICE_IMPOSSIBLE_S;
	text_free(&why);
	*any_order = done && lowered.any_order;
	*convex = done && bytes > 0 && is_convex(p, g, &lowered);
	return done ? sum.seconds : PRICE_IMPOSSIBLE_S;
}

/* What is known of a collective over these groups, or over all with the same devices. */
static struct op_prices *prices_of(struct group_prices *p, int32_t number, enum op op,
                                   bool any_order)
{
	const int32_t key[3] = {number, (int32_t)op, any_order};
	bool fresh;
	int32_t at = keys_add(&p->prices, key, sizeof(key), &fresh);

	if (fresh)
		*list_add(&p->known, p->arena) = (struct op_prices){0};
	return &p->known.at[at];
}

/*
 * Levels are collectives over groups of their own: of tori few stand for all, which many groups that go
 * over several tori share. False where one is lowered otherwise than as a part of the whole.
 */
static bool find_levels(struct group_prices *p, struct op_prices *out, enum op op,
                        const struct groups *g)
{
	struct lowered_level level[TWO_LEVEL_MOST];
	int n = two_level_split(level, p->scratch, &p->machine, op, g, 1);

	for (int i = 0; i < n; i++)
		if (!lower_algorithm(&p->machine, level[i].op, &level[i].groups) ||
		    (has_fill(p) && profile_of(&p->machine, &level[i].groups)->fill !=
		                            profile_of(&p->machine, g)->fill))
			return false;
	for (int i = 0; i < n; i++)
		out->level[i] = (struct price_level){
			level[i].op, number_few(p, level[i].groups), level[i].bytes};
	out->nlevels = n;
	return true;
}

static void find_form(struct group_prices *p, int32_t number, enum op op)
{
	struct wire_groups of = p->group.at[number];
	const struct algorithm *algorithm = lower_algorithm(&p->machine, op, &of.few);
	const char *name = algorithm ? algorithm->name : "";
	struct op_prices form = {.form = FORM_TIMED};

	arena_reset(p->scratch);
	if (!strcmp(name, "two-level") && find_levels(p, &form, op, &of.few))
		form.form = FORM_LEVELS;
	if (!strcmp(name, "pairwise") && of.translates && !has_fill(p) &&
	    algorithm->messages(&of.few) <= ALGORITHM_MESSAGES_MAX &&
	    shifts_find(&form.shifts, &p->machine, p->translates, &of.few))
		form.form = FORM_SHIFTS;
	*prices_of(p, number, op, false) = form;
}

/* Nobody sends messages of no bytes. */
static double shifts_s(const struct shifts *shifts, double bytes)
{
	return bytes > 0 ? shifts->s + shifts->s_per_byte * bytes : 0;
}

static double levels_s(struct group_prices *p, const struct op_prices *form,
                       double bytes)
{
	double sum_s = 0;

	for (int i = 0; i < form->nlevels; i++) {
		const struct price_level *l = &form->level[i];

		sum_s += group_prices_s(p, l->number, l->op, l->bytes * bytes);
	}
	return sum_s < PRICE_IMPOSSIBLE_S ? sum_s : PRICE_IMPOSSIBLE_S;
}

/* The seconds that were timed, of as many bytes or around them, or are timed now. */
static double timed_s(struct group_prices *p, int32_t number, enum op op, double bytes)
{
	const struct wire_groups *g = &p->group.at[number];
	double s = curve_s(&prices_of(p, number, op, false)->curve, bytes);
	bool any_order, convex;

	if (s < 0)
		s = curve_s(&prices_of(p, g->set, op, true)->curve, bytes);
	if (s >= 0)
		return s;
	s = lowered_s(p, &g->few, op, bytes, &any_order, &convex);
	number = any_order ? g->set : number;
	curve_add(&prices_of(p, number, op, any_order)->curve, p->arena, bytes, s,
	          convex);
	return s;
}

double group_prices_s(struct group_prices *p, int32_t number, enum op op, double bytes)
{
	struct even_shape shape = p->group.at[number].shape;
	struct op_prices form;
	double s;

	if (shape.nodes) {
		s = even_wires_s(p->even, op, shape, bytes);
		return s < 0 ? PRICE_IMPOSSIBLE_S : s;
	}
	if (prices_of(p, number, op, false)->form == FORM_UNKNOWN)
		find_form(p, number, op);
	form = *prices_of(p, number, op, false);
	return form.form == FORM_LEVELS   ? levels_s(p, &form, bytes)
	       : form.form == FORM_SHIFTS ? shifts_s(&form.shifts, bytes)
	                                  : timed_s(p, number, op, bytes);
}
