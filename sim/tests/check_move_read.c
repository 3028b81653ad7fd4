/*
 * What files say of moves: layouts of schemes as the systems have them, every form of a
 * workload, and what is wrong with others.
 */
#include "move/scheme.h"
#include "move_file.h"
#include "tests/tests.h"

#include <check.h>

#include <string.h>
#include <unistd.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* --- schemes ------------------------------------------------------------------------------ */

/* A tensor of a model of 64 heads, 4 of keys and values, 8 layers; its layout and stage. */
static const struct {
	const char *mesh, *name;
	int64_t dim[3];
	const char *layout;
	int stage;
} schemes[] = {
	/* torch's fully_shard cuts the first dimension of everything. */
	{"fsdp=8", "model.norm.weight", {64}, "P('fsdp')", 0},
	{"fsdp=8", "model.layers.0.mlp.down_proj.weight", {64, 96}, "P('fsdp', None)", 0},
	/* Megatron-LM: columns of the first matrix are rows of [out, in]. */
	{"tensor=2",
         "model.layers.0.self_attn.q_proj.weight",
         {512, 64},
         "P('tensor', None)",
         0},
	{"tensor=2",
         "model.layers.0.self_attn.o_proj.weight",
         {64, 512},
         "P(None, 'tensor')",
         0},
	{"tensor=2", "model.layers.0.self_attn.q_proj.bias", {512}, "P('tensor')", 0},
	{"tensor=2", "model.layers.0.self_attn.o_proj.bias", {64}, "P(None)", 0},
	{"tensor=2", "model.layers.0.mlp.up_proj.weight", {96, 64}, "P('tensor', None)", 0},
	{"tensor=2", "model.layers.0.input_layernorm.weight", {64}, "P(None)", 0},
	{"tensor=2", "lm_head.weight", {1000, 64}, "P('tensor', None)", 0},
	/* More devices than heads of keys and values: each is on two. */
	{"tensor=8",
         "model.layers.0.self_attn.k_proj.weight",
         {32, 64},
         "[{\"tensor\":(1)4}, {}]",
         0},
	{"data=4,tensor=2",
         "model.layers.1.self_attn.v_proj.weight",
         {32, 64},
         "P('tensor', None)",
         0},
	/* Both: the rows that a device has of a matrix are cut once more. */
	{"fsdp=4,tensor=2",
         "model.layers.0.mlp.gate_proj.weight",
         {96, 64},
         "P(('tensor', 'fsdp'), None)",
         0},
	{"fsdp=4,tensor=2",
         "model.layers.0.mlp.down_proj.weight",
         {64, 96},
         "P('fsdp', 'tensor')",
         0},
	/* Experts over data, tensor inside of them. */
	{"data=8,tensor=2,expert=8",
         "model.layers.0.mlp.experts.up_proj.weight",
         {16, 96, 64},
         "P('data', 'tensor', None)",
         0},
	{"data=8,tensor=2,expert=4",
         "model.layers.0.mlp.experts.up_proj.weight",
         {16, 96, 64},
         "[{\"data\":(2)4}, {\"tensor\"}, {}]",
         0},
	{"data=2,fsdp=4,expert=8",
         "model.layers.0.mlp.experts.up_proj.weight",
         {16, 96, 64},
         "P(('data', 'fsdp'), None, None)",
         0},
	{"fsdp=8,expert=4",
         "model.layers.0.mlp.experts.down_proj.weight",
         {8, 64, 96},
         "[{\"fsdp\":(2)4, \"fsdp\":(1)2}, {}, {}]",
         0},
	/* Folded: more experts' devices than data has, so tensor cuts no expert. */
	{"data=2,tensor=4,expert=8",
         "model.layers.0.mlp.experts.up_proj.weight",
         {16, 96, 64},
         "P(('data', 'tensor'), None, None)",
         0},
	{"data=2,tensor=4,expert=8",
         "model.layers.0.self_attn.o_proj.weight",
         {64, 512},
         "P(None, 'tensor')",
         0},
	/* Stages of 8 layers. */
	{"pipeline=4,data=2",
         "model.layers.5.mlp.up_proj.weight",
         {96, 64},
         "P(None, None)",
         2},
	{"pipeline=4,data=2", "lm_head.weight", {1000, 64}, "P(None, None)", 3},
	{"pipeline=4,data=2", "model.embed_tokens.weight", {1000, 64}, "P(None, None)", 0},
};

START_TEST(layouts_of_schemes)
{
	struct scheme s = {.arena = arena,
	                   .text = schemes[_i].mesh,
	                   .heads = 64,
	                   .kv_heads = 4,
	                   .layers = 8};
	struct model_tensor t = {.name = schemes[_i].name};
	const char *layout;
	struct error e = {0};
	struct where at;

	while (t.rank < 3 && schemes[_i].dim[t.rank]) {
		t.dim[t.rank] = schemes[_i].dim[t.rank];
		t.rank++;
	}
	scheme_name_axes(&t);
	ck_assert(scheme_make(&s, &e) == OK);
	ck_assert_msg(scheme_layout(&layout, &at, &s, &t, &e) == OK, "%s", e.text);
	ck_assert_str_eq(layout, schemes[_i].layout);
	ck_assert_int_eq(scheme_stage(&s, &t), schemes[_i].stage);
}
END_TEST

/* The devices of a stage are those with its place on the axis, wherever that stands. */
START_TEST(devices_of_stages)
{
	struct scheme s = {.arena = arena, .text = "data=2,pipeline=2,tensor=2"};
	struct error e = {0};

	ck_assert(scheme_make(&s, &e) == OK);
	ck_assert_str_eq(s.stage_devices[0], "0-1,4-5");
	ck_assert_str_eq(s.stage_devices[1], "2-3,6-7");
	ck_assert_str_eq(s.stage_text, "data=2,tensor=2");
}
END_TEST

/* --- forms -------------------------------------------------------------------------------- */

/*
 * A list as transfer libraries have it: experts are put together, types go by their names
 * in safetensors files, rules stand before the scheme.
 */
START_TEST(lists_of_tensors)
{
	const struct move_ends ends = {.from = "fsdp=4", .to = "tensor=2"};
	struct move_work w = move_read_ok(
		arena,
		"{\"__metadata__\": {\"format\": \"pt\"},\n"
		"\"model.layers.0.mlp.experts.0.up_proj.weight\": {\"shape\": [96, "
		"64], "
		"\"dtype\": \"F8_E4M3\", \"data_offsets\": [0, 6144]},\n"
		"\"model.layers.0.mlp.experts.1.up_proj.weight\": {\"shape\": [96, "
		"64], "
		"\"dtype\": \"F8_E4M3\"},\n"
		"\"model.layers.0.mlp.down_proj.weight\": {\"shape\": [64, 96], "
		"\"dtype\": \"BF16\"}}\n",
		".json", &ends);

	ck_assert_int_eq(w.narrays, 2);
	ck_assert_str_eq(w.array.at[0].text.array, "f8e4m3fn[2,96,64]");
	ck_assert_str_eq(w.array.at[0].text.from, "P(None, 'fsdp', None)");
	ck_assert_str_eq(w.array.at[0].text.to, "P(None, 'tensor', None)");
	ck_assert_str_eq(w.array.at[1].text.array, "bf16[64,96]");
	ck_assert_str_eq(w.array.at[1].text.to, "P(None, 'tensor')");
	w = move_read_ok(
		arena,
		"{\"mesh\": \"x=2\", \"tensors\": [{\"name\": \"t\", \"shape\": [8], "
		"\"dtype\": \"f32\", \"from\": \"P('x')\", \"to\": \"P()\"}]}",
		".json", &no_ends);
	ck_assert_str_eq(w.array.at[0].text.mesh, "x=2");
	ck_assert_str_eq(w.array.at[0].text.from, "P('x')");
}
END_TEST

START_TEST(rules_before_schemes)
{
	const char *list =
		move_file(arena,
	                  "{\"a.norm\": {\"shape\": [8], \"dtype\": \"F32\"}, "
	                  "\"b\": {\"shape\": [8], \"dtype\": \"F32\"}}",
	                  ".json");
	struct move_work w = move_read_ok(
		arena,
		arena_printf(
			arena,
			"name: mine\ntensors: %s\nfrom: 'fsdp=4'\n"
			"to: {mesh: 'y=2', rules: [{match: 'norm$', layout: \"P()\"}, "
			"{match: '.', layout: \"P('y')\"}]}\nconcurrent: 3\n"
			"batch: 1KiB\nmemory_limit: 1MB\nsource: free\n",
			list),
		".yaml", &no_ends);

	unlink(list);
	ck_assert_str_eq(w.name, "mine");
	ck_assert_int_eq(w.array.n, 2);
	ck_assert_str_eq(w.array.at[0].text.to, "P()");
	ck_assert_str_eq(w.array.at[1].text.to, "P('y')");
	ck_assert(w.concurrent == 3 && w.batch_bytes == 1024 && w.free_source &&
	          w.memory_limit_bytes == 1000000);
}
END_TEST

/* --- what is wrong ------------------------------------------------------------------------ */

#define MODEL                                                                          \
	"name: m\nlayers: 2\nhidden: 64\nheads: 6\nffn: 96\nvocab: 10\nhead_dim: 8\n"

static const struct {
	const char *text, *ending, *from, *to;
	unsigned line, col; /* 0: the command line's, or none */
	const char *said;
} bad[] = {
	{MODEL, ".yaml", NULL, NULL, 0, 0, "a model needs --from and --to"},
	{MODEL, ".yaml", "fsdp=2", "tensor=4", 1, 1,
         "model.layers.0.self_attn.q_proj.weight: 6 heads do not go over tensor=4"},
	{MODEL, ".yaml", "fsdp=2", "tp=4", 1, 1, "axis 'tp' says no scheme"},
	{MODEL, ".yaml", "fsdp=2", "data=4,expert=3", 1, 1,
         "expert=3 divides neither the 4 devices"},
	{MODEL, ".yaml", "fsdp=2", "data=x", 1, 6, "size"},
	{"scenarios:\n" ONE("x", "0", "1") "concurrent: many\n", ".yaml", NULL, NULL, 3,
         13, "concurrent"},
	{"scenarios:\n" ONE("x", "0", "1") "source: lose\n", ".yaml", NULL, NULL, 3, 9,
         "expected keep or free"},
	{"scenarios:\n" ONE("x", "0", "1"), ".yaml", "fsdp=2", "data=2", 1, 1,
         "--from does not go with a suite of scenarios"},
	{"defaults: {weight: '1.5'}\nscenarios:\n" ONE("x", "0", "1"), ".yaml", NULL,
         NULL, 3, 5, "expected a whole number of arrays"},
	{"defaults: {weight: '1e9'}\nscenarios:\n" ONE("x", "0", "1"), ".yaml", NULL,
         NULL, 3, 5, "more than 100000 arrays"},
	{"tensors: a.json\nfrom: 'fsdp=2'\n", ".yaml", NULL, NULL, 1, 1,
         "'to' is missing"},
	{"tensors: a.json\nfrom: 'fsdp=2'\nto: {mesh: 'y=2', rules: [{match: '(', "
         "layout: "
         "P()}]}\n",
         ".yaml", NULL, NULL, 3, 35, "'(' is no regular expression"},
	{"tensors: a.json\nfrom: 'fsdp=2'\nto: {mesh: 'y=2', rules: [{match: 'a{9}', "
         "layout: P()}]}\n",
         ".yaml", NULL, NULL, 3, 35, "without {counts}"},
	{"tensors: a.json\nfrom: 'fsdp=2'\nto: {mesh: 'y=2', devices: '0-4'}\n",
         ".yaml", NULL, NULL, 3, 28, "5 devices, expected 2 as the mesh has"},
	{"tensors: a.json\nfrum: 'fsdp=2'\n", ".yaml", NULL, NULL, 2, 1,
         "unknown key 'frum'; did you mean 'from'?"},
	{"{\"a\": {\"shape\": [8], \"dtype\": \"F3\"}}", ".json", "fsdp=2", "data=2", 0,
         0, "tensor 'a': unknown type 'F3'"},
	{"{\"a\": {\"shape\": [8.5], \"dtype\": \"F32\"}}", ".json", "fsdp=2", "data=2",
         0, 0, "tensor 'a': expected a shape"},
	{"{\"a\": {\"shape\": [8], \"dtype\": \"F32\"}}", ".json", NULL, NULL, 0, 0,
         "tensor 'a' has no mesh"},
	{"{\"a\": {\"shape\": [8], \"type\": \"F32\"}}", ".json", "fsdp=2", "data=2", 0,
         0, "tensor 'a': expected \"dtype\""},
	{"{\"a\": {\"shape\": [8], \"dtype\": \"F32\", \"size\": 1}}", ".json",
         "fsdp=2", "data=2", 0, 0, "unknown member \"size\""},
	{"{\"a.experts.0.w\": {\"shape\": [8], \"dtype\": \"F32\"}, \"a.experts.1.w\": "
         "{\"shape\": [9], \"dtype\": \"F32\"}}",
         ".json", "fsdp=2", "data=2", 0, 0, "another shape or type than the experts"},
	{"{\"a\": {\"shape\": [8], \"dtype\": \"F32\", \"from\": \"P('q')\"}}", ".json",
         "fsdp=2", "data=2", 1, 4, "tensor 'a': unknown axis 'q'"},
	{"{}", ".json", "fsdp=2", "data=2", 0, 0, "no tensors in it"},
	{"{\"a\": 1, \"a\": 2}", ".json", "fsdp=2", "data=2", 1, 12,
         "duplicate object key"},
	{"[", ".json", "fsdp=2", "data=2", 1, 1, "no JSON"},
};

START_TEST(bad_workloads)
{
	const char *path = move_file(arena, bad[_i].text, bad[_i].ending);
	const struct move_ends ends = {.from = bad[_i].from, .to = bad[_i].to};
	struct move_work w = {.arena = arena};
	struct error e = {0};

	ck_assert(move_read(&w, path, &ends, &e) != OK);
	unlink(path);
	ck_assert_msg(strstr(e.text, bad[_i].said) &&
	                      (!bad[_i].line ||
	                       (e.at.line == bad[_i].line && e.at.col == bad[_i].col)),
	              "%d: %u:%u: %s", _i, e.at.line, e.at.col, e.text);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("move_read");
	TCase *t = tcase_create("move_read");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, layouts_of_schemes, 0,
	                    sizeof(schemes) / sizeof(*schemes));
	tcase_add_test(t, devices_of_stages);
	tcase_add_test(t, lists_of_tensors);
	tcase_add_test(t, rules_before_schemes);
	tcase_add_loop_test(t, bad_workloads, 0, sizeof(bad) / sizeof(*bad));
	suite_add_tcase(s, t);
	return s;
}
