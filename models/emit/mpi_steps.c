/* The tables of a plan's steps in an MPI program (mpi_types.in says what they mean). */
#include "emit/mpi.h"

#include "plan/plan_json.h"
#include "plan/plan_text.h"

#include <math.h>
#include <string.h>

static void put(struct mpi *m, int64_t number, int64_t i)
{
	text_printf(m->out, "%s%lld",
	            i == 0   ? ""
	            : i % 16 ? ", "
	                     : ",\n\t",
	            (long long)number);
}

static void put_list(struct mpi *m, const char *name, int step, const int32_t *list,
                     int64_t n)
{
	text_printf(m->out, "static const int %s_%d[] = {\n\t", name, step + 1);
	for (int64_t i = 0; i < n; i++)
		put(m, list[i], i);
	text_printf(m->out, "\n};\n");
}

/* A scalar has one dimension of one unit in the program, as C has no empty arrays. */
void mpi_put_shape(struct mpi *m, const struct shape *s)
{
	text_printf(m->out, "{");
	for (int i = 0; i < s->rank; i++)
		text_printf(m->out, "%s%lld", i ? ", " : "",
		            (long long)(s->dim[i] / m->unit[i]));
	text_printf(m->out, s->rank ? "}" : "1}");
}

void mpi_put_places(struct mpi *m, const char *name, const struct mpi_place *place)
{
	text_printf(m->out, "static const struct place %s[RANKS] = {\n", name);
	for (int32_t d = 0; d < m->plan->problem->ndevices; d++) {
		struct shape at = {.rank = m->rank};

		for (int i = 0; i < m->rank; i++)
			at.dim[i] = place[d].start[i];
		text_printf(m->out, "\t{%d, ", place[d].has);
		mpi_put_shape(m, &at);
		text_printf(m->out, "},\n");
	}
	text_printf(m->out, "};\n");
}

static void put_moves(struct mpi *m, int step)
{
	const struct step *s = &m->plan->step[step];

	text_printf(m->out, "static const struct move move_%d[] = {", step + 1);
	for (int k = 0; k < s->nmoves; k++)
		text_printf(m->out, "%s{%d, %d, %d}", k ? ", " : "", s->move[k].from_dim,
		            s->move[k].to_dim, (int)s->move[k].factor);
	text_printf(m->out, "};\n");
}

/* --- boxes ---------------------------------------------------------------------------- */

/* The boxes that a device holds beside its tile, in the order in which they came. */
struct beside {
	int n, room;
	const int64_t **bounds;
};

static bool inside(const struct mpi *m, const int64_t *box, const int64_t *low,
                   const int64_t *size)
{
	for (int i = 0; i < m->rank; i++)
		if (box[2 * i] < low[i] || box[2 * i + 1] > low[i] + size[i])
			return false;
	return true;
}

/* Returns which box beside the tile holds what is sent, -1 if the tile does. */
static int sender_box(const struct mpi *m, const struct transfer *t,
                      const struct mpi_place *from, const struct step *s,
                      const struct beside *beside)
{
	if (from[t->src].has &&
	    inside(m, t->bounds, from[t->src].start, s->before_local.dim))
		return -1;
	for (int k = 0; k < beside[t->src].n; k++) {
		int64_t low[RANK_MAX], size[RANK_MAX];

		for (int i = 0; i < m->rank; i++) {
			low[i] = beside[t->src].bounds[k][2 * i];
			size[i] = beside[t->src].bounds[k][2 * i + 1] - low[i];
		}
		if (inside(m, t->bounds, low, size))
			return k;
	}
	return -1;
}

static void hold(struct mpi *m, struct beside *b, const int64_t *bounds)
{
	if (b->n == b->room) {
		b->room = 2 * b->room + 4;
		b->bounds = arena_grow(m->arena, b->bounds, (size_t)b->n,
		                       (size_t)b->room, sizeof(*b->bounds));
	}
	b->bounds[b->n++] = bounds;
}

static void put_boxes(struct mpi *m, int step, const struct mpi_place *from,
                      struct beside *beside)
{
	const struct step *s = &m->plan->step[step];

	text_printf(m->out, "static const struct box box_%d[] = {\n", step + 1);
	for (int64_t i = 0; i < s->ntransfers; i++) {
		const struct transfer *t = &s->transfers[i];

		text_printf(m->out, "\t{%d, %d, %d, {", (int)t->src, (int)t->dst,
		            step_adds(m->plan, step)
		                    ? -1
		                    : sender_box(m, t, from, s, beside));
		for (int b = 0; b < 2 * m->rank; b++)
			text_printf(m->out, "%s%lld", b ? ", " : "",
			            (long long)(t->bounds[b] / m->unit[b / 2]));
		text_printf(m->out, m->rank ? "}},\n" : "0, 1}},\n");
	}
	text_printf(m->out, "%s};\n", s->ntransfers ? "" : "\t{0, 0, -1, {0}}\n");
	for (int64_t i = 0; s->op == OP_PERMUTE && i < s->ntransfers; i++)
		hold(m, &beside[s->transfers[i].dst], s->transfers[i].bounds);
}

/* --- steps ---------------------------------------------------------------------------- */

static const char *const op_words[OPS] = {
	[OP_SLICE] = "SLICE",
	[OP_ALL_GATHER] = "ALL_GATHER",
	[OP_ALL_TO_ALL] = "ALL_TO_ALL",
	[OP_PERMUTE] = "PERMUTE",
	[OP_REDUCE_SCATTER] = "REDUCE_SCATTER",
	[OP_ALL_REDUCE] = "ALL_REDUCE",
	[OP_EXCHANGE] = "EXCHANGE",
	[OP_PAD] = "PAD",
	[OP_PARTIAL] = "PARTIAL",
};

static bool has_places(const struct step *s)
{
	return step_has_boxes(s) || s->op == OP_PAD || s->gathers;
}

/* Appends what the row of a step in the list of steps points to. */
static void put_tables(struct mpi *m, int step, const struct mpi_place *from,
                       const struct mpi_place *to, struct beside *beside)
{
	const struct step *s = &m->plan->step[step];
	char name[32];

	text_printf(m->out, "\n");
	if (s->nmoves)
		put_moves(m, step);
	if (s->groups.ngroups)
		put_list(m, "member", step, s->groups.ids,
		         (int64_t)s->groups.ngroups * s->groups.size);
	if (s->op == OP_PERMUTE && !step_has_boxes(s))
		put_list(m, "pair", step, &s->pairs[0].src, 2 * (int64_t)s->npairs);
	if (s->op == OP_SLICE)
		put_list(m, "chunk", step, s->chunk,
		         (int64_t)m->plan->problem->mesh.ndevices * s->nmoves);
	if (step_has_boxes(s))
		put_boxes(m, step, from, beside);
	if (!has_places(s))
		return;
	snprintf(name, sizeof(name), "from_%d", step + 1);
	mpi_put_places(m, name, from);
	snprintf(name, sizeof(name), "to_%d", step + 1);
	mpi_put_places(m, name, to);
}

static void put_step(struct mpi *m, int step)
{
	const struct step *s = &m->plan->step[step];
	const double *step_s = m->what->step_s;
	struct text line = {0};
	int n = step + 1;

	text_printf(m->out, "\t{.op = %s", op_words[s->op]);
	if (s->gathers)
		text_printf(m->out, ", .gathers = 1");
	if (step_adds(m->plan, step))
		text_printf(m->out, ", .adds = 1");
	if (s->nmoves)
		text_printf(m->out, ", .nmoves = %d, .move = move_%d", s->nmoves, n);
	if (s->groups.ngroups)
		text_printf(m->out,
		            ",\n\t .ngroups = %d, .size = %d, .member = member_%d",
		            (int)s->groups.ngroups, (int)s->groups.size, n);
	if (s->op == OP_PERMUTE && !step_has_boxes(s))
		text_printf(m->out, ", .npairs = %d, .pair = pair_%d", (int)s->npairs,
		            n);
	if (s->op == OP_SLICE)
		text_printf(m->out, ", .nchunks = %d, .chunk = chunk_%d",
		            (int)m->plan->problem->mesh.ndevices, n);
	if (step_has_boxes(s))
		text_printf(m->out, ", .nboxes = %lld, .box = box_%d",
		            (long long)s->ntransfers, n);
	if (has_places(s))
		text_printf(m->out, ", .from = from_%d, .to = to_%d", n, n);
	text_printf(m->out, ",\n\t .before = ");
	mpi_put_shape(m, &s->before_local);
	text_printf(m->out, ", .after = ");
	mpi_put_shape(m, &s->local);
	if (s->gathers) {
		text_printf(m->out, ", .summed = ");
		mpi_put_shape(m, &s->summed);
	}
	step_print(&line, m->plan, step);
	text_printf(m->out, ",\n\t .predicted_s = %.9g, .text = ",
	            step_s && !isnan(step_s[step]) ? step_s[step] : -1.);
	emit_string(m->out, line.s);
	text_printf(m->out, "},\n");
	text_free(&line);
}

void mpi_put_steps(struct mpi *m)
{
	const struct plan *p = m->plan;
	const struct mpi_place *from =
		mpi_places(m, &p->from, &p->problem->mesh, NULL, NULL);
	const struct mpi_place *to;
	struct beside *beside =
		arena_alloc(m->arena, (size_t)p->problem->ndevices, sizeof(*beside));

	for (int k = 0; k < p->nsteps; k++) {
		const struct step *s = &p->step[k];
		bool stays = s->op == OP_PERMUTE && step_has_boxes(s);

		to = stays ? from
		           : mpi_places(m, &s->after, s->mesh, &s->local, s->start);
		put_tables(m, k, from, to, beside);
		if (!stays && has_places(s))
			memset(beside, 0,
			       (size_t)p->problem->ndevices * sizeof(*beside));
		from = to;
	}
	text_printf(m->out, "\nstatic const struct step steps[STEPS + 1] = {\n");
	for (int k = 0; k < p->nsteps; k++)
		put_step(m, k);
	text_printf(m->out, "\t{.op = SLICE} /* behind the last */\n};\n");
}
