#include "automap/shapes.h"

#include "automap/try.h"
#include "place/placing.h"
#include "placement/matrix.h"

#include <string.h>

/* Evaluations of a short search; how many are gone on with, and split. */
enum { SHORT = 150, LONG_LEAST = 8, LONG_PART = 3, SPLIT = 2, SPLIT_LONG = 2 };

struct candidate {
	struct automap_found f;
	struct matrix m;
	const struct actions *seed;
};

struct shapes {
	struct automap_answer *out;
	struct arena *a;
	const struct automap_ask *ask;
	struct error *e;
	struct hierarchy h;
	LIST(struct candidate) list;
};

/* Returns whether nothing tells batch from model. */
static bool alike(const struct automap_ask *ask)
{
	return !ask->ntactics && !ask->nstart;
}

/*
 * Returns whether the rows of a matrix of equal axes are in the order that stands for
 * both.
 */
static bool in_order(const struct matrix *m)
{
	for (int j = 0; j < m->nlevels; j++)
		if (m->x[0][j] != m->x[1][j])
			return m->x[0][j] > m->x[1][j];
	return true;
}

static struct candidate *add_candidate(struct shapes *s, const struct mesh *mesh,
                                       const struct matrix *m)
{
	struct candidate *c = list_add(&s->list, s->a);
	struct text name = {0};

	*c = (struct candidate){.f.mesh = *mesh};
	if (!m)
		return c;
	c->m = *m;
	c->f.device = matrix_platform(m, &s->h, s->a);
	matrix_print(&name, m);
	c->f.placement = text_take(&name, s->a);
	return c;
}

static enum status add_placements(struct shapes *s, const struct mesh *mesh)
{
	struct where at = where_option("--device-count", "");
	bool equal = mesh->axis[0].size == mesh->axis[1].size;
	struct matrix *m;
	int64_t n;

	if (!s->ask->machine) {
		add_candidate(s, mesh, NULL);
		return OK;
	}
	if (matrices_of(&m, &n, s->a, &s->h, mesh, at, s->e) != OK)
		return s->e->code;
	for (int64_t i = 0; i < n; i++)
		if (!alike(s->ask) || !equal || in_order(&m[i]))
			add_candidate(s, mesh, &m[i]);
	return OK;
}

static enum status add_two_axes(struct shapes *s)
{
	int32_t n = s->ask->ndevices;

	for (int32_t model = 1; model <= n; model++) {
		struct mesh mesh = {.naxes = 2, .ndevices = n};

		if (n % model || (alike(s->ask) && model > n / model))
			continue;
		mesh.axis[0] = (struct axis){"batch", n / model};
		mesh.axis[1] = (struct axis){"model", model};
		if (add_placements(s, &mesh) != OK)
			return s->e->code;
	}
	return OK;
}

static enum status try_candidate(struct shapes *s, struct candidate *c, bool brief)
{
	int64_t budget = s->ask->budget;

	if (brief && s->ask->search != SEARCH_EXHAUSTIVE && (!budget || budget > SHORT))
		budget = SHORT;
	return automap_try(s->out, &c->f, s->a, s->ask, budget, c->seed, s->e);
}

/* The number of the best candidate in [first, end) that is not among those `taken`; -1: none. */
static int64_t best_of(const struct shapes *s, int64_t first, int64_t end,
                       const bool *taken)
{
	int64_t best = -1;

	for (int64_t i = first; i < end; i++)
		if (!taken[i] && (best < 0 || automap_compare(s->ask, &s->list.at[i].f,
		                                              &s->list.at[best].f) < 0))
			best = i;
	return best;
}

/* Tries all candidates from `first` on; those before which the search was stopped are dropped. */
static enum status try_all(struct shapes *s, int64_t first, bool brief)
{
	for (int64_t i = first; i < s->list.n; i++)
		if (i > 0 && automap_stopped(s->ask))
			s->list.n = i;
		else if (try_candidate(s, &s->list.at[i], brief) != OK)
			return s->e->code;
	return OK;
}

/* Searches for long on the best `n` of those from `first` on. */
static enum status go_on(struct shapes *s, int64_t first, int64_t n)
{
	bool *taken = arena_alloc(s->a, (size_t)s->list.n + 1, sizeof(*taken));

	for (; n > 0 && !automap_stopped(s->ask); n--) {
		int64_t best = best_of(s, first, s->list.n, taken);

		if (best < 0)
			break;
		taken[best] = true;
		if (try_candidate(s, &s->list.at[best], false) != OK)
			return s->e->code;
	}
	return OK;
}

/* The actions of a whole axis on both of its parts, of which the second is the last axis. */
static struct actions *split_way(struct shapes *s, const struct actions *way, int axis,
                                 int last)
{
	struct actions *out = arena_alloc(s->a, 1, sizeof(*out));

	for (int64_t i = 0; i < way->at.n; i++) {
		struct action action = way->at.at[i];

		*list_add(&out->at, s->a) = action;
		if (action.axis != axis || action.group == ACTION_START)
			continue;
		action.axis = last;
		*list_add(&out->at, s->a) = action;
	}
	return out;
}

/* Puts a part of an axis, within one level, onto an axis of its own. */
static void split(struct shapes *s, const struct candidate *from, int axis, int level,
                  int32_t part)
{
	struct mesh mesh = from->f.mesh;
	struct matrix m = from->m;
	struct candidate *c;

	mesh.axis[axis].size /= part;
	mesh.axis[mesh.naxes++] = (struct axis){automap_split_axis(s->ask), part};
	for (int j = 0; j < m.nlevels; j++)
		m.x[m.naxes][j] = j == level ? part : 1;
	m.x[axis][level] /= part;
	m.naxes++;
	c = add_candidate(s, &mesh, &m);
	/* Axes are numbered without those of one device: both others have several here. */
	c->seed = split_way(s, &from->f.way, axis, 2);
}

/* All splits of the best meshes. */
static void add_splits(struct shapes *s)
{
	int64_t whole = s->list.n;
	bool *taken = arena_alloc(s->a, (size_t)whole + 1, sizeof(*taken));

	for (int k = 0; k < SPLIT; k++) {
		int64_t best = best_of(s, 0, whole, taken);
		struct candidate from;

		if (best < 0)
			return;
		taken[best] = true;
		from = s->list.at[best];
		if (from.f.mesh.axis[0].size == 1 || from.f.mesh.axis[1].size == 1)
			continue;
		for (int axis = 0; axis < 2; axis++)
			for (int j = 0; j < from.m.nlevels; j++)
				for (int32_t part = 2; part <= from.m.x[axis][j]; part++)
					if (from.m.x[axis][j] % part == 0 &&
					    from.f.mesh.axis[axis].size > part)
						split(s, &from, axis, j, part);
	}
}

/* Searches once more where the best was found, from there, for what is better kept whole. */
static enum status run_last(struct shapes *s)
{
	bool *taken = arena_alloc(s->a, (size_t)s->list.n + 1, sizeof(*taken));
	struct automap_ask ask = *s->ask;
	struct candidate *best;
	struct actions way;

	best = &s->list.at[best_of(s, 0, s->list.n, taken)];
	way = best->f.way;
	ask.whole = true;
	return automap_try(s->out, &best->f, s->a, &ask, ask.budget, &way, s->e);
}

static enum status run_stages(struct shapes *s)
{
	bool staged = s->ask->machine && s->ask->search != SEARCH_EXHAUSTIVE;
	int64_t n, some;

	if (try_all(s, 0, staged) != OK || !staged)
		return s->e->code;
	n = s->list.n;
	some = n / LONG_PART;
	if (go_on(s, 0, some > LONG_LEAST ? some : LONG_LEAST) != OK)
		return s->e->code;
	add_splits(s);
	if (try_all(s, n, true) != OK || go_on(s, n, SPLIT_LONG) != OK ||
	    s->ask->search == SEARCH_NONE || automap_stopped(s->ask))
		return s->e->code;
	return run_last(s);
}

enum status automap_shapes(struct automap_answer *out, struct arena *a,
                           const struct automap_ask *ask, struct error *e)
{
	struct shapes s = {.out = out, .a = a, .ask = ask, .e = e};
	const char *count = arena_printf(a, "%d", (int)ask->ndevices);
	struct where at = where_option("--device-count", count);
	struct error why = {0};

	if (ask->machine &&
	    placing_hierarchy(&s.h, ask->machine, ask->ndevices, at, &why) != OK)
		return error_set(e, why.code, at,
		                 "%s devices are no whole part of %s, expected whole "
		                 "nodes, devices of one node or a box of chips",
		                 count, ask->machine->name);
	if (ask->machine)
		placing_take(&s.h, ask->machine, a);
	if (add_two_axes(&s) != OK || run_stages(&s) != OK)
		return e->code;
	/* A split that changes nothing is no second. */
	for (int64_t i = 0; i < s.list.n; i++)
		if (s.list.at[i].f.mesh.naxes == 2 ||
		    automap_compare(ask, &s.list.at[i].f, &out->best) < 0)
			automap_keep(out, ask, &s.list.at[i].f);
	out->tried = s.list.n;
	return OK;
}
