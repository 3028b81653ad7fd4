#include "automap/words.h"

#include <string.h>

static const struct instruction *op_of(const struct graph *g, int32_t value)
{
	const struct graph_op *o = &g->op.at[g->value.at[value].op];

	return &g->program->op.at[g->flat->step.at[o->step].op];
}

/* Looks through the values around one, nearest first. */
struct look {
	const struct graph *g;
	bool *seen;
	int32_t *queue;
	int64_t n, next, end; /* end: of those that are as near as the one looked at */
	int ops;              /* between them and the first one */
};

static void look_at(struct look *l, int32_t value)
{
	if (!l->seen[value] && !l->g->value.at[value].constant)
		l->queue[l->n++] = value;
	l->seen[value] = true;
}

static struct look look_from(struct arena *a, const struct graph *g, int32_t value)
{
	struct look l = {
		.g = g,
		.seen = arena_alloc(a, (size_t)g->value.n + 1, sizeof(*l.seen)),
		.queue = arena_alloc(a, (size_t)g->value.n + 1, sizeof(*l.queue)),
		.end = 1};

	look_at(&l, value);
	return l;
}

/* The next value; -1: there are no more. */
static int32_t look_on(struct look *l)
{
	if (l->next == l->n)
		return -1;
	if (l->next == l->end) {
		l->ops++;
		l->end = l->n;
	}
	return l->queue[l->next++];
}

static bool is_parameter(const struct graph *g, int32_t value)
{
	int32_t group = g->value.at[value].group;

	return group >= 0 && g->group.at[group].role == ROLE_PARAMETER;
}

/* The argument, or of `parameters` the parameter, that a value is made of by the fewest ops; -1. */
static int32_t made_of(struct arena *a, const struct graph *g, int32_t value,
                       bool parameters, int *ops)
{
	struct look l = look_from(a, g, value);

	for (int32_t v = look_on(&l); v >= 0; v = look_on(&l)) {
		const struct graph_op *o;

		*ops = l.ops;
		if (g->value.at[v].op < 0 && (!parameters || is_parameter(g, v)))
			return v;
		o = g->value.at[v].op < 0 ? NULL : &g->op.at[g->value.at[v].op];
		for (int32_t t = 0; o && t < o->nin; t++)
			look_at(&l, g->tensor.at[o->first_tensor + t].value);
	}
	return -1;
}

/* The parameter that is read beside a value, or what is made of it, after the fewest ops; -1. */
static int32_t read_with(struct arena *a, const struct graph *g, int32_t value, int *ops)
{
	struct look l = look_from(a, g, value);

	for (int32_t v = look_on(&l); v >= 0; v = look_on(&l))
		for (int32_t k = 0; k < g->value.at[v].nusers; k++) {
			const struct graph_op *o =
				&g->op.at[g->user.at[g->value.at[v].first_user + k]];

			*ops = l.ops + 1;
			for (int32_t t = 0; t < o->nin && o->phase != PHASE_UPDATE; t++) {
				int32_t with = g->tensor.at[o->first_tensor + t].value;

				if (is_parameter(g, with))
					return with;
			}
			for (int32_t t = 0; t < o->nout && o->phase != PHASE_UPDATE; t++)
				look_at(&l,
				        g->tensor.at[o->first_tensor + o->nin + t].value);
		}
	return -1;
}

/* The parameter that updates alone make of a value: it is its gradient; -1. */
static int32_t gradient_of(struct arena *a, const struct graph *g, int32_t value)
{
	struct look l = look_from(a, g, value);

	for (int32_t v = look_on(&l); v >= 0; v = look_on(&l)) {
		int32_t becomes = g->value.at[v].becomes;

		if (becomes >= 0 && is_parameter(g, becomes) &&
		    g->value.at[becomes].type->rank == g->value.at[value].type->rank)
			return becomes;
		for (int32_t k = 0; k < g->value.at[v].nusers; k++) {
			const struct graph_op *o =
				&g->op.at[g->user.at[g->value.at[v].first_user + k]];

			if (o->phase != PHASE_UPDATE)
				return -1;
			for (int32_t t = 0; t < o->nout; t++)
				look_at(&l,
				        g->tensor.at[o->first_tensor + o->nin + t].value);
		}
	}
	return -1;
}

/* "gradient of ARGUMENT", "dot with ARGUMENT", or that it is behind or before one. */
static void add_place(struct text *out, struct arena *a, const struct graph *g,
                      int32_t value)
{
	const char *op = opcode_name(op_of(g, value)->code), *where = "with";
	int behind = 0, before = 0;
	int32_t gradient = gradient_of(a, g, value);
	int32_t of = made_of(a, g, value, true, &behind);
	int32_t other = read_with(a, g, value, &before);

	if (gradient >= 0) {
		of = gradient;
		op = "gradient";
		where = "of";
	} else if (other >= 0 && (of < 0 || before < behind)) {
		of = other;
		where = "before";
	} else if (of < 0) {
		of = made_of(a, g, value, false, &behind);
	}
	if (*where == 'w' && behind > 1)
		where = "behind";
	text_printf(out, "%s", op);
	if (of >= 0 && g->value.at[of].group >= 0)
		text_printf(out, " %s %s", where,
		            g->group.at[g->value.at[of].group].name);
}

/* The place of a value, the pass, and of how many layers it is. */
static const char *describe(struct arena *a, const struct graph *g, int32_t value)
{
	static const char *const phases[PHASES] = {"forward", "backward", "update"};
	const struct graph_op *o = &g->op.at[g->value.at[value].op];
	int32_t run = g->repeats->run_of[o->step];
	struct text out = {0};

	add_place(&out, a, g, value);
	text_printf(&out, ", %s", phases[o->phase]);
	if (run >= 0)
		text_printf(&out, ", of %d layers", g->repeats->run.at[run].n);
	return text_take(&out, a);
}

struct whole_values *automap_whole_values(int64_t *n, struct arena *a,
                                          const struct automap_found *f,
                                          const struct graph *g, bool together)
{
	LIST(struct whole_values) list = {0};

	for (int64_t i = 0; i < f->way.at.n; i++) {
		const struct action *action = &f->way.at.at[i];
		struct whole_values now, *like = NULL;
		struct span name;

		if (action->group != ACTION_WHOLE || g->value.at[action->dim].op < 0)
			continue;
		name = op_of(g, action->dim)->name;
		now = (struct whole_values){
			automap_axis(f, action->axis), describe(a, g, action->dim),
			arena_strndup(a, name.at, (size_t)name.length)};
		for (int64_t k = 0; together && k < list.n && !like; k++)
			if (!strcmp(list.at[k].axis, now.axis) &&
			    !strcmp(list.at[k].what, now.what))
				like = &list.at[k];
		if (like)
			like->names = arena_printf(a, "%s, %s", like->names, now.names);
		else
			*list_add(&list, a) = now;
	}
	*n = list.n;
	return list.at;
}
