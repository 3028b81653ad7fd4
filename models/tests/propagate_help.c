#include "tests/propagate_help.h"

#include "notation/notation.h"
#include "tests/program_help.h"

#include <check.h>

struct propagated propagated(struct arena *a, const char *text, enum propagation by)
{
	struct propagated r = {.p = program_sample_text(a, text), .arena = a};
	struct error e = {0};

	ck_assert_msg(propagate(&r.s, a, &r.p, by, &e) == OK, "%s", e.text);
	return r;
}

const char *propagated_text(const struct propagated *r, struct layout l)
{
	struct text out = {0};
	struct shape shape = {.rank = l.rank};

	layout_print(&out, &l, &r->s.mesh, &shape);
	return text_take(&out, r->arena);
}

struct layout propagated_layout(const struct propagated *r, const char *name)
{
	return shardings_value(&r->s, program_sample_op(&r->p, name)->first_value);
}

const char *propagated_of(const struct propagated *r, const char *name)
{
	return propagated_text(r, propagated_layout(r, name));
}
