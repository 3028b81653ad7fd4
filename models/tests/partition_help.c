#include "tests/partition_help.h"

#include "plan/check.h"
#include "tests/interpret.h"
#include "tests/program_help.h"

#include <check.h>
#include <string.h>

const char *const partition_planners[PARTITION_PLANNERS] = {"shardy", "xla", "best",
                                                            "direct", "gather"};

void partition_by(struct arena *arena, struct partition_run *r, const char *text,
                  const struct partition_ask *how, enum propagation by)
{
	struct partition_ask ask = *how;
	struct error e = {0};
	struct text why = {0};

	r->p = program_sample_text(arena, text);
	ck_assert_msg(propagate(&r->s, arena, &r->p, by, &e) == OK, "%s", e.text);
	ck_assert_msg(partition(&r->part, arena, &r->p, &r->s, &ask, &e) == OK, "%s",
	              e.text);
	for (int64_t i = 0; i < r->part.reshard.n; i++)
		ck_assert_msg(plan_check(r->part.reshard.at[i].plan, &why), "%s", why.s);
}

void partition_text(struct arena *arena, struct partition_run *r, const char *text,
                    enum partitioner partitioner, enum propagation by,
                    const char *planner)
{
	const struct partition_ask ask = {
		.partitioner = partitioner,
		.planner = planner_find(planner, strlen(planner)),
		.prices = &prices_bytes};

	partition_by(arena, r, text, &ask, by);
}

/* Runs a program whole and another one's parts on the same numbers and compares all results. */
void partition_check_against(struct arena *arena, const struct partition_run *r,
                             const struct program *p, const char *text)
{
	const struct region *entry = &r->p.region.at[r->p.entry];
	int32_t n = r->s.mesh.ndevices, np = entry->param.n, nr = entry->result.n;
	struct tensor *whole = arena_alloc(arena, (size_t)np + 1, sizeof(*whole));
	struct tensor *tile = arena_alloc(arena, (size_t)(np * n) + 1, sizeof(*tile));
	struct tensor *want = arena_alloc(arena, (size_t)nr + 1, sizeof(*want));
	struct tensor *got = arena_alloc(arena, (size_t)(nr * n) + 1, sizeof(*got));

	for (int32_t i = 0; i < np; i++) {
		struct layout l = shardings_value(&r->s, entry->param.at[i]);

		whole[i] = tensor_new(arena, &r->p.value.at[entry->param.at[i]].type,
		                      (uint64_t)i + 1);
		tensor_cut(&tile[i * n], arena, &whole[i], &l, &r->s.mesh);
	}
	interpret(want, arena, p, NULL, NULL, 1, whole);
	interpret(got, arena, &r->part.program, &r->part, &r->s.mesh, n, tile);
	for (int32_t i = 0; i < nr; i++) {
		struct layout l = shardings_result(&r->s, &r->p, i);
		struct tensor all = tensor_join(arena, &got[i * n],
		                                &r->p.value.at[entry->result.at[i]].type,
		                                &l, &r->s.mesh, false);

		ck_assert_msg(tensor_equal(&want[i], &all), "result %d of\n%s", (int)i,
		              text);
	}
}

void partition_check(struct arena *arena, const struct partition_run *r,
                     const char *text)
{
	partition_check_against(arena, r, &r->p, text);
}

void partition_sample(struct arena *arena, struct partition_run *r, const char *name,
                      enum partitioner partitioner)
{
	struct partition_ask ask = {.partitioner = partitioner,
	                            .planner = planner_find("shardy", 6),
	                            .prices = &prices_bytes};
	struct error e = {0};

	r->p = program_sample(arena, name);
	ck_assert_msg(propagate(&r->s, arena, &r->p, PROPAGATION_SHARDY, &e) == OK,
	              "%s", e.text);
	ck_assert_msg(partition(&r->part, arena, &r->p, &r->s, &ask, &e) == OK, "%s",
	              e.text);
}

double partition_runs(const struct partition_run *r, enum opcode code, int64_t elements)
{
	const struct program *q = &r->part.program;
	double n = 0;

	for (int64_t i = 0; i < q->region.n; i++)
		for (int32_t k = 0; k < q->region.at[i].nops; k++) {
			const struct instruction *op = &q->op.at[q->region.at[i].op[k]];

			if (op->code != code)
				continue;
			if (!elements ||
			    value_elements(&q->value.at[op->first_value].type) ==
			            elements)
				n += q->region.at[i].runs;
		}
	return n;
}
