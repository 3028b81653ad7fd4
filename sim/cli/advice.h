/* Advice on one problem (planner/advise/), as text for people and as JSON. */
#ifndef SHARDSIM_SIM_CLI_ADVICE_H
#define SHARDSIM_SIM_CLI_ADVICE_H

#include "emit/constraint.h"
#include "measure/measure.h"
#include "planner/advise/advise.h"

#include <jansson.h>

struct advised {
	const struct problem *problem;
	const struct bench *bench;
	const struct planner *compiler;
	/* What chains are compared with: of `best`, or of `best-portable`. */
	const struct measurement *best;
	bool names_mesh; /* the mesh's names are ours: there is none of the user's */
	int manual;      /* first dimensions that number manual groups */
	bool warned;     /* the problem is of a warning that XLA logged */
	/* From here on filled by advised_make(). */
	struct prices prices; /* seconds, or bytes without a platform, whatever is minimised */
	struct advice advice;
	const struct plan *alone; /* the compiler's by itself; NULL: none, or it does not fit */
	struct price alone_price, best_price; /* of plans that there are */
	/*
	 * What the plan costs that was warned of: that of the compiler or, where XLA of
	 * today would not have warned, that of 2021; where neither would, that which gathers
	 * everything, and the compiler is then one that does (cli/warned.h). NaN if there is
	 * none. `version` says so in the last two cases, else it is NULL.
	 */
	double logged;
	const char *version;
};

/* Returns whether the machine has the devices of the problem; best->message says it if not. */
bool advised_fits(const struct advised *a);

/*
 * Finds the advice on a problem whose first fields are set; everything is the arena's.
 * `guide` has more plans whose layouts are tried, ended by NULL.
 */
void advised_make(struct advised *a, const struct plan *const *guide,
                  struct arena *arena);

/*
 * Gives the axes of a mesh that was made for HLO texts (axis_0, axis_1, ...) the names a, b,
 * ..., as people write them; others keep theirs.
 */
void advised_name_axes(struct mesh *m, struct arena *arena);

/* Returns whether a device holds a whole array, of its manual group if there are any. */
bool advised_rematerializes(const struct plan *plan, int manual);

/* Returns the cheapest chain, NULL where the compiler has no plan whatever is between. */
const struct advised_chain *advised_chain(const struct advised *a);

/* Returns whether the cheapest chain has layouts between. */
bool advised_gains(const struct advised *a);

/* Returns the layouts of a chain: "P('x'), P(None, 'y')", "-" if there are none. */
const char *advised_layouts(const struct advised *a, const struct advised_chain *c,
                            struct arena *arena);

/* Returns the layout behind hop i of a chain. */
const char *advised_hop(const struct advised *a, const struct advised_chain *c, int i,
                        struct arena *arena);

/* Fills in what the lines of a chain say; `at` has room for its layouts. */
struct constraints advised_constraints(struct constraint *at, const struct advised *a,
                                       const struct advised_chain *c);

/*
 * Appends the lines of JAX that pad the array, lead it through the layouts of the padding's
 * chain and cut the padding off; or returns false with the reason in `why`.
 */
bool advised_padded_jax(struct text *out, const struct advised *a, struct text *why);

/* Returns the padded array: "bf16[2048,4096]". */
const char *advised_padded_array(const struct advised *a, struct arena *arena);

/* Returns whether prices are seconds, and not bytes. */
bool advised_timed(const struct advised *a);

/* Returns a price of the table as cells have it: a time, or bytes. */
const char *advised_cost(const struct advised *a, struct price price,
                         struct arena *arena);

/*
 * Appends what the compiler does alone and by way of other layouts, and the lines to add
 * to a program.
 */
void advised_text(struct text *out, const struct advised *a, struct arena *arena);

/*
 * Returns the members of sim/README.md, "advise", but for the problem and the platform
 * (advice_json.c).
 */
json_t *advised_json(const struct advised *a, struct arena *arena);

#endif
