#include "tests/program_help.h"

#include <check.h>
#include <string.h>

struct program program_sample(struct arena *a, const char *name)
{
	struct program p;
	struct error e = {0};
	const char *path = arena_printf(a, "scenarios/programs/%s", name);

	program_read(&p, a, path, &e);
	ck_assert_msg(e.code == OK, "%s:%u:%u: %s", path, e.at.line, e.at.col, e.text);
	return p;
}

struct program program_sample_text(struct arena *a, const char *text)
{
	struct program p;
	struct error e = {0};

	program_of_text(&p, a, text, strlen(text), "text", &e);
	ck_assert_msg(e.code == OK, "%s\n%u:%u: %s", text, e.at.line, e.at.col, e.text);
	return p;
}

const struct instruction *program_sample_op(const struct program *p, const char *name)
{
	for (int64_t i = 0; i < p->op.n; i++)
		if (span_is(p->op.at[i].name, name))
			return &p->op.at[i];
	ck_abort_msg("no op '%s'", name);
	return NULL;
}

const char *program_sample_groups(struct arena *a, const struct program *p,
                                  const char *op)
{
	const struct collective_attr *c = program_sample_op(p, op)->as.collective;
	const struct replica_groups *g = &p->groups.at[c->groups];
	struct text text = {0};

	for (int32_t i = 0; i < g->ngroups; i++)
		for (int32_t k = g->first[i]; k < g->first[i + 1]; k++)
			text_printf(&text, "%s%d",
			            k > g->first[i] ? " "
			            : i             ? ","
			                            : "",
			            (int)g->ids[k]);
	return text_take(&text, a);
}
