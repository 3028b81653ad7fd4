/* Advice as JSON. */
#include "cli/advice.h"

#include "plan/plan_json.h"
#include "plan/plan_text.h"

#include <math.h>

static json_t *layouts_json(const struct advised *a, const struct advised_chain *c,
                            struct arena *arena)
{
	json_t *list = json_array();

	for (int i = 0; i < c->nhops - 1; i++)
		json_array_append_new(list, json_text(advised_hop(a, c, i, arena)));
	return list;
}

static int64_t recv_bytes(const struct advised_chain *c)
{
	int64_t sum = 0;

	for (int i = 0; i < c->nhops; i++)
		sum += c->hop[i].plan->recv_bytes;
	return sum;
}

/* Sets a member for seconds and one for received bytes, each null if it is not known. */
static void set_cost(json_t *o, const struct advised *a, const char *prefix, bool known,
                     struct price price, int64_t bytes, struct arena *arena)
{
	json_object_set_new(o, arena_printf(arena, "%ss", *prefix ? prefix : "time_"),
	                    json_known(known && advised_timed(a) ? price.cost : NAN));
	json_object_set_new(o, arena_printf(arena, "%srecv_bytes", prefix),
	                    known ? json_integer(bytes) : json_null());
}

static json_t *hops_json(const struct advised *a, const struct advised_chain *c,
                         struct arena *arena)
{
	json_t *list = json_array();

	for (int i = 0; i < c->nhops; i++) {
		const struct advised_hop *hop = &c->hop[i];
		struct text line = {0};
		json_t *o = json_object();

		plan_print_line(&line, hop->plan);
		json_object_set_new(o, "to", json_text(advised_hop(a, c, i, arena)));
		json_object_set_new(o, "plan", json_text(text_take(&line, arena)));
		set_cost(o, a, "", true, hop->price, hop->plan->recv_bytes, arena);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *chain_json(const struct advised *a, const struct advised_chain *c,
                          struct arena *arena)
{
	json_t *o = json_object();

	json_object_set_new(o, "chain", layouts_json(a, c, arena));
	set_cost(o, a, "", true, c->price, recv_bytes(c), arena);
	json_object_set_new(o, "peak_array_bytes", json_integer(c->peak_array_bytes));
	json_object_set_new(o, "peak_live_bytes", json_integer(c->peak_live_bytes));
	json_object_set_new(o, "hops", hops_json(a, c, arena));
	return o;
}

/* Sets "text", and in "text_missing" why members of it are null. */
static void set_forms(json_t *o, const struct advised *a, const struct advised_chain *c)
{
	struct constraint at[ADVISE_MOST];
	struct constraints constraints = advised_constraints(at, a, c);
	json_t *texts = json_object(), *missing = json_object();

	for (int form = 0; form < CONSTRAINT_FORMS; form++) {
		const char *name = constraint_form_name(form);
		struct text lines = {0}, why = {0};
		bool said = constraints_print(&lines, form, &constraints, &why);

		json_object_set_new(texts, name,
		                    said ? json_text(lines.s ? lines.s : "")
		                         : json_null());
		json_object_set_new(missing, name,
		                    said ? json_null() : json_text(why.s));
		text_free(&lines);
		text_free(&why);
	}
	json_object_set_new(o, "text", texts);
	json_object_set_new(o, "text_missing", missing);
}

/* What a padded array would make of it; null where that is not cheaper. */
static json_t *padding_json(const struct advised *a, struct arena *arena)
{
	const struct advised_padding *p = &a->advice.padding;
	struct text lines = {0}, why = {0};
	json_t *o;

	if (!p->problem)
		return json_null();
	o = chain_json(a, &p->chain, arena);
	json_object_set_new(o, "array", json_text(advised_padded_array(a, arena)));
	json_object_set_new(o, "pad_s",
	                    json_known(advised_timed(a) ? p->pad.cost : NAN));
	json_object_set_new(o, "jax",
	                    advised_padded_jax(&lines, a, &why) ? json_text(lines.s)
	                                                        : json_null());
	text_free(&lines);
	text_free(&why);
	return o;
}

static const char *alone_status(const struct advised *a)
{
	static const char *const names[] = {
		[ANSWER_PLAN] = "ok",
		[ANSWER_NOT_APPLICABLE] = "not-applicable",
		[ANSWER_OVER_MEMORY] = "over-memory",
	};

	return names[a->advice.alone];
}

json_t *advised_json(const struct advised *a, struct arena *arena)
{
	const struct advised_chain *c = advised_chain(a);
	const struct plan *best = a->best->plan;
	json_t *o = c ? chain_json(a, c, arena) : json_object(), *chains = json_array();

	json_object_set_new(o, "compiler", json_string(a->compiler->name));
	json_object_set_new(o, "without_status", json_string(alone_status(a)));
	json_object_set_new(o, "without_message", json_text(a->advice.why));
	set_cost(o, a, "without_", a->alone != NULL, a->alone_price,
	         a->alone ? a->alone->recv_bytes : 0, arena);
	json_object_set_new(o, "best", json_string(a->best->planner));
	set_cost(o, a, "best_", best != NULL, a->best_price,
	         best ? best->recv_bytes : 0, arena);
	json_object_set_new(o, "bound_s", json_known(a->best->bound_s));
	if (c) {
		set_forms(o, a, c);
	} else {
		static const char *const unknown[] = {
			"chain",           "time_s", "recv_bytes",  "peak_array_bytes",
			"peak_live_bytes", "text",   "text_missing"};

		for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
			json_object_set_new(o, unknown[i], json_null());
		json_object_set_new(o, "hops", json_array());
	}
	for (int i = 0; i < a->advice.nchains; i++)
		json_array_append_new(chains, chain_json(a, &a->advice.chain[i], arena));
	json_object_set_new(o, "chains", chains);
	json_object_set_new(o, "padded", padding_json(a, arena));
	return o;
}
