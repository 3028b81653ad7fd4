#include "tests/tests.h"

#include "automap/price.h"
#include "automap/show.h"
#include "plan/check.h"
#include "platform/platform.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * What `automap --format json` says, against sums of its own rows, published counts, and bytes and
 * flops that are worked out by hand.
 */

enum { TACTICS_MOST = 8 };

struct run {
	const char *file, *mesh, *platform;
	enum search_kind search;
	const char *tactic[TACTICS_MOST];
	int64_t batch, micro_batches;
	bool recompute, overlap;
};

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
	unsetenv("SHARDSIM_DATA");
}

static void teardown(void)
{
	arena_free(arena);
}

#define GOOD(call) ck_assert_msg((call) == OK, "%s", e.text)

struct session {
	struct automap_program program;
	struct machine *machine;
	struct mesh mesh;
	struct automap_ask ask;
	struct automap_answer answer;
};

static struct session *search(const struct run *r)
{
	struct session *s = arena_alloc(arena, 1, sizeof(*s));
	const struct automap_train train = {.batch = r->batch,
	                                    .micro_batches = r->micro_batches,
	                                    .recompute = r->recompute};
	struct error e = {0};

	GOOD(automap_load(&s->program, arena, r->file, train, NULL, 0, &e));
	GOOD(mesh_parse(&s->mesh, arena, r->mesh, where_option("--mesh", r->mesh), &e));
	if (r->platform)
		GOOD(platform_machine(&s->machine, arena, r->platform, NULL, 0, &e));
	s->ask = (struct automap_ask){.graph = &s->program.graph,
	                              .machine = s->machine,
	                              .mesh = &s->mesh,
	                              .ndevices = s->mesh.ndevices,
	                              .planner = planner_find("best", 4),
	                              .tactic = r->tactic,
	                              .search = r->search,
	                              .seed = 1,
	                              .micro_batches = r->micro_batches,
	                              .recompute = r->recompute,
	                              .overlap = r->overlap};
	while (s->ask.ntactics < TACTICS_MOST && r->tactic[s->ask.ntactics])
		s->ask.ntactics++;
	GOOD(automap_run(&s->answer, arena, &s->ask, &e));
	return s;
}

static json_t *json_of(const struct run *r)
{
	struct session *s = search(r);
	struct likely_table likely = {0};
	const struct automap_show show = {.name = s->program.name,
	                                  .program = &s->program,
	                                  .platform = r->platform,
	                                  .ask = &s->ask,
	                                  .answer = &s->answer,
	                                  .likely = &likely};
	struct text text = {0};
	json_t *out;

	automap_show_json(&text, arena, &show);
	out = json_loads(text.s, 0, NULL);
	ck_assert_ptr_nonnull(out);
	text_free(&text);
	text_free(&s->program.text);
	return out;
}

/* A number; NaN of null. */
static double number(const json_t *object, const char *name)
{
	const json_t *x = json_object_get(object, name);

	ck_assert_msg(json_is_number(x) || json_is_null(x), "%s", name);
	return json_is_null(x) ? NAN : json_number_value(x);
}

/* The sum of a member over rows, those of one op; NULL: of all. */
static double sum(const json_t *object, const char *rows, const char *name,
                  const char *op)
{
	double out = 0;
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(object, rows), i, row)
	{
		const char *is = json_string_value(json_object_get(row, "op"));

		out += op && strcmp(op, is) != 0 ? 0 : number(row, name);
	}
	return out;
}

static double sum_of_members(const json_t *totals, const char *name)
{
	const char *key;
	json_t *x;
	double out = 0;

	json_object_foreach(json_object_get(totals, name), key, x) out +=
		json_number_value(x);
	return out;
}

static void same(double a, double b)
{
	ck_assert_msg(fabs(a - b) <= 1e-9 * fabs(b), "%.15g is not %.15g", a, b);
}

#define GPT "scenarios/models/gpt-24.yaml"

/*
 * Table 1 of arXiv 2210.06352: all-gathers, all-reduces, reduce-scatters by data parallelism, with
 * Megatron's cuts, and with ZeRO-3.
 */
static const struct published {
	struct run run;
	double gathers, reduces, scatters;
} published[] = {
	{{.file = GPT, .mesh = "batch=8,model=4", .tactic = {"data:batch"}}, 0, 387, 0},
	{{.file = GPT,
          .mesh = "batch=8,model=4",
          .tactic = {"data:batch", "megatron:model"}},
         0,
         483,
         0},
	{{.file = GPT,
          .mesh = "batch=8,model=4",
          .tactic = {"data:batch", "megatron:model", "zero3:batch"}},
         578,
         97,
         386},
};

START_TEST(counts_are_published_ones)
{
	const struct published *p = &published[_i / 2];
	struct run run = p->run;
	json_t *j;

	run.platform = _i % 2 ? "dgx-a100:4" : NULL;
	j = json_of(&run);
	ck_assert_double_eq(sum(j, "collectives", "count", "all-gather"), p->gathers);
	ck_assert_double_eq(sum(j, "collectives", "count", "all-reduce"), p->reduces);
	ck_assert_double_eq(sum(j, "collectives", "count", "reduce-scatter"),
	                    p->scatters);
	ck_assert_double_eq(sum(j, "collectives", "count", NULL),
	                    p->gathers + p->reduces + p->scatters);
	ck_assert_double_eq(sum(j, "reshards", "count", NULL),
	                    p->gathers + p->reduces + p->scatters);
	json_decref(j);
}
END_TEST

static const struct run runs[] = {
	{.file = GPT,
         .mesh = "batch=8,model=4",
         .platform = "dgx-a100:4",
         .search = SEARCH_STRUCTURE},
	{.file = GPT,
         .mesh = "batch=8,model=4",
         .platform = "dgx-a100:4",
         .tactic = {"data:batch", "megatron:model", "sequence:model", "zero2:batch"},
         .overlap = true},
	{.file = GPT,
         .mesh = "batch=8,model=4",
         .platform = "dgx-a100:4",
         .tactic = {"data:batch", "megatron:model", "zero3:batch"},
         .batch = 64,
         .micro_batches = 4,
         .recompute = true,
         .overlap = true},
	{.file = "scenarios/models/mixtral-8x7b.yaml",
         .mesh = "batch=8,expert=8",
         .platform = "dgx-h100:8",
         .tactic = {"expert:expert", "data:batch", "data:expert", "zero3:batch"},
         .batch = 64},
	{.file = "scenarios/programs/fsdp-loop.mlir",
         .mesh = "x=4,y=2",
         .platform = "dgx-a100:1",
         .tactic = {"data:x", "zero3:x", "context:y"}},
	{.file = "scenarios/programs/unet-step.hlo",
         .mesh = "x=4,y=4",
         .platform = "tpu-v4:4x4x1",
         .search = SEARCH_STRUCTURE},
};

START_TEST(rows_add_up)
{
	const struct run *r = &runs[_i];
	json_t *j = json_of(r), *t = json_object_get(j, "totals"), *row;
	double exposed = number(t, "exposed_s");
	size_t i;

	same(sum(j, "collectives", "time_s", NULL), number(t, "communication_s"));
	same(sum(j, "ops", "time_s", NULL), number(t, "compute_s"));
	same(sum_of_members(t, "compute_by_kind"), number(t, "compute_s"));
	same(number(t, "compute_s") + exposed, number(t, "step_s"));
	ck_assert_double_gt(number(t, "communication_s"), 0);
	/* Of collectives beside kernels some waiting may be for none. */
	ck_assert_double_le(sum_of_members(t, "exposed_by_axis"), exposed * (1 + 1e-9));
	if (r->overlap) {
		ck_assert_double_lt(exposed, number(t, "communication_s"));
	} else {
		same(exposed, number(t, "communication_s"));
		same(sum_of_members(t, "exposed_by_axis"), exposed);
	}
	json_array_foreach(json_object_get(j, "collectives"), i, row)
		ck_assert_double_le(number(row, "bound_s"),
	                            number(row, "time_s") * (1 + 1e-9));
	json_array_foreach(json_object_get(j, "reshards"), i, row) ck_assert_double_le(
		number(row, "best_s"), number(row, "time_s") * (1 + 1e-9));
	json_decref(j);
}
END_TEST

/* Each change is a plan that brings the array from the one layout to the other. */
START_TEST(changes_are_proved)
{
	struct session *s = search(&runs[_i]);
	struct automap_price p;
	struct text why = {0};

	automap_price(&p, arena, &s->ask, &s->answer);
	ck_assert_int_gt(p.reshards.row.n, 0);
	for (int64_t i = 0; i < p.reshards.row.n; i++)
		ck_assert_msg(plan_check(p.reshards.row.at[i].is->plan, &why), "%s",
		              why.s);
	text_free(&s->program.text);
}
END_TEST

/*
 * gpt-24: 24 layers of 4 projections of h x h and 2 of h x 4h with their biases, and 2 norms of 2 h;
 * tables of tokens and of positions. A step has 8 x 2,048 tokens.
 */
static const double LAYERS = 24, H = 2048, TOKENS = 8 * 2048, SEQ = 2048;
static const double TABLES = (50304 + 2048) * 2048.;
static const double LAYER =
	4 * 2048. * 2048 + 2 * 2048. * 8192 + 4 * 2048 + 8192 + 2048 + 2 * 2 * 2048;

START_TEST(bytes_are_those_of_parameters)
{
	json_t *j = json_of(&published[0].run);
	size_t i;
	json_t *row;

	/* Gradients in 16 bits, and the loss in 32. */
	ck_assert_double_eq(sum(j, "collectives", "result_bytes", NULL),
	                    2 * (LAYERS * LAYER + TABLES) + 4);
	json_array_foreach(json_object_get(j, "collectives"), i, row)
		ck_assert_double_eq(number(row, "group_size"), 8);
	json_decref(j);
	/* Megatron's four are of the activations, of an eighth of the batch. */
	j = json_of(&published[1].run);
	ck_assert_double_eq(
		sum(j, "collectives", "result_bytes", NULL) - 4 -
			4 * LAYERS * 2 * TOKENS / 8 * H,
		2 * (LAYERS * (12 * H * H / 4 + (3 * H + 4 * H) / 4 + 6 * H) + TABLES));
	json_decref(j);
}
END_TEST

START_TEST(flops_are_those_of_the_model)
{
	struct run run = published[1].run;
	double parameters =
		LAYERS * LAYER + 2048 * H; /* of which a token has none to look up */
	double attention = 12 * LAYERS * H * SEQ;
	double matmuls = LAYERS * 12 * H * H;
	json_t *j, *t;

	run.platform = "dgx-a100:4";
	j = json_of(&run);
	t = json_object_get(j, "totals");
	same(number(t, "model_flops"), (6 * parameters + attention) * TOKENS / 32);
	same(number(t, "dot_flops"), (6 * matmuls + attention) * TOKENS / 32);
	same(number(t, "mfu"), number(t, "model_flops") / number(t, "step_s") / 312e12);
	same(number(t, "tokens_per_s_per_device"), TOKENS / 32 / number(t, "step_s"));
	json_decref(j);
	/* Micro batches and layers that are computed again change the model's flops in no way. */
	run.batch = 64;
	run.micro_batches = 4;
	run.recompute = true;
	j = json_of(&run);
	t = json_object_get(j, "totals");
	same(number(t, "model_flops"), 8 * (6 * parameters + attention) * TOKENS / 32);
	same(number(t, "dot_flops"),
	     8 * (8 * matmuls + attention / 12 * 16) * TOKENS / 32);
	json_decref(j);
}
END_TEST

START_TEST(unknown_is_null)
{
	static const char *const times[] = {"step_s",
	                                    "compute_s",
	                                    "communication_s",
	                                    "exposed_s",
	                                    "host_s",
	                                    "mfu",
	                                    "tokens_per_s_per_device",
	                                    "bound_s",
	                                    "communication_interval_s"};
	const struct run large = {.file = "scenarios/programs/mlp-step.hlo",
	                          .mesh = "x=1024",
	                          .platform = "dgx-a100:128",
	                          .tactic = {"data:x"}};
	json_t *j = json_of(&published[2].run), *t = json_object_get(j, "totals"), *row;
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(*times); i++)
		ck_assert_msg(json_is_null(json_object_get(t, times[i])), "%s",
		              times[i]);
	json_array_foreach(json_object_get(j, "collectives"), i, row)
		ck_assert(isnan(number(row, "time_s")) &&
	                  isnan(number(row, "bound_s")) && isnan(number(row, "best_s")));
	json_decref(j);
	/* Of a program, not of a model; and best of many devices. */
	j = json_of(&large);
	t = json_object_get(j, "totals");
	ck_assert(isnan(number(t, "model_flops")) && isnan(number(t, "mfu")));
	ck_assert_double_gt(sum(j, "collectives", "time_s", NULL), 0);
	ck_assert(isnan(sum(j, "collectives", "best_s", NULL)));
	json_decref(j);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("automap_json");
	TCase *c = tcase_create("json");
	int nruns = (int)(sizeof(runs) / sizeof(*runs));

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, counts_are_published_ones, 0,
	                    2 * (int)(sizeof(published) / sizeof(*published)));
	tcase_add_loop_test(c, rows_add_up, 0, nruns);
	tcase_add_loop_test(c, changes_are_proved, 0, nruns);
	tcase_add_test(c, bytes_are_those_of_parameters);
	tcase_add_test(c, flops_are_those_of_the_model);
	tcase_add_test(c, unknown_is_null);
	suite_add_tcase(s, c);
	return s;
}
