#include "placement/program.h"

#include "base/scan.h"

#include <string.h>

static const char *const forms[] = {
	[FORM_INSIDE] = "InsideGroup",
	[FORM_PARALLEL] = "Parallel",
	[FORM_MASTER] = "Master",
};

void program_print(struct text *out, const struct program *p,
                   const struct hierarchy *tree)
{
	for (int i = 0; i < p->n; i++) {
		struct slice s = p->step[i].slice;

		text_printf(out, "%s(%s, %s", i ? "; " : "", tree->level[s.level].name,
		            forms[s.form]);
		if (s.form != FORM_INSIDE)
			text_printf(out, "(%s)", tree->level[s.ancestor].name);
		text_printf(out, ", %s)", sums_word(p->step[i].op));
	}
}

/* Returns the number of a level by its name, -1 with an error. */
static int scan_level(struct scan *s, const struct hierarchy *tree)
{
	const char *name;
	size_t length;
	int level;

	scan_peek(s);
	if (!scan_name(s, &name, &length)) {
		scan_fail(s, E_SYNTAX, "expected a level");
		return -1;
	}
	level = hierarchy_level(tree, name, length);
	if (level < 0)
		scan_fail_at(s, name, E_TYPE, "no level '%.*s'", (int)length, name);
	return level;
}

static enum status scan_form(struct slice *out, struct scan *s,
                             const struct hierarchy *tree)
{
	const char *start;
	int ancestor;

	if (scan_word(s, forms[FORM_INSIDE])) {
		out->form = FORM_INSIDE;
		out->ancestor = out->level;
		return OK;
	}
	if (scan_word(s, forms[FORM_PARALLEL]))
		out->form = FORM_PARALLEL;
	else if (scan_word(s, forms[FORM_MASTER]))
		out->form = FORM_MASTER;
	else
		return scan_fail(s, E_SYNTAX,
		                 "expected InsideGroup, Parallel or Master");
	if (!scan_expect(s, "("))
		return s->error->code;
	scan_peek(s);
	start = s->pos;
	ancestor = scan_level(s, tree);
	if (ancestor < 0)
		return s->error->code;
	if (ancestor >= out->level)
		return scan_fail_at(s, start, E_TYPE, "'%s' is no level above '%s'",
		                    tree->level[ancestor].name,
		                    tree->level[out->level].name);
	out->ancestor = (int8_t)ancestor;
	scan_expect(s, ")");
	return s->error->code;
}

static bool same_groups(const struct hierarchy *tree, struct slice x, struct slice y,
                        struct arena *a)
{
	struct groups g = slice_groups(tree, x, a), h = slice_groups(tree, y, a);

	return g.ngroups == h.ngroups && g.size == h.size &&
	       !memcmp(g.ids, h.ids,
	               (size_t)g.ngroups * (size_t)g.size * sizeof(*g.ids));
}

/*
 * Finds the name of its groups that slices_of gives; returns false if they have one
 * device.
 */
static bool canonical(struct slice *s, const struct hierarchy *tree)
{
	struct arena *a = arena_new();
	struct slice *slice;
	int n = slices_of(&slice, a, tree), i = 0;

	while (i < n && !same_groups(tree, *s, slice[i], a))
		i++;
	if (i < n)
		*s = slice[i];
	arena_free(a);
	return i < n;
}

static enum status scan_step(struct instruction *out, struct scan *s,
                             const struct hierarchy *tree)
{
	const char *start;
	int level, op = 0;

	if (!scan_expect(s, "("))
		return s->error->code;
	start = s->pos;
	level = scan_level(s, tree);
	if (level < 0)
		return s->error->code;
	out->slice.level = (int8_t)level;
	if (!scan_expect(s, ",") || scan_form(&out->slice, s, tree) != OK ||
	    !scan_expect(s, ","))
		return s->error->code;
	if (!canonical(&out->slice, tree))
		return scan_fail_at(s, start, E_TYPE, "groups of one device");
	while (op < SUMS_OPS && !scan_word(s, sums_word(sums_ops[op])))
		op++;
	if (op == SUMS_OPS)
		return scan_fail(s, E_SYNTAX,
		                 "expected AllReduce, ReduceScatter, AllGather, Reduce "
		                 "or Broadcast");
	out->op = (uint8_t)sums_ops[op];
	scan_expect(s, ")");
	return s->error->code;
}

enum status program_parse(struct program *out, const char *text,
                          const struct hierarchy *tree, struct where at, struct error *e)
{
	struct scan s = scan_start(text, at, e);

	*out = (struct program){0};
	if (scan_done(&s))
		return OK;
	do {
		if (out->n == PROGRAM_STEPS_MAX)
			return scan_fail(&s, E_RANGE, "more than %d steps",
			                 PROGRAM_STEPS_MAX);
		if (scan_step(&out->step[out->n++], &s, tree) != OK)
			return e->code;
	} while (scan_take(&s, ";"));
	return scan_finish(&s);
}
