/* Groups of arguments that are decided on together. */
#include "automap/graph_build.h"

#include <ctype.h>
#include <string.h>

/* The name with runs of digits as `*` where there are several arguments. */
static const char *group_name(struct arena *a, struct span name, bool several)
{
	const char *end = name.at + name.length;
	struct text out = {0};

	for (const char *p = name.at; p < end; p++) {
		if (!several || !isdigit((unsigned char)*p) ||
		    (p > name.at && isalpha((unsigned char)p[-1]))) {
			text_append(&out, p, 1);
			continue;
		}
		text_append(&out, "*", 1);
		while (p + 1 < end && isdigit((unsigned char)p[1]))
			p++;
	}
	return text_take(&out, a);
}

/* The number that a group has: that of the last expression that matches, else its own. */
static enum status number_groups(struct graph_build *b, int32_t *number, int32_t n,
                                 const char *const *like, int nlike, struct error *e)
{
	bool *matches = arena_alloc(b->a, (size_t)n + 1, sizeof(*matches));

	memcpy(number, b->r.group, (size_t)n * sizeof(*number));
	for (int i = 0; i < nlike; i++) {
		memset(matches, false, (size_t)n * sizeof(*matches));
		if (graph_matches(matches, b->p, NULL, n, "--group", like[i], e) != OK)
			return e->code;
		for (int32_t v = 0; v < n; v++)
			if (matches[v])
				number[v] = b->r.ngroups + i;
	}
	return OK;
}

static void add_group(struct graph_build *b, const int32_t *number, bool *done,
                      int32_t first, int32_t n)
{
	struct graph *g = b->g;
	struct graph_group *group = list_add(&g->group, b->a);
	const struct value_type *type = b->flat->value.at[first].type;

	*group = (struct graph_group){.first = (int32_t)g->member.n,
	                              .first_argument = (int32_t)g->argument.n,
	                              .type = type};
	for (int32_t v = first; v < n; v++) {
		int32_t value = g->value_of[b->r.stands[v]];
		const struct value_type *own = b->flat->value.at[v].type;

		if (done[v] || number[v] != number[first] ||
		    own->dtype != type->dtype || !same_dims(own, type))
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
	group->name =
		group_name(b->a, argument_name(b->p, first), group->narguments > 1);
}

enum status graph_groups(struct graph_build *b, const char *const *like, int nlike,
                         struct error *e)
{
	int32_t n = b->p->region.at[b->flat->region].param.n;
	int32_t *number = arena_alloc(b->a, (size_t)n + 1, sizeof(*number));
	bool *done = arena_alloc(b->a, (size_t)n + 1, sizeof(*done));

	if (number_groups(b, number, n, like, nlike, e) != OK)
		return e->code;
	for (int32_t v = 0; v < n; v++)
		if (!done[v])
			add_group(b, number, done, v, n);
	graph_roles(b->g, b->a);
	return OK;
}
