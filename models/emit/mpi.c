/*
 * A C program for MPI that runs the plan: rank r is device r of the problem.
 *
 * The program is mpi_types.in, the tables of the plan, mpi_ready.in and mpi_run.in: groups become
 * communicators, blocks and boxes derived datatypes, and each step the call that fits:
 * MPI_Allgatherv, MPI_Alltoallw, MPI_Reduce_scatter_block, MPI_Allreduce,
 * MPI_Neighbor_alltoallw for boxes, MPI_Isend and MPI_Irecv for permutes. It says every
 * plan; what it cannot do is to add up types that MPI has no numbers for. An element of
 * fewer than 8 bits takes a byte. A permute of parts sends its boxes without the padding
 * between them. A plan that the machine runs as a schedule of messages is said with its
 * relays, a step for each round (emit/relays.h).
 */
#include "emit/mpi.h"

#include "emit/kinds.h"
#include "emit/relays.h"

#include "array/tile.h"
#include "collective/profile.h"
#include "notation/notation.h"
#include "plan/groups.h"
#include "plan/view.h"

#include <math.h>
#include <string.h>

enum {
	BOXES_MAX = 1 << 20, /* in a program; a compiler takes minutes for more */
	CHECK_ELEMENTS = 1 << 18,
	CHECK_UNIT = 3 /* so that the order inside a unit is seen, too */
};

/* How MPI adds up a type, and up to what its whole numbers are exact. */
static const struct sum {
	const char *dtype, *element, *type, *macro;
	int64_t exact;
} sums[] = {
	{"s8", "int8_t", "MPI_INT8_T", NULL, 127},
	{"s16", "int16_t", "MPI_INT16_T", NULL, 1 << 15},
	{"s32", "int32_t", "MPI_INT32_T", NULL, 1 << 30},
	{"s64", "int64_t", "MPI_INT64_T", NULL, 1 << 30},
	{"u8", "uint8_t", "MPI_UINT8_T", NULL, 255},
	{"u16", "uint16_t", "MPI_UINT16_T", NULL, 1 << 15},
	{"u32", "uint32_t", "MPI_UINT32_T", NULL, 1 << 30},
	{"u64", "uint64_t", "MPI_UINT64_T", NULL, 1 << 30},
	{"f16", "uint16_t", "MPI_UINT16_T", "SUM_F16", 1 << 11},
	{"bf16", "uint16_t", "MPI_UINT16_T", "SUM_BF16", 1 << 8},
	{"f32", "float", "MPI_FLOAT", NULL, 1 << 24},
	{"f64", "double", "MPI_DOUBLE", NULL, 1 << 30},
	{"c64", "float _Complex", "MPI_C_FLOAT_COMPLEX", NULL, 1 << 24},
	{"c128", "double _Complex", "MPI_C_DOUBLE_COMPLEX", NULL, 1 << 30},
};

enum { SUMS = (int)(sizeof(sums) / sizeof(*sums)) };

static const struct sum *sum_of(const char *dtype)
{
	for (int i = 0; i < SUMS; i++)
		if (strcmp(sums[i].dtype, dtype) == 0)
			return &sums[i];
	return NULL;
}

static bool adds_up(const struct plan *p)
{
	bool adds = p->from.nunreduced || p->to.nunreduced;

	for (int k = 0; k < p->nsteps; k++) {
		enum op op = p->step[k].op;

		adds = adds || op == OP_REDUCE_SCATTER || op == OP_PARTIAL ||
		       (op == OP_ALL_REDUCE && !p->step[k].gathers);
	}
	return adds;
}

/* --- what is not said ----------------------------------------------------------------- */

static bool can_say(const struct plan *p, int64_t contributions, struct text *why)
{
	const char *dtype = p->problem->array.dtype->name;
	const struct sum *sum = sum_of(dtype);
	int64_t boxes = 0;

	for (int k = 0; k < p->nsteps; k++)
		boxes += p->step[k].ntransfers;
	if (boxes > BOXES_MAX)
		text_printf(
			why,
			"it has %lld boxes, at most %d fit into a program; planners "
			"with --vocabulary portable make plans without boxes",
			(long long)boxes, BOXES_MAX);
	else if (adds_up(p) && !sum)
		text_printf(
			why,
			"MPI cannot add up %s; a plan for an array of s8, bf16 or f32 "
			"moves the same elements",
			dtype);
	else if (adds_up(p) && contributions > sum->exact)
		text_printf(
			why,
			"a sum of %lld contributions is not exact in %s, so that it "
			"cannot be checked; one in f32 is",
			(long long)contributions, dtype);
	return !why->length;
}

/* --- the head ------------------------------------------------------------------------- */

static void put_define(struct mpi *m, const char *name, int64_t figure)
{
	text_printf(m->out, "#define %s %lld\n", name, (long long)figure);
}

static void put_defines(struct mpi *m, const struct tilemap *from)
{
	const struct plan *p = m->plan;
	const struct dtype *type = p->problem->array.dtype;
	const struct sum *sum = sum_of(type->name);
	int moves = 1;

	for (int k = 0; k < p->nsteps; k++)
		moves = p->step[k].nmoves > moves ? p->step[k].nmoves : moves;
	text_printf(
		m->out, "/* mpicc -O2 -o plan THIS.c && mpirun -n %d ./plan --check --bench */\n",
		(int)p->problem->ndevices);
	emit_mpi_includes(m->out);
	text_printf(m->out, "\n");
	put_define(m, "RANKS", p->problem->ndevices);
	put_define(m, "STEPS", p->nsteps);
	put_define(m, "MOVES", moves);
	put_define(m, "ARRAY_DIMS", p->problem->array.shape.rank);
	/* A scalar has one dimension of one element in the program. */
	put_define(m, "DIMS", m->rank ? m->rank : 1);
	put_define(m, "ELEMENT_BYTES", type->bits < 8 ? 1 : type->bits / 8);
	if (adds_up(p)) {
		text_printf(m->out, "#define ELEMENT %s\n#define SUM_TYPE %s\n",
		            sum->element, sum->type);
		if (sum->macro)
			text_printf(
				m->out, "#define %s\n#define ELEMENT_OF(n) narrow((float)(n))\n",
				sum->macro);
		else
			text_printf(m->out, "#define ELEMENT_OF(n) ((ELEMENT)(n))\n");
		put_define(m, "CONTRIBUTIONS", from->partials);
		put_define(m, "VALUES",
		           (sum->exact < 1 << 16 ? sum->exact : 1 << 16) /
		                           from->partials +
		                   1);
		put_define(m, "TO_SUMS", p->to.nunreduced > 0);
	}
	text_printf(m->out, "\n");
}

/* --- tables of the array -------------------------------------------------------------- */

static void put_numbers(struct mpi *m, const char *type, const char *name,
                        const int64_t *list, int n)
{
	text_printf(m->out, "static const %s %s[] = {", type, name);
	for (int i = 0; i < n; i++)
		text_printf(m->out, "%s%s%lld", i ? "," : "", i % 16 ? " " : "\n\t",
		            (long long)list[i]);
	text_printf(m->out, "%s};\n", n ? "\n" : "0");
}

/* Returns the unit of the check: as large as it may be while the array is small. */
static int64_t check_unit(const struct mpi *m, int dim)
{
	double elements = 1;
	int64_t most = CHECK_UNIT;

	for (int i = 0; i < m->rank; i++) {
		int64_t units = m->plan->shape.dim[i] / m->unit[i];

		elements *= (double)units;
	}
	while (most > 1 && elements * pow((double)most, m->rank) > CHECK_ELEMENTS)
		most--;
	return m->unit[dim] < most ? m->unit[dim] : most;
}

static void put_array(struct mpi *m)
{
	const struct plan *p = m->plan;
	const struct shape *shape = &p->problem->array.shape;
	int64_t digit[RANK_MAX], of[RANK_MAX], check[RANK_MAX], real[RANK_MAX];
	int n = m->rank ? m->rank : 1;

	digit[0] = check[0] = 1;
	of[0] = 0;
	for (int i = 0; i < shape->rank; i++)
		real[i] = shape->dim[i];
	for (int i = 0; i < m->rank; i++) {
		digit[i] = p->shape.dim[i] / m->unit[i];
		of[i] = view_dim(p, i);
		check[i] = check_unit(m, i);
		/* One that is no product stays as it is: its units are 1. */
		real[of[i]] /= m->unit[i];
	}
	text_printf(
		m->out,
		"\n/* Extents that tiles are cut from: digits of the array's. */\n");
	put_numbers(m, "int64_t", "digit", digit, n);
	put_numbers(m, "int", "digit_of", of, n);
	put_numbers(m, "int64_t", "full_unit", m->unit, n);
	put_numbers(m, "int64_t", "check_unit", check, n);
	put_numbers(m, "int64_t", "real", real, shape->rank);
}

/* Appends which ranks hold contributions to the same elements of the target. */
static void put_sum_groups(struct mpi *m)
{
	const struct problem *p = m->plan->problem;
	int64_t *group = arena_alloc(m->arena, (size_t)p->ndevices, sizeof(*group));
	struct move move = {.from_dim = -1, .to_dim = -1, .factor = 1};
	struct groups g;

	move.parts = layout_parts(&p->to, p->to.rank, &move.nparts);
	for (int k = 0; k < move.nparts; k++)
		move.factor *= move.parts[k].size;
	g = groups_of_moves(&p->to_mesh, &move, 1, m->arena);
	for (int64_t i = 0; i < (int64_t)g.ngroups * g.size; i++)
		group[g.ids[i]] = i / g.size;
	put_numbers(m, "int", "sum_group", group, p->ndevices);
}

static void put_ends(struct mpi *m, const struct tilemap *from)
{
	const struct plan *p = m->plan;
	struct shape to = layout_local(&p->to, &p->shape);
	int32_t n = p->problem->ndevices;
	int64_t *of = arena_alloc(m->arena, (size_t)n, sizeof(*of));

	for (int32_t d = 0; d < n && d < from->ndevices; d++)
		of[d] = from->partial[d];
	text_printf(m->out, "\nstatic const int64_t from_tile[DIMS] = ");
	mpi_put_shape(m, &from->tile);
	text_printf(m->out, ", to_tile[DIMS] = ");
	mpi_put_shape(m, &to);
	text_printf(m->out, ";\n");
	mpi_put_places(m, "from_place",
	               mpi_places(m, &p->from, &p->problem->mesh, NULL, NULL));
	mpi_put_places(m, "to_place",
	               mpi_places(m, &p->to, &p->problem->to_mesh, NULL, NULL));
	if (adds_up(p)) {
		put_numbers(m, "int", "contribution", of, n);
		put_sum_groups(m);
	} else {
		text_printf(m->out, "static const int contribution[RANKS] = {0};\n");
	}
}

/* Appends a field of a CSV file as a part of a string literal. */
static void put_field(struct text *out, struct text *field)
{
	text_printf(out, "%s\"", out->length ? "," : "");
	for (const char *c = field->s ? field->s : ""; *c; c++)
		text_printf(out, *c == '"' ? "\"\"" : "%c", *c);
	text_printf(out, "\"");
	text_free(field);
}

static void put_problem(struct mpi *m)
{
	const struct problem *p = m->plan->problem;
	struct text fields = {0}, t = {0};

	mesh_print(&t, &p->mesh);
	put_field(&fields, &t);
	if (p->two_meshes)
		mesh_print(&t, &p->to_mesh);
	put_field(&fields, &t);
	layout_print(&t, &p->from, &p->mesh, &p->array.shape);
	put_field(&fields, &t);
	layout_print(&t, &p->to, &p->to_mesh, &p->array.shape);
	put_field(&fields, &t);
	text_printf(&t, "%s", m->plan->planner);
	put_field(&fields, &t);
	text_printf(m->out, "static const char problem[] = ");
	emit_string(m->out, fields.s);
	text_free(&fields);
	text_printf(m->out, ";\nstatic const char dtype[] = \"%s\";\n",
	            p->array.dtype->name);
}

static void put_words(struct mpi *m)
{
	const struct emission *w = m->what;
	struct text t = {0};

	text_printf(m->out, "\nstatic const char command[] = ");
	emit_string(m->out, w->command);
	if (w->clock && w->machine) {
		text_printf(&t, "predicted by the clock %s for %s", w->clock,
		            w->machine->name);
		profile_print_caller(&t, w->machine);
	} else {
		text_printf(&t, "nothing is predicted without --platform");
	}
	text_printf(m->out, ";\nstatic const char predicted_by[] = ");
	emit_string(m->out, t.s);
	text_free(&t);
	text_printf(m->out, ";\nstatic const double plan_s = %.9g;\n",
	            w->clock && !isnan(w->time_s) ? w->time_s : -1.);
	put_problem(m);
}

static enum emitted emit_mpi(struct text *out, const struct emission *asked,
                             struct arena *scratch, struct text *why)
{
	const struct emission *what = emission_relayed(asked, scratch);
	const struct plan *p = what->plan;
	struct mpi m = {out, what, p, scratch, p->shape.rank, {0}};
	struct tilemap from =
		tilemap_make(&p->from, &p->problem->mesh, &p->shape, scratch);

	if (!can_say(p, from.partials, why))
		return EMIT_CANNOT;
	m.unit[0] = 1;
	mpi_find_units(&m);
	emit_heading(out, &emitter_mpi, what);
	put_defines(&m, &from);
	text_printf(out, "%s", emit_text_mpi_types);
	text_printf(
		out,
		"\n/* --- the plan "
		"-------------------------------------------------------------------"
		"------ */\n");
	put_words(&m);
	put_array(&m);
	put_ends(&m, &from);
	mpi_put_steps(&m);
	text_printf(out, "%s%s", emit_text_mpi_ready, emit_text_mpi_run);
	return EMITTED;
}

const struct emitter emitter_mpi = {
	.name = "mpi",
	.caller = "mpi",
	.help = "a C program for MPI: checks itself, times every step; says every plan",
	.comment = "/* ",
	.comment_end = " */",
	.emit = emit_mpi,
};
