/* Sweeps in parts: plans, shards run in any order and more than once, and merged. */
#include "runner.h"
#include "tests/tests.h"

#include "sweep/shard_run.h"
#include "system/digest.h"
#include "system/version.h"

#include <check.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const char suite[] =
	"defaults: {array: \"bf16[48,210]\"}\n"
	"platforms: [dgx-a100:1, {base: tpu-v5e:4x8, set: {launch_s: [0, 2us]}}]\n"
	"scenarios:\n"
	"  - {name: a, mesh: \"x=2,y=3\", from: \"P('x')\", to: \"P('y')\"}\n"
	"  - {name: b, mesh: \"x=7\", from: \"P(None, 'x')\", to: \"P()\",\n"
	"     bytes: [420, 4200]}\n"
	"  - {name: c, mesh: \"x=4,y=3\", from: \"P('x', 'y')\", to: \"P('y', "
	"'x')\",\n     placement: free, hierarchy: \"4,3\"}\n";

static struct runner r;

static void start(void)
{
	runner_start(&r);
	runner_write(&r, "suite.yaml", suite);
}

static void end(void)
{
	runner_end(&r);
}

#define RUN(...) ((const char *const[]){"sweep", __VA_ARGS__, NULL})

#define PLANNERS "--planner", "synth,direct,best", "--clock", "model,simgrid"

static void make_plan(void)
{
	runner_run(&r, RUN("plan", "suite.yaml", PLANNERS, "--out", "p.jsonl"), 0);
	runner_said(&r, "72 cases in p.jsonl\n"); /* 4 x 3 platforms x 3 x 2 */
}

static void check_merged(void)
{
	size_t n, m;
	struct row *local, *merged;

	runner_run(&r, RUN("suite.yaml", PLANNERS, "--out", "local"), 0);
	local = runner_rows(&r, "local", &n);
	merged = runner_rows(&r, "merged", &m);
	ck_assert_uint_eq(n, 72);
	runner_equal_rows(merged, m, local, n, false);
}

#define SHARDS "shard-0-of-3.jsonl", "shard-1-of-3.jsonl", "shard-2-of-3.jsonl"

/* In any order, twice, with a death in between: the rows of a sweep on one machine. */
START_TEST(in_parts)
{
	static const char *const order[] = {"2/3", "0/3", "2/3", "1/3"};
	const char *first;
	pid_t shard;

	make_plan();
	shard = runner_program(&r, NULL, RUN("run", "p.jsonl", "--shard", "0/3"));
	runner_pause_ms(60);
	runner_kill(shard);
	for (int i = 0; i < COUNT(order); i++)
		runner_run(&r, RUN("run", "p.jsonl", "--shard", order[i]), 0);
	first = runner_read(&r, "shard-1-of-3.jsonl");
	runner_run(&r, RUN("run", "p.jsonl", "--shard", "1/3", "--jobs", "2"), 0);
	runner_said(&r, "; nothing was missing\n");
	ck_assert_str_eq(runner_read(&r, "shard-1-of-3.jsonl"), first);
	ck_assert(!runner_has(&r, "shard-0-of-3.jsonl.part"));
	ck_assert(!runner_has(&r, "shard-0-of-3.jsonl.lock"));
	runner_run(&r, RUN("merge", "p.jsonl", SHARDS, "--out", "merged"), 0);
	runner_run(&r, RUN("merge", "p.jsonl", SHARDS, "--out", "merged"), 0);
	check_merged();
	runner_run(&r, RUN("--resume", "merged"), 0);
	runner_said(&r, "; nothing was missing\n");
	runner_run(&r, RUN("status", "p.jsonl", SHARDS), 0);
	runner_run(&r, RUN("status", "merged"), 0);
}
END_TEST

/* What a shard lacks, however it came to lack it, the same command puts there. */
START_TEST(cut_off)
{
	const char *whole, *cut;
	char *half;
	size_t n;

	make_plan();
	runner_run(&r, RUN("run", "p.jsonl", "--out", "one.jsonl"), 0);
	whole = runner_read(&r, "one.jsonl");
	n = strlen(whole);
	half = arena_strndup(r.arena, whole, n * (size_t)(_i + 1) / 5);
	runner_write(&r, "one.jsonl", half);
	runner_run(&r, RUN("status", "p.jsonl", "one.jsonl"), 1);
	runner_run(&r, RUN("merge", "p.jsonl", "one.jsonl", "--out", "merged"), 1);
	runner_said(&r, " of 72 rows are missing\n");
	runner_run(&r, RUN("run", "p.jsonl", "--out", "one.jsonl"), 0);
	cut = runner_read(&r, "one.jsonl");
	ck_assert_uint_gt(strlen(cut), n / 2);
	runner_run(&r, RUN("merge", "p.jsonl", "one.jsonl", "--out", "merged"), 0);
	check_merged();
}
END_TEST

/* The first digit behind the name, which is then another one. */
static void edit_digit(char *line, const char *name)
{
	char *at = strstr(line, name);

	ck_assert_ptr_nonnull(at);
	at += strcspn(at, "0123456789");
	*at = *at == '7' ? '8' : '7';
}

/* A time, the number of a shard: no edit is taken for a measurement. */
START_TEST(edited)
{
	static const char *const field[] = {"\"time_s\":", "\"shard\":"};
	static const char *const said[] = {
		"one.jsonl:3:1: this line does not fit its checksum, as it was damaged "
		"or edited: take it out, and `sweep run` measures its cases again\n",
		"one.jsonl:1:1: this line does not fit its checksum, as it was damaged "
		"or edited: remove the file, and `sweep run` measures its cases "
		"again\n"};
	char *text, *line;

	make_plan();
	runner_run(&r, RUN("run", "p.jsonl", "--shard", "0/9", "--out", "one.jsonl"), 0);
	text = arena_strdup(r.arena, runner_read(&r, "one.jsonl"));
	line = strchr(strchr(text, '\n') + 1, '\n') + 1;
	edit_digit(_i ? text : line, field[_i]);
	runner_write(&r, "one.jsonl", text);
	runner_run(&r, RUN("merge", "p.jsonl", "one.jsonl", "--out", "merged"), 2);
	runner_said(&r, said[_i]);
	ck_assert(!runner_has(&r, "merged"));
	runner_run(&r, RUN("status", "p.jsonl", "one.jsonl"), 2);
	runner_said(&r, said[_i]);
	runner_run(&r, RUN("run", "p.jsonl", "--shard", "0/9", "--out", "one.jsonl"), 2);
	runner_said(&r, said[_i]);
	if (_i)
		return;
	/* What the message says helps. */
	memmove(line, strchr(line, '\n') + 1, strlen(strchr(line, '\n')));
	runner_write(&r, "one.jsonl", text);
	runner_run(&r, RUN("run", "p.jsonl", "--shard", "0/9", "--out", "one.jsonl"), 0);
	/* Two of 4 x 3 pairs, dealt to nine, with six cases each. */
	runner_said(&r, "12 rows in one.jsonl: ");
	runner_said(&r, "; 11 were there\n");
}
END_TEST

/* The file is cut, or removed, while rows are put into it. */
START_TEST(cut_meanwhile)
{
	struct digest plan = digest_start();
	struct sweep_mark mark = {.key = plan};
	struct row row = row_empty();
	struct shard_file f;
	struct sweep_sink sink;
	struct error e = {0};
	const char *part;

	ck_assert_int_eq(shard_open(&f, runner_path(&r, "one.jsonl"), plan,
	                            (struct shard){0, 1}, r.arena, &e),
	                 OK);
	ck_assert_int_eq(shard_begin(&f, &e), OK);
	sink = shard_sink(&f);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(sink.put(sink.self, &row, mark, NULL, &e), OK);
		ck_assert_int_eq(sink.commit(sink.self, &e), OK);
		sweep_count(&f.counts, OUTCOME_OK);
		if (i != 1)
			continue;
		part = runner_read(&r, "one.jsonl.part");
		ck_assert_int_eq(_i ? unlink(f.part)
		                    : truncate(f.part, strchr(part, '\n') + 1 - part),
		                 0);
	}
	ck_assert_int_eq(shard_finish(&f, &e), E_IO);
	ck_assert_str_eq(e.text, _i ? "cannot be read: No such file or directory"
	                            : "it has 1 rows, but 3 were put into it");
	ck_assert(!runner_has(&r, "one.jsonl"));
	shard_close(&f);
}
END_TEST

/* A failed row is as good as none. */
START_TEST(failed_is_not_done)
{
	const char *path = runner_path(&r, "one.jsonl");
	struct digest plan = digest_start();
	struct row row = row_empty();
	struct error e = {0};
	struct shard_file f;
	bool done;

	row.status = _i ? OUTCOME_FAILED : OUTCOME_OK;
	shard_open(&f, path, plan, (struct shard){0, 1}, r.arena, &e);
	shard_begin(&f, &e);
	shard_sink(&f).put(&f, &row, (struct sweep_mark){.key = plan}, NULL, &e);
	sweep_count(&f.counts, row.status);
	ck_assert_int_eq(shard_finish(&f, &e), OK);
	shard_close(&f);
	ck_assert_int_eq(shard_done(&done, path, plan, (struct shard){0, 1}, 1, &e), OK);
	ck_assert_int_eq(done, !_i);
}
END_TEST

/* A merged sweep of which shards are missing is a sweep that can be gone on with. */
START_TEST(resumed)
{
	make_plan();
	runner_run(&r, RUN("run", "p.jsonl", "--shard", "1/3"), 0);
	runner_run(&r, RUN("merge", "p.jsonl", "shard-1-of-3.jsonl", "--out", "merged"),
	           1);
	runner_run(&r, RUN("status", "merged"), 1);
	runner_run(&r, RUN("--resume", "merged"), 0);
	check_merged();
}
END_TEST

START_TEST(of_another_plan)
{
	static const char two[] = "shard-0-of-2.jsonl";

	make_plan();
	runner_run(&r, RUN("run", "p.jsonl", "--shard", "0/2"), 0);
	runner_run(&r,
	           RUN("plan", "suite.yaml", "--planner", "synth", "--out", "q.jsonl"),
	           0);
	runner_run(&r, RUN("merge", "q.jsonl", two, "--out", "merged"), 2);
	runner_said(&r, "shard-0-of-2.jsonl:1:1: this is a shard of another plan\n");
	ck_assert(!runner_has(&r, "merged"));
	runner_run(&r, RUN("status", "q.jsonl", two), 2);
	runner_run(&r, RUN("run", "q.jsonl", "--shard", "0/2"), 2);
	runner_said(&r, "shard-0-of-2.jsonl:1:1: this is a shard of another plan\n");
	runner_run(&r, RUN("run", "p.jsonl", "--shard", "1/2", "--out", two), 2);
	runner_said(&r, "shard-0-of-2.jsonl: this is shard 0/2, expected 1/2\n");
	runner_run(&r, RUN("merge", "p.jsonl", "suite.yaml", "--out", "merged"), 2);
	runner_said(&r, "suite.yaml:1:1: this is no shard, expected what `sweep run` "
	                "writes\n");
	runner_run(&r, RUN("run", "suite.yaml"), 2);
	runner_said(&r, "suite.yaml:1:1: a line that is no JSON object, expected what");
	/* A folder of another sweep is not merged into. */
	runner_run(&r, RUN("suite.yaml", "--planner", "synth", "--out", "merged"), 0);
	runner_run(&r, RUN("merge", "p.jsonl", two, "--out", "merged"), 2);
	runner_said(&r, "merged: another sweep is there: 12 of its 12 rows are of this "
	                "one, which has 72;");
}
END_TEST

/* Two processes on one shard: the second is told of the first, and has nothing to do. */
START_TEST(two_at_once)
{
	pid_t first, worker, replay;

	runner_write(&r, "suite.yaml",
	             "scenarios: [{name: a, array: \"u8[2048,512]\", mesh: "
	             "\"x=64,y=32\",\n"
	             "  from: \"P(('x', 'y'))\", to: \"P(('y', 'x'))\"}]\n");
	runner_run(&r,
	           RUN("plan", "suite.yaml", "--platform", "tpu-v4:8x16x16", PLANNERS,
	               "--out", "p.jsonl"),
	           0);
	first = runner_program(&r, NULL, RUN("run", "p.jsonl"));
	runner_stop_replay(first, &worker, &replay);
	runner_run(&r, RUN("run", "p.jsonl"), 0);
	runner_said(&r,
	            arena_printf(r.arena, "shard-0-of-1.jsonl: process %d is writing",
	                         (int)first));
	kill(first, SIGTERM);
	runner_exit(first, 1);
	runner_said(&r, "the same command goes on\n");
	runner_run(&r, RUN("run", "p.jsonl"), 0);
}
END_TEST

/* A platform's file that has changed since, a plan that was cut off or edited. */
START_TEST(changed)
{
	const char *plan, *xml;
	char *edited, *at;

	runner_run(&r,
	           (const char *const[]){"platform", "dgx-a100:1", "-o", "a.xml", NULL},
	           0);
	runner_run(&r,
	           RUN("plan", "suite.yaml", "--platform", "./a.xml", "--out", "p.jsonl"),
	           0);
	xml = runner_read(&r, "a.xml");
	runner_write(&r, "a.xml", arena_printf(r.arena, "%s\n", xml));
	runner_run(&r, RUN("run", "p.jsonl"), 2);
	runner_said(&r, "platform ./a.xml is not what it was when the plan was made");
	runner_write(&r, "a.xml", xml);
	plan = runner_read(&r, "p.jsonl");
	runner_write(&r, "p.jsonl", arena_strndup(r.arena, plan, strlen(plan) - 20));
	runner_run(&r, RUN("run", "p.jsonl"), 2);
	runner_said(&r, "p.jsonl:6:1: a line that is no JSON object");
	at = strstr(plan, "\"scenario\":\"c\"");
	runner_write(&r, "p.jsonl",
	             arena_strndup(r.arena, plan, (size_t)(at - plan) - 1));
	runner_run(&r, RUN("run", "p.jsonl"), 2);
	runner_said(&r, "p.jsonl: the plan is not whole");
	edited = arena_strdup(r.arena, plan);
	at = strstr(edited, "0.1.0");
	at[0] = at[2] = at[4] = '9';
	runner_write(&r, "p.jsonl", edited);
	runner_run(&r, RUN("run", "p.jsonl"), 2);
	runner_said(&r, "p.jsonl:1:1: a plan of shardsim 9.9.9 (sources ");
	runner_said(&r, arena_printf(r.arena, "), but this is %s: plan anew\n",
	                             version_text));
}
END_TEST

/* Shards of one part and of three have cases in common, which count once. */
START_TEST(overlapping)
{
	static const char *const lines[] = {
		"one       72        0 ", /* 4 x 3 pairs, dealt like cards: 4 of 12 */
		"third     24        0 ", "total     72        0 "};
	const char *table;

	make_plan();
	runner_run(&r, RUN("run", "p.jsonl", "--out", "one"), 0);
	runner_run(&r, RUN("run", "p.jsonl", "--shard", "1/3", "--out", "third"), 0);
	runner_run(&r, RUN("status", "p.jsonl", "one", "third"), 0);
	table = runner_read(&r, "stdout");
	for (int i = 0; i < COUNT(lines); i++)
		ck_assert_msg(strstr(table, lines[i]) != NULL, "no '%s' in:\n%s",
		              lines[i], table);
	ck_assert_ptr_null(strstr(table, "other"));
	runner_run(&r, RUN("status", "p.jsonl", "third"), 1);
	ck_assert_ptr_nonnull(
		strstr(runner_read(&r, "stdout"), "other shards     48       48 "));
}
END_TEST

static const struct {
	const char *text;
	enum status code;
	int shard, of;
} parts[] = {
	{"0/1", OK, 0, 1},       {"6/7", OK, 6, 7},
	{"1/1", E_RANGE, 0, 0},  {"7/7", E_RANGE, 0, 0},
	{"0/0", E_RANGE, 0, 0},  {"-1/3", E_SYNTAX, 0, 0},
	{"1", E_SYNTAX, 0, 0},   {"1/3/5", E_SYNTAX, 0, 0},
	{"", E_SYNTAX, 0, 0},    {"/3", E_SYNTAX, 0, 0},
	{"x/3", E_SYNTAX, 0, 0}, {"99999999999/3", E_RANGE, 0, 0},
};

START_TEST(part_texts)
{
	struct error e = {0};
	struct shard shard = {0, 0};

	shard_parse(&shard, parts[_i].text, where_option("--shard", parts[_i].text), &e);
	ck_assert_msg(e.code == parts[_i].code || (e.code && parts[_i].code == E_SYNTAX),
	              "%d: %s", (int)e.code, e.text);
	ck_assert_int_eq(shard.shard, parts[_i].shard);
	ck_assert_int_eq(shard.of, parts[_i].of);
}
END_TEST

/* The published digests of these texts (FNV-1a, 128 bits). */
START_TEST(digests)
{
	static const char *const known[][2] = {
		{"", "6c62272e07bb014262b821756295c58d"},
		{"a", "d228cb696f1a8caf78912b704e4a8964"},
		{"foobar", "343e1662793c64bf6f0d3597ba446f18"},
	};
	struct digests set = {0};
	char text[DIGEST_TEXT];
	struct digest d;

	for (int i = 0; i < COUNT(known); i++) {
		d = digest_start();
		digest_bytes(&d, known[i][0], strlen(known[i][0]));
		digest_print(text, d);
		ck_assert_str_eq(text, known[i][1]);
		ck_assert(digest_parse(&d, text));
		digest_print(text, d);
		ck_assert_str_eq(text, known[i][1]);
	}
	ck_assert(!digest_parse(&d, "6c62272e07bb014262b821756295c58"));
	ck_assert(!digest_parse(&d, "6c62272e07bb014262b821756295c58D"));
	ck_assert(!digest_parse(&d, "6c62272e07bb014262b821756295c58dd"));
	for (int k = 0; k < 2; k++)
		for (uint64_t i = 0; i < 1000; i++)
			digests_add(&set, (struct digest){i % 7, i * 64 + 1});
	ck_assert_uint_eq(set.n, 1000);
	for (uint64_t i = 0; i < 1000; i++) {
		ck_assert(digests_has(&set, (struct digest){i % 7, i * 64 + 1}));
		ck_assert(!digests_has(&set, (struct digest){i % 7 + 7, i * 64 + 1}));
	}
	digests_free(&set);
	ck_assert(!digests_has(&set, digest_start()));
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("shard");
	TCase *tc = tcase_create("shard");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, in_parts);
	tcase_add_loop_test(tc, cut_off, 0, 4);
	tcase_add_loop_test(tc, edited, 0, 2);
	tcase_add_loop_test(tc, cut_meanwhile, 0, 2);
	tcase_add_loop_test(tc, failed_is_not_done, 0, 2);
	tcase_add_test(tc, resumed);
	tcase_add_test(tc, of_another_plan);
	tcase_add_test(tc, two_at_once);
	tcase_add_test(tc, changed);
	tcase_add_test(tc, overlapping);
	tcase_add_loop_test(tc, part_texts, 0, COUNT(parts));
	tcase_add_test(tc, digests);
	suite_add_tcase(s, tc);
	return s;
}
