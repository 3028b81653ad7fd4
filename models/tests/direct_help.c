#include "direct_help.h"
#include "plan/check.h"

#include <check.h>

struct plan *direct_plan(struct arena *a, const struct problem *p,
                         const struct prices *prices)
{
	struct plan *plan = NULL;
	struct text why = {0};
	enum answer answer = planner_run(&planner_direct, &plan, p, prices, a, &why);

	ck_assert_msg(answer == ANSWER_PLAN, "%s", why.s);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	text_free(&why);
	return plan;
}
