/* Plans as text and JSON. */
#include "api/handle.h"
#include "api/json.h"
#include "plan/plan_text.h"

struct printing {
	struct api api;
	char **out;
	const struct shardsim_plan *plan;
	enum shardsim_format format;
};

static bool print_body(void *self)
{
	struct printing *p = self;
	struct text out = {0};

	if (!api_needs_out(&p->api, p->out) || !api_needs(&p->api, p->plan, HANDLE_PLAN))
		return false;
	if (p->format != SHARDSIM_TEXT && p->format != SHARDSIM_JSON)
		return api_fail(&p->api, SHARDSIM_MISUSE, "no such format: %d",
		                (int)p->format);
	if (p->format == SHARDSIM_TEXT)
		plan_print(&out, p->plan->plan);
	else
		json_print_plan(&out, p->plan->plan);
	*p->out = text_give(&out);
	return true;
}

enum shardsim_status shardsim_print(char **out, const struct shardsim_plan *plan,
                                    enum shardsim_format format,
                                    struct shardsim_error *error)
{
	struct printing p = {.out = out, .plan = plan, .format = format};

	if (out)
		*out = NULL;
	return api_call(&p.api, print_body, &p, error);
}
