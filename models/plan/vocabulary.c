#include "plan/vocabulary.h"

#include <string.h>

enum status vocabulary_parse(enum vocabulary *out, const char *text, struct where at,
                             struct error *e)
{
	*out = VOCABULARY_ANY;
	if (!text || strcmp(text, "any") == 0)
		return OK;
	if (strcmp(text, "portable") != 0)
		return error_set(e, E_SYNTAX, at,
		                 "unknown vocabulary '%.40s', expected any or portable",
		                 text);
	*out = VOCABULARY_PORTABLE;
	return OK;
}

/*
 * Returns whether no device is in two pairs as the source, or as the destination: that
 * is what JAX's ppermute asks for.
 */
static bool is_one_to_one(const struct step *s, int32_t ndevices)
{
	struct arena *scratch = arena_new();
	bool *sends = arena_alloc(scratch, (size_t)ndevices, sizeof(*sends));
	bool *receives = arena_alloc(scratch, (size_t)ndevices, sizeof(*receives));
	bool once = true;

	for (int32_t i = 0; i < s->npairs && once; i++) {
		once = !sends[s->pairs[i].src] && !receives[s->pairs[i].dst];
		sends[s->pairs[i].src] = receives[s->pairs[i].dst] = true;
	}
	arena_free(scratch);
	return once;
}

/*
 * Returns what in a step is not portable. Left out are also steps that one of the three
 * could say: a broadcast or a reduction to one device, which are no steps of plans; tiles
 * put among zeros, to be summed; and an array taken for a sum, as only DTensor does.
 */
static const char *step_not_portable(const struct plan *p, const struct step *s)
{
	if (s->start || !layout_divides(&s->after, &p->shape))
		return "tiles of unequal size";
	switch (s->op) {
	case OP_SLICE:
	case OP_ALL_GATHER:
	case OP_ALL_TO_ALL:
	case OP_REDUCE_SCATTER:
	case OP_ALL_REDUCE:
		if (s->gathers)
			return "tiles put among zeros";
		return step_has_axes(s) ? NULL : "a step that no axes say";
	case OP_PERMUTE:
		if (s->part || s->ntransfers)
			return "a permute of parts of tiles";
		return is_one_to_one(s, p->problem->ndevices)
		               ? NULL
		               : "a permute from one device to several";
	case OP_EXCHANGE:
		return "an exchange of boxes";
	case OP_PAD:
		return "a pad";
	case OP_PARTIAL:
		return "an array taken for a sum";
	case OP_BROADCAST:
	case OP_REDUCE:
	case OPS:
		break;
	}
	return "a collective with a root";
}

const char *plan_not_portable(const struct plan *p)
{
	for (int i = 0; i < p->nsteps; i++) {
		const char *what = step_not_portable(p, &p->step[i]);

		if (what)
			return what;
	}
	if (p->view)
		return "strided tiles";
	return layout_divides(&p->from, &p->shape) ? NULL : "tiles of unequal size";
}

const char *plan_beyond(const struct plan *p, enum vocabulary vocabulary)
{
	return vocabulary == VOCABULARY_PORTABLE ? plan_not_portable(p) : NULL;
}
