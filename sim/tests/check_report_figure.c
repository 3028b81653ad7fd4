/* What is in the picture of a sweep, by the texts of its SVG and where they stand. */
#include "report/plot.h"
#include "store_made.h"
#include "tests/tests.h"
#include "text/figure.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[400], svg[1000000];
static struct error error;
static struct arena *arena;
static struct store *store;

/* A text and the point at its start, middle or end. */
struct label {
	char text[200];
	double x, y, size;
	char anchor;
};
static struct label label[2000];
static int nlabels;

static void start(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%.300s/check_figure-XXXXXX", tmp ? tmp : P_tmpdir);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	arena = arena_new();
	ck_assert_int_eq(store_open(&store, ".", true, &error), OK);
}

static void end(void)
{
	store_close(store);
	unlink("sweep.db");
	unlink("plot.svg");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(dir), 0);
	arena_free(arena);
}

static void add_row(const char *scenario, const char *platform, const char *planner,
                    double time_s, const char *varied)
{
	struct row r = row_empty();

	r.base_scenario = r.scenario = scenario;
	r.base_platform = platform;
	r.platform =
		*varied ? arena_printf(arena, "%s{%s}", platform, varied) : platform;
	r.planner = planner;
	r.varied = varied;
	r.clock = "model";
	r.time_s = time_s;
	ck_assert_int_eq(kept_put(store, &r, &error), OK);
}

static void read_labels(void)
{
	FILE *f;
	size_t n;
	char *p;

	ck_assert_int_eq(store_finish(store, &error), OK);
	ck_assert_msg(report_plot("plot.svg", store,
	                          &(struct report_options){.baseline = "base"},
	                          &error) == OK,
	              "%s", error.text);
	f = fopen("plot.svg", "rb");
	n = fread(svg, 1, sizeof(svg) - 1, f);
	fclose(f);
	svg[n] = '\0';
	for (p = svg; (p = strstr(p, "<g transform=\"translate(")); p++) {
		struct label *l = &label[nlabels];
		char *text = strstr(p, "<text>"), *next = strstr(p + 1, "<g ");
		char *last;

		if (!text || (next && next < text))
			continue;
		ck_assert_int_eq(
			sscanf(p, "<g transform=\"translate(%lf,%lf)", &l->x, &l->y), 2);
		sscanf(strstr(p, "font-size=\"") + 11, "%lf", &l->size);
		l->anchor = strstr(p, "text-anchor=\"")[13];
		last = strstr(text, "</text>");
		if (last[-1] == '>' && last[-2] != 't') /* "</tspan>", not "<text>" */
			last -= strlen("</tspan>");
		while (last[-1] != '>')
			last--;
		snprintf(l->text, sizeof(l->text), "%.*s", (int)strcspn(last, "<"),
		         last);
		nlabels++;
	}
}

static int find(const char *text, int *times)
{
	int found = -1;

	*times = 0;
	for (int i = 0; i < nlabels; i++)
		if (strcmp(label[i].text, text) == 0) {
			++*times;
			found = i;
		}
	return found;
}

static void is_once(const char *text)
{
	int times;

	find(text, &times);
	ck_assert_msg(times == 1, "'%s' is %d times in the picture", text, times);
}

/* All texts are on the canvas, if letters are 0.6 of their height wide. */
static void are_inside(void)
{
	double width, height;

	ck_assert_int_eq(sscanf(strstr(svg, " width=\""),
	                        " width=\"%lf\" height=\"%lf\"", &width, &height),
	                 2);
	ck_assert_int_gt(nlabels, 5);
	for (int i = 0; i < nlabels; i++) {
		const struct label *l = &label[i];
		double w = 0.6 * l->size * (double)strlen(l->text);
		double x = l->x - (l->anchor == 'm' ? w / 2 : l->anchor == 'e' ? w : 0);

		/* Names of upright axes are rotated: their place is in the middle. */
		if (strcmp(l->text, "speedup") == 0)
			continue;
		ck_assert_msg(
			x >= 0 && x + w <= width && l->y >= l->size && l->y <= height,
			"'%s' at %g,%g of %gx%g", l->text, l->x, l->y, width, height);
	}
}

/* Panels are in the order of machines; there is one legend, and titles have the counts. */
START_TEST(machines)
{
	static const char *const name[] = {"m:16x16", "m:4x4x4", "m:100"};
	static const char *const planner[] = {"base", "fast", "slow"};
	int four, sixteen, hundred, times;

	for (int m = 0; m < 3; m++)
		for (int p = 0; p < 3; p++)
			for (int s = 0; s < 4; s++)
				add_row(arena_printf(arena, "s%d", s), name[m],
				        planner[p], p == 0 ? 10 : (p == 1 ? 1 : 15) + s,
				        "");
	read_labels();
	is_once("Speedup over base, real scenarios, clock model");
	is_once("fast");
	is_once("slow");
	find("base", &times);
	ck_assert_int_eq(times, 0);
	find("speedup", &times);
	ck_assert_int_eq(times, 3);
	four = find("m:4x4x4, n = 4", &times);
	sixteen = find("m:16x16, n = 4", &times);
	hundred = find("m:100, n = 4", &times);
	ck_assert(four >= 0 && sixteen >= 0 && hundred >= 0);
	ck_assert(label[four].x < label[sixteen].x &&
	          label[sixteen].x < label[hundred].x);
	are_inside();
}
END_TEST

/* Bandwidths that double stand in equal distances, in one panel. */
START_TEST(bandwidths)
{
	static const char *const value[] = {"12.5", "25", "50", "100", "200", "400"};
	double x[6];
	int times;

	for (int i = 0; i < 6; i++) {
		const char *varied =
			arena_printf(arena, "nic.bandwidth=%sGBps", value[i]);

		add_row("s", "m:2", "base", 8, varied);
		add_row("s", "m:2", "fast", 8.0 / (i + 1), varied);
	}
	read_labels();
	is_once("speedup");
	is_once("nic.bandwidth, GB/s");
	is_once("nic.bandwidth of m:2, s");
	for (int i = 0; i < 6; i++)
		x[i] = label[find(value[i], &times)].x;
	for (int i = 1; i < 6; i++)
		ck_assert_double_eq_tol(x[i] - x[i - 1], FIGURE_PLOT_WIDTH / 5.0, 0.1);
	are_inside();
}
END_TEST

/* Names of any length are broken into lines that fit. */
START_TEST(long_names)
{
	char name[181];

	for (int i = 0; i < 180; i++)
		name[i] = i % 20 == 19 ? ' ' : (char)('a' + i % 26);
	name[180] = '\0';
	for (int i = 0; i < 2; i++) {
		add_row("s", name, "base", 2 + i, "");
		add_row("s", name, "a-planner-with-a-name-that-is-long", 1, "");
		memset(name, 'x', 90);
	}
	read_labels();
	is_once("a-planner-with-a-name-that-is-long");
	are_inside();
}
END_TEST

/* Lines end where a reader would end them: not inside `n = 2`, nor behind a brace. */
START_TEST(broken_names)
{
	static const char *const name[] = {
		"torus:6x6x6{link.bandwidth=1000GB/s}",
		"a-family-of-machines:16x16x16{link.bandwidth=1GB/s}"};

	for (int m = 0; m < 2; m++)
		for (int i = 0; i < 2; i++) {
			add_row(i ? "s" : "r", name[m], "base", 2, "");
			add_row(i ? "s" : "r", name[m], "fast", 1, "");
		}
	read_labels();
	is_once("torus:6x6x6{link.bandwidth=1000GB/s}, ");
	is_once("n = 2");
	is_once("a-family-of-machines:16x16x16");
	is_once("{link.bandwidth=1GB/s}, n = 2");
	are_inside();
}
END_TEST

/* Lightness of "#rrggbb", 0 to 100 (CIE 1976 L*, IEC 61966-2-1 for sRGB). */
static double lightness(const char *colour)
{
	static const double weight[] = {0.2126, 0.7152, 0.0722};
	double y = 0;

	for (int i = 0; i < 3; i++) {
		char part[3] = {colour[1 + 2 * i], colour[2 + 2 * i], '\0'};
		double c = (double)strtol(part, NULL, 16) / 255;

		y += weight[i] *
		     (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
	}
	return y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;
}

static char *style_text(size_t i)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	figure_style(f, "linespoints", i);
	fclose(f);
	memset(strstr(text, "rgb"), ' ', strlen("rgb '#rrggbb'"));
	return text;
}

START_TEST(grey_print)
{
	char *text[36];

	for (size_t i = 0; i < FIGURE_STYLES; i++)
		for (size_t k = 0; k < i; k++)
			ck_assert_double_ge(fabs(lightness(figure_colour(i)) -
			                         lightness(figure_colour(k))),
			                    i < 6 ? 11 : 5);
	for (size_t i = 0; i < 36; i++) {
		text[i] = style_text(i);
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(text[i], text[k]);
	}
	for (size_t i = 0; i < 36; i++)
		free(text[i]);
	/* Neighbours differ in dashes, whatever the markers. */
	for (size_t i = 0; i < FIGURE_STYLES; i++) {
		char *a = style_text(i), *b = style_text(i + 1);

		*strstr(a, " pt ") = *strstr(b, " pt ") = '\0';
		ck_assert_str_ne(a, b);
		free(a);
		free(b);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("report_figure");
	TCase *tc = tcase_create("report_figure");

	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, machines);
	tcase_add_test(tc, bandwidths);
	tcase_add_test(tc, long_names);
	tcase_add_test(tc, broken_names);
	tcase_add_test(tc, grey_print);
	suite_add_tcase(s, tc);
	return s;
}
