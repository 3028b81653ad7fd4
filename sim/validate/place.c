#include "validate/place.h"

#include "base/units.h"
#include "placement/program.h"
#include "stat/rank.h"
#include "validate/measured.h"
#include "validate/p2.h"
#include "validate/sheet.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 10 };
static const char *const columns[COLUMNS] = {
	"hierarchy", "axes",       "reduce",          "matrix",
	"algorithm", "measured_s", "best_measured_s", "best_program",
	"runs",      "bytes",
};
enum column {
	HIERARCHY,
	AXES,
	REDUCE,
	MATRIX,
	ALGORITHM,
	MEASURED,
	BEST_MEASURED,
	BEST_PROGRAM,
	RUNS,
	BYTES
};
enum { NEEDED = BEST_MEASURED + 1 };

struct table_reader {
	struct arena *arena;
	struct sheet sheet;
	struct synth_cache cache;
	struct error *error;
};

bool place_table_is(const char *path)
{
	return csv_names(path, "hierarchy", "matrix");
}

/*
 * Returns a list of numbers, which may have any brackets and separators, as `4,16`; a
 * text with other letters stays as it is.
 */
static const char *plain_list(const char *text, struct arena *a)
{
	struct text out = {0};

	if (text[strspn(text, "0123456789 ,x[]()")])
		return text;
	for (const char *p = text; *p;) {
		size_t digits = strspn(p, "0123456789");

		if (digits)
			text_printf(&out, "%s%.*s", out.length ? "," : "", (int)digits,
			            p);
		p += digits ? digits : 1;
	}
	return out.s ? text_take(&out, a) : "";
}

/* Returns `(1 16)/(2 1)` and `1 16; 2 1` as `[[1 16][2 1]]`. */
static const char *plain_matrix(const char *text, struct arena *a)
{
	bool bare = !text[strspn(text, "0123456789 ,;/")] && *text;
	struct text out = {0};

	if (text[0] != '(' && !bare)
		return text;
	text_printf(&out, bare ? "[[" : "[");
	for (; *text; text++)
		if (*text == ';' || *text == '/')
			text_printf(&out, bare ? "][" : " ");
		else
			text_printf(&out, "%c",
			            *text == '('   ? '['
			            : *text == ')' ? ']'
			                           : *text);
	text_printf(&out, bare ? "]]" : "]");
	return text_take(&out, a);
}

/* Reads a number above 0; a blank gives NaN. */
static enum status read_number(double *out, struct table_reader *r, int64_t row,
                               enum column k)
{
	*out = NAN;
	return *sheet_text(&r->sheet, row, k) ? sheet_number(out, &r->sheet, row, k)
	                                      : OK;
}

static const struct {
	const char *name, *program;
} known_programs[] = {
	{"RS-AR-AG", "(%s, InsideGroup, ReduceScatter); (%s, Parallel(root), "
                     "AllReduce); (%s, InsideGroup, AllGather)"},
	{"R-AR-B", "(%s, InsideGroup, Reduce); (%s, Master(root), AllReduce); (%s, "
                   "InsideGroup, Broadcast)"},
	{"AR-AR", "(%s, InsideGroup, AllReduce); (%s, Parallel(root), AllReduce)"},
};

static bool is_allreduce(const char *text)
{
	return !strcmp(text, "all-reduce") || !strcmp(text, "AllReduce") ||
	       !strcmp(text, "AR");
}

/* Reads a program on the space's levels by its name or text; it must be meaningful. */
static enum status read_program(struct program *out, struct table_reader *r,
                                struct where at, const char *text,
                                const struct space *space)
{
	const struct hierarchy *tree = &space->tree;
	const struct synthesis *s;
	struct error fault = {0};

	if (is_allreduce(text))
		text = "(root, InsideGroup, AllReduce)";
	for (size_t i = 0; i < sizeof(known_programs) / sizeof(*known_programs); i++)
		if (!strcmp(text, known_programs[i].name)) {
			const char *name = tree->level[1].name;

			if (tree->nlevels != 3)
				return error_set(
					r->error, E_TYPE, at,
					"%s is a program over two levels, this "
					"reduction has %d",
					text, tree->nlevels - 1);
			text = arena_printf(r->arena, known_programs[i].program, name,
			                    name, name);
		}
	if (text[0] != '(')
		return error_set(r->error, E_TYPE, at,
		                 "unknown program '%.40s', expected AR, RS-AR-AG, "
		                 "R-AR-B, AR-AR or steps such as (root, InsideGroup, "
		                 "AllReduce), or of an algorithm ring, tree or "
		                 "all-reduce",
		                 text);
	if (program_parse(out, text, tree, (struct where){0}, &fault) != OK)
		return error_set(r->error, fault.code, at, "program '%.60s': %s", text,
		                 fault.text);
	if (synth_cached(&s, &r->cache, tree, PROGRAM_STEPS, at, r->error) != OK)
		return r->error->code;
	if (!synth_has(s, out))
		return error_set(r->error, E_TYPE, at,
		                 "program '%.60s' does not sum over these levels", text);
	return OK;
}

static enum status read_case(struct place_measured *m, struct table_reader *r,
                             int64_t row)
{
	const struct sheet *s = &r->sheet;
	struct where at = csv_where(&s->csv, row);
	struct placement_case *c = &m->c;
	struct error *e = r->error;
	int64_t bytes = PLACEMENT_PAYLOAD_BYTES;

	m->hierarchy = plain_list(sheet_text(s, row, HIERARCHY), r->arena);
	m->axes = plain_list(sheet_text(s, row, AXES), r->arena);
	m->reduce = plain_list(sheet_text(s, row, REDUCE), r->arena);
	m->at = c->at = at;
	c->limit = PROGRAM_STEPS;
	c->orders = 1u << ORDER_ROW;
	if (hierarchy_parse(&c->hierarchy, r->arena, m->hierarchy,
	                    sheet_where(s, row, HIERARCHY), e) != OK ||
	    axes_parse(&c->axes, r->arena, m->axes, sheet_where(s, row, AXES), e) != OK ||
	    reduce_parse(&c->reduce, &c->axes, m->reduce, sheet_where(s, row, REDUCE),
	                 e) != OK ||
	    matrix_parse(&m->matrix, plain_matrix(sheet_text(s, row, MATRIX), r->arena),
	                 sheet_where(s, row, MATRIX), e) != OK ||
	    matrix_check(&m->matrix, &c->hierarchy, &c->axes,
	                 sheet_where(s, row, MATRIX), e) != OK ||
	    (*sheet_text(s, row, BYTES) &&
	     units_bytes(sheet_text(s, row, BYTES), sheet_where(s, row, BYTES), &bytes,
	                 e) != OK) ||
	    read_number(&m->runs, r, row, RUNS) != OK ||
	    read_number(&m->measured_s, r, row, MEASURED) != OK ||
	    read_number(&m->best_measured_s, r, row, BEST_MEASURED) != OK)
		return e->code;
	if (bytes == 0)
		return error_set(e, E_RANGE, sheet_where(s, row, BYTES),
		                 "no data, expected one byte or more");
	if (isnan(m->measured_s))
		return error_set(e, E_SYNTAX, sheet_where(s, row, MEASURED),
		                 "measured_s is blank, expected seconds");
	c->payload_bytes = (double)bytes;
	m->runs = isnan(m->runs) ? P2_RUNS : m->runs;
	m->measured_s /= m->runs;
	m->best_measured_s /= m->runs;
	return OK;
}

static enum status row_system(struct p2_system *out, struct place_measured *m,
                              struct table_reader *r, int64_t row)
{
	const struct p2_system *p2 = p2_system_of(&m->c.hierarchy);
	const char *algorithm = sheet_text(&r->sheet, row, ALGORITHM);

	if (!p2)
		return error_set(r->error, E_TYPE,
		                 sheet_where(&r->sheet, row, HIERARCHY),
		                 "the published systems have nodes of 16 or 8 GPUs, "
		                 "expected such a last level");
	m->tree = !strcasecmp(algorithm, "tree");
	m->algorithm =
		m->tree || !strcasecmp(algorithm, "ring") || is_allreduce(algorithm)
			? "all-reduce"
			: algorithm;
	*out = *p2;
	out->tree = m->tree;
	m->system = arena_printf(r->arena, "%s:%d%s", p2->name,
	                         (int)(m->c.hierarchy.ndevices / p2->gpus),
	                         m->tree                          ? " tree"
	                         : !strcasecmp(algorithm, "ring") ? " ring"
	                                                          : "");
	return OK;
}

/*
 * Stores simulated times, and the place of the program that was measured as the
 * fastest.
 */
static enum status simulate(struct place_measured *m, struct table_reader *r,
                            int64_t row)
{
	const char *best_text = sheet_text(&r->sheet, row, BEST_PROGRAM);
	struct timed_program *programs;
	struct p2_system p2;
	struct reduction_clock clock = {p2_clock, &p2};
	struct program algorithm, best;
	struct space space;
	struct text words = {0};
	double *time_s;

	if (row_system(&p2, m, r, row) != OK)
		return r->error->code;
	space_collapsed(&space, r->arena, &m->c.hierarchy, &m->matrix, m->c.reduce,
	                ORDER_ROW);
	if (read_program(&algorithm, r, sheet_where(&r->sheet, row, ALGORITHM),
	                 m->algorithm, &space) != OK ||
	    (*best_text &&
	     read_program(&best, r, sheet_where(&r->sheet, row, BEST_PROGRAM),
	                  best_text, &space) != OK) ||
	    placement_programs(&programs, &m->programs, r->arena, &m->matrix, ORDER_ROW,
	                       &r->cache, &m->c, &clock, r->error) != OK)
		return r->error->code;
	time_s = arena_alloc(r->arena, (size_t)m->programs, sizeof(*time_s));
	for (int64_t i = 0; i < m->programs; i++) {
		time_s[i] = placement_rounded_s(programs[i].time_s);
		if (!memcmp(&programs[i].program, &algorithm, sizeof(algorithm)))
			m->time_s = time_s[i];
	}
	m->best_s = time_s[0];
	for (int64_t i = 0; i < m->programs && *best_text; i++)
		if (!memcmp(&programs[i].program, &best, sizeof(best)))
			m->place = (int64_t)stat_place(time_s, (size_t)m->programs,
			                               (size_t)i, 0);
	if (*best_text) {
		program_print(&words, &best, &space.tree);
		m->best_program = text_take(&words, r->arena);
	}
	return OK;
}

static enum status read_file(struct place_table *out, struct table_reader *r,
                             const char *path)
{
	struct place_measured *more;
	int64_t n;

	if (sheet_read(&r->sheet, r->arena, path, columns, COLUMNS, NEEDED, r->error) !=
	    OK)
		return r->error->code;
	n = r->sheet.csv.nrows;
	more = arena_alloc(r->arena, (size_t)(out->n + n) + 1, sizeof(*more));
	if (out->n)
		memcpy(more, out->row, (size_t)out->n * sizeof(*more));
	out->row = more;
	for (int64_t i = 0; i < n; i++) {
		struct place_measured *m = &out->row[out->n];

		if (read_case(m, r, i) != OK || simulate(m, r, i) != OK)
			return r->error->code;
		out->n++;
	}
	return OK;
}

enum status place_table_read(struct place_table *out, struct arena *a,
                             const char *const *path, int n, struct error *e)
{
	struct table_reader r = {.arena = a, .cache = {.arena = a}, .error = e};

	*out = (struct place_table){0};
	for (int i = 0; i < n; i++) {
		if (measured_once(path, i, e) != OK || read_file(out, &r, path[i]) != OK)
			return e->code;
	}
	if (!out->n)
		return error_set(e, E_SYNTAX, (struct where){.file = path[0]},
		                 "no row in it");
	return OK;
}
