#include "placement_help.h"
#include "tests/tests.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

/* What the synthesis hierarchies can say: programs compared as groups of devices. */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena *arena;
static struct error error;
static const struct where at = {.file = "--reduce", .line = 1, .col = 1};

static void setup(void)
{
	arena = arena_new();
	error = (struct error){0};
}

static void teardown(void)
{
	arena_free(arena);
}

/* Every lowered program of a space: groups as sets, but for the root of rooted ones. */
struct lowered_set {
	char **text;
	int64_t n;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_number(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static char *step_text(const struct reduction_step *s)
{
	bool rooted = s->op == OP_REDUCE || s->op == OP_BROADCAST;
	char **group = arena_alloc(arena, (size_t)s->groups.ngroups, sizeof(*group));
	struct text all = {0};

	for (int32_t i = 0; i < s->groups.ngroups; i++) {
		struct text t = {0};
		int32_t *ids = arena_dup(arena, s->groups.ids + i * s->groups.size,
		                         (size_t)s->groups.size, sizeof(*ids));

		qsort(ids + rooted, (size_t)(s->groups.size - rooted), sizeof(*ids),
		      by_number);
		for (int32_t k = 0; k < s->groups.size; k++)
			text_printf(&t, "%d,", (int)ids[k]);
		group[i] = text_take(&t, arena);
	}
	qsort(group, (size_t)s->groups.ngroups, sizeof(*group), by_text);
	text_printf(&all, "%s", op_name(s->op));
	for (int32_t i = 0; i < s->groups.ngroups; i++)
		text_printf(&all, "{%s}", group[i]);
	return text_take(&all, arena);
}

static bool has_master(const struct program *p)
{
	for (int i = 0; i < p->n; i++)
		if (p->step[i].slice.form == FORM_MASTER)
			return true;
	return false;
}

/* Kinds of spaces, and behind them the collapsed ones by their order. */
enum { SPACE_COLLAPSED = SPACE_AXES + 1 };

static struct lowered_set lowered_set(const struct placed_case *c, int kind,
                                      bool masters)
{
	struct lowered_set set = {0};
	struct synthesis s;
	struct synth_walk walk = {.s = &s};
	struct space space;

	if (kind < SPACE_COLLAPSED)
		space_of(&space, arena, &c->hierarchy, &c->matrix, c->reduce, kind);
	else
		space_collapsed(&space, arena, &c->hierarchy, &c->matrix, c->reduce,
		                kind - SPACE_COLLAPSED);
	ck_assert_int_eq(synth_run(&s, arena, &space.tree, space.goal, 4, at, &error),
	                 OK);
	set.text = arena_alloc(arena, (size_t)s.programs + 1, sizeof(*set.text));
	while (synth_next(&walk)) {
		struct reduction r;
		struct text t = {0};

		if (!masters && has_master(&walk.program))
			continue;
		reduction_of(&r, arena, &space, &walk.program);
		for (int i = 0; i < r.n; i++)
			text_printf(&t, "%s;", step_text(&r.step[i]));
		set.text[set.n++] = text_take(&t, arena);
	}
	qsort(set.text, (size_t)set.n, sizeof(*set.text), by_text);
	return set;
}

/* The first program that `more` lacks, or NULL. */
static const char *lacks(const struct lowered_set *more, const struct lowered_set *less)
{
	int64_t k = 0;

	for (int64_t i = 0; i < less->n; i++) {
		while (k < more->n && strcmp(more->text[k], less->text[i]) < 0)
			k++;
		if (k == more->n || strcmp(more->text[k], less->text[i]) != 0)
			return less->text[i];
	}
	return NULL;
}

struct theorem {
	int64_t cases, programs[4], row_lacks;
};

static void says_more(const struct lowered_set *more, const struct lowered_set *less,
                      const char *what)
{
	const char *program = lacks(more, less);

	ck_assert_msg(!program, "%s: %s", what, program);
}

/*
 * Theorem 3.2: what one hierarchy can say, the next can; with Master and from columns
 * to rows only as far as no other axis is below. With several reduction axes it is not
 * so for rows; what the hardware hierarchy can say, level order still can.
 */
static void more_and_more(void *self, const struct placed_case *c)
{
	struct theorem *seen = self;
	struct lowered_set set[SPACE_COLLAPSED], level, row, plain;

	arena_reset(arena);
	for (int kind = SPACE_HARDWARE; kind <= SPACE_AXES; kind++)
		set[kind] = lowered_set(c, kind, true);
	level = lowered_set(c, SPACE_COLLAPSED + ORDER_LEVEL, true);
	row = lowered_set(c, SPACE_COLLAPSED + ORDER_ROW, true);
	says_more(&set[SPACE_COLUMNS], &set[SPACE_HARDWARE], "columns, hardware");
	says_more(&set[SPACE_AXES], &set[SPACE_ROWS], "axes, rows");
	says_more(&level, &set[SPACE_HARDWARE], "level order, hardware");
	seen->cases++;
	seen->row_lacks += lacks(&row, &set[SPACE_HARDWARE]) != NULL;
	if (c->reduce & (c->reduce - 1))
		return;
	plain = lowered_set(c, SPACE_COLUMNS, false);
	says_more(&set[SPACE_ROWS], &plain, "rows, columns");
	says_more(&set[SPACE_AXES], &set[SPACE_COLUMNS], "axes, columns");
	for (int kind = 0; kind < SPACE_COLLAPSED; kind++)
		seen->programs[kind] += set[kind].n;
}

static const int32_t theorem_devices[] = {2, 3, 4, 6, 8, 9, 10, 12};

START_TEST(theorem_3_2)
{
	struct theorem seen = {0};

	each_placement(theorem_devices[_i], more_and_more, &seen);
	ck_assert_int_gt(seen.cases, 0);
	if (theorem_devices[_i] != 8)
		return;
	for (int kind = 1; kind < SPACE_COLLAPSED; kind++) /* something is gained */
		ck_assert_int_gt(seen.programs[kind], seen.programs[kind - 1]);
	ck_assert_int_gt(seen.row_lacks, 0);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("placement_theorem");
	TCase *t = tcase_create("placement_theorem");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, theorem_3_2, 0, COUNT(theorem_devices));
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return s;
}
