#include "cli/partition_options.h"

#include "base/scan.h"
#include "cli/emit_options.h"
#include "program/annotate.h"

#include <string.h>

#define OF(member) .at = offsetof(struct partition_options, member)

const struct option_row partition_table[] = {
	{"partitioner", 0, "xla|shardy|as-is",
         "how an annotated program is partitioned (default shardy if its text has a "
         "mesh of "
         "Shardy's, else xla)",
         OF(partitioner), .unknown = "unknown partitioner"},
	{"planner", 0, "NAME|none",
         "planner of changes of layout (default: the partitioner's own); with none, "
         "best is not asked",
         OF(planner)},
	{"windowed-einsum-mib", 0, "N|off",
         "size from which XLA runs matmuls part by part beside permutes (default 256 "
         "on TPUs, else off)",
         OF(windowed)},
	{"emit", 0, "annotate|sdy",
         "write the text with the shardings of all its values; sdy: of StableHLO only",
         OF(emit), .unknown = "unknown kind"},
	{0},
};

/* Whether no compiler has been at the program, so that it may be partitioned unasked. */
static bool is_fresh(const struct program *p)
{
	for (int64_t i = 0; i < p->op.n; i++)
		if (p->op.at[i].async != ASYNC_NONE)
			return false;
	return p->replicas == 1;
}

enum partitioner partition_by(const struct partition_options *o, const struct program *p)
{
	if (o->partitioner)
		return !strcmp(o->partitioner, "xla") ? PARTITIONER_XLA
		                                      : PARTITIONER_SHARDY;
	return p->mesh.n ? PARTITIONER_SHARDY : PARTITIONER_XLA;
}

enum propagation partition_propagation(const struct partition_options *o,
                                       const struct program *p)
{
	return partition_by(o, p) == PARTITIONER_XLA && !p->mesh.n ? PROPAGATION_XLA
	                                                           : PROPAGATION_SHARDY;
}

enum status partition_propagate(struct annotated *out, bool *split, struct arena *a,
                                struct program *p, const struct partition_options *o,
                                struct error *e)
{
	*split = false;
	if (p->stage != STAGE_ANNOTATED || p->ndevices == 1)
		return OK;
	if (o->partitioner ? strcmp(o->partitioner, "as-is") != 0 : is_fresh(p)) {
		if (annotated_propagate(out, split, a, p, partition_propagation(o, p),
		                        e) != OK)
			return e->code;
		if (*split)
			p->ndevices = out->shardings.mesh.ndevices;
	}
	if (!*split)
		program_warn(
			p, 0,
			"the program is not partitioned: shapes are those of whole "
			"arrays, and it is priced as if every device ran all of it");
	return OK;
}

bool partition_asks_best(const struct partition_options *o)
{
	return !o->planner || strcmp(o->planner, "none") != 0;
}

enum status partition_check(const struct planner **planner,
                            const struct partition_options *o, const char *report,
                            bool split, struct error *e)
{
	struct where at = where_option("--planner", o->planner ? o->planner : "");

	*planner = NULL;
	if (report && !strcmp(report, "reshards") && !split)
		return error_set(
			e, E_INFEASIBLE, where_option("--report", report),
			"expected an annotated program with a mesh, to be "
			"partitioned: of others changes of layout are not known");
	if (o->partitioner && strcmp(o->partitioner, "as-is") != 0 && !split)
		return error_set(e, E_INFEASIBLE,
		                 where_option("--partitioner", o->partitioner),
		                 "expected an annotated program with a mesh");
	if (!o->planner || !partition_asks_best(o))
		return OK;
	*planner = planner_find(o->planner, strlen(o->planner));
	if (!*planner)
		return error_set(e, E_TYPE, at,
		                 "unknown planner, expected none or one of "
		                 "those that `shardsim list planners` has");
	if (!split && strcmp(o->planner, "best") != 0)
		return error_set(
			e, E_INFEASIBLE, at,
			"expected best or none: there are no changes of layout to "
			"be planned but in an annotated program");
	return OK;
}

enum status partition_windowed(double *mib, const struct partition_options *o,
                               const struct program *p, bool split, struct error *e)
{
	struct where at =
		where_option("--windowed-einsum-mib", o->windowed ? o->windowed : "");
	struct scan s;
	int64_t n = 0;

	*mib = -1;
	if (!o->windowed)
		return OK;
	if (!split || partition_by(o, p) != PARTITIONER_XLA)
		return error_set(e, E_INFEASIBLE, at,
		                 "expected an annotated program with a mesh that XLA's "
		                 "partitioner is asked for: --partitioner xla");
	s = scan_start(o->windowed, at, e);
	if (strcmp(o->windowed, "off") != 0 &&
	    (!scan_int(&s, "a number of MiB", 1, INT32_MAX, &n) || scan_finish(&s) != OK))
		return e->code;
	*mib = (double)n;
	return OK;
}

enum status partition_emit(const struct partition_options *o, const char *output,
                           struct arena *a, struct program *p, struct error *e)
{
	const struct emit_options to = {.kind = o->emit, .output = output};
	struct where at = where_option("--emit", o->emit);
	struct text out = {0}, why = {0};
	struct shardings s;
	enum status status;

	if (!strcmp(o->emit, "sdy") && program_is_hlo(p))
		return error_set(
			e, E_INFEASIBLE, at,
			"expected a text of StableHLO; annotate writes that of HLO");
	if (emit_options_check(&to, e) != OK ||
	    propagate(&s, a, p, partition_propagation(o, p), e) != OK)
		return e->code;
	if (!program_annotate(&out, a, p, &s, &why))
		status = error_set(e, E_INFEASIBLE, at, "%s", why.s);
	else
		status = emit_write(&to, &out, e);
	if (status == OK && why.length)
		fprintf(stderr, "shardsim: %s\n", why.s);
	text_free(&out);
	text_free(&why);
	return status;
}
