#include "automap/study.h"

#include "automap/load.h"
#include "automap/run.h"
#include "base/units.h"
#include "facts/yaml_reader.h"
#include "measure/library.h"
#include "platform/platform.h"
#include "text/csv.h"
#include "text/pen.h"

#include <string.h>

enum { STRATEGIES_MAX = 16, TACTICS_MAX = 16 };

/* One case as it is read; texts are the arena's. */
struct study_case {
	const char *name, *file, *platform, *mesh;
	struct where file_at, platform_at, mesh_at;
	int32_t devices;
	struct automap_train train;
	bool overlap; /* as all of the suite */
	int nstrategies;
	const char *strategy[STRATEGIES_MAX]; /* tactics with spaces between */
	struct where strategy_at[STRATEGIES_MAX];
};

struct study {
	LIST(struct study_case) list;
	const char *note;    /* a paragraph of the page; NULL: none */
	const char *compare; /* the case over whose first row speed-ups are; NULL: none */
	struct where compare_at;
	bool overlap; /* collectives run beside kernels */
};

/* A row of the table. */
struct study_row {
	const struct study_case *of;
	const char *strategy;
	double limit_bytes;
	struct automap_answer answer;
};

struct study_rows {
	LIST(struct study_row) list;
};

bool automap_is_study(const char *path)
{
	return automap_begins_with(path, "shardings:");
}

bool automap_begins_with(const char *path, const char *key)
{
	char block[AUTOMAP_LOOK_BYTES + 1];
	const char *line = block;
	FILE *f = fopen(path, "r");

	if (!f)
		return false;
	block[fread(block, 1, AUTOMAP_LOOK_BYTES, f)] = '\0';
	fclose(f);
	while (*line == '#' || *line == '\n')
		line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');
	return !strncmp(line, key, strlen(key));
}

/* --- reading ---------------------------------------------------------------------- */

const char *automap_beside(struct reader *r, const char *path)
{
	const char *slash = strrchr(r->path, '/');

	return !slash || *path == '/'
	               ? arena_strdup(r->arena, path)
	               : arena_printf(r->arena, "%.*s/%s", (int)(slash - r->path),
	                              r->path, path);
}

static enum status read_strategies(struct reader *r, yaml_node_t *map,
                                   struct study_case *c)
{
	yaml_node_t *list = map_find(r, map, "strategies");

	if (!list)
		return OK;
	if (list->type != YAML_SEQUENCE_NODE)
		return error_set(r->error, E_SYNTAX, node_where(r, list),
		                 "expected a list of strategies");
	for (yaml_node_item_t *i = list->data.sequence.items.start;
	     i < list->data.sequence.items.top; i++) {
		yaml_node_t *node = yaml_document_get_node(&r->doc, *i);

		if (!node_text(node) || c->nstrategies == STRATEGIES_MAX)
			return error_set(r->error, E_SYNTAX, node_where(r, node),
			                 "expected at most %d texts of tactics",
			                 STRATEGIES_MAX);
		c->strategy_at[c->nstrategies] = node_where(r, node);
		c->strategy[c->nstrategies++] = arena_strdup(r->arena, node_text(node));
	}
	return OK;
}

static enum status read_case(struct reader *r, yaml_node_t *map, struct study_case *c)
{
	static const char *const known[] = {"name", "file",       "platform",
	                                    "mesh", "devices",    "batch",
	                                    "seq",  "strategies", NULL};
	struct where at;
	const char *file;

	*c = (struct study_case){0};
	if (map->type != YAML_MAPPING_NODE)
		return error_set(
			r->error, E_SYNTAX, node_where(r, map),
			"expected a case: {name: ..., file: ..., platform: ...}");
	if (map_check(r, map, known) != OK ||
	    !(c->name = map_text(r, map, "name", &at)) ||
	    !(file = map_text(r, map, "file", &c->file_at)) ||
	    !(c->platform = map_text(r, map, "platform", &c->platform_at)))
		return r->error->code;
	c->name = arena_strdup(r->arena, c->name);
	c->file = automap_beside(r, file);
	c->platform = arena_strdup(r->arena, c->platform);
	if (map_find(r, map, "batch") &&
	    !(c->train.batch = map_int(r, map, "batch", INT32_MAX)))
		return r->error->code;
	if (map_find(r, map, "seq") &&
	    !(c->train.seq = map_int(r, map, "seq", INT32_MAX)))
		return r->error->code;
	if (map_find(r, map, "mesh") && map_find(r, map, "devices"))
		return error_set(r->error, E_SYNTAX, node_where(r, map),
		                 "a mesh and devices, expected one of them");
	if (!map_find(r, map, "mesh")) {
		c->devices = map_int(r, map, "devices", 1 << 20);
		c->mesh_at = node_where(r, map);
	} else if ((c->mesh = map_text(r, map, "mesh", &c->mesh_at))) {
		c->mesh = arena_strdup(r->arena, c->mesh);
	}
	return r->error->code == OK ? read_strategies(r, map, c) : r->error->code;
}

/* What the page says of all cases, and with which of them they are compared. */
static enum status read_page(struct reader *r, yaml_node_t *root, struct study *s)
{
	struct where at;

	if (map_find(r, root, "note") && (s->note = map_text(r, root, "note", &at)))
		s->note = arena_strdup(r->arena, s->note);
	if (map_find(r, root, "compare") &&
	    (s->compare = map_text(r, root, "compare", &s->compare_at)))
		s->compare = arena_strdup(r->arena, s->compare);
	if (map_find(r, root, "overlap")) {
		const char *overlap = map_text(r, root, "overlap", &at);

		s->overlap = overlap && !strcmp(overlap, "async");
		if (overlap && !s->overlap && strcmp(overlap, "none") != 0)
			return error_set(r->error, E_TYPE, at,
			                 "unknown overlap '%s', expected none or async",
			                 overlap);
	}
	return r->error->code;
}

static enum status read_study(struct reader *r, void *out)
{
	static const char *const known[] = {"shardings", "note", "compare", "overlap",
	                                    NULL};
	struct study *s = out;
	yaml_node_t *root = yaml_document_get_root_node(&r->doc), *list;

	if (!root || root->type != YAML_MAPPING_NODE)
		return error_set(r->error, E_SYNTAX, (struct where){.file = r->path},
		                 "expected a mapping with the key shardings");
	if (map_check(r, root, known) != OK ||
	    !(list = map_get(r, root, "shardings")) || read_page(r, root, s) != OK)
		return r->error->code;
	if (list->type != YAML_SEQUENCE_NODE)
		return error_set(r->error, E_SYNTAX, node_where(r, list),
		                 "expected a list of cases");
	for (yaml_node_item_t *i = list->data.sequence.items.start;
	     i < list->data.sequence.items.top; i++) {
		struct study_case *c = list_add(&s->list, r->arena);

		if (read_case(r, yaml_document_get_node(&r->doc, *i), c) != OK)
			return r->error->code;
		c->overlap = s->overlap;
	}
	return OK;
}

/* --- running ---------------------------------------------------------------------- */

static enum status add_row(struct study_rows *rows, struct arena *a,
                           const struct study_case *c, struct automap_ask *ask,
                           const char *strategy, struct where at, struct error *e)
{
	const char *tactic[TACTICS_MAX];
	char *text = arena_strdup(a, strategy ? strategy : "");
	struct study_row row = {.of = c,
	                        .strategy = strategy ? strategy : "search",
	                        .limit_bytes = ask->memory_limit_bytes};

	ask->ntactics = 0;
	ask->tactic = tactic;
	ask->search = strategy ? SEARCH_NONE : SEARCH_STRUCTURE;
	for (char *next = strtok(text, " "); next; next = strtok(NULL, " ")) {
		if (ask->ntactics == TACTICS_MAX)
			return error_set(e, E_RANGE, at, "expected at most %d tactics",
			                 TACTICS_MAX);
		tactic[ask->ntactics++] = next;
	}
	if (automap_run(&row.answer, a, ask, e) != OK)
		return error_in_file(e, at);
	*list_add(&rows->list, a) = row;
	return OK;
}

static enum status run_case(struct study_rows *rows, struct arena *a,
                            const struct study_case *c, struct error *e)
{
	struct automap_program *p = arena_alloc(a, 1, sizeof(*p));
	struct automap_ask ask = {.ndevices = c->devices,
	                          .planner = planner_find("best", 4)};
	struct machine *machine;
	struct mesh mesh;
	const char *platform = c->platform;

	if (c->mesh && mesh_parse(&mesh, a, c->mesh, c->mesh_at, e) != OK)
		return e->code;
	if (c->mesh && mesh.naxes > CUT_AXES)
		return error_set(e, E_RANGE, c->mesh_at, "%d axes, expected at most %d",
		                 mesh.naxes, CUT_AXES);
	ask.mesh = c->mesh ? &mesh : NULL;
	ask.ndevices = c->mesh ? mesh.ndevices : c->devices;
	if ((platform_sized(platform) &&
	     platform_resize(&platform, a, NULL, 0, ask.ndevices, e) != OK) ||
	    platform_machine(&machine, a, platform, NULL, 0, e) != OK ||
	    library_of_plans(machine, &(struct library_text){0}, NULL, e) != OK)
		return error_in_file(e, c->platform_at);
	if (automap_load(p, a, c->file, c->train, NULL, 0, e) != OK)
		goto done;
	ask.graph = &p->graph;
	ask.overlap = c->overlap;
	ask.machine = machine;
	ask.memory_limit_bytes = machine->device[0].memory_bytes;
	if (ask.ndevices > machine->ndevices) {
		error_set(e, E_INFEASIBLE, c->platform_at,
		          "has %d devices, and the mesh %d", (int)machine->ndevices,
		          (int)ask.ndevices);
		goto done;
	}
	for (int i = 0; i < c->nstrategies && e->code == OK; i++)
		add_row(rows, a, c, &ask, c->strategy[i], c->strategy_at[i], e);
	if (e->code == OK)
		add_row(rows, a, c, &ask, NULL, c->file_at, e);
done:
	text_free(&p->text);
	return e->code;
}

/* --- writing ---------------------------------------------------------------------- */

static const char *mesh_text(struct arena *a, const struct automap_found *f)
{
	struct text out = {0};

	mesh_print(&out, &f->mesh);
	if (f->placement)
		text_printf(&out, " %s", f->placement);
	return text_take(&out, a);
}

static const char *time_text(struct arena *a, double s)
{
	struct text out = {0};

	units_print_time(&out, s);
	return text_take(&out, a);
}

static const char *bytes_text(struct arena *a, double bytes, bool fits)
{
	struct text out = {0};

	units_print_bytes(&out, bytes);
	text_printf(&out, "%s", fits ? "" : " !");
	return text_take(&out, a);
}

enum { COLUMNS = 13, COMPARED = 3 };
static const char *const heads[COLUMNS + COMPARED] = {
	"case",       "machine",      "mesh",
	"strategy",   "step",         "/ bound",
	"kernels",    "collectives",  "memory",
	"all-gather", "all-reduce",   "reduce-scatter",
	"all-to-all", "memory saved", "arguments saved",
	"speed-up"};

/* The first row of a case, by its name; or that of the first case on as many devices. */
static const struct study_row *first_row(const struct study_rows *rows,
                                         const char *name, int32_t ndevices)
{
	for (int64_t i = 0; i < rows->list.n; i++) {
		const struct study_row *r = &rows->list.at[i];

		if (name ? !strcmp(r->of->name, name)
		         : r->answer.best.mesh.ndevices == ndevices)
			return r;
	}
	return NULL;
}

static void put_compared(const char **cell, struct arena *a,
                         const struct study_rows *rows, const struct study_row *r,
                         const char *compare)
{
	const struct evaluation *e = &r->answer.best.e;
	const struct evaluation *time = &first_row(rows, compare, 0)->answer.best.e;
	const struct evaluation *memory =
		&first_row(rows, NULL, r->answer.best.mesh.ndevices)->answer.best.e;

	cell[0] = arena_printf(a, "%.1f %%",
	                       100 * (1 - e->peak_bytes / memory->peak_bytes));
	cell[1] = arena_printf(a, "%.1f %%",
	                       100 * (1 - e->params_bytes / memory->params_bytes));
	cell[2] = arena_printf(a, "%.2f", time->step_s / e->step_s);
}

static void put_row(const char **cell, struct arena *a, const struct study_row *r)
{
	const struct evaluation *e = &r->answer.best.e;
	bool fits = r->limit_bytes <= 0 || e->peak_bytes <= r->limit_bytes;

	cell[0] = r->of->name;
	cell[1] = r->of->platform;
	cell[2] = mesh_text(a, &r->answer.best);
	cell[3] = r->strategy;
	cell[4] = time_text(a, e->step_s);
	cell[5] = arena_printf(a, "%.2f", e->step_s / r->answer.bound_s);
	cell[6] = time_text(a, e->compute_s);
	cell[7] = time_text(a, e->communication_s);
	cell[8] = bytes_text(a, e->peak_bytes, fits);
	for (int k = 0; k < COUNTS; k++)
		cell[9 + k] = arena_printf(a, "%.0f", e->count[k]);
}

static void write_table(FILE *out, struct arena *a, const struct study *study,
                        const struct study_rows *rows)
{
	struct pen pen = pen_md(out, a);
	struct pen_table t = {.caption = "Shardings of whole programs",
	                      .name = "automap",
	                      .columns = COLUMNS + (study->compare ? COMPARED : 0),
	                      .rows = (size_t)rows->list.n,
	                      .align = "llllrrrrrrrrrrrr",
	                      .head = heads};

	t.cell = arena_alloc(a, t.rows * (size_t)t.columns + 1, sizeof(*t.cell));
	for (int64_t i = 0; i < rows->list.n; i++) {
		const struct study_row *r = &rows->list.at[i];
		const char **cell = t.cell + (size_t)i * (size_t)t.columns;

		put_row(cell, a, r);
		if (i && rows->list.at[i - 1].of == r->of)
			cell[0] = cell[1] = "";
		if (study->compare)
			put_compared(cell + COLUMNS, a, rows, r, study->compare);
	}
	pen.heading(&pen, 1, "Shardings");
	pen.paragraph(
		&pen,
		arena_printf(
			a,
			"What a training step takes on one device under strategies "
			"that are known, applied as tactics, and under what the "
			"search finds without being told any (shardsim automap "
			"SUITE), changes of layout planned by best. %s; / bound is "
			"the step over all matmuls at full rate in equal parts. "
			"Behind a mesh stands how its axes lie on the machine, "
			"where that was searched, too: a row for each axis, and in "
			"it its parts on the machine's levels from the nodes "
			"inwards. A memory with ! does not fit into the device. "
			"Counts are of collectives in a step.",
			study->overlap
				? "Collectives run beside kernels"
				: "Times are sums of kernels and collectives, which do "
				  "not overlap"));
	if (study->compare)
		pen.paragraph(
			&pen,
			arena_printf(
				a,
				"Savings are over the first row on as many devices, "
				"speed-ups over that of the case '%s'.",
				study->compare));
	if (study->note)
		pen.paragraph(&pen, study->note);
	pen.table(&pen, &t);
}

static void write_csv(FILE *out, struct arena *a, const struct study_rows *rows)
{
	fprintf(out,
	        "case,platform,mesh,strategy,step_s,bound_s,compute_s,communication_s,"
	        "params_bytes,peak_bytes,fits,all_gather,all_reduce,reduce_scatter,"
	        "all_to_all,evaluations\n");
	for (int64_t i = 0; i < rows->list.n; i++) {
		const struct study_row *r = &rows->list.at[i];
		const struct evaluation *e = &r->answer.best.e;

		csv_put(out, r->of->name, true);
		csv_put(out, r->of->platform, false);
		csv_put(out, mesh_text(a, &r->answer.best), false);
		csv_put(out, r->strategy, false);
		fprintf(out,
		        ",%.9g,%.9g,%.9g,%.9g,%.0f,%.0f,%d,%.0f,%.0f,%.0f,%.0f,%lld\n",
		        e->step_s, r->answer.bound_s, e->compute_s, e->communication_s,
		        e->params_bytes, e->peak_bytes,
		        r->limit_bytes <= 0 || e->peak_bytes <= r->limit_bytes,
		        e->count[0], e->count[1], e->count[2], e->count[3],
		        (long long)r->answer.evaluations);
	}
}

static enum status check_compare(const struct study *s, struct error *e)
{
	for (int64_t i = 0; i < s->list.n && s->compare; i++)
		if (!strcmp(s->list.at[i].name, s->compare))
			return OK;
	return s->compare ? error_set(e, E_TYPE, s->compare_at, "no case '%s' here",
	                              s->compare)
	                  : OK;
}

enum status automap_study(FILE *out, struct arena *a, const char *path, bool csv,
                          struct error *e)
{
	struct study study = {0};
	struct study_rows rows = {0};

	if (yaml_read(a, path, read_study, &study, e) != OK ||
	    check_compare(&study, e) != OK)
		return e->code;
	for (int64_t i = 0; i < study.list.n; i++)
		if (run_case(&rows, a, &study.list.at[i], e) != OK)
			return e->code;
	if (csv)
		write_csv(out, a, &rows);
	else
		write_table(out, a, &study, &rows);
	return OK;
}
