/*
 * Models: the tensors of an architecture against published numbers of parameters and
 * formulas by hand, and the reader of model.yaml.
 */
#include "facts/model.h"
#include "program/tensors.h"
#include "tests/tests.h"

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
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

/* Writes a text to a file and reads it as a model. */
static enum status read_text(struct architecture *out, const char *text, struct error *e)
{
	char path[] = "/tmp/shardsim-model-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	enum status status;

	ck_assert(fd >= 0 && f);
	fputs(text, f);
	fclose(f);
	status = architecture_read(out, arena, arena_strdup(arena, path), e);
	unlink(path);
	return status;
}

static struct architecture read_ok(const char *text)
{
	struct architecture m;
	struct error e = {0};

	ck_assert_msg(read_text(&m, text, &e) == OK, "%u:%u: %s", e.at.line, e.at.col,
	              e.text);
	return m;
}

static struct architecture shipped(const char *name)
{
	struct architecture m;
	struct error e = {0};
	const char *path = arena_printf(arena, "scenarios/models/%s.yaml", name);

	ck_assert_msg(architecture_read(&m, arena, path, &e) == OK, "%s:%u:%u: %s",
	              path, e.at.line, e.at.col, e.text);
	ck_assert_ptr_nonnull(m.source);
	return m;
}

/*
 * The exact numbers are the sums of the tensors of the checkpoints on the model cards,
 * of which the papers round: 8B, 70B, 405B, 671B (without the second token's module and
 * the 58 x 256 correction biases of the router), 235B, 46.7B.
 */
START_TEST(published_parameters)
{
	static const struct {
		const char *name;
		int64_t parameters;
	} models[] = {
		{"llama-3-8b", 8030261248},     {"llama-3-70b", 70553706496},
		{"llama-3-405b", 405853388800}, {"deepseek-v3", 671026404352},
		{"qwen3-235b", 235093634560},
	};
	struct architecture mixtral;

	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
		struct architecture m = shipped(models[i].name);

		ck_assert_msg(model_parameters(&m) == models[i].parameters,
		              "%s: %lld, published %lld", m.name,
		              (long long)model_parameters(&m),
		              (long long)models[i].parameters);
	}
	mixtral = read_ok("{name: mixtral, layers: 32, hidden: 4096, heads: 32, "
	                  "kv_heads: 8, vocab: 32000,\n"
	                  " moe: {experts: 8, top_k: 2, ffn: 14336}}\n");
	ck_assert_int_eq(model_parameters(&mixtral), 46702792704);
}
END_TEST

/* Without gates, with biases and tied: 12 L h^2 + V h + s h + 13 L h + 2 h. */
START_TEST(formula_of_mpt)
{
	struct architecture m =
		read_ok("{name: mpt, layers: 24, hidden: 2048, heads: 16, ffn: 8192,\n"
	                " gated: false, vocab: 50257, vocab_multiple: 64, head: tied,\n"
	                " bias: true, norm: layer, positions: learned,\n"
	                " train: {seq: 1024}}\n");
	int64_t h = 2048, layers = 24, vocab = 50304;

	ck_assert_int_eq(architecture_vocab(&m), vocab);
	ck_assert_int_eq(model_parameters(&m), 12 * layers * h * h + vocab * h +
	                                               1024 * h + 13 * layers * h +
	                                               2 * h);
}
END_TEST

/* The sum over the parts of DeepSeek-V3, written out as arXiv 2412.19437 describes them. */
START_TEST(formula_of_latent_attention)
{
	struct architecture m = shipped("deepseek-v3");
	int64_t h = 7168, attention, expert = 3 * h * 2048;

	attention = h * 1536 + 1536 + 1536 * 128 * 192 + h * 576 + 512 +
	            512 * 128 * 256 + 128 * 128 * h;
	ck_assert_int_eq(model_parameters(&m),
	                 2 * 129280 * h + 61 * (attention + 2 * h) + h +
	                         3 * 3 * h * 18432 + 58 * (257 * expert + 256 * h));
}
END_TEST

/* A refit of Llama-3-405B has 126 * 9 + 3 tensors; what dimensions mean goes with them. */
START_TEST(tensors_of_llama)
{
	struct architecture m = shipped("llama-3-405b");
	struct model_tensor *t;
	int64_t n;

	model_tensors(&t, &n, arena, &m);
	ck_assert_int_eq(n, 1137);
	ck_assert_str_eq(t[0].name, "model.embed_tokens.weight");
	ck_assert_int_eq(t[0].layer, -1);
	ck_assert_int_eq(t[0].axis[0], TENSOR_VOCAB);
	ck_assert_str_eq(t[3].name, "model.layers.0.self_attn.k_proj.weight");
	ck_assert_int_eq(t[3].dim[0], 1024);
	ck_assert_int_eq(t[3].dim[1], 16384);
	ck_assert_int_eq(t[3].axis[0], TENSOR_KV_HEADS);
	ck_assert_str_eq(t[1134].name, "model.layers.125.mlp.down_proj.weight");
	ck_assert_int_eq(t[1134].layer, 125);
	ck_assert_str_eq(t[1136].name, "lm_head.weight");
	ck_assert_int_eq(t[1136].layer, 126);
}
END_TEST

START_TEST(defaults_and_all_fields)
{
	struct architecture m =
		read_ok("{name: a, layers: 2, hidden: 64, heads: 4, ffn: 256, vocab: "
	                "100}\n");

	ck_assert_int_eq(m.kv_heads, 4);
	ck_assert_int_eq(m.head_dim, 16);
	ck_assert(m.gated && m.final_norm && !m.bias && m.train.causal);
	ck_assert_int_eq(m.head, HEAD_UNTIED);
	ck_assert_str_eq(m.train.dtype->name, "bf16");
	ck_assert_str_eq(m.train.master_dtype->name, "f32");
	m = read_ok("name: all\nlayers: 4\nhidden: 96\nheads: 6\nkv_heads: 6\n"
	            "head_dim: 12\nffn: 384\ngated: false\nvocab: 1000\n"
	            "vocab_multiple: 128\nfinal_norm: false\nhead: none\nbias: true\n"
	            "qk_norm: true\nnorm: layer\npositions: alibi\nwindow: 4096\n"
	            "moe: {experts: 8, top_k: 2, ffn: 48, shared: 1, first_dense: 1, "
	            "capacity: 1.25}\n"
	            "mla: {q_rank: 24, kv_rank: 16, rope_dim: 8, v_dim: 10}\n"
	            "train: {seq: 2048, global_batch: 512, micro_batch: 2, dtype: "
	            "float16,\n"
	            "  master_dtype: bf16, optimizer: lion, recompute: selective,\n"
	            "  attention: math, causal: false, sequence_parallel: true,\n"
	            "  interleave: 2, schedule: 1f1b, zero: 3, prefetch: 2, fuse: "
	            "compiled}\n");
	ck_assert(m.head_dim == 12 && m.window == 4096 && m.norm == NORM_LAYER &&
	          m.positions == POSITIONS_ALIBI && m.head == HEAD_NONE && m.qk_norm);
	ck_assert(m.moe.experts == 8 && m.moe.top_k == 2 && m.moe.ffn == 48 &&
	          m.moe.shared == 1 && m.moe.first_dense == 1 && m.moe.capacity == 1.25);
	ck_assert(m.mla.q_rank == 24 && m.mla.kv_rank == 16 && m.mla.rope_dim == 8 &&
	          m.mla.v_dim == 10);
	ck_assert(m.train.seq == 2048 && m.train.global_batch == 512 &&
	          m.train.micro_batch == 2 && m.train.optimizer == OPTIMIZER_LION &&
	          m.train.recompute == RECOMPUTE_SELECTIVE &&
	          m.train.attention == ATTENTION_MATH && !m.train.causal &&
	          m.train.sequence_parallel && m.train.interleave == 2 &&
	          m.train.zero == 3 && m.train.prefetch == 2 &&
	          m.train.fuse == FUSE_COMPILED);
	ck_assert_str_eq(m.train.dtype->name, "f16");
	ck_assert_str_eq(m.train.master_dtype->name, "bf16");
}
END_TEST

/* Texts that are no model: the place, and a part of what is said. */
static const struct {
	const char *text;
	unsigned line, col;
	const char *said;
} bad[] = {
	{"name: a\nlayer: 2\n", 2, 1, "unknown key 'layer'; did you mean 'layers'?"},
	{"- a\n", 1, 1, "expected a model"},
	{"", 1, 1, "expected a model"},
	{"name: a\nlayers: 2\nlayers: 3\n", 3, 1, "'layers' is there twice"},
	{"name: a\nlayers: 2\n", 1, 1, "'hidden' is missing"},
	{"name: a\nlayers: two\n", 2, 9, "layers"},
	{"name: a\nlayers: 0\n", 2, 9, "layers"},
	{"name: a\nlayers: 2x\n", 2, 10, "expected the end"},
	{"{name: a, layers: 2, hidden: 64, heads: 4, vocab: 9}", 1, 1,
         "'ffn' is missing: the layers have no experts"},
	{"{name: a, layers: 2, hidden: 64, heads: 5, vocab: 9, ffn: 9}", 1, 41,
         "no whole number, expected head_dim"},
	{"{name: a, layers: 2, hidden: 64, heads: 4, kv_heads: 3, vocab: 9}", 1, 54,
         "4 heads are no multiple of 3 kv_heads"},
	{"name: a\nhead: tide\n", 2, 7, "expected one of tied, untied, none; did you"},
	{"name: a\nbias: yes\n", 2, 7, "expected one of false, true"},
	{"name: a\ntrain: 3\nlayers: 2\nhidden: 64\nheads: 4\nvocab: 9\nffn: 9\n", 2, 8,
         "expected a mapping of fields"},
	{"{name: a, layers: 2, hidden: 64, heads: 4, vocab: 9, ffn: 9,\n"
         " positions: learned}",
         2, 13, "train.seq, which is missing"},
	{"{name: a, layers: 2, hidden: 64, heads: 4, vocab: 9,\n"
         " moe: {experts: 4, top_k: 8, ffn: 9}}",
         2, 27, "top_k 8 of 4 experts"},
	{"{name: a, layers: 2, hidden: 64, heads: 4, vocab: 9,\n"
         " moe: {experts: 4, top_k: 2, ffn: 9, capacity: 1, dropless: true}}",
         2, 48, "dropless experts have no capacity"},
	{"{name: a, layers: 2, hidden: 64, heads: 4, vocab: 9, ffn: 9,\n"
         " mla: {q_rank: 4}}",
         2, 7, "'kv_rank' is missing"},
	{"{name: a, layers: 2, hidden: 64, heads: 4, vocab: 9, ffn: 9,\n"
         " train: {dtype: bf61}}",
         2, 17, "unknown type 'bf61'"},
	{"{name: a, layers: 2, hidden: 64, heads: 4, vocab: 9, ffn: 9,\n"
         " train: {zero: 4}}",
         2, 16, "zero"},
	{"{name: a, layers: 2, hidden: 64, heads: 4, vocab: 9, ffn: 9,\n"
         " train: {global_batch: 9, micro_batch: 2}}",
         2, 40, "no multiple"},
	{"{name: a, layers: 2, hidden: 64, heads: 4, vocab: 9, ffn: 9,\n"
         " train: {interleave: 2, schedule: gpipe}}",
         2, 35, "only the schedule 1f1b interleaves"},
	{"{name: a, layers: 9999, hidden: 268435456, heads: 4, vocab: 9,\n"
         " ffn: 268435456}",
         1, 1, "expected at most 1e+18"},
};

START_TEST(bad_models)
{
	struct architecture m;
	struct error e = {0};

	ck_assert(read_text(&m, bad[_i].text, &e) != OK);
	ck_assert_msg(e.at.line == bad[_i].line && e.at.col == bad[_i].col &&
	                      strstr(e.text, bad[_i].said),
	              "%d: %u:%u: %s", _i, e.at.line, e.at.col, e.text);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("architecture");
	TCase *t = tcase_create("architecture");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, published_parameters);
	tcase_add_test(t, formula_of_mpt);
	tcase_add_test(t, formula_of_latent_attention);
	tcase_add_test(t, tensors_of_llama);
	tcase_add_test(t, defaults_and_all_fields);
	tcase_add_loop_test(t, bad_models, 0, sizeof(bad) / sizeof(*bad));
	suite_add_tcase(s, t);
	return s;
}
