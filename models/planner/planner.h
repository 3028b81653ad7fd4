/*
 * Planners: constant tables behind one interface. A planner never knows whether prices
 * come from a formula or a replay; it gets them as a table (models/README.md, Prices).
 *
 * Adding one is one file that ends in `const struct planner planner_<name>` and one line
 * in rivals.h; tests loop over `planners`.
 *
 * Limits of planners say what they buy in rows that get dearer without them, of these 1,460:
 * 300 problems as in scenarios/random.yaml and 330 pairs as in scenarios/layouts.yaml (with
 * parts of axes, up to 4x4x4) on tpu-v4:4x4x4 and dgx-a100:8, and 100 pairs with parts of
 * axes on 8x16 on tpu-v5e:8x16 and dgx-h100:16, by the clock `model`. Some change no row
 * there: these bound the time that a problem of any size may take, and say so.
 */
#ifndef SHARDSIM_PLANNER_PLANNER_H
#define SHARDSIM_PLANNER_PLANNER_H

#include "plan/plan.h"

/*
 * A price, which is compared field by field. Without a platform `cost` is the received
 * bytes of the busiest device, then come communicating steps, then local ones. With one
 * `cost` is seconds and the counts are 0. Where memory counts, `cost` is the
 * peak_live_bytes of a plan and `then` what it would have cost else. Prices of steps
 * add up.
 */
struct price {
	double cost;
	int32_t collectives, locals;
	double then;
};

struct price price_add(struct price a, struct price b);

/* Returns < 0, 0 or > 0; costs within 1e-9 relative are equal. */
int price_compare(struct price a, struct price b);

/*
 * A question of a search for the price of a step that it has not built: the op over
 * `parts` (of all its moves, in order) with `before_bytes` on each device before it.
 * `unpack` says whether an all-gather needs a local unpack (models/README.md, Prices).
 * The price of a permute depends on the bytes alone: its tile over one link of the
 * slowest fabric it may use plus one launch.
 */
struct step_ask {
	enum op op;
	int nmoves;
	const struct move *move; /* parts, factors and dims, as in plan.h */
	int64_t before_bytes;
	bool unpack;
	double most_cost; /* > 0: for a dearer step any price above it will do */
};

/*
 * Returns whether the result of an all-gather over these moves has to be unpacked, from
 * tiles of the shape `local`. Blocks arrive one after the other, in the order of the
 * gathered dimensions, and lie as they must unless each holds several elements of a
 * dimension outside a gathered one.
 */
bool moves_unpack(const struct move *move, int n, const struct shape *local);

/*
 * A note of what is remembered of a step that takes long to price. Its fields belong to
 * whoever the key belongs to; all are zero at first.
 */
struct price_note {
	bool priced, impossible; /* the step was built; it cannot be said */
	bool more;               /* the price is at least this: rounds were left out */
	uint32_t choice;         /* who sends, where that was chosen for the price */
	struct price price;
};

/* The table of prices. Without a platform use `prices_bytes` and a NULL self. */
struct prices {
	void *self;
	struct price (*step)(void *self, const struct problem *p,
	                     const struct step_ask *ask);
	struct price (*plan)(void *self, const struct plan *p); /* of a finished plan */
	/*
	 * Returns how long an element takes from one device of the problem to another,
	 * for choosing among sources: > 0, to be compared and added, in no unit.
	 * Without a platform it is 1.
	 */
	double (*path)(void *self, const struct problem *p, int32_t src, int32_t dst);
	/*
	 * Where the prices of steps add up to those of plans, else NULL. The first
	 * returns a price that no plan of the problem is below (models/README.md,
	 * Bounds), found from its array, meshes and layouts alone; the second one that
	 * no step is below in which some device receives so many bytes.
	 */
	struct price (*bound)(void *self, const struct problem *p);
	struct price (*least)(void *self, const struct problem *p, double recv_bytes);
	/*
	 * Returns the note on a key of so many bytes, which the caller fills; NULL
	 * where `bound` is. A note stays where it is until all are forgotten. Keys need
	 * only tell apart steps of one problem: whoever takes notes first forgets those
	 * of others.
	 */
	struct price_note *(*note)(void *self, const void *key, size_t size);
	void (*forget)(void *self);
	/*
	 * Prices a finished plan of one step; for a dearer one any price above `most_cost`
	 * will do, which is found sooner. NULL where `bound` is.
	 */
	struct price (*within)(void *self, const struct plan *p, double most_cost);
	/*
	 * Prices a finished plan of one exchange that does the whole problem, or that adds
	 * up contributions, where that may be a schedule of messages of its own; else NULL,
	 * where runtimes take no schedules. That takes long to find, so
	 * that it is `most` where it cannot be less than that.
	 */
	struct price (*scheduled)(void *self, const struct plan *p, struct price most);
};

extern const struct prices prices_bytes;

/*
 * Returns a table that prices finished plans by their peak_live_bytes, then as `base`
 * (borrowed) does. Steps in a search keep base's prices, for memory does not add up
 * over steps.
 */
struct prices prices_memory(struct prices *base);

enum answer {
	ANSWER_PLAN,           /* *out is a finished plan */
	ANSWER_NOT_APPLICABLE, /* the planner cannot express it; why says so */
	ANSWER_OVER_MEMORY     /* no plan that fits; why says what it needs */
};

struct planner {
	const char *name, *help; /* shown by `shardsim list planners` */
	/*
	 * Plans the problem into `arena`. `why` is appended to unless a plan is
	 * returned. planner_run() finds out a plan that does not fit; a planner that can
	 * avoid it asks plan_over_memory() itself (plan/memory.h).
	 */
	enum answer (*plan)(struct plan **out, const struct problem *p,
	                    const struct prices *prices, struct arena *arena,
	                    struct text *why);
	/*
	 * Does the same, but answers "not applicable" where that would take more than
	 * some milliseconds: this is what `best` calls. NULL: `plan` never takes that
	 * long.
	 */
	enum answer (*quick)(struct plan **out, const struct problem *p,
	                     const struct prices *prices, struct arena *arena,
	                     struct text *why);
	/*
	 * What plans of this planner are made of that is not portable: it is not
	 * applicable then where problem->vocabulary is portable. NULL: the vocabulary
	 * does not restrict it (it plans as some system does), or it looks at that itself.
	 */
	const char *not_portable;
};

extern const struct planner *const planners[]; /* ended by NULL */
const struct planner *planner_find(const char *name, size_t length);

/*
 * Runs a planner. Refuses one that is not portable where plans are to be, and limits
 * below max(source tile, target tile) for every planner, answers the empty plan where source and target tiles agree, and turns plans that do
 * not fit (plan/memory.h) into ANSWER_OVER_MEMORY with what they need; *out is then such a
 * plan, or as it was.
 */
enum answer planner_run(const struct planner *planner, struct plan **out,
                        const struct problem *p, const struct prices *prices,
                        struct arena *arena, struct text *why);

#endif
