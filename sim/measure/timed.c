#include "measure/timed.h"

#include "plan/plan_json.h"
#include "plan/plan_text.h"
#include "plan/view.h"

#include <stdlib.h>

/* Returns the layout after a step as a member of a JSON object; it is the arena's. */
static const char *layout_after(const struct plan *plan, int step, struct arena *a)
{
	struct text layout = {0};
	json_t *json;
	char *quoted;
	const char *member;

	view_print_layout(&layout, plan, &plan->step[step].after, plan->step[step].mesh);
	json = json_text(layout.s);
	quoted = json_dumps(json, JSON_ENCODE_ANY);
	member = arena_printf(a, "\"layout\":%s", quoted);
	free(quoted);
	json_decref(json);
	text_free(&layout);
	return member;
}

struct timed timed_plan(const struct measurement *m, const struct bench *b,
                        struct arena *a)
{
	size_t n = m->plan ? (size_t)m->plan->nsteps : 0;
	const char **step = arena_alloc(a, n, sizeof(*step));
	const char **more = arena_alloc(a, n, sizeof(*more));
	struct plan_steps *of = arena_alloc(a, 1, sizeof(*of));
	struct timed t = {.name = m->planner, .step = step, .more = more};

	*of = (struct plan_steps){m->plan, b->machine,
	                          b->placement.platform ? &b->placement : NULL};
	if (m->plan)
		t.steps = steps_of_plan(of);
	for (int i = 0; i < t.steps.n; i++) {
		struct text line = {0};

		step_print(&line, m->plan, i);
		step[i] = text_take(&line, a);
		more[i] = layout_after(m->plan, i, a);
	}
	for (int k = 0; k < CLOCKS_MAX; k++) {
		t.time_s[k] = m->time_s[k];
		t.time[k] = m->step[k];
	}
	return t;
}
