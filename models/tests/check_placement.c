#include "placement_help.h"
#include "tests/tests.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

/*
 * Hierarchies, axes and matrices: texts, errors, all matrices and their device orders.
 */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena *arena;
static struct error error;
static const struct where at = {.file = "--hierarchy", .line = 1, .col = 1};

static void setup(void)
{
	arena = arena_new();
	error = (struct error){0};
}

static void teardown(void)
{
	arena_free(arena);
}

static char *printed(void (*print)(struct text *, const void *), const void *what)
{
	struct text t = {0};

	print(&t, what);
	return text_take(&t, arena);
}

static void print_hierarchy(struct text *t, const void *h)
{
	hierarchy_print(t, h);
}

static void print_matrix(struct text *t, const void *m)
{
	matrix_print(t, m);
}

static const struct {
	const char *text, *canonical;
	int nlevels;
	int32_t ndevices;
} hierarchy_table[] = {
	{"4,16", "4,16", 2, 64},
	{" 3 , 5,7 ", "3,5,7", 3, 105},
	{"1", "1", 1, 1},
	{"rack 1, server 4, gpu 16", "rack 1, server 4, gpu 16", 3, 64},
	{"node  3,gpu 7", "node 3, gpu 7", 2, 21},
	{"2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2", "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2", 16, 65536},
	{"4194304", "4194304", 1, 4194304},
};

START_TEST(hierarchy_texts)
{
	struct hierarchy h, again;
	const char *text;

	ck_assert_int_eq(
		hierarchy_parse(&h, arena, hierarchy_table[_i].text, at, &error), OK);
	ck_assert_int_eq(h.nlevels, hierarchy_table[_i].nlevels);
	ck_assert_int_eq(h.ndevices, hierarchy_table[_i].ndevices);
	text = printed(print_hierarchy, &h);
	ck_assert_str_eq(text, hierarchy_table[_i].canonical);
	ck_assert_int_eq(hierarchy_parse(&again, arena, text, at, &error), OK);
	ck_assert_int_eq(again.ndevices, h.ndevices);
}
END_TEST

static const struct {
	const char *text;
	enum status code;
	unsigned col;
	const char *says;
} hierarchy_errors[] = {
	{"", E_SYNTAX, 1, "the size of a level"},
	{"4,", E_SYNTAX, 3, "the size of a level"},
	{"4;16", E_SYNTAX, 2, "expected"},
	{"0,16", E_RANGE, 1, "level"},
	{"4,-16", E_SYNTAX, 3, "level"},
	{"4194304,2", E_RANGE, 9, "level"},
	{"rack 1, 4", E_SYNTAX, 9, "a name for every level or for none"},
	{"1, server 4", E_SYNTAX, 11, "a name for every level or for none"},
	{"gpu 4, gpu 2", E_TYPE, 8, "'gpu' twice"},
	{"root 1, gpu 2", E_TYPE, 1, "'root'"},
	{"gpu", E_SYNTAX, 4, "the size of a level"},
	{"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", E_RANGE, 33, "more than 16"},
};

START_TEST(hierarchy_bad)
{
	struct hierarchy h;

	ck_assert_int_eq(
		hierarchy_parse(&h, arena, hierarchy_errors[_i].text, at, &error),
		hierarchy_errors[_i].code);
	ck_assert_msg(strstr(error.text, hierarchy_errors[_i].says), "%s", error.text);
	ck_assert_msg(error.at.col == hierarchy_errors[_i].col, "col %u: %s",
	              error.at.col, error.text);
}
END_TEST

static const struct {
	const char *axes, *reduce, *canonical;
	uint32_t bits;
	enum status code;
	const char *says;
} reduce_table[] = {
	{"8,8", "1", "1", 2, OK, NULL},
	{"16,2,2", "2,0", "0,2", 5, OK, NULL},
	{"data=4,model=2", "model", "1", 2, OK, NULL},
	{"data=4,model=2", "0, model", "0,1", 3, OK, NULL},
	{"1,1,1,1,1,1,1,3", "7", "7", 128, OK, NULL},
	{"8,8", "2", NULL, 0, E_RANGE, "axis"},
	{"8,8", "", NULL, 0, E_SYNTAX, "number or name of an axis"},
	{"8,8", "0,0", NULL, 0, E_TYPE, "axis 0 is listed twice"},
	{"8,8", "x", NULL, 0, E_TYPE, "no axis 'x'"},
	{"8,8", "0 1", NULL, 0, E_SYNTAX, "expected"},
	{"data=4,model=2", "1,model", NULL, 0, E_TYPE, "axis 1 is listed twice"},
	{"1,1,1,1,1,1,1,1,1", NULL, NULL, 0, E_RANGE, "more than 8 axes"},
	{"a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1", NULL, NULL, 0, E_RANGE, "more than 8"},
	{"8,x", NULL, NULL, 0, E_SYNTAX, "the size of an axis"},
	{"0", NULL, NULL, 0, E_RANGE, "the size of an axis"},
	{"", NULL, NULL, 0, E_SYNTAX, ""},
};

START_TEST(reduce_texts)
{
	struct mesh axes;
	uint32_t bits = 0;
	enum status code = axes_parse(&axes, arena, reduce_table[_i].axes, at, &error);
	struct text t = {0};

	if (code == OK)
		code = reduce_parse(&bits, &axes, reduce_table[_i].reduce, at, &error);
	ck_assert_int_eq(code, reduce_table[_i].code);
	if (code != OK) {
		ck_assert_msg(strstr(error.text, reduce_table[_i].says), "%s",
		              error.text);
		return;
	}
	ck_assert_uint_eq(bits, reduce_table[_i].bits);
	axes_print(&t, &axes);
	ck_assert_str_eq(text_take(&t, arena), reduce_table[_i].axes);
	reduce_print(&t, bits);
	ck_assert_str_eq(text_take(&t, arena), reduce_table[_i].canonical);
}
END_TEST

static void read_case(struct hierarchy *h, struct mesh *axes, const char *levels,
                      const char *sizes)
{
	ck_assert_int_eq(hierarchy_parse(h, arena, levels, at, &error), OK);
	ck_assert_int_eq(axes_parse(axes, arena, sizes, at, &error), OK);
}

/* The paper's example: all matrices of axes [4 4] on [1 2 2 4]. */
START_TEST(matrices_of_the_running_example)
{
	static const char *const wanted[] = {
		"[[1 1 1 4][1 2 2 1]]",
		"[[1 1 2 2][1 2 1 2]]",
		"[[1 2 1 2][1 1 2 2]]",
		"[[1 2 2 1][1 1 1 4]]",
	};
	struct hierarchy h;
	struct mesh axes;
	struct matrix *m;
	int64_t n;

	read_case(&h, &axes, "rack 1, server 2, cpu 2, gpu 4", "4,4");
	ck_assert_int_eq(matrices_of(&m, &n, arena, &h, &axes, at, &error), OK);
	ck_assert_int_eq(n, COUNT(wanted));
	for (int64_t i = 0; i < n; i++)
		ck_assert_str_eq(printed(print_matrix, &m[i]), wanted[i]);
}
END_TEST

static const struct {
	const char *levels, *axes;
} matrix_table[] = {
	{"2,16", "32"},      {"4,16", "16,2,2"}, {"4,8", "8,2,2"},  {"6,10", "4,15"},
	{"6,10", "15,4"},    {"3,5,7", "15,7"},  {"3,5,7", "21,5"}, {"12,18", "9,4,6"},
	{"4,4,4", "2,4,8"},  {"1,36", "6,1,6"},  {"7", "7"},        {"2,2,2,2", "4,4"},
	{"8,9,5", "6,10,6"},
};

/* Every way to write numbers up to the sizes into the entries, tried. */
static int64_t tried(struct matrix *m, const struct hierarchy *h,
                     const struct mesh *axes, int entry)
{
	int i = entry / h->nlevels, j = entry % h->nlevels;
	int64_t n = 0;

	if (entry == axes->naxes * h->nlevels)
		return matrix_check(m, h, axes, at, NULL) == OK;
	for (int32_t x = 1; x <= axes->axis[i].size; x++) {
		if (axes->axis[i].size % x || h->level[j].size % x)
			continue;
		m->x[i][j] = x;
		n += tried(m, h, axes, entry + 1);
	}
	return n;
}

START_TEST(matrices_are_all_and_distinct)
{
	struct hierarchy h;
	struct mesh axes;
	struct matrix *m, any = {0};
	int64_t n;

	read_case(&h, &axes, matrix_table[_i].levels, matrix_table[_i].axes);
	ck_assert_int_eq(matrices_of(&m, &n, arena, &h, &axes, at, &error), OK);
	any.naxes = axes.naxes;
	any.nlevels = h.nlevels;
	ck_assert_int_eq(n, tried(&any, &h, &axes, 0));
	for (int64_t k = 0; k < n; k++) {
		ck_assert_int_eq(matrix_check(&m[k], &h, &axes, at, &error), OK);
		ck_assert(k == 0 || memcmp(m[k].x, m[k - 1].x, sizeof(m->x)) != 0);
		for (int64_t l = 0; l < k; l++)
			ck_assert(memcmp(m[k].x, m[l].x, sizeof(m->x)) != 0);
	}
}
END_TEST

/* The coordinates of a device from its number, level by level and digit by digit. */
static void coordinates(int32_t *c, const struct matrix *m, int32_t device)
{
	int32_t radix[MATRIX_AXES_MAX];

	for (int i = 0; i < m->naxes; i++) {
		c[i] = 0;
		radix[i] = 1;
	}
	for (int j = m->nlevels - 1; j >= 0; j--)
		for (int i = m->naxes - 1; i >= 0; i--) {
			c[i] += device % m->x[i][j] * radix[i];
			device /= m->x[i][j];
			radix[i] *= m->x[i][j];
		}
}

START_TEST(device_orders_follow_the_digits)
{
	struct hierarchy h;
	struct mesh axes;
	struct matrix *m;
	int64_t n;

	read_case(&h, &axes, matrix_table[_i].levels, matrix_table[_i].axes);
	ck_assert_int_eq(matrices_of(&m, &n, arena, &h, &axes, at, &error), OK);
	for (int64_t k = 0; k < n; k++) {
		const int32_t *devices = matrix_devices(&m[k], arena);

		ck_assert_int_eq(matrix_ndevices(&m[k]), h.ndevices);
		for (int32_t d = 0; d < h.ndevices; d++) {
			int32_t c[MATRIX_AXES_MAX], position = 0;

			coordinates(c, &m[k], d);
			for (int i = 0; i < axes.naxes; i++)
				position = position * axes.axis[i].size + c[i];
			ck_assert_int_eq(devices[position], d);
			ck_assert_int_eq(matrix_device(&m[k], c), d);
		}
	}
}
END_TEST

START_TEST(matrix_texts_read_back)
{
	struct hierarchy h;
	struct mesh axes;
	struct matrix *m, again;
	int64_t n;

	read_case(&h, &axes, matrix_table[_i].levels, matrix_table[_i].axes);
	ck_assert_int_eq(matrices_of(&m, &n, arena, &h, &axes, at, &error), OK);
	for (int64_t k = 0; k < n; k++) {
		const char *text = printed(print_matrix, &m[k]);

		ck_assert_int_eq(matrix_parse(&again, text, at, &error), OK);
		ck_assert(again.naxes == m[k].naxes && again.nlevels == m[k].nlevels);
		ck_assert_mem_eq(again.x, m[k].x, sizeof(again.x));
	}
}
END_TEST

static const struct {
	const char *text;
	enum status code;
	const char *says;
} matrix_errors[] = {
	{"", E_SYNTAX, "'['"},
	{"[]", E_SYNTAX, "'['"},
	{"[[]]", E_SYNTAX, "an entry"},
	{"[[1 2][3]]", E_TYPE, "a row of 1 after rows of 2"},
	{"[[1 2][3 4]", E_SYNTAX, "'['"},
	{"[[1 2]] x", E_SYNTAX, "the end"},
	{"[[1 0]]", E_RANGE, "an entry"},
	{"[[4194304 2]]", E_RANGE, "devices"},
	{"[[1][1][1][1][1][1][1][1][1]]", E_RANGE, "more than 8 rows"},
	{"[[1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1]]", E_RANGE, "more than 16 columns"},
};

START_TEST(matrix_bad)
{
	struct matrix m;

	ck_assert_int_eq(matrix_parse(&m, matrix_errors[_i].text, at, &error),
	                 matrix_errors[_i].code);
	ck_assert_msg(strstr(error.text, matrix_errors[_i].says), "%s", error.text);
}
END_TEST

static const struct {
	const char *text, *says;
} unfit[] = {
	{"[[1 16][2 1]]", "2 rows and 2 columns for 3 axes"},
	{"[[2 8][2 1][1 1]]", "row 2 has the product 1, its axis is 2"},
	{"[[4 4][1 2][2 1]]", "column 0 has the product 8, its level is 4"},
};

START_TEST(matrix_does_not_fit)
{
	struct hierarchy h;
	struct mesh axes;
	struct matrix m;

	read_case(&h, &axes, "4,16", "16,2,2");
	ck_assert_int_eq(matrix_parse(&m, unfit[_i].text, at, &error), OK);
	ck_assert_int_eq(matrix_check(&m, &h, &axes, at, &error), E_TYPE);
	ck_assert_msg(strstr(error.text, unfit[_i].says), "%s", error.text);
}
END_TEST

START_TEST(matrices_refused)
{
	struct hierarchy h;
	struct mesh axes;
	struct matrix *m;
	int64_t n;

	read_case(&h, &axes, "4,16", "8,7");
	ck_assert_int_eq(matrices_of(&m, &n, arena, &h, &axes, at, &error), E_TYPE);
	ck_assert_msg(strstr(error.text, "the axes have 56 devices, the hierarchy 64"),
	              "%s", error.text);
	error = (struct error){0};
	read_case(&h, &axes, "8,8,8,8,8,8", "8,8,8,8,8,8");
	ck_assert_int_eq(matrices_of(&m, &n, arena, &h, &axes, at, &error), E_RANGE);
	ck_assert_msg(strstr(error.text, "placements"), "%s", error.text);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("placement");
	TCase *t = tcase_create("placement");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, hierarchy_texts, 0, COUNT(hierarchy_table));
	tcase_add_loop_test(t, hierarchy_bad, 0, COUNT(hierarchy_errors));
	tcase_add_loop_test(t, reduce_texts, 0, COUNT(reduce_table));
	tcase_add_test(t, matrices_of_the_running_example);
	tcase_add_loop_test(t, matrices_are_all_and_distinct, 0, COUNT(matrix_table));
	tcase_add_loop_test(t, device_orders_follow_the_digits, 0, COUNT(matrix_table));
	tcase_add_loop_test(t, matrix_texts_read_back, 0, COUNT(matrix_table));
	tcase_add_loop_test(t, matrix_bad, 0, COUNT(matrix_errors));
	tcase_add_loop_test(t, matrix_does_not_fit, 0, COUNT(unfit));
	tcase_add_test(t, matrices_refused);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	return s;
}
