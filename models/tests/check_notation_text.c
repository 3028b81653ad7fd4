/*
 * Notations, by their texts: the table notation.txt, and whatever else users may paste.
 * Expectations in the table are worked out by hand, or published (the last part: JAX,
 * HLO, Shardy and DTensor spell the same layout).
 */
#include "base/rng.h"
#include "notation/notation.h"
#include "tests/tests.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 7, ROUNDS = 50000, TEXT = 400 };

static struct arena *arena;
static char **lines;
static int nlines;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static bool starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void read_table(void)
{
	FILE *in = fopen("models/tests/notation.txt", "r");
	char *line = NULL;
	size_t capacity = 0;

	if (!in) {
		perror("models/tests/notation.txt");
		exit(EXIT_FAILURE);
	}
	while (getline(&line, &capacity, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		lines = xrealloc(lines, (size_t)nlines + 1, sizeof(*lines));
		lines[nlines++] = strdup(line);
	}
	free(line);
	fclose(in);
}

static void free_table(void)
{
	for (int i = 0; i < nlines; i++)
		free(lines[i]);
	free(lines);
}

/* The fields of a line, their number checked; `\n` becomes a newline. */
static void split(char *field[FIELDS], const char *line, int expected)
{
	char *at = arena_strdup(arena, line), *next;
	int n = 0;

	for (char *p = at; (p = strstr(p, "\\n"));) {
		*p = '\n';
		memmove(p + 1, p + 2, strlen(p + 2) + 1);
	}
	for (; at; at = next) {
		next = strstr(at, " | ");
		if (next) {
			*next = '\0';
			next += 3;
		}
		ck_assert_msg(n < expected, "%s", line);
		field[n++] = at;
	}
	ck_assert_msg(n == expected, "%s", line);
}

struct problem_text {
	struct mesh mesh;
	struct array array;
};

static struct problem_text read_problem(const char *mesh, const char *array)
{
	struct problem_text p;
	struct error e = {0};

	mesh_parse(&p.mesh, arena, mesh, where_option("--mesh", mesh), &e);
	array_parse(&p.array, array, where_option("--array", array), &e);
	ck_assert_msg(e.code == OK, "%s %s: %s", mesh, array, e.text);
	return p;
}

static struct layout read_layout(const struct problem_text *p, const char *text)
{
	struct error e = {0};
	struct layout l;

	layout_parse(&l, &p->mesh, &p->array.shape, arena, text,
	             where_option("--from", text), &e);
	ck_assert_msg(e.code == OK, "%s: %u:%u: %s", text, e.at.line, e.at.col, e.text);
	return l;
}

/* NULL when the spelling cannot say it; then the reason is in *why. */
static char *print_layout(const struct problem_text *p, const char *spelling,
                          const struct layout *l, char **why)
{
	struct text out = {0}, reason = {0};
	bool said = true;
	enum notation n = 0;

	while (n < NOTATIONS && strcmp(notation_name(n), spelling) != 0)
		n++;
	ck_assert(n < NOTATIONS || strcmp(spelling, "any") == 0);
	if (n == NOTATIONS)
		layout_print(&out, l, &p->mesh, &p->array.shape);
	else
		said = layout_print_as(&out, n, l, &p->mesh, &p->array.shape, &reason);
	*why = text_take(&reason, arena);
	return said ? text_take(&out, arena) : NULL;
}

/* print | mesh | array | spelling | text | printed */
static void check_print(const char *line)
{
	char *f[FIELDS], *why, *out;
	struct problem_text p;
	struct layout l;

	split(f, line, 6);
	p = read_problem(f[1], f[2]);
	l = read_layout(&p, f[4]);
	out = print_layout(&p, f[3], &l, &why);
	ck_assert_msg(out != NULL, "%s: %s", line, why);
	ck_assert_msg(strcmp(out, f[5]) == 0, "%s: %s", line, out);
	l = read_layout(&p, out);
	ck_assert_str_eq(print_layout(&p, f[3], &l, &why), out);
}

/* cannot | mesh | array | spelling | text | reason */
static void check_cannot(const char *line)
{
	char *f[FIELDS], *why, *out;
	struct problem_text p;
	struct layout l;

	split(f, line, 6);
	p = read_problem(f[1], f[2]);
	l = read_layout(&p, f[4]);
	out = print_layout(&p, f[3], &l, &why);
	ck_assert_msg(out == NULL, "%s: %s", line, out);
	ck_assert_msg(strstr(why, f[5]) != NULL, "%s: %s", line, why);
}

/* bad | mesh | array | line:col | message | text */
static void check_bad(const char *line)
{
	char *f[FIELDS], at[32];
	struct problem_text p;
	struct error e = {0};
	struct layout l;
	enum status status;

	split(f, line, 6);
	p = read_problem(f[1], f[2]);
	status = layout_parse(&l, &p.mesh, &p.array.shape, arena, f[5],
	                      where_option("--from", f[5]), &e);
	ck_assert_msg(status != OK, "%s: no error", line);
	ck_assert_int_eq(status, e.code);
	snprintf(at, sizeof(at), "%u:%u", e.at.line, e.at.col);
	ck_assert_msg(strcmp(at, f[3]) == 0 && strstr(e.text, f[4]) != NULL,
	              "%s: %s: %s", line, at, e.text);
	ck_assert_str_eq(e.at.file, "--from");
}

/* same | mesh | array | jax | hlo | shardy | dtensor; each one prints as it stands. */
static void check_same(const char *line)
{
	static const enum notation order[] = {NOTATION_JAX, NOTATION_HLO,
	                                      NOTATION_SHARDY, NOTATION_DTENSOR};
	char *f[FIELDS], *why, *out;
	struct problem_text p;
	struct layout first, l;

	split(f, line, 7);
	p = read_problem(f[1], f[2]);
	first = read_layout(&p, f[3]);
	for (int i = 0; i < 4; i++) {
		enum notation n = order[i];
		bool lone = p.mesh.ndevices == 1 && n == NOTATION_HLO;

		out = print_layout(&p, notation_name(n), &first, &why);
		if (strcmp(f[3 + i], "-") == 0)
			continue;
		ck_assert_int_eq(notation_detect(f[3 + i]), n);
		ck_assert_msg(out && (lone || strcmp(out, f[3 + i]) == 0), "%s: %s",
		              line, out);
		l = read_layout(&p, f[3 + i]);
		ck_assert_msg(layout_same_tiles(&first, &p.mesh, &l, &p.mesh), "%s: %s",
		              line, f[3 + i]);
		ck_assert_msg(memcmp(&first, &l, sizeof(l)) == 0, "%s: %s", line,
		              f[3 + i]);
	}
}

/* mesh | status | devices | from | to | axes, or part of the message */
static void check_mesh(const char *line)
{
	struct error e = {0};
	struct mesh mesh;
	struct text out = {0};
	char *f[FIELDS];
	bool ok;

	split(f, line, 6);
	ok = hlo_mesh(&mesh, arena, f[3], where_option("--from", f[3]), f[4],
	              where_option("--to", f[4]), strtoll(f[2], NULL, 10), &e) == OK;
	ck_assert_msg(ok == (strcmp(f[1], "ok") == 0), "%s: %s", line, e.text);
	if (ok)
		mesh_print(&out, &mesh);
	ck_assert_msg(strstr(ok ? out.s : e.text, f[5]) != NULL, "%s: %s", line,
	              ok ? out.s : e.text);
	ck_assert_msg(!ok || strcmp(out.s, f[5]) == 0, "%s: %s", line, out.s);
	text_free(&out);
}

START_TEST(table)
{
	static const struct {
		const char *word;
		void (*check)(const char *line);
		int at_least;
	} kinds[] = {{"print | ", check_print, 60},
	             {"cannot | ", check_cannot, 8},
	             {"bad | ", check_bad, 110},
	             {"mesh | ", check_mesh, 21},
	             {"same | ", check_same, 234}};
	int found = 0;

	for (int i = 0; i < nlines; i++)
		if (starts(lines[i], kinds[_i].word)) {
			arena_reset(arena);
			kinds[_i].check(lines[i]);
			found++;
		}
	ck_assert_int_ge(found, kinds[_i].at_least);
}
END_TEST

/* Where the mesh says no axis, or a text no layout, the message still says so. */
START_TEST(edges)
{
	struct problem_text p = read_problem("x=4,y=2", "f32[8,8]");
	static const char *const texts[] = {"",  "   ", "\n\t", "\xff\xfe", "P",
	                                    "{", "[",   "(",    "#",        "<@",
	                                    "S", "R",   "N",    "jax."};
	struct mesh none = {.ndevices = 1};
	struct layout l;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct error e = {0};

		ck_assert_int_ne(layout_parse(&l, &p.mesh, &p.array.shape, arena,
		                              texts[i], where_option("--to", texts[i]),
		                              &e),
		                 OK);
		ck_assert_msg(strstr(e.text, "expected") != NULL, "%s", e.text);
	}
	for (int i = 0; i < 2; i++) {
		const char *text = i ? "[R]" : "P('x')";
		struct error e = {0};

		ck_assert_int_eq(layout_parse(&l, &none, &p.array.shape, arena, text,
		                              where_option("--to", text), &e),
		                 E_TYPE);
		ck_assert_ptr_nonnull(strstr(e.text, i ? "(none)" : "no axes"));
	}
}
END_TEST

/* Long and deep texts: an error or a layout, at once. */
START_TEST(monsters)
{
	static const char *const starts_of[] = {"",
	                                        "P(",
	                                        "P(('x',",
	                                        "NamedSharding(",
	                                        "{devices=",
	                                        "{replicated metadata=",
	                                        "[{",
	                                        "#sdy.sharding<@m, [{",
	                                        "[Shard(0), ",
	                                        "S(0)[",
	                                        "[8{",
	                                        "P(unreduced={"};
	static const char bytes[] = "({[<'\"x1,S ";
	struct problem_text p = read_problem("x=4,y=2", "f32[8,8]");
	enum { LONG = 100000 };
	char *text = arena_alloc(arena, LONG + 64, 1);

	for (size_t i = 0; i < sizeof(starts_of) / sizeof(*starts_of); i++)
		for (const char *c = bytes; *c; c++) {
			struct error e = {0};
			struct layout l;

			strcpy(text, starts_of[i]);
			memset(text + strlen(text), *c, LONG);
			text[strlen(starts_of[i]) + LONG] = '\0';
			ck_assert_int_ne(layout_parse(&l, &p.mesh, &p.array.shape,
			                              arena, text,
			                              where_option("--from", text), &e),
			                 OK);
			ck_assert_int_eq(e.at.line, 1);
			ck_assert_int_gt(strlen(e.text), 10);
		}
}
END_TEST

/* 64 axes of size 1 and long names: messages are cut, nothing overflows. */
START_TEST(many_axes)
{
	struct text t = {0}, spec = {0};
	struct problem_text p;
	struct layout l;
	struct error e = {0};

	for (int i = 0; i < MESH_AXES_MAX; i++) {
		text_printf(&t, "%sa_rather_long_name_of_an_axis_that_goes_on_%d=%d",
		            i ? "," : "", i, i < 3 ? 2 : 1);
		text_printf(&spec, "%s'a_rather_long_name_of_an_axis_that_goes_on_%d'",
		            i ? "," : "P((", i);
	}
	p = read_problem(text_take(&t, arena), "f32[64]");
	text_printf(&spec, "))");
	l = read_layout(&p, text_take(&spec, arena));
	ck_assert_int_eq(l.nparts[0], 3);
	ck_assert_int_ne(layout_parse(&l, &p.mesh, &p.array.shape, arena, "P('b')",
	                              where_option("--from", "P('b')"), &e),
	                 OK);
	ck_assert_ptr_nonnull(strstr(e.text, ", ..."));
}
END_TEST

/* One random edit: a byte changed, put in, taken out, or a piece of another text. */
static void mutate(char *text, struct rng *rng, const char *other)
{
	static const char bytes[] = "{}[]()<>'\",:=#?@ PSRTxyz0123456789-\n\x80";
	size_t n = strlen(text), at = rng_below(rng, (uint32_t)n + 1), m;
	char byte = bytes[rng_below(rng, sizeof(bytes) - 1)];

	switch (rng_below(rng, 4)) {
	case 0:
		if (at < n)
			text[at] = byte;
		break;
	case 1:
		if (n + 1 < TEXT) {
			memmove(text + at + 1, text + at, n - at + 1);
			text[at] = byte;
		}
		break;
	case 2:
		if (at < n)
			memmove(text + at, text + at + 1, n - at);
		break;
	default:
		m = rng_below(rng, (uint32_t)strlen(other) + 1);
		other += m;
		m = rng_below(rng, 12) < strlen(other) ? strlen(other) / 2
		                                       : strlen(other);
		if (n + m < TEXT) {
			memmove(text + at + m, text + at, n - at + 1);
			memcpy(text + at, other, m);
		}
	}
}

/* A text that happens to be right prints, and what it prints is right. */
static void check_random(const struct problem_text *p, const char *text, int *right)
{
	struct error e = {0};
	struct layout l, again;
	char *out, *why;

	if (layout_parse(&l, &p->mesh, &p->array.shape, arena, text,
	                 where_option("--from", text), &e) != OK) {
		ck_assert_int_ne(e.code, OK);
		ck_assert_uint_ge(e.at.line, 1);
		ck_assert_uint_ge(e.at.col, 1);
		ck_assert_uint_le(e.at.col, strlen(text) + 1);
		ck_assert_int_gt(strlen(e.text), 10);
		return;
	}
	++*right;
	for (enum notation n = 0; n < NOTATIONS; n++) {
		out = print_layout(p, notation_name(n), &l, &why);
		if (!out)
			continue;
		again = read_layout(p, out);
		ck_assert_msg(layout_same_tiles(&l, &p->mesh, &again, &p->mesh), "%s",
		              out);
		ck_assert_str_eq(print_layout(p, notation_name(n), &again, &why), out);
	}
}

START_TEST(mutations)
{
	static const char *const seeds[] = {
		"P('x', None, ('y', 'z'))",
		"PartitionSpec(('z','x'),)",
		"P(None, 'y', unreduced={'x'})",
		"NamedSharding(mesh=Mesh('x': 2), spec=P('x'), memory_kind=device)",
		"{devices=[2,1,3,2]<=[2,3,2]T(0,2,1) last_tile_dim_replicate}",
		"{devices=[2,3,2]0,1,2,3,4,5,6,7,8,9,10,11}",
		"{replicated}",
		"{devices=[12,1,1]<=[2,6]T(1,0)}",
		"{devices=[1,2,1,3,2]<=[12] last_tile_dims={unreduced, replicated}}",
		"{maximal device=11}",
		"{mesh['x'=2,'y'=3,'z'=2], [{'x'}, {}, {'z'}], unreduced={'y'}}",
		"[{\"x\"}, {\"z\":(1)2, ?}p1, {}]",
		"<@m, [{\"y\"}, {}, {?}], replicated={\"x\"}, unreduced={\"z\"}>",
		"[Shard(0), Replicate(), Partial()]",
		"S(0)[1]S(0)[0]R",
		"S(0)[2,0]S(1)[1]",
		"(Shard(dim=2), Partial(sum), R)",
		"[6{x}12, 4{y}12, 6{z}12]"};
	enum { SEEDS = sizeof(seeds) / sizeof(*seeds) };
	struct rng *rng = rng_new(50000);
	char text[TEXT + 16];
	int right = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct problem_text p;

		arena_reset(arena);
		p = read_problem("x=2,y=3,z=2", "bf16[12,12,12]");
		snprintf(text, sizeof(text), "%s", seeds[i % SEEDS]);
		for (uint32_t k = 1 + rng_below(rng, 3); k > 0; k--)
			mutate(text, rng, seeds[rng_below(rng, SEEDS)]);
		check_random(&p, text, &right);
	}
	ck_assert_int_gt(right, ROUNDS / 50);
	rng_free(rng);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("notation texts");
	TCase *tc = tcase_create("texts");

	read_table();
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, table, 0, 5);
	tcase_add_test(tc, edges);
	tcase_add_test(tc, monsters);
	tcase_add_test(tc, many_axes);
	tcase_add_test(tc, mutations);
	suite_add_tcase(suite, tc);
	atexit(free_table);
	return suite;
}
