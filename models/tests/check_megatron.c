/*
 * Memory of training steps against the published columns of Megatron (Korthikanti et al.,
 * arXiv 2205.05198, table 3 and figure 7, as calculon's validation has them in GiB): first the
 * closed forms against the columns, then what is live in the programs of the same steps
 * against the closed forms.
 */
#include "facts/model.h"
#include "program/liveness.h"
#include "program/step.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>

static const double GIB = 1024.0 * 1024 * 1024;

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* On 8-way tensor parallelism; GiB of parameters and optimizer, of activations. */
static const struct published {
	const char *name;
	int64_t stages, interleave, micro_batch, global_batch;
	double state, none, both; /* both: sequence parallelism, selective recompute */
} table[] = {
	{"22b", 1, 1, 4, 8, 45.5625, 59.25, 9.5625},
	{"175b", 8, 3, 1, 64, 45.5625, 66.84, 12.35},
	{"530b", 35, 3, 1, 280, 31.64, 114.02, 23.08},
	{"1t", 64, 1, 1, 512, 32.96, 131.25, 26.56},
};

static struct architecture model_of(const struct published *row)
{
	const char *path =
		arena_printf(arena, "scenarios/models/megatron-%s.yaml", row->name);
	struct architecture m;
	struct error e = {0};

	ck_assert_msg(architecture_read(&m, arena, path, &e) == OK, "%s", e.text);
	m.train.seq = 2048;
	m.train.micro_batch = row->micro_batch;
	m.train.global_batch = row->global_batch;
	m.train.interleave = row->interleave;
	m.train.fuse = FUSE_COMPILED;
	m.train.attention = ATTENTION_MATH;
	return m;
}

/* 18 bytes for each parameter of a stage's layers, without biases and norms. */
static double state_bytes(const struct published *row, const struct architecture *m)
{
	double h = (double)m->hidden;

	return 18 * 12 * h * h * (double)m->layers / 8 / (double)row->stages;
}

enum mode { MODE_NONE, MODE_BOTH, MODE_FULL, MODES };

/* Of the first stage, which holds the activations of as many micro batches as there are stages. */
static double activation_bytes(const struct published *row,
                               const struct architecture *m, enum mode mode)
{
	double s = (double)m->train.seq, b = (double)row->micro_batch;
	double h = (double)m->hidden, a = (double)m->heads, p = (double)row->stages;
	double v = (double)row->interleave, t = 8;
	double more = v > 1 ? 1 + (p - 1) / (p * v) : 1;
	double each = mode == MODE_NONE   ? 10 + 24 / t + 5 * a * s / (h * t)
	              : mode == MODE_BOTH ? 34 / t
	                                  : 2;

	return (double)m->layers * more * s * b * h * each;
}

START_TEST(closed_forms_are_the_columns)
{
	const struct published *row = &table[_i];
	struct architecture m = model_of(row);

	/* As many digits as are printed. */
	ck_assert_double_eq_tol(state_bytes(row, &m) / GIB, row->state, 0.005);
	ck_assert_double_eq_tol(activation_bytes(row, &m, MODE_NONE) / GIB, row->none,
	                        0.005);
	ck_assert_double_eq_tol(activation_bytes(row, &m, MODE_BOTH) / GIB, row->both,
	                        0.005);
}
END_TEST

/* The embedding and its state are on the stages too, of which the columns do not tell. */
START_TEST(programs_hold_as_much)
{
	const struct published *row = &table[_i / MODES];
	enum mode mode = (enum mode)(_i % MODES);
	struct step_degrees d = {1, 1, 8, 1, 1, row->stages, 0};
	struct architecture m = model_of(row);
	struct text text = {0}, why = {0};
	struct step_facts facts;
	struct program p;
	struct liveness live;
	struct error e = {0};
	double expected, held;

	m.train.sequence_parallel = mode == MODE_BOTH;
	m.train.recompute = mode == MODE_BOTH   ? RECOMPUTE_SELECTIVE
	                    : mode == MODE_FULL ? RECOMPUTE_FULL
	                                        : RECOMPUTE_NONE;
	ck_assert_msg(step_text(&text, &facts, &m, &d, &why), "%s", why.s);
	ck_assert_msg(program_of_text(&p, arena, text.s, text.length, "step", &e) == OK,
	              "%s", e.text);
	ck_assert(liveness_of(&live, NULL, arena, &p));
	text_free(&text);
	text_free(&why);
	expected = state_bytes(row, &m) + activation_bytes(row, &m, mode) +
	           18.0 * (double)architecture_vocab(&m) * (double)m.hidden / 8;
	held = live.peak_bytes + facts.held_bytes;
	ck_assert_msg(fabs(held / expected - 1) < 0.1,
	              "%s, mode %d: %.2f GiB, expected %.2f", row->name, mode,
	              held / GIB, expected / GIB);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("megatron");
	TCase *c = tcase_create("memory");
	int n = (int)(sizeof(table) / sizeof(*table));

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, closed_forms_are_the_columns, 0, n);
	tcase_add_loop_test(c, programs_hold_as_much, 0, n * MODES);
	suite_add_tcase(s, c);
	return s;
}
