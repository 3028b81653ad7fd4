#include "fit/family.h"
#include "tests/tests.h"

#include "facts/families.h"
#include "fit/choose.h"
#include "tiny_family.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define HEADER "set,system,nodes,devices,collective,bytes,time_us,busbw_GBps\n"

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

static struct validation *open_mapped(const char *csv, const char *yaml)
{
	struct measured_table *rows = arena_alloc(arena, 1, sizeof(*rows));
	struct mapping *mapping = arena_alloc(arena, 1, sizeof(*mapping));
	struct validation *v = NULL;
	struct error e = {0};

	ck_assert_msg(measured_read(rows, arena, tiny_file(arena, dir, "m.csv", csv),
	                            &e) == OK,
	              "%s", e.text);
	ck_assert_int_eq(
		mapping_read(mapping, arena, tiny_file(arena, dir, "m.yaml", yaml), &e),
		OK);
	ck_assert_msg(validation_open(&v, arena, rows, mapping, &e) == OK, "%s", e.text);
	return v;
}

static struct validation *open_csv(const char *csv)
{
	return open_mapped(csv, "- {set: '*', platform: \"tiny:{nodes}\"}\n");
}

/* Sizes from 64 B to 8.6 GB, both kinds, timed with the constants given. */
static const char *timings(double launch_s, double step, double fill_s)
{
	struct text out = {0};

	text_printf(&out, HEADER);
	for (int k = 0; k < 28; k++)
		for (int twice = 0; twice < 2; twice++) {
			double bytes = 64 * exp2(k);
			double s = tiny_ring_s(bytes, twice, launch_s, step, fill_s);

			text_printf(&out, "log-%d,S,1,4,%s,%.0f,%.9g,\n", k % 3,
			            twice ? "all-reduce" : "reduce-scatter", bytes,
			            s * 1e6);
		}
	return text_take(&out, arena);
}

/*
 * The priors pull a little, also where nothing disturbs the timings: most at the fill,
 * which is never more than a part of a time.
 */
START_TEST(constants_come_back)
{
	static const struct {
		double launch_s, step, fill_s;
	} row[] = {{14e-6, 1.3, 3e-6}, {5e-6, 0.6, 1.2e-6}, {18e-6, 2.4, 9e-6}};
	static const char *const figures[] = {"launch_s", "fill_s", "step", NULL};
	static const double pull[] = {0.04, 0.3, 0.12};
	struct validation *v =
		open_csv(timings(row[_i].launch_s, row[_i].step, row[_i].fill_s));
	const double wanted[] = {row[_i].launch_s, row[_i].fill_s, row[_i].step};
	struct family_fit f;
	struct error e = {0};

	ck_assert_msg(family_fit(&f, v, arena, "tiny", figures, false, &e) == OK, "%s",
	              e.text);
	ck_assert(f.converged);
	ck_assert_uint_eq(f.n, 56);
	ck_assert_int_eq(f.nfigures, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_str_eq(f.figure[i].figure, figures[i]);
		ck_assert_msg(fabs(log(f.figure[i].value / wanted[i])) < pull[i],
		              "%s %g of %g", figures[i], f.figure[i].value, wanted[i]);
		ck_assert(f.figure[i].se > 0 && f.figure[i].se < 0.2);
	}
	ck_assert_double_lt(f.after, 1.02);
	ck_assert_double_gt(f.before, f.after);
	/* every third size is a set, and the others tell it */
	ck_assert_int_eq(f.nsets, 3);
	for (int k = 0; k < 3; k++) {
		ck_assert_uint_eq(f.set[k].n, k ? 18 : 20);
		ck_assert_double_lt(f.set[k].error, 1.02);
	}
	validation_close(v);
}
END_TEST

/*
 * 50 all-reduces of 64 B in each of two sets, of 11.6 and 19.6 us: 3.6 us of steps and
 * launches of 8 and 16 us. Either is predicted from the other: 19.6 / 11.6 = 1.690.
 */
START_TEST(one_set_left_out)
{
	static const char *const figures[] = {"launch_s", NULL};
	struct text csv = {0};
	struct validation *v;
	struct family_fit f;
	struct error e = {0};

	text_printf(&csv, HEADER);
	for (int i = 0; i < 100; i++)
		text_printf(&csv, "%s,S,1,4,all-reduce,64,%g,\n",
		            i % 2 ? "slow" : "quick", (i % 2 ? 19.6 : 11.6) + 0.00192);
	v = open_csv(csv.s);
	text_free(&csv);
	ck_assert_int_eq(family_fit(&f, v, arena, "tiny", figures, false, &e), OK);
	ck_assert_int_eq(f.nsets, 2);
	for (int k = 0; k < 2; k++) {
		ck_assert_str_eq(f.set[k].set, k ? "slow" : "quick");
		ck_assert_uint_eq(f.set[k].n, 50);
		ck_assert_double_eq_tol(f.set[k].error, 19.6 / 11.6, 0.01);
	}
	/* The middle of the logarithms is as far from each. */
	ck_assert_double_eq_tol(f.after, sqrt(19.6 / 11.6), 0.01);
	validation_close(v);
}
END_TEST

/*
 * The same sets, of which the mapping says that the slow one has launches of 16 us: it keeps
 * them, and the quick one alone is fitted to. Where all are said nothing is left to fit.
 */
START_TEST(what_the_mapping_says)
{
	static const char *const figures[] = {"launch_s", NULL};
	static const char *const yaml[] = {
		"- {set: slow, platform: \"tiny:1\", settings: {launch_s: 16us}, "
		"source: S}\n- {set: quick, platform: \"tiny:1\"}\n",
		"- {set: \"*\", platform: \"tiny:1\", settings: {launch_s: 16us}, "
		"source: S}\n"};
	struct text csv = {0};

	text_printf(&csv, HEADER);
	for (int i = 0; i < 100; i++)
		text_printf(&csv, "%s,S,1,4,all-reduce,64,%g,\n",
		            i % 2 ? "slow" : "quick", (i % 2 ? 19.6 : 11.6) + 0.00192);
	for (int all = 0; all < 2; all++) {
		struct validation *v = open_mapped(csv.s, yaml[all]);
		struct family_fit f;
		struct error e = {0};

		ck_assert_msg(family_fit(&f, v, arena, "tiny", figures, false, &e) == OK,
		              "%s", e.text);
		ck_assert_int_eq(f.nfigures, all ? 0 : 1);
		if (!all)
			ck_assert_double_eq_tol(f.figure[0].value, 8e-6, 0.03e-6);
		ck_assert_double_eq_tol(f.after, all ? sqrt(19.6 / 11.6) : 1, 0.01);
		validation_close(v);
	}
	text_free(&csv);
}
END_TEST

/* A figure that no timing depends on keeps what the family says, and is not fitted. */
START_TEST(what_does_not_matter)
{
	static const char *const figures[] = {"nvlink.bandwidth", "launch_s",
	                                      "net_fill_s", NULL};
	struct validation *v = open_csv(
		HEADER "a,S,1,4,all-reduce,64,17,\nb,S,2,8,all-to-all,64,25,\n");
	struct family_fit f;
	struct error e = {0};
	const struct groups *g;
	const struct machine *m = validation_machine(v, 0, &g);

	ck_assert_msg(family_fit(&f, v, arena, "tiny", figures, false, &e) == OK, "%s",
	              e.text);
	ck_assert_int_eq(f.nfigures, 1);
	ck_assert_str_eq(f.figure[0].figure, "launch_s");
	ck_assert_double_eq(m->link[0].bandwidth_Bps, 100e9);
	ck_assert_double_eq(m->tuning.value[TUNING_NET_FILL_S], 0);
	validation_close(v);
}
END_TEST

START_TEST(the_default_constants)
{
	static const struct {
		const char *rows, *figures;
	} row[] = {
		{"a,S,1,4,all-reduce,64,17,\n", "launch_s fill_s step "},
		{"a,S,2,8,all-reduce,64,17,\n", "net_step net_fill_s "},
		{"a,S,2,8,all-gather,640,17,\na,S,8,32,all-reduce,640,17,\n",
	         "launch_s net_post_s net_step net_fill_s "},
		{"a,S,2,8,all-to-all,640,17,\n",
	         "net_step net_fill_s net_send_share net_send_s "},
	};

	for (int i = 0; i < COUNT(row); i++) {
		struct text csv = {0};
		struct validation *v;
		const char **figures;
		struct text found = {0};

		text_printf(&csv, HEADER);
		for (int k = 0; k < FIT_ROWS_LEAST; k++)
			text_printf(&csv, "%s", row[i].rows);
		v = open_csv(csv.s);
		text_free(&csv);
		figures = fit_constants(v, "tiny", arena);

		for (int k = 0; figures[k]; k++)
			text_printf(&found, "%s ", figures[k]);
		ck_assert_str_eq(found.s, row[i].figures);
		text_free(&found);
		validation_close(v);
	}
}
END_TEST

/* Documented peaks of `tiny` are 125 and 12.5 GB/s. */
START_TEST(priors)
{
	static const struct {
		const char *figure;
		double value;
	} row[] = {
		{"nvlink.bandwidth", 100e9},
		{"nic.bandwidth", 11.625e9},
		{"step", 1},
		{"nvlink.latency", 2e-6},
	};
	struct figure_prior p;
	struct error e = {0};

	for (int i = 0; i < COUNT(row); i++) {
		ck_assert_int_eq(family_prior(&p, arena, "tiny", row[i].figure, &e), OK);
		ck_assert_double_eq_tol(p.value, row[i].value, 1e-9 * row[i].value);
		ck_assert_double_gt(p.factor, 1);
	}
	ck_assert(!family_open("tiny", "nvlink.bandwidth", arena));
}
END_TEST

START_TEST(errors)
{
	static const struct {
		const char *family, *figures[10], *says;
	} row[] = {
		{"tiny", {"steps"}, "family tiny has no figure 'steps' above 0 to fit"},
		{"tiny", {"cc"}, "has no figure 'cc' above 0 to fit"},
		{"tony", {"step"}, "no timings of family tony to fit to"},
		{"tiny",
	         {"launch_s", "step", "fill_s", "send_s", "net_step", "net_fill_s",
	          "net_send_s", "launch_each_s", "nvlink.latency"},
	         "more than 8 constants"},
	};
	struct validation *v = open_csv(HEADER "a,S,2,8,all-reduce,64,17,\n");
	struct figure_prior p;

	for (int i = 0; i < COUNT(row); i++) {
		struct family_fit f;
		struct error e = {0};

		ck_assert_int_ne(family_fit(&f, v, arena, row[i].family, row[i].figures,
		                            false, &e),
		                 OK);
		ck_assert_msg(strstr(e.text, row[i].says) != NULL, "%s", e.text);
	}
	ck_assert_int_eq(family_prior(&p, arena, "tony", "step", &(struct error){0}),
	                 E_RANGE);
	validation_close(v);
}
END_TEST

/* Fitted figures are replaced or added at the end; every other line stays. */
START_TEST(entry)
{
	struct left_out_set sets[] = {{.set = "one"}, {.set = "two"}};
	const struct family_fit f = {
		.family = "tiny",
		.n = 17,
		.nfigures = 4,
		.figure = {{"launch_s", 8e-6, 12.3456e-6, 0.071},
	                   {"step", 1, 1.23456, NAN},
	                   {"nic.bandwidth", 10e9, 9.87654e9, 0.5},
	                   {"channel_Bps", 20e9, 17e9, 0.01}},
		.nsets = 2,
		.set = sets,
	};
	static const char *const says[] = {
		"tiny:\n  kind: nodes\n  gpus: 4\n",
		"    nic.bandwidth: {value: 9.877GB/s, source: \"fitted to 17 timings "
		"of t.csv "
		"(one, two), standard error 50 %\"}\n    nic.latency: {value: 5us, "
		"source: "
		"\"ours\"}\n",
		"    launch_s: {value: 12.35us, source: \"fitted to 17 timings of "
		"t.csv (one, "
		"two), standard error 7.1 %\"}\n    cc: ",
		"    launch_graph_s: {value: 4us, source: \"ours\"}\n    step: {value: "
		"1.235, "
		"source: \"fitted to 17 timings of t.csv (one, two)\"}\n    "
		"channel_Bps: {value: "
		"17GB/s, source: ",
	};
	struct text out = {0};
	struct error e = {0};
	struct family_fit unknown = f;

	ck_assert_int_eq(family_fit_entry(&out, &f, "t.csv", arena, &e), OK);
	for (int i = 0; i < COUNT(says); i++)
		ck_assert_msg(strstr(out.s, says[i]) != NULL, "no '%s' in\n%s", says[i],
		              out.s);
	text_free(&out);
	unknown.family = "tin";
	ck_assert_int_eq(family_fit_entry(&out, &unknown, "t.csv", arena, &e), E_RANGE);
	text_free(&out);
}
END_TEST

/*
 * Times of 0.3 to 1.1 ms with a quarter of noise do not tell a launch of 10 us: it stays as the
 * family has it, and the bandwidth is fitted without it.
 */
START_TEST(what_timings_do_not_tell)
{
	static const char *const figures[] = {"launch_s", "nvlink.bandwidth", NULL};
	struct text csv = {0};
	struct validation *v;
	struct family_fit fit;
	struct error e = {0};

	text_printf(&csv, HEADER);
	for (int k = 0; k < 12; k++) {
		double bytes = 4e7 * exp2(k / 6.);
		double s = tiny_ring_s(bytes, false, 10e-6, 1, 0);

		text_printf(&csv, "log,S,1,4,all-gather,%.0f,%.9g,\n", bytes,
		            s * 1e6 * (k % 2 ? 1.25 : 0.8));
	}
	v = open_csv(csv.s);
	ck_assert_msg(family_fit(&fit, v, arena, "tiny", figures, false, &e) == OK,
	              "%s", e.text);
	ck_assert_int_eq(fit.nfigures, 1);
	ck_assert_str_eq(fit.figure[0].figure, "nvlink.bandwidth");
	ck_assert_double_lt(fit.figure[0].se, 0.2);
	/*
	 * The five long times before a larger size are outliers; the only set is foretold from
	 * the prior, 0.8 of the peak, which is what made the times but for the noise.
	 */
	ck_assert_uint_eq(fit.n, 7);
	ck_assert_uint_eq(fit.nresiduals, 7);
	for (size_t i = 0; i < fit.nresiduals; i++)
		ck_assert_double_eq_tol(fabs(fit.residual[i].e), log(1.25), 1e-6);
	text_free(&csv);
	validation_close(v);
}
END_TEST

/* Returns the family of that name and length; NULL if there is none. */
static const struct family *family_named(const struct families *all, const char *name,
                                         size_t length)
{
	for (int i = 0; i < all->n; i++)
		if (strlen(all->family[i].name) == length &&
		    !strncmp(all->family[i].name, name, length))
			return &all->family[i];
	return NULL;
}

/*
 * What a family takes from another one ("as dgx-h100, ...") is what that one has: no fit of
 * one moves without the other. Figures of kernels are not the fits' business.
 */
static void check_borrowed(const struct families *all, const struct family *f, int key)
{
	const char *source = f->tuning_source[key];
	const struct family *lender;

	if (key >= TUNING_BF16_FLOPS || !source || strncmp(source, "as ", 3) != 0)
		return;
	lender = family_named(all, source + 3, strcspn(source + 3, " ,:;"));
	if (lender)
		ck_assert_msg(f->tuning.value[key] == lender->tuning.value[key],
		              "%s %s is %g, and of %s %g", f->name, tuning_name(key),
		              f->tuning.value[key], lender->name,
		              lender->tuning.value[key]);
}

/*
 * Constants of shipped families are what they are called: launches of 3 to 20 us, steps of LL
 * (0.6 us in the library's source) of 0.3 to 3 us, fills of 1 to 60 us. What lies outside
 * would stand for something else.
 */
START_TEST(shipped_constants)
{
	struct families all = {0};
	struct error e = {0};

	unsetenv("SHARDSIM_DATA");
	ck_assert_msg(families_known(&all, arena, &e) == OK, "%s", e.text);
	for (int i = 0; i < all.n; i++) {
		const struct family *f = &all.family[i];
		const double *t = f->tuning.value, launch_us = 1e6 * f->figure[LAUNCH_S];
		bool library =
			!strcmp(f->profile, "nccl") || !strcmp(f->profile, "rccl");

		for (int k = 0; k < TUNINGS; k++)
			check_borrowed(&all, f, k);
		if (!library)
			continue;
		ck_assert_msg(launch_us >= 3 && launch_us <= 20, "%s %g", f->name,
		              launch_us);
		ck_assert_msg(0.6 * t[TUNING_STEP] >= 0.3 && 0.6 * t[TUNING_STEP] <= 3,
		              "%s %g", f->name, t[TUNING_STEP]);
		for (int k = TUNING_FILL_S; k <= TUNING_NET_FILL_S; k++)
			ck_assert_msg(t[k] >= 1e-6 * (1 - 1e-9) && t[k] <= 60e-6,
			              "%s %s %g", f->name, tuning_name(k), t[k]);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("fit_family");
	TCase *t = tcase_create("fit_family");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, constants_come_back, 0, 3);
	tcase_add_test(t, one_set_left_out);
	tcase_add_test(t, what_the_mapping_says);
	tcase_add_test(t, what_does_not_matter);
	tcase_add_test(t, the_default_constants);
	tcase_add_test(t, priors);
	tcase_add_test(t, errors);
	tcase_add_test(t, entry);
	tcase_add_test(t, what_timings_do_not_tell);
	tcase_add_test(t, shipped_constants);
	suite_add_tcase(s, t);
	return s;
}
