/*
 * Weights of programs that donate no buffers: those that the same program's donated buffers tell.
 */
#include "automap/train.h"
#include "tests/automap_help.h"
#include "tests/program_help.h"
#include "tests/tests.h"

#include <check.h>
#include <string.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static const char *step_text(const char *model, int optimizer)
{
	struct architecture m = automap_model(arena, model);
	struct text text = {0}, why = {0};

	m.layers = 4;
	m.train.optimizer = optimizer;
	m.train.seq = 512;
	m.train.global_batch = 24;
	ck_assert_msg(train_text(&text, &m, &why), "%s", why.s);
	return text_take(&text, arena);
}

/* The text without what is between `from` and `to`, once or wherever it is, and these. */
static const char *without(const char *text, const char *from, const char *to, bool all)
{
	struct text out = {0};
	const char *at;

	while ((at = strstr(text, from))) {
		text_append(&out, text, (size_t)(at - text));
		text = strstr(at, to) + strlen(to);
		if (!all)
			break;
	}
	text_append(&out, text, strlen(text));
	return text_take(&out, arena);
}

static const struct graph_group *group_of(const struct graph *g, int32_t argument)
{
	for (int64_t v = 0; v < g->value.n; v++)
		if (g->value.at[v].argument == argument)
			return &g->group.at[g->value.at[v].group];
	ck_abort_msg("no argument %d", argument);
}

/*
 * Steps of models, whose buffers are donated, have the same weights and states where they are not,
 * and where nothing has a name: embeddings, positions and norms besides what matmuls read, and the
 * states of Adam.
 */
START_TEST(results_tell_what_buffers_tell)
{
	static const char *const models[] = {"gpt-24", "llama-3-8b", "mixtral-8x7b"};
	const char *text =
		step_text(models[_i / 2], _i % 2 ? OPTIMIZER_ADAM : OPTIMIZER_SGD);
	const char *bare =
		without(without(text, ", input_output_alias={", "may-alias) }", false),
	                ", metadata={", "}", true);
	const struct graph *donated = automap_graph(arena, text, false);
	const struct graph *kept = automap_graph(arena, bare, false);
	int32_t n = donated->program->region.at[donated->program->entry].param.n;
	int count[3] = {0};

	ck_assert_int_eq(donated->weights, WEIGHTS_BUFFERS);
	ck_assert_int_eq(kept->weights, WEIGHTS_RESULTS);
	for (int32_t i = 0; i < n; i++) {
		enum group_role role = group_of(donated, i)->role;

		ck_assert_msg(group_of(kept, i)->role == role, "%s: %d %d",
		              group_of(donated, i)->name, group_of(kept, i)->role, role);
		count[role]++;
	}
	ck_assert_int_eq(count[ROLE_DATA], 2);
	ck_assert_int_gt(count[ROLE_PARAMETER], 4 * 8);
	ck_assert(!count[ROLE_STATE] == !(_i % 2));
}
END_TEST

static const struct {
	const char *text;
	enum weights_rule rule;
	const char *roles; /* of the arguments: d, p, s */
} program[] = {
	/* Forward alone, and vectors: what has no batch. */
	{"HloModule m\nENTRY e {\n%x = f32[32,16] parameter(0)\n%w = f32[16,64] "
         "parameter(1)\n%b = f32[64] parameter(2)\n%v = f32[64,8] parameter(3)\n"
         "%y = f32[32,64] dot(%x, %w), lhs_contracting_dims={1}, "
         "rhs_contracting_dims={0}\n%c = f32[32,64] broadcast(%b), dimensions={1}\n"
         "%z = f32[32,64] add(%y, %c)\nROOT %r = f32[32,8] dot(%z, %v), "
         "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
         WEIGHTS_BATCHES, "dppp"},
	/* Gradients alone are returned, of the vector, too. */
	{"HloModule m\n%add (a: f32[], b: f32[]) -> f32[] {\n%a = f32[] parameter(0)\n"
         "%b = f32[] parameter(1)\nROOT %s = f32[] add(%a, %b)\n}\n"
         "ENTRY e {\n%b = f32[64] parameter(0)\n%x = f32[32,16] parameter(1)\n%w = "
         "f32[16,64] parameter(2)\n%t = f32[32,64] parameter(3)\n"
         "%y = f32[32,64] dot(%x, %w), lhs_contracting_dims={1}, "
         "rhs_contracting_dims={0}\n%c = f32[32,64] broadcast(%b), dimensions={1}\n"
         "%z = f32[32,64] add(%y, %c)\n%d = f32[32,64] subtract(%z, %t)\n"
         "%g = f32[16,64] dot(%x, %d), lhs_contracting_dims={0}, "
         "rhs_contracting_dims={0}\n%o = f32[] constant(0)\n%h = f32[64] reduce(%d, "
         "%o), dimensions={0}, to_apply=%add\nROOT %r = (f32[16,64], f32[64]) "
         "tuple(%g, "
         "%h)\n}\n",
         WEIGHTS_RESULTS, "pdpd"},
	/* A loss alone: names tell, as JAX has them. */
	{"HloModule m\n%add (a: f32[], b: f32[]) -> f32[] {\n%a = f32[] parameter(0)\n"
         "%b = f32[] parameter(1)\nROOT %s = f32[] add(%a, %b)\n}\n"
         "ENTRY e {\n%w = f32[16,64] parameter(0), "
         "metadata={op_name=\"state.params['up']['kernel']\"}\n%m = f32[16,64] "
         "parameter(1), metadata={op_name=\"state.opt_state[0].mu['up']['kernel']\"}\n"
         "%x = f32[32,16] parameter(2), metadata={op_name=\"batch['x']\"}\n"
         "%n = f32[16,64] add(%w, %m)\n%y = f32[32,64] dot(%x, %n), "
         "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n%o = f32[] constant(0)\n"
         "ROOT %r = f32[] reduce(%y, %o), dimensions={0,1}, to_apply=%add\n}\n",
         WEIGHTS_NAMES, "psd"},
	/* Keys that are kept and given back are no weights. */
	{"HloModule m\nENTRY e {\n%q = f32[8,4,16] parameter(0)\n%k = f32[8,4,64,16] "
         "parameter(1)\n%w = f32[64,64] parameter(2)\n%s = f32[8,4,64] dot(%q, %k), "
         "lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={2}, "
         "rhs_contracting_dims={3}\n%y = f32[8,4,64] dot(%s, %w), "
         "lhs_contracting_dims={2}, rhs_contracting_dims={0}\n%n = f32[8,4,64,16] "
         "negate(%k)\nROOT %r = (f32[8,4,64], f32[8,4,64,16]) tuple(%y, %n)\n}\n",
         WEIGHTS_BATCHES, "ddp"},
	/* Nothing tells. */
	{"HloModule m\nENTRY e {\n%x = f32[8,4] parameter(0)\nROOT %y = f32[8,4] "
         "negate(%x)\n}\n",
         WEIGHTS_NONE, "d"},
};

START_TEST(rules)
{
	const struct graph *g = automap_graph(arena, program[_i].text, false);

	ck_assert_int_eq(g->weights, program[_i].rule);
	for (int32_t i = 0; program[_i].roles[i]; i++)
		ck_assert_msg("dps"[group_of(g, i)->role] == program[_i].roles[i], "%d",
		              i);
}
END_TEST

/* Who says which are the weights is right; others are data. */
START_TEST(expressions_win)
{
	static const char *const wanted[] = {"^x$"}, *const none[] = {"y"},
				 *const bad[] = {"["};
	struct graph *g = (struct graph *)automap_graph(arena, program[0].text, false);
	struct error e = {0};

	ck_assert(graph_weights(g, arena, wanted, 1, &e) == OK);
	ck_assert_int_eq(g->weights, WEIGHTS_GIVEN);
	for (int32_t i = 0; i < 4; i++)
		ck_assert_int_eq(group_of(g, i)->role, i ? ROLE_DATA : ROLE_PARAMETER);
	ck_assert(graph_weights(g, arena, none, 1, &e) == E_TYPE);
	e = (struct error){0};
	ck_assert(graph_weights(g, arena, bad, 1, &e) == E_SYNTAX);
}
END_TEST

/* A donor that no result is named for gets the place of the first one of its type. */
START_TEST(donors_find_results)
{
	const struct graph *g = automap_graph(
		arena,
		"HloModule m, buffer_donor={ (1, {}), (2, {}) }\nENTRY e {\n%x = "
		"f32[8,4] "
		"parameter(0)\n%v = f32[4] parameter(1)\n%w = f32[4,4] parameter(2)\n"
		"%y = f32[8,4] dot(%x, %w), lhs_contracting_dims={1}, "
		"rhs_contracting_dims={0}\n%a = f32[4,4] negate(%w)\n%b = f32[4] "
		"negate(%v)\n"
		"ROOT %r = (f32[8,4], f32[4,4], f32[4]) tuple(%y, %a, %b)\n}\n",
		false);

	ck_assert_int_eq(g->weights, WEIGHTS_BUFFERS);
	for (int32_t i = 0; i < 3; i++)
		ck_assert_int_eq(group_of(g, i)->role, i ? ROLE_PARAMETER : ROLE_DATA);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("automap roles");
	TCase *t = tcase_create("weights");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, results_tell_what_buffers_tell, 0, 6);
	tcase_add_loop_test(t, rules, 0, (int)(sizeof(program) / sizeof(*program)));
	tcase_add_test(t, expressions_win);
	tcase_add_test(t, donors_find_results);
	suite_add_tcase(s, t);
	return s;
}
