#include "fit/log.h"
#include "tests/tests.h"

#include "tiny_family.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct arena *arena;
static const char *dir;

static void setup(void)
{
	arena = arena_new();
	dir = tiny_start(arena);
}

static void teardown(void)
{
	tiny_end(dir);
	arena_free(arena);
}

/* Starts a log of `nodes` nodes of four ranks. */
static void log_start(struct text *out, const char *test, int nodes)
{
	text_printf(out,
	            "# Collective test starting: %s\n# nThread 1 nGpus 1 graph: 0\n",
	            test);
	for (int r = 0; r < 4 * nodes; r++)
		text_printf(out,
		            "#  Rank %2d Group  0 Pid %6d on node-%d device %2d [0x07] "
		            "A100\n",
		            r, 4711 + r, r / 4, r % 4);
	text_printf(out,
	            "#  size  count  type  redop  root  time  algbw  busbw  #wrong  "
	            "time  algbw  busbw  #wrong\n");
}

/* Adds sizes; in place takes three times as long. */
static void log_row(struct text *out, double bytes, double s)
{
	text_printf(out, "%.0f %.0f float sum -1 %.4f %.2f %.2f 0 %.4f %.2f %.2f N/A\n",
	            bytes, bytes / 4, s * 1e6, bytes / s * 1e-9, 1.5 * bytes / s * 1e-9,
	            s * 3e6, bytes / s * 1e-9, 1.5 * bytes / s * 1e-9);
}

static const char *log_file(struct text *out)
{
	const char *path = tiny_file(arena, dir, "run.log", out->s);

	text_free(out);
	return path;
}

/*
 * Sizes 64 B x 2^first to 64 B x 2^last on a node, on links of `share` of the 100 GB/s of
 * tiny_ring_s(). Its LL and its other constants are those of NCCL, so a ring over other
 * links is one of more bytes.
 */
static const char *node_log(int first, int last, double share, double launch_s,
                            double step, double fill_s)
{
	struct text out = {0};

	log_start(&out, "all_reduce_perf", 1);
	for (int k = first; k <= last; k++) {
		double bytes = 64 * exp2(k);

		log_row(&out, bytes,
		        tiny_ring_s(bytes / share, true, launch_s, step, fill_s));
	}
	return log_file(&out);
}

static enum status run_fit(struct log_fit *f, const char *path, const char *platform,
                           struct error *e)
{
	const char *const files[] = {path};
	const struct machine_log l = {.file = files, .nfiles = 1, .platform = platform};

	return log_fit(f, arena, &l, NULL, e);
}

static const struct fitted *figure(const struct log_fit *f, const char *name)
{
	for (int i = 0; i < f->fit.nfigures; i++)
		if (!strcmp(f->fit.figure[i].figure, name))
			return &f->fit.figure[i];
	ck_abort_msg("%s was not fitted", name);
	return NULL;
}

static const char *why(const struct log_fit *f, const char *name)
{
	for (int i = 0; i < f->nskipped; i++)
		if (!strcmp(f->skipped[i].figure, name))
			return f->skipped[i].why;
	ck_abort_msg("%s was fitted, or has no reason", name);
	return NULL;
}

/* The priors pull little: most at the step and the fill, which are parts of a time. */
START_TEST(constants_come_back)
{
	static const struct {
		double share, launch_s, step, fill_s;
	} row[] = {
		{0.9, 14e-6, 1.3, 3e-6}, {0.6, 5e-6, 0.6, 2e-6}, {1.2, 25e-6, 2, 6e-6}};
	struct log_fit f;
	struct error e = {0};

	ck_assert_msg(run_fit(&f,
	                      node_log(0, 27, row[_i].share, row[_i].launch_s,
	                               row[_i].step, row[_i].fill_s),
	                      "tiny:1", &e) == OK,
	              "%s", e.text);
	ck_assert_int_eq(f.fit.nfigures, 4);
	ck_assert_double_eq_tol(figure(&f, "nvlink.bandwidth")->value,
	                        row[_i].share * 100e9, row[_i].share * 1e9);
	ck_assert_double_eq(figure(&f, "nvlink.bandwidth")->peak, 125e9);
	ck_assert_double_eq_tol(log(figure(&f, "launch_s")->value / row[_i].launch_s),
	                        0, 0.02);
	ck_assert_double_eq_tol(log(figure(&f, "step")->value / row[_i].step), 0, 0.05);
	ck_assert_double_eq_tol(log(figure(&f, "fill_s")->value / row[_i].fill_s), 0,
	                        0.15);
	ck_assert_double_lt(f.fit.after, 1.01);
	ck_assert_ptr_nonnull(strstr(why(&f, "nic.bandwidth"), "no timing crosses"));
}
END_TEST

/*
 * Over two nodes of four GPUs an all-gather of S bytes in all puts 7/8 S through the ring,
 * a fourth of it over each of the four NICs: w = S x 7/32 / bandwidth where S is large, and
 * 2 sqrt(w fill) more, here with a fill of 8 us.
 */
START_TEST(network)
{
	const double nic_Bps = 8e9;
	struct text out = {0};
	struct log_fit f;
	struct error e = {0};

	log_start(&out, "all_gather_perf", 2);
	for (int k = 24; k < 34; k++) {
		double w = exp2(k) * 7 / 32 / nic_Bps;

		log_row(&out, exp2(k), 100e-6 + w + 2 * sqrt(w * 8e-6));
	}
	ck_assert_msg(run_fit(&f, log_file(&out), "tiny:2", &e) == OK, "%s", e.text);
	ck_assert_double_eq_tol(figure(&f, "nic.bandwidth")->value, nic_Bps,
	                        0.03 * nic_Bps);
	ck_assert_ptr_nonnull(strstr(why(&f, "fill_s"), "several nodes"));
	ck_assert_ptr_nonnull(strstr(why(&f, "net_send_s"), "no all-to-all"));
}
END_TEST

/* Writes the predictions of all-reduces on two nodes of eight GPUs as their log. */
static const char *predicted_log(const char *platform)
{
	static const char *const head = "# Collective test starting: all_reduce_perf\n"
					"# nThread 1 nGpus 1 graph: 0\n";
	struct text out = {0}, empty = {0};
	const char *path;
	const struct prediction *row;
	struct validation *v;
	struct error e = {0};
	int64_t n;

	for (int k = 0; k < 2; k++) {
		struct text *t = k ? &out : &empty;

		text_printf(t, "%s", head);
		for (int r = 0; r < 16; r++)
			text_printf(t,
			            "# Rank %d Group 0 Pid %d on node-%d device %d "
			            "[0x07] H100\n",
			            r, 4711 + r, r / 8, r % 8);
	}
	for (int k = 3; k < 35; k++)
		log_row(&empty, exp2(k), 1e-3);
	path = log_file(&empty);
	const struct machine_log l = {.file = &path, .nfiles = 1, .platform = platform};

	ck_assert_msg(machine_log_open(&v, arena, &l, &e) == OK, "%s", e.text);
	validation_run(v);
	row = validation_rows(v, &n);
	ck_assert_int_eq(n, 32);
	for (int64_t i = 0; i < n; i++)
		log_row(&out, (double)row[i].row->bytes, row[i].time_s);
	validation_close(v);
	return log_file(&out);
}

static const struct {
	const char *set, *limit;    /* which bandwidth is told */
	double nvlink_Bps, nic_Bps; /* 0: it keeps the family's value */
	const char *rival;
} slow_links[] = {
	{"nic.bandwidth=24GB/s", "nic.bandwidth", 368e9, 24e9, "nvlink.bandwidth"},
	{"nvlink.bandwidth=185GB/s", "nvlink.bandwidth", 185e9, 0, "nic.bandwidth"},
	{"launch_s=9us", "nvlink.bandwidth", 368e9, 0, NULL},
};

static void bandwidth_near(const struct log_fit *f, const char *name, double Bps)
{
	for (int i = 0; i < f->fit.nfigures; i++)
		if (!strcmp(f->fit.figure[i].figure, name))
			ck_assert_double_eq_tol(f->fit.figure[i].value, Bps, 0.1 * Bps);
}

/*
 * The network of a shipped machine limits all-reduces only when it is slower than it is;
 * the log of a slow link says so of that link. The other one keeps its value, whether
 * it is fitted or not.
 */
START_TEST(slow_link)
{
	struct log_fit f;
	struct error e = {0};
	const char *set = arena_printf(arena, "dgx-h100:2{%s}", slow_links[_i].set);

	unsetenv("SHARDSIM_DATA");
	ck_assert_msg(run_fit(&f, predicted_log(set), "dgx-h100:2", &e) == OK, "%s",
	              e.text);
	figure(&f, slow_links[_i].limit);
	bandwidth_near(&f, "nvlink.bandwidth", slow_links[_i].nvlink_Bps);
	if (slow_links[_i].nic_Bps > 0)
		bandwidth_near(&f, "nic.bandwidth", slow_links[_i].nic_Bps);
	else
		ck_assert_ptr_nonnull(
			strstr(why(&f, "nic.bandwidth"), "no timing depends on it"));
	ck_assert_int_gt((int)f.fit.nlarge, 10);
	ck_assert_double_lt(f.fit.large_after, 1.01);
	ck_assert_int_eq(f.rival != NULL, slow_links[_i].rival != NULL);
	if (f.rival) {
		bool blamed = false;

		for (int i = 0; i < f.rival->nfigures; i++)
			blamed |= !strcmp(f.rival->figure[i].figure,
			                  slow_links[_i].rival);
		ck_assert(blamed);
	}
}
END_TEST

/* 1.6 x 100 GB/s is above the peak of 125 GB/s, and the rest is fitted without. */
START_TEST(above_the_peak)
{
	struct log_fit f;
	struct error e = {0};

	ck_assert_int_eq(
		run_fit(&f, node_log(0, 27, 1.6, 14e-6, 1, 2e-6), "tiny:1", &e), OK);
	ck_assert_ptr_nonnull(
		strstr(why(&f, "nvlink.bandwidth"), "documented peak of 125 GB/s"));
	figure(&f, "launch_s");
	ck_assert(!strstr(f.fitted, "bandwidth"));
}
END_TEST

/* What sizes are too few or too small for. */
START_TEST(not_told)
{
	struct log_fit f;
	struct error e = {0};

	ck_assert_int_eq(run_fit(&f, node_log(3, 3, 1, 14e-6, 1, 2e-6), "tiny:1", &e),
	                 OK);
	ck_assert_int_eq(f.fit.nfigures, 1);
	/* 3.6 us of steps and 14 us; the rest of the time is wire and fill */
	ck_assert_double_eq_tol(figure(&f, "launch_s")->value, 14e-6, 0.3e-6);
	ck_assert_ptr_nonnull(strstr(why(&f, "step"), "1 size tell no more than 1"));
	ck_assert_int_eq(run_fit(&f, node_log(27, 27, 1, 14e-6, 1, 2e-6), "tiny:1", &e),
	                 OK);
	ck_assert_int_eq(f.fit.nfigures, 1);
	ck_assert_double_eq_tol(figure(&f, "nvlink.bandwidth")->value, 100e9, 1e9);
	ck_assert_int_eq(run_fit(&f, node_log(0, 5, 1, 14e-6, 1, 2e-6), "tiny:1", &e),
	                 OK);
	ck_assert_ptr_nonnull(
		strstr(why(&f, "nvlink.bandwidth"), "no timing depends on it"));
}
END_TEST

/* The name that is printed is of a machine on which the log is predicted well. */
START_TEST(fitted_name)
{
	const char *path = node_log(0, 27, 0.9, 14e-6, 1.3, 3e-6), *const files[] = {
									   path};
	struct machine_log l = {.file = files, .nfiles = 1};
	const struct prediction *row;
	struct validation *v;
	struct log_fit f;
	struct error e = {0};
	int64_t n;

	ck_assert_int_eq(run_fit(&f, path, "tiny:1{memory_bytes=2GB}", &e), OK);
	ck_assert_ptr_nonnull(strstr(f.fitted, "tiny:1{memory_bytes=2GB,launch_s="));
	l.platform = f.fitted;
	ck_assert_msg(machine_log_open(&v, arena, &l, &e) == OK, "%s", e.text);
	validation_run(v);
	row = validation_rows(v, &n);
	ck_assert_int_eq(n, 28);
	for (int64_t i = 0; i < n; i++)
		ck_assert_double_lt(prediction_error(&row[i]), 1.02);
	validation_close(v);
}
END_TEST

#define LOG(ranks, row) "# Collective test starting: all_reduce_perf\n" ranks row
#define RANK(r, host) "# Rank " #r " Group 0 Pid 7 on " host " device 0 [0x07] A100\n"
#define NODE(host) RANK(0, host) RANK(1, host) RANK(2, host) RANK(3, host)
#define ROW "64 16 float sum -1 20 0 0 0 20 0 0 0\n"

static const struct {
	const char *log, *platform, *collective;
	bool in_place;
	const char *says; /* NULL: it is taken */
} opened[] = {
	{LOG(NODE("a"), ROW), "tiny:1", NULL, false, NULL},
	{LOG(NODE("a"), ROW), "tiny:1", "all-reduce", true, NULL},
	{LOG(NODE("a"), ROW), "tiny:2", NULL, false,
         "4 ranks on 1 node, but tiny:2 has 8 devices on 2"},
	{LOG(RANK(0, "a") RANK(1, "a") RANK(2, "b") RANK(3, "b"), ROW), "tiny:1", NULL,
         false, "4 ranks on 2 nodes, but tiny:1 has its 4 devices on 1"},
	{LOG("", ROW), "tiny:1", NULL, false, "unknown ranks"},
	{NODE("a") "64 4 float none -1 20 0 0 0 20 0 0 0\n", "tiny:1", NULL, false,
         "unknown collective"},
	{NODE("a") "64 4 float none -1 20 0 0 0 20 0 0 0\n", "tiny:1", "all-to-all",
         false, NULL},
	{LOG(NODE("a"), ROW), "tiny:1", "broadcast", false,
         "a timing of all-reduce, but --collective broadcast"},
	{LOG(NODE("a"), ROW), "tiny:1", "all-sum", false, "unknown collective 'all-sum'"},
	{LOG(NODE("a"), "64 16 float sum -1 N/A 0 0 0 20 0 0 0\n"), "tiny:1", NULL,
         false, "in place alone"},
	{LOG(NODE("a"), "64 16 float sum -1 20 0 0 0\n"), "tiny:1", NULL, true,
         "no timings in place"},
	{LOG(NODE("a"), ROW), "tiny:9", NULL, false, "nodes 9 is out of range"},
};

START_TEST(machines)
{
	const char *const files[] = {tiny_file(arena, dir, "run.log", opened[_i].log)};
	const struct machine_log l = {.file = files,
	                              .nfiles = 1,
	                              .platform = opened[_i].platform,
	                              .collective = opened[_i].collective,
	                              .in_place = opened[_i].in_place};
	struct validation *v;
	struct error e = {0};
	const struct prediction *row;
	int64_t n;

	machine_log_open(&v, arena, &l, &e);
	if (opened[_i].says) {
		ck_assert_int_ne(e.code, OK);
		ck_assert_msg(strstr(e.text, opened[_i].says) != NULL, "%s", e.text);
	} else {
		ck_assert_msg(e.code == OK, "%s", e.text);
		row = validation_rows(v, &n);
		ck_assert_int_eq(n, 1);
		ck_assert_int_eq(row->row->in_place, opened[_i].in_place);
		validation_run(v);
		ck_assert(isfinite(row->time_s) && row->time_s > 0);
	}
	validation_close(v);
}
END_TEST

/* Four ranks of one process: tiny launches on all in 22.6 us, 9 us more than a call of 64 B. */
START_TEST(launch)
{
	const char *const files[] = {
		tiny_file(arena, dir, "run.log",
	                  "# nThread 1 nGpus 4 graph: 0\n" NODE("a") ROW
	                  "# nThread 1 nGpus 4 graph: 3\n" NODE("a") ROW
	                  "# nThread 1 nGpus 1 graph: 0\n" NODE("a") ROW)};
	const struct machine_log l = {.file = files, .nfiles = 1, .platform = "tiny:1"};
	struct validation *v;
	struct error e = {0};
	const struct prediction *row;
	int64_t n;

	ck_assert_msg(machine_log_open(&v, arena, &l, &e) == OK, "%s", e.text);
	validation_run(v);
	row = validation_rows(v, &n);
	ck_assert_int_eq(n, 3);
	ck_assert_double_eq_tol(row[0].time_s - row[2].time_s, 9e-6, 1e-9);
	ck_assert_double_eq_tol(row[1].time_s - row[2].time_s, -6e-6, 1e-9);
	ck_assert_str_eq(row[0].row->system, "tiny:1, one process");
	ck_assert_str_eq(row[1].row->system, "tiny:1, in a graph");
	validation_close(v);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("fit_log");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, constants_come_back, 0, 3);
	tcase_add_test(t, network);
	tcase_add_loop_test(t, slow_link, 0, COUNT(slow_links));
	tcase_add_test(t, above_the_peak);
	tcase_add_test(t, not_told);
	tcase_add_test(t, fitted_name);
	tcase_add_loop_test(t, machines, 0, COUNT(opened));
	tcase_add_test(t, launch);
	suite_add_tcase(s, t);
	return s;
}
