/* Groups of arguments that are decided on together. */
#include "automap/graph_build.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>

struct span argument_name(const struct program *p, int32_t argument)
{
	const struct region *r = &p->region.at[p->entry];
	const struct instruction *op = &p->op.at[p->value.at[r->param.at[argument]].op];

	return op->op_name.at ? op->op_name : op->name;
}

/* The name with runs of digits as `*` where there are several arguments. */
static const char *group_name(struct graph_build *b, const char *name, bool several)
{
	struct text out = {0};

	for (const char *p = name; *p; p++) {
		if (!several || !isdigit((unsigned char)*p) ||
		    (p > name && isalpha((unsigned char)p[-1]))) {
			text_append(&out, p, 1);
			continue;
		}
		text_append(&out, "*", 1);
		while (isdigit((unsigned char)p[1]))
			p++;
	}
	return text_take(&out, b->a);
}

/* The number that a group has: that of the first expression that matches, else its own. */
static enum status number_groups(struct graph_build *b, int32_t *number,
                                 const char **name, int32_t n, const char *const *like,
                                 int nlike, struct error *e)
{
	for (int32_t v = 0; v < n; v++) {
		struct span s = argument_name(b->p, v);

		name[v] = arena_strndup(b->a, s.at, (size_t)s.length);
		number[v] = b->r.group[v];
	}
	for (int i = 0; i < nlike; i++) {
		regex_t re;
		bool found = false;
		int bad = regcomp(&re, like[i], REG_EXTENDED | REG_NOSUB);

		if (bad) {
			char text[120];

			regerror(bad, &re, text, sizeof(text));
			return error_set(e, E_SYNTAX, where_option("--group", like[i]),
			                 "%s, expected a regular expression", text);
		}
		for (int32_t v = 0; v < n; v++)
			if (!regexec(&re, name[v], 0, NULL, 0)) {
				number[v] = b->r.ngroups + i;
				found = true;
			}
		regfree(&re);
		if (!found)
			return error_set(e, E_TYPE, where_option("--group", like[i]),
			                 "no argument has such a name, expected one like "
			                 "%s", n ? name[0] : "none, as there are none");
	}
	return OK;
}

static bool same_type(const struct value_type *a, const struct value_type *b)
{
	return a->dtype == b->dtype && a->rank == b->rank &&
	       !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof(*a->dim));
}

static void add_group(struct graph_build *b, const int32_t *number, const char **name,
                      bool *done, int32_t first, int32_t n)
{
	struct graph *g = b->g;
	struct graph_group *group = list_add(&g->group, b->a);
	const struct value_type *type = b->flat->value.at[first].type;

	*group = (struct graph_group){.first = (int32_t)g->member.n,
	                              .first_argument = (int32_t)g->argument.n,
	                              .type = type};
	for (int32_t v = first; v < n; v++) {
		int32_t value = g->value_of[b->r.stands[v]];

		if (done[v] || number[v] != number[first] ||
		    !same_type(type, b->flat->value.at[v].type))
			continue;
		done[v] = true;
		*list_add(&g->argument, b->a) = v;
		group->narguments++;
		group->bytes += (double)value_type_bytes(type);
		if (b->r.stands[v] != v)
			continue;
		g->value.at[value].group = (int32_t)g->group.n - 1;
		*list_add(&g->member, b->a) = value;
		group->n++;
	}
	group->name = group_name(b, name[first], group->narguments > 1);
}

static void find_roles(struct graph_build *b)
{
	struct graph *g = b->g;

	for (int64_t i = 0; i < g->group.n; i++) {
		struct graph_group *group = &g->group.at[i];
		int32_t value = g->member.at[group->first];
		const struct graph_value *v = &g->value.at[value];

		group->role = v->turns_into >= 0 ? ROLE_STATE : ROLE_DATA;
		for (int32_t k = 0; k < v->nusers && v->turns_into >= 0; k++)
			if (g->op.at[g->user.at[v->first_user + k]].phase != PHASE_UPDATE)
				group->role = ROLE_PARAMETER;
	}
}

/* The states that ops of an update read on the way to a value belong to a group. */
static void claim_states(struct graph_build *b, int32_t value, int32_t group, bool *seen)
{
	struct graph *g = b->g;
	const struct graph_value *v = &g->value.at[value];
	const struct graph_op *o;

	if (seen[value])
		return;
	seen[value] = true;
	if (v->op < 0) {
		if (v->group >= 0 && g->group.at[v->group].role == ROLE_STATE)
			g->group.at[v->group].state_of = group;
		return;
	}
	o = &g->op.at[v->op];
	for (int32_t t = 0; t < o->nin && o->phase == PHASE_UPDATE; t++)
		claim_states(b, g->tensor.at[o->first_tensor + t].value, group, seen);
}

static void find_states(struct graph_build *b)
{
	struct graph *g = b->g;
	bool *seen = arena_alloc(b->a, (size_t)g->value.n + 1, sizeof(*seen));

	for (int32_t i = 0; i < g->group.n; i++)
		g->group.at[i].state_of = -1;
	for (int32_t i = 0; i < g->group.n; i++) {
		const struct graph_group *group = &g->group.at[i];

		for (int32_t k = 0; k < group->n && group->role == ROLE_PARAMETER; k++)
			claim_states(
				b,
				g->value.at[g->member.at[group->first + k]].turns_into,
				i, seen);
	}
}

enum status graph_groups(struct graph_build *b, const char *const *like, int nlike,
                         struct error *e)
{
	int32_t n = b->p->region.at[b->flat->region].param.n;
	int32_t *number = arena_alloc(b->a, (size_t)n + 1, sizeof(*number));
	const char **name = arena_alloc(b->a, (size_t)n + 1, sizeof(*name));
	bool *done = arena_alloc(b->a, (size_t)n + 1, sizeof(*done));

	if (number_groups(b, number, name, n, like, nlike, e) != OK)
		return e->code;
	for (int32_t v = 0; v < n; v++)
		if (!done[v])
			add_group(b, number, name, done, v, n);
	find_roles(b);
	find_states(b);
	return OK;
}
