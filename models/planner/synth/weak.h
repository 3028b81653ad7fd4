/*
 * Search on weak types, then lifting (models/README.md, The synthesizer): for meshes of
 * more atoms than the exact search can take.
 *
 * Received bytes of a plan in normal form whose flat part has tiles of M elements are
 * those of the flat part plus |target| - M, so only the slices and the all-to-alls have
 * to be found. For that most atoms need no name. An atom that only the source uses must
 * merely end above the target's atoms; one that the source does not use may be any such
 * atom until it is seen which one the target wants where it ended. Only atoms that both
 * use are told apart. A state of this search is thus a class of types, and a permute,
 * to any type of the same local shape, always ends the flat part. Where all atoms have
 * one size this loses nothing: the plan has the price of the exact search. Where sizes
 * differ, plans with several permutes are not found, and the search is done from the
 * target backwards too (permute first).
 */
#ifndef SHARDSIM_PLANNER_SYNTH_WEAK_H
#define SHARDSIM_PLANNER_SYNTH_WEAK_H

#include "planner/synth/path.h"
#include "planner/synth/states.h"

/*
 * None of these limits changes a row, nor would 8 candidates: they bound time and memory on
 * meshes of many atoms.
 */
enum {
	WEAK_PAIRS_MAX = 3, /* of dimensions in one all-to-all on the way */
	WEAK_MOVES_MAX = TYPE_RANK_MAX / 2, /* and in the last one */
	WEAK_CANDIDATES_MAX = 64,
	WEAK_STATES_MAX = 1 << 16, /* more are not looked at, */
	WEAK_STARTS_MAX = 20000,   /* nor more ways to slice the source */
	/* Symbols of a pattern: an atom that both types use, or one of a size ... */
	SYMBOL_JUNK = 32,  /* ... that only the source uses, */
	SYMBOL_FRESH = 64, /* ... that a slice brought */
	SYMBOLS = 96
};

/* A move of the top block of `n` atoms from one dimension to another. */
struct weak_move {
	uint8_t from, to, n;
};

struct weak_moves {
	int n;
	struct weak_move move[WEAK_MOVES_MAX];
};

/* How a candidate's flat part ends after its last state. */
enum weak_end { WEAK_END_THERE, WEAK_END_ALL_TO_ALL, WEAK_END_PERMUTE };

struct weak_candidate {
	enum weak_end end;
	int32_t state;
	struct weak_moves last; /* WEAK_END_ALL_TO_ALL */
	int64_t elements;       /* M */
	struct price price;     /* in elements, as prices_bytes counts */
	int64_t live;           /* elements */
};

struct weak {
	struct synth *s;
	bool backwards;       /* from the target to the source */
	struct type from, to; /* as searched */
	uint32_t in_from, in_to;
	int64_t source, target; /* elements of the problem's tiles */
	uint8_t size_class[ATOMS_MAX];
	int32_t size[SYMBOLS], smallest;
	struct states states;
	LIST(struct weak_moves) moves; /* that led to each state */
	int nstarts;
	bool cut_short;        /* a limit was reached */
	int ncandidates, best; /* best: the cheapest candidate's place, -1 for none */
	struct weak_candidate candidate[WEAK_CANDIDATES_MAX];
};

/*
 * Searches in one direction and fills the candidates (none only where atoms differ in
 * size or the search was cut short).
 */
void weak_search(struct weak *weak, struct synth *s, bool backwards);
void weak_free(struct weak *weak);

/* Names the atoms of a candidate and writes the path from s->from to s->to. */
void weak_lift(struct path *out, const struct weak *weak,
               const struct weak_candidate *c);

#endif
