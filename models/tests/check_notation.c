/*
 * Notations: every spelling reads to the same tiles, prints canonically and reads back.
 *
 * The oracle is notation_sample.h, for printed HLO also the element formula of iota
 * device lists, written anew here.
 */
#include "array/tile.h"
#include "notation/notation.h"
#include "notation_sample.h"
#include "tests/tests.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 900 };

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct layout read_layout(const char *text, const struct mesh *mesh,
                                 const struct shape *shape)
{
	struct error e = {0};
	struct layout l;
	struct text why = {0};

	layout_parse(&l, mesh, shape, arena, text, where_option("--from", text), &e);
	ck_assert_msg(e.code == OK, "%s: %u: %s", text, e.at.col, e.text);
	ck_assert_int_eq(l.rank, shape->rank);
	if (l.kind == LAYOUT_AXES)
		ck_assert_msg(layout_valid(&l, mesh, &why), "%s: %s", text, why.s);
	return l;
}

static int parts_in_dims(const struct layout *l)
{
	int n = 0;

	for (int i = 0; i < l->rank; i++)
		n += l->nparts[i];
	return n;
}

static void check_tiles(const struct sample *c, const char *text, bool unreduced)
{
	struct layout l = read_layout(text, &c->mesh, &c->shape);
	struct tilemap map = tilemap_make(&l, &c->mesh, &c->shape, arena);

	for (int32_t d = 0; d < c->mesh.ndevices; d++)
		for (int dim = 0; dim < c->shape.rank; dim++)
			ck_assert_msg(map.index[d * c->shape.rank + dim] ==
			                      c->index[d][dim],
			              "%s: device %d dimension %d: %d, expected %d",
			              text, d, dim, map.index[d * c->shape.rank + dim],
			              c->index[d][dim]);
	ck_assert_msg(l.nunreduced == (unreduced ? c->count[SAMPLE_RANK] : 0), "%s",
	              text);
	for (int k = 0; k < l.nunreduced; k++) {
		struct part p = l.part[k + parts_in_dims(&l)],
			    q = c->part[SAMPLE_RANK][k];

		ck_assert_msg(p.axis == q.axis && p.pre == q.pre && p.size == q.size,
		              "%s", text);
	}
}

/* Element k of d: k in mixed radix over r[p[0]], r[p[1]], ... */
static void check_iota_text(const struct sample *c, const char *text)
{
	int32_t r[8], stride[8] = {0}, dims[SAMPLE_RANK + 2], n = 0, nd = 0,
		      ids_seen = 0;
	int p[8] = {0}, np = 0;
	char *at = strstr(text, "=[") + 2;

	for (; at[-1] != ']'; at++)
		dims[nd++] = (int32_t)strtol(at, &at, 10);
	if (strncmp(at, "<=[", 3) != 0)
		return;
	for (at += 3; at[-1] != ']'; at++)
		r[n++] = (int32_t)strtol(at, &at, 10);
	ck_assert_int_eq(*at == 'T', n > 1);
	for (at += 2; n > 1 && np < n; at++)
		p[np++] = (int)strtol(at, &at, 10);
	for (int i = n - 1, s = 1; i >= 0; s *= r[i--])
		stride[i] = s;
	for (int32_t k = 0; k < c->mesh.ndevices; k++) {
		int32_t rest = k, id = 0, tile = k;

		for (int j = n - 1; j >= 0; rest /= r[p[j--]])
			id += rest % r[p[j]] * stride[p[j]];
		for (int j = nd - 1; j >= 0; tile /= dims[j--])
			if (j < c->shape.rank)
				ck_assert_int_eq(c->index[id][j], tile % dims[j]);
		ids_seen++;
	}
	ck_assert_int_eq(ids_seen, c->mesh.ndevices);
	for (int i = 0; i < n; i++) /* canonical */
		ck_assert(r[i] > 1 && (i == 0 || p[i] != p[i - 1] + 1));
}

/* Print in every spelling; each reads back to the same tiles and prints the same. */
static void check_prints(const struct sample *c, const char *text)
{
	struct layout l = read_layout(text, &c->mesh, &c->shape), again;

	for (enum notation n = 0; n < NOTATIONS; n++) {
		struct text out = {0}, twice = {0}, why = {0};
		bool said = layout_print_as(&out, n, &l, &c->mesh, &c->shape, &why);
		bool whole = n == NOTATION_HLO || n == NOTATION_SHARDY || !c->sub;

		ck_assert_msg(said == (whole &&
		                       (n != NOTATION_PAPER || !c->count[SAMPLE_RANK])),
		              "%s as %s: %s", text, notation_name(n), why.s);
		if (said) {
			ck_assert_msg(notation_detect(out.s) == n, "%s", out.s);
			check_tiles(c, out.s, true);
			again = read_layout(out.s, &c->mesh, &c->shape);
			ck_assert(layout_same_tiles(&l, &c->mesh, &again, &c->mesh));
			layout_print_as(&twice, n, &again, &c->mesh, &c->shape, &why);
			ck_assert_str_eq(out.s, twice.s);
		} else {
			const struct part *p =
				c->sub ? c->sub : &c->part[SAMPLE_RANK][0];

			ck_assert_ptr_nonnull(why.s);
			if (!c->sub)
				ck_assert_ptr_nonnull(
					strstr(why.s, c->mesh.axis[p->axis].name));
			ck_assert_ptr_null(out.s);
		}
		if (n == NOTATION_HLO && strncmp(out.s, "{devices", 8) == 0 &&
		    !c->count[SAMPLE_RANK])
			check_iota_text(c, out.s);
		text_free(&out);
		text_free(&twice);
		text_free(&why);
	}
}

START_TEST(random_layouts)
{
	struct rng *rng = rng_new(20211202 + (uint64_t)_i);
	struct sample *c = xmalloc(1, sizeof(*c));

	for (int i = 0; i < CASES; i++) {
		arena_reset(arena);
		sample_make(c, rng);
		check_tiles(c, sample_shardy(arena, c), true);
		check_tiles(c, sample_hlo_list(arena, c), false);
		if (!c->sub) {
			check_tiles(c, sample_jax(arena, c), true);
			check_tiles(c, sample_dtensor(arena, c), true);
			check_tiles(c, sample_paper(arena, c), false);
			if (sample_dtensor_lists(arena, c))
				check_tiles(c, sample_dtensor_lists(arena, c), true);
			if (!c->mesh.ids && !c->count[SAMPLE_RANK])
				check_tiles(c, sample_hlo_iota(arena, c), false);
		}
		check_prints(c, sample_shardy(arena, c));
	}
	free(c);
	rng_free(rng);
}
END_TEST

/* Lists that no axes say stay lists: they print as they were, replicas sorted. */
START_TEST(random_lists)
{
	struct rng *rng = rng_new(77);
	int lists = 0;

	for (int i = 0; i < 400; i++) {
		struct sample *c = arena_alloc(arena, 1, sizeof(*c));
		struct text v1 = {0}, out = {0}, any = {0};
		struct layout l, again;

		sample_make(c, rng);
		for (int32_t d = 0; d < c->mesh.ndevices; d++) {
			int32_t o = (int32_t)rng_below(rng, (uint32_t)c->mesh.ndevices);
			int32_t keep[SAMPLE_RANK];

			memcpy(keep, c->index[d], sizeof(keep));
			memcpy(c->index[d], c->index[o], sizeof(keep));
			memcpy(c->index[o], keep, sizeof(keep));
		}
		check_tiles(c, sample_hlo_list(arena, c), false);
		l = read_layout(sample_hlo_list(arena, c), &c->mesh, &c->shape);
		if (l.kind == LAYOUT_TILES) {
			lists++;
			layout_print(&any, &l, &c->mesh, &c->shape);
			ck_assert_int_eq(any.s[0], '{');
			check_tiles(c, any.s, false);
			ck_assert(!layout_print_as(&out, NOTATION_SHARDY, &l, &c->mesh,
			                           &c->shape, &v1));
			again = read_layout(any.s, &c->mesh, &c->shape);
			layout_print(&out, &again, &c->mesh, &c->shape);
			ck_assert_str_eq(any.s, out.s);
		}
		text_free(&v1);
		text_free(&out);
		text_free(&any);
	}
	ck_assert_int_gt(lists, 200);
	rng_free(rng);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("notation");
	TCase *tc = tcase_create("random");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, random_layouts, 0, 3);
	tcase_add_test(tc, random_lists);
	suite_add_tcase(suite, tc);
	return suite;
}
