#include "corpus.h"

#include "automap/evaluate.h"
#include "automap/given.h"
#include "facts/families.h"
#include "facts/tactic.h"
#include "family/xml.h"
#include "move/read.h"
#include "notation/notation.h"
#include "plan/check.h"
#include "plan/plan_json.h"
#include "plan/plan_text.h"
#include "platform/xml.h"
#include "program/work.h"
#include "suite/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEVICES_MAX = 512, LINES_MAX = 9 };

static void must(bool right, const char *what, const char *text)
{
	if (right)
		return;
	fprintf(stderr, "%s: %s\n", what, text);
	abort();
}

/* The status and the error tell the same story. */
static bool is_ok(enum status status, const struct error *e)
{
	must(status == e->code, "status and error differ", e->text);
	must(status == OK || e->text[0] != '\0', "an error without a text", "");
	return status == OK;
}

/* The next line of a text, without its newline; NULL at the end. */
static const char *take_line(struct arena *a, const char **text)
{
	size_t n = strcspn(*text, "\n");
	const char *line = arena_strndup(a, *text, n);

	if (!**text)
		return NULL;
	*text += n + ((*text)[n] == '\n');
	return line;
}

/* --- notations --- */

static void check_layout(struct arena *a, const struct layout *l, const struct mesh *m,
                         const struct shape *shape)
{
	for (int i = 0; i <= NOTATIONS; i++) {
		struct text out = {0}, again = {0}, why = {0};
		struct error e = {0};
		struct layout back;
		bool printed = i < NOTATIONS ? layout_print_as(&out, (enum notation)i,
		                                               l, m, shape, &why)
		                             : (layout_print(&out, l, m, shape), true);

		must(printed || why.length > 0, "no reason", "");
		if (printed) {
			must(layout_parse(&back, m, shape, a, out.s,
			                  where_option("again", out.s), &e) == OK,
			     e.text, out.s);
			must((i == NOTATION_HLO && l->nunreduced) ||
			             layout_same_tiles(l, m, &back, m),
			     "other tiles", out.s);
		}
		if (printed && i < NOTATIONS) {
			layout_print_as(&again, (enum notation)i, &back, m, shape, &why);
			must(again.s && strcmp(out.s, again.s) == 0, "not canonical",
			     out.s);
		}
		text_free(&out);
		text_free(&again);
		text_free(&why);
	}
}

static void run_notation(struct arena *a, const char *text, size_t length)
{
	const char *mesh_text = take_line(a, &text), *array_text = take_line(a, &text);
	struct error e = {0};
	struct mesh mesh;
	struct array array;
	struct layout layout;

	(void)length;
	if (!array_text)
		return;
	if (!*mesh_text) {
		is_ok(hlo_mesh(&mesh, a, array_text, where_option("from", array_text),
		               text, where_option("to", text), 0, &e),
		      &e);
		return;
	}
	if (!is_ok(mesh_parse(&mesh, a, mesh_text, where_option("mesh", mesh_text), &e),
	           &e) ||
	    !is_ok(array_parse(&array, array_text, where_option("array", array_text), &e),
	           &e) ||
	    mesh.ndevices > DEVICES_MAX)
		return;
	if (is_ok(layout_parse(&layout, &mesh, &array.shape, a, text,
	                       where_option("layout", text), &e),
	          &e))
		check_layout(a, &layout, &mesh, &array.shape);
}

/* --- problems --- */

static void run_problem(struct arena *a, const char *text, size_t length)
{
	struct problem_text t = {0};
	const char **field[LINES_MAX] = {&t.array,       &t.mesh,    &t.to_mesh,
	                                 &t.from,        &t.to,      &t.memory_limit,
	                                 &t.num_devices, &t.devices, &t.to_devices};
	struct where *at[LINES_MAX] = {
		&t.array_at,       &t.mesh_at,    &t.to_mesh_at,
		&t.from_at,        &t.to_at,      &t.memory_limit_at,
		&t.num_devices_at, &t.devices_at, &t.to_devices_at};
	struct problem p;
	struct error e = {0};

	(void)length;
	for (int i = 0; i < LINES_MAX; i++) {
		const char *line = take_line(a, &text);

		if (!line || !*line || (i >= LINES_MAX - 2 && strchr(line, '@')))
			continue;
		*field[i] = line;
		*at[i] = where_option("field", line);
	}
	if (!t.array || !t.from || !t.to)
		return;
	if (is_ok(problem_make(&p, a, &t, &e), &e))
		must(p.recv_bound_bytes >= 0 && p.memory_bound_bytes > 0, "bounds",
		     t.array);
}

/* --- plans --- */

static const struct problem_text problems[] = {
	{.array = "f32[16,24]", .mesh = "x=4,y=2", .from = "P('x')", .to = "P(None,'y')"},
	{.array = "bf16[9,4,6]", .mesh = "x=3,y=2", .from = "P('x','y')", .to = "P()"},
	{.array = "s8[7,13]", .mesh = "x=2,y=2", .from = "P('x')", .to = "P('y','x')"},
	{.array = "f32[8,8]",
         .mesh = "x=4,y=2",
         .from = "P('x',unreduced={'y'})",
         .to = "P('x','y')"},
	{.array = "f32[12]",
         .mesh = "x=4",
         .to_mesh = "y=6",
         .from = "P('x')",
         .to = "P('y')"},
	{.array = "f32[8,8]",
         .from = "{devices=[2,2]0,1,3,2}",
         .to = "{devices=[4,1]2,0,1,3}"},
};

/* The problem that the first byte names, NULL if none. */
static struct problem *some_problem(struct arena *a, const char *text)
{
	struct problem *p = arena_alloc(a, 1, sizeof(*p));
	size_t number = (size_t)(text[0] - '0');
	struct error e = {0};

	if (number >= sizeof(problems) / sizeof(problems[0]))
		return NULL;
	must(problem_make(p, a, &problems[number], &e) == OK, "problem", e.text);
	return p;
}

/* A plan that was read may be wrong; but it can be proven so, and printed. */
static void check_plan(struct arena *a, const struct plan *plan)
{
	struct text out = {0}, again = {0}, why = {0};
	struct error e = {0};
	struct plan *back;

	must(plan_check(plan, &why) || why.length > 0, "wrong without a reason", "");
	plan_print(&out, plan);
	if (out.s) {
		must(plan_parse(&back, plan->problem, a, out.s,
		                where_option("again", out.s), &e) == OK,
		     e.text, out.s);
		plan_print(&again, back);
		must(again.s && strcmp(out.s, again.s) == 0, "another plan", out.s);
	}
	text_free(&out);
	text_free(&again);
	text_free(&why);
}

static void run_plan(struct arena *a, const char *text, size_t length)
{
	struct problem *p = length ? some_problem(a, text) : NULL;
	struct error e = {0};
	struct plan *plan;

	if (p &&
	    is_ok(plan_parse(&plan, p, a, text + 1, where_option("plan", text + 1), &e),
	          &e))
		check_plan(a, plan);
}

static void run_plan_json(struct arena *a, const char *text, size_t length)
{
	struct problem *p = length ? some_problem(a, text) : NULL;
	json_t *steps = p ? json_loadb(text + 1, length - 1, 0, NULL) : NULL;
	struct error e = {0};
	struct plan *plan;

	if (steps && is_ok(plan_parse_json(&plan, p, a, steps, "plan", &e), &e))
		check_plan(a, plan);
	json_decref(steps);
}

/* --- files --- */

/* The path of a nameless file that holds the text; its descriptor is to be closed. */
static const char *file_of(int *fd, struct arena *a, const char *text, size_t length)
{
	*fd = memfd_create("corpus", 0);
	must(*fd >= 0 && write(*fd, text, length) == (ssize_t)length, "memfd", "");
	return arena_printf(a, "/proc/self/fd/%d", *fd);
}

/* Some numbers ask for long work, rightly: more than three digits in a row. */
static bool has_large_number(const char *text)
{
	for (; *text; text++)
		if (strspn(text, "0123456789_") > 3)
			return true;
	return false;
}

static void run_suite(struct arena *a, const char *text, size_t length)
{
	struct suite s = {.arena = a};
	struct error e = {0};
	int fd;
	const char *path;

	if (strstr(text, "generate") && has_large_number(text))
		return;
	path = file_of(&fd, a, text, length);
	if (is_ok(suite_read(&s, path, &e), &e))
		is_ok(suite_check_names(&s, &e), &e);
	close(fd);
}

/* Workloads of every YAML form, those without ends of their own from 8 devices to 4. */
static void run_workload(struct arena *a, const char *text, size_t length)
{
	const struct move_ends both = {.from = "fsdp=8", .to = "pipeline=2,tensor=2"};
	const struct move_ends none = {0};
	int fd;
	const char *path;

	if (strstr(text, "generate") && has_large_number(text))
		return;
	path = file_of(&fd, a, text, length);
	for (int i = 0; i < 2; i++) {
		struct move_work w = {.arena = a};
		struct error e = {0};

		if (is_ok(move_read(&w, path, i ? &both : &none, &e), &e))
			must(w.narrays > 0 && w.name, "nothing was read", path);
	}
	close(fd);
}

static void run_tensors(struct arena *a, const char *text, size_t length)
{
	struct move_sides sides = {.from = {.arena = a, .text = "fsdp=8"},
	                           .to = {.arena = a, .text = "data=2,tensor=4,expert=8"},
	                           .given = true};
	struct move_work w = {.arena = a};
	struct error e = {0};
	int fd;
	const char *path = file_of(&fd, a, text, length);

	scheme_make(&sides.from, &e);
	scheme_make(&sides.to, &e);
	is_ok(move_add_list(&w, &sides, path, &e), &e);
	close(fd);
}

static void run_families(struct arena *a, const char *text, size_t length)
{
	struct families all;
	struct error e = {0};
	int fd;
	const char *path = file_of(&fd, a, text, length);

	if (is_ok(families_read(&all, a, path, &e), &e))
		for (int i = 0; i < all.n; i++)
			must(all.family[i].name != NULL, "no name", path);
	close(fd);
}

static void run_platform(struct arena *a, const char *text, size_t length)
{
	struct platform_xml xml;
	struct error e = {0};
	struct machine *m;
	struct platform_graph *graph;

	if (!is_ok(platform_xml_read(&xml, a, "some.xml", text, length, false, &e), &e) ||
	    !is_ok(platform_xml_machine(&m, &graph, &xml, "some.xml", &e), &e))
		return;
	must(m->ndevices > 0 && m->nfabrics > 0, "an empty machine", "");
	for (int f = 0; f < m->nfabrics; f++) {
		int32_t links[ROUTE_LINKS_MAX];

		if (machine_fabric(m, 0, m->ndevices - 1) == f)
			machine_route(m, f, 0, m->ndevices - 1, links, ROUTE_LINKS_MAX);
	}
}

static void run_family(struct arena *a, const char *text, size_t length)
{
	const char *spec = take_line(a, &text), *set[LINES_MAX];
	struct family_machine f;
	struct error e = {0};
	struct text xml = {0};
	int n = 0;

	(void)length;
	if (!spec)
		return;
	while (n < LINES_MAX && (set[n] = take_line(a, &text)))
		n++;
	if (is_ok(family_parse(&f, a, NULL, spec, set, n, &e), &e) && f.ndevices <= 64 &&
	    is_ok(platform_generate(&xml, NULL, a, spec, set, n, false, &e), &e)) {
		struct platform_xml read;
		struct machine *m = NULL;
		struct platform_graph *graph;

		must(platform_xml_read(&read, a, spec, xml.s, xml.length, false, &e) ==
		                     OK &&
		             platform_xml_machine(&m, &graph, &read, spec, &e) == OK,
		     e.text, spec);
		must(m->ndevices == f.ndevices, "devices", spec);
	}
	text_free(&xml);
}

/* What others rely on without a look: numbers of values, ops and regions are there. */
static void run_program(struct arena *a, const char *text, size_t length)
{
	struct program p;
	struct error e = {0};

	if (!is_ok(program_of_text(&p, a, text, length, "some.hlo", &e), &e))
		return;
	must(p.entry >= 0 && p.entry < p.region.n, "no entry", "");
	for (int64_t i = 0; i < p.operand.n; i++)
		must(p.operand.at[i] >= 0 && p.operand.at[i] < p.value.n &&
		             p.value.at[p.operand.at[i]].same == p.operand.at[i],
		     "an operand that is not there", "");
	for (int64_t i = 0; i < p.called.n; i++)
		must(p.called.at[i] >= 0 && p.called.at[i] < p.region.n,
		     "a region that is not there", "");
	for (int64_t i = 0; i < p.op.n; i++)
		must(p.op.at[i].region >= 0 && p.op.at[i].region < p.region.n,
		     "an op in no region", "");
	must(program_work(&p).bytes >= 0, "negative work", "");
}

/* Rules on a mesh of two axes, applied to nothing. */
static void run_tactics(struct arena *a, const char *text, size_t length)
{
	struct mesh mesh;
	struct tactic tactic;
	struct error e = {0};
	int fd;
	const char *path = file_of(&fd, a, text, length);

	must(mesh_parse(&mesh, a, "batch=8,model=4", where_option("mesh", ""), &e) == OK,
	     e.text, "");
	if (is_ok(tactic_read(&tactic, a, path, &mesh, &e), &e))
		for (int i = 0; i < tactic.nrules; i++)
			must(tactic.rule[i].match && tactic.rule[i].axis >= 0 &&
			             tactic.rule[i].axis < mesh.naxes,
			     "an axis that is not there", path);
	close(fd);
}

/* Whether nothing is cut. */
static bool is_whole(const struct cutting *c)
{
	bool whole = true;

	for (int64_t i = 0; i < c->graph->value.n; i++)
		whole &= !c->value[i].n && !c->value[i].mask && !c->atomic[i];
	for (int64_t i = 0; i < c->graph->op.n; i++)
		whole &= !c->op[i].n && !c->op[i].mask;
	return whole;
}

/* A program that is cut as its text says, or along the first dimension of all that can be. */
static void run_automap(struct arena *a, const char *text, size_t length)
{
	static const int32_t size[CUT_AXES] = {2, 2, 2, 2, 2, 2};
	static const int axis[MESH_AXES_MAX] = {0, 1, 2, 3, 4, 5};
	struct program p;
	struct shardings given;
	struct graph g;
	struct cutting c;
	struct evaluator ev;
	struct error e = {0};
	int lost;

	if (!is_ok(program_of_text(&p, a, text, length, "some.hlo", &e), &e))
		return;
	shardings_start(&given, a, &p);
	if (!is_ok(shardings_read(&given, a, &p, &e), &e) ||
	    given.mesh.naxes > CUT_AXES ||
	    !is_ok(graph_make(&g, a, &p, true, NULL, 0, &e), &e))
		return;
	cutting_start(&c, a, &g, CUT_AXES, size);
	given_cut(&c, &given, axis, &lost);
	for (int32_t i = 0; i < g.group.n; i++)
		cutting_group(&c, i, 0, 0);
	evaluator_start(&ev, a, &g, NULL);
	evaluator_repeat(&ev, a, 2, true);
	must(evaluate(&ev, &c).peak_bytes >= 0, "negative memory", "");
	cutting_undo(&c, 0);
	must(is_whole(&c), "something is left of what was undone", "");
}

const struct reader_target reader_targets[] = {
	{"notation", run_notation}, {"problem", run_problem},
	{"plan", run_plan},         {"plan_json", run_plan_json},
	{"suite", run_suite},       {"families", run_families},
	{"platform", run_platform}, {"family", run_family},
	{"program", run_program},   {"workload", run_workload},
	{"tensors", run_tensors},   {"tactics", run_tactics},
	{"automap", run_automap},   {NULL, NULL},
};
