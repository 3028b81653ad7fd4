/*
 * Windowed einsums: matmuls whose operand or result goes round a ring of devices part by
 * part, run on numbers, and what they take beside the permutes.
 */
#include "array/machine.h"
#include "program/timeline.h"
#include "tests/draw_program.h"
#include "tests/partition_help.h"
#include "tests/tests.h"

#include <check.h>
#include <string.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* XLA's, of whatever size, on a machine or with all that could be. */
static void partition_rings(struct partition_run *r, const char *text,
                            enum propagation by, double bytes, const struct machine *m)
{
	const struct partition_ask ask = {.partitioner = PARTITIONER_XLA,
	                                  .planner = planner_find("xla", 3),
	                                  .prices = &prices_bytes,
	                                  .ring_bytes = bytes,
	                                  .machine = m};

	partition_by(arena, r, text, &ask, by);
}

/* A matmul of two arguments; shardings as Shardy writes them. */
static const char *dot_text(const char *mesh, const char *type[3], const char *dims[3],
                            const char *how)
{
	return arena_printf(arena,
	                    "sdy.mesh @m = <[%s]>\nfunc.func @main(%%a: tensor<%s> "
	                    "{sdy.sharding = #sdy.sharding<@m, [%s]>}, %%b: tensor<%s> "
	                    "{sdy.sharding = #sdy.sharding<@m, [%s]>}) -> (tensor<%s> "
	                    "{sdy.sharding = #sdy.sharding<@m, [%s]>}) {\n"
	                    " %%0 = stablehlo.dot_general %%a, %%b, %s {sdy.sharding = "
	                    "#sdy.sharding_per_value<[<@m, [%s]>]>} : (tensor<%s>, "
	                    "tensor<%s>) -> tensor<%s>\n return %%0 : tensor<%s>\n}\n",
	                    mesh, type[0], dims[0], type[1], dims[1], type[2], dims[2],
	                    how, dims[2], type[0], type[1], type[2], type[2]);
}

struct ring_row {
	const char *mesh, *type[3], *dims[3], *how;
	int64_t sent; /* elements of a part */
	int parts;    /* 0: it stays as it is */
};

/*
 * Every way in which an array goes round: along what is contracted, a free dimension of either
 * side, a batch that one operand has, the result along either side's dimension; in each group
 * of devices that has a part of the batch; between axes in another order. Each device has the
 * bytes of a gather, part by part, in one permute less than there are parts. What does not
 * divide, and what another matmul gathers anyway, is gathered.
 */
static const struct ring_row ring_rows[] = {
#define BY_ROWS "contracting_dims = [1] x [0]"
	{"\"x\"=4",
         {"8x16xf32", "16x24xf32", "8x24xf32"},
         {"{\"x\"}, {}", "{\"x\"}, {}", "{\"x\"}, {}"},
         BY_ROWS,
         4 * 24,
         4},
	{"\"x\"=4",
         {"8x16xf32", "16x24xf32", "8x24xf32"},
         {"{\"x\"}, {}", "{}, {\"x\"}", "{\"x\"}, {}"},
         BY_ROWS,
         16 * 6,
         4},
	{"\"x\"=4",
         {"8x16xf32", "16x24xf32", "8x24xf32"},
         {"{\"x\"}, {}", "{}, {\"x\"}", "{}, {\"x\"}"},
         BY_ROWS,
         2 * 16,
         4},
	{"\"x\"=4",
         {"8x16xf32", "16x24xf32", "8x24xf32"},
         {"{}, {\"x\"}", "{}, {\"x\"}", "{}, {\"x\"}"},
         BY_ROWS,
         8 * 4,
         4},
	{"\"x\"=4",
         {"8x16xf32", "16x24xf32", "8x24xf32"},
         {"{}, {\"x\"}", "{\"x\"}, {}", "{\"x\"}, {}"},
         BY_ROWS,
         2 * 24,
         4},
	{"\"x\"=4",
         {"8x16xf32", "16x24xf32", "8x24xf32"},
         {"{}, {\"x\"}", "{\"x\"}, {}", "{}, {\"x\"}"},
         BY_ROWS,
         8 * 6,
         4},
	{"\"x\"=2",
         {"4x8x16xf32", "4x16x24xf32", "4x8x24xf32"},
         {"{}, {\"x\"}, {}", "{\"x\"}, {}, {}", "{}, {\"x\"}, {}"},
         "batching_dims = [0] x [0], contracting_dims = [2] x [1]",
         2 * 16 * 24,
         2},
	{"\"y\"=2, \"x\"=4",
         {"4x8x16xf32", "4x16x24xf32", "4x8x24xf32"},
         {"{\"y\"}, {\"x\"}, {}", "{\"y\"}, {\"x\"}, {}", "{\"y\"}, {\"x\"}, {}"},
         "batching_dims = [0] x [0], contracting_dims = [2] x [1]",
         2 * 4 * 24,
         4},
	{"\"x\"=2, \"z\"=4",
         {"8x16xf32", "16x24xf32", "8x24xf32"},
         {"{\"x\", \"z\"}, {}", "{\"z\", \"x\"}, {}", "{\"x\", \"z\"}, {}"},
         BY_ROWS,
         2 * 24,
         8},
	{"\"x\"=4",
         {"8x18xf32", "18x24xf32", "8x24xf32"},
         {"{\"x\"}, {}", "{\"x\"}, {}", "{\"x\"}, {}"},
         BY_ROWS,
         0,
         0},
	{"\"x\"=33",
         {"66x33xf32", "33x24xf32", "66x24xf32"},
         {"{\"x\"}, {}", "{\"x\"}, {}", "{\"x\"}, {}"},
         BY_ROWS,
         0,
         0},
};
enum { RING_ROWS = sizeof(ring_rows) / sizeof(*ring_rows) };

static const char *ring_text(const struct ring_row *row)
{
	return dot_text(
		row->mesh, (const char *[]){row->type[0], row->type[1], row->type[2]},
		(const char *[]){row->dims[0], row->dims[1], row->dims[2]}, row->how);
}

START_TEST(rings)
{
	const struct ring_row *row = &ring_rows[_i];
	const char *text = ring_text(row);
	struct partition_run r;

	partition_rings(&r, text, PROPAGATION_SHARDY, 1, NULL);
	partition_check(arena, &r, text);
	ck_assert_double_eq(partition_runs(&r, HLO_DOT, 0), row->parts ? row->parts : 1);
	ck_assert_double_eq(partition_runs(&r, HLO_COLLECTIVE_PERMUTE, 0),
	                    row->parts ? row->parts - 1 : 0);
	ck_assert_double_eq(partition_runs(&r, HLO_COLLECTIVE_PERMUTE, row->sent),
	                    row->parts ? row->parts - 1 : 0);
	ck_assert_int_eq(partition_runs(&r, HLO_ALL_GATHER, 0) > 0, !row->parts);
	ck_assert_double_eq(partition_runs(&r, HLO_REDUCE_SCATTER, 0), 0);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_REDUCE, 0), 0);
}
END_TEST

/* The array that would be gathered has 16 x 24 floats, in each group of devices as in all. */
START_TEST(ring_threshold)
{
	static const double bytes[] = {0, 16 * 24 * 4, 16 * 24 * 4 + 1};
	struct partition_run r;

	for (int i = 0; i < 3; i++) {
		partition_rings(&r, ring_text(&ring_rows[0]), PROPAGATION_SHARDY,
		                bytes[i], NULL);
		ck_assert_double_eq(partition_runs(&r, HLO_DOT, 0), i == 1 ? 4 : 1);
		partition_rings(&r, ring_text(&ring_rows[7]), PROPAGATION_SHARDY,
		                2 * bytes[i], NULL);
		ck_assert_double_eq(partition_runs(&r, HLO_DOT, 0), i == 1 ? 4 : 1);
	}
}
END_TEST

/* A matrix that two matmuls gather is gathered once; a use of its tile does not count. */
START_TEST(ring_shared)
{
#define ROWS4 "{sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>}"
#define SHARED(name, arg)                                                              \
	" " name " = stablehlo.dot_general " arg ", %w, contracting_dims = [1] x [0] " \
	": (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>\n"
#define SHARED_BY(second, type)                                                        \
	"sdy.mesh @m = <[\"x\"=4]>\nfunc.func @main(%a: tensor<8x16xf32> " ROWS4       \
	", %b: tensor<8x16xf32> " ROWS4 ", %w: tensor<16x16xf32> " ROWS4               \
	") -> (tensor<8x16xf32> " ROWS4 ", tensor<" type "> " ROWS4                    \
	") {\n" SHARED("%0", "%a") second                                              \
		" return %0, %1 : tensor<8x16xf32>, tensor<" type ">\n}\n"
	static const char both[] = SHARED_BY(SHARED("%1", "%b"), "8x16xf32");
	static const char tile[] =
		SHARED_BY(" %1 = stablehlo.tanh %w : tensor<16x16xf32>\n", "16x16xf32");
	struct partition_run r;

	partition_rings(&r, both, PROPAGATION_SHARDY, 1, NULL);
	partition_check(arena, &r, both);
	ck_assert_double_eq(partition_runs(&r, HLO_DOT, 0), 2);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 0), 1);
	partition_rings(&r, tile, PROPAGATION_SHARDY, 1, NULL);
	partition_check(arena, &r, tile);
	ck_assert_double_eq(partition_runs(&r, HLO_DOT, 0), 4);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 0), 0);
}
END_TEST

/* Each array of a batched matmul split over all devices of a group along some dimension. */
static const char *draw_dot(uint64_t seed)
{
	static const char *const axes[] = {"\"x\", \"z\"", "\"z\", \"x\""};
	static const char *const how[] = {
		"batching_dims = [0] x [0], contracting_dims = [2] x [1]",
		"batching_dims = [1] x [2], contracting_dims = [0] x [0]"};
	static const char *const types[][3] = {
		{"16x8x24xf32", "16x24x32xf32", "16x8x32xf32"},
		{"24x16x8xf32", "24x32x16xf32", "16x8x32xf32"}};
	static const int batch[][3] = {{0, 0, 0}, {1, 2, 0}};
	const char *dims[3];
	uint64_t left = seed * 0x9e3779b97f4a7c15u >> 20;
	int way = (int)(left % 2), grouped = (int)(left / 2 % 2);

	left /= 4;
	for (int t = 0; t < 3; t++) {
		int at = (int)(left % 3), order = (int)(left / 3 % 2);
		const char *dim[3];

		left /= 6;
		for (int d = 0; d < 3; d++) {
			bool with_y = grouped && d == batch[way][t];

			dim[d] = arena_printf(arena, "{%s%s%s}", with_y ? "\"y\"" : "",
			                      with_y && d == at ? ", " : "",
			                      d == at ? axes[order] : "");
		}
		dims[t] = arena_printf(arena, "%s, %s, %s", dim[0], dim[1], dim[2]);
	}
	return dot_text(grouped ? "\"z\"=2, \"y\"=2, \"x\"=4" : "\"x\"=2, \"z\"=4",
	                (const char *[]){types[way][0], types[way][1], types[way][2]},
	                dims, how[way]);
}

START_TEST(random_rings)
{
	int rings = 0;

	for (uint64_t seed = 200 * (uint64_t)_i; seed < 200 * (uint64_t)(_i + 1);
	     seed++) {
		bool whole = seed % 10 == 0;
		const char *text;
		struct partition_run r;

		arena_reset(arena);
		text = whole ? draw_program(arena, seed) : draw_dot(seed);
		partition_rings(&r, text, whole ? PROPAGATION_XLA : PROPAGATION_SHARDY,
		                1, NULL);
		partition_check(arena, &r, text);
		rings += !whole && partition_runs(&r, HLO_DOT, 0) > 1;
	}
	ck_assert_int_gt(rings, 5);
}
END_TEST

/* Every gather takes as long. */
static struct price plan_price(void *self, const struct plan *p)
{
	(void)p;
	return (struct price){.cost = *(const double *)self};
}

/*
 * Of a matmul of c seconds and a gather of g XLA takes n parts where max(c, g) + 2 g / n is
 * less than c + g: with more than 2 parts, as long as g is below n c / 2.
 */
START_TEST(ring_pays)
{
	/* Of each device of 4, two operations for each product. */
	const double matmul_s = 2. * 8 * 16 * 24 / 4 / 1e9;
	static const struct {
		int row;
		double gather; /* of the matmul's time */
		bool pays;
	} rows[] = {{0, .25, true}, {0, .5, true},  {0, 1.9, true},  {0, 2.1, false},
	            {4, .25, true}, {4, 1.9, true}, {4, 2.1, false}, {6, .25, false},
	            {6, 1, false},  {8, 3.9, true}, {8, 4.1, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct ring_row *row = &ring_rows[rows[i].row];
		/* A batch of 4 on 2 devices; one matmul on 8. */
		double work = rows[i].row == 6 ? 8 : rows[i].row == 8 ? .5 : 1;
		double cost = rows[i].gather * matmul_s * work;
		struct prices prices = {.self = &cost,
		                        .step = prices_bytes.step,
		                        .plan = plan_price,
		                        .path = prices_bytes.path};
		int32_t shape = 8;
		bool wrap = true;
		struct machine *m = machine_torus(arena, 1, &shape, &wrap,
		                                  (struct link){"l", 1e9, 0},
		                                  (struct device){1e9, 1e15, 0});
		struct partition_ask ask = {.partitioner = PARTITIONER_XLA,
		                            .planner = planner_find("xla", 3),
		                            .prices = &prices,
		                            .ring_bytes = 1};
		struct partition_run r;

		m->tuning.value[TUNING_F32_FLOPS] = 1e9;
		m->tuning.value[TUNING_F32_SHARE] = 1;
		m->tuning.value[TUNING_MATMUL_S] = m->tuning.value[TUNING_KERNEL_S] = 0;
		ask.machine = m;
		partition_by(arena, &r, ring_text(row), &ask, PROPAGATION_SHARDY);
		ck_assert_msg((partition_runs(&r, HLO_DOT, 0) > 1) == rows[i].pays,
		              "row %d", (int)i);
	}
}
END_TEST

/* Runs the entry with matmuls of c seconds and collectives of g in all, beside each other. */
static struct timeline run_beside(const struct partition_run *r, double c, double g)
{
	const struct program *p = &r->part.program;
	double dots = partition_runs(r, HLO_DOT, 0);
	struct flat *f = arena_alloc(arena, 1, sizeof(*f));
	struct timed_step *step;
	struct timeline out;

	ck_assert(flat_make(f, arena, p, p->entry));
	step = arena_alloc(arena, (size_t)f->step.n + 1, sizeof(*step));
	for (int64_t i = 0; i < f->step.n; i++) {
		const struct instruction *op = &p->op.at[f->step.at[i].op];
		bool sends = opcode_class(op->code) == CLASS_COLLECTIVE;

		step[i] = (struct timed_step){sends                 ? g / dots
		                              : op->code == HLO_DOT ? c / dots
		                                                    : 0,
		                              sends ? 0 : -1};
	}
	timeline_run(&out, arena,
	             &(struct timeline_ask){.program = p,
	                                    .flat = f,
	                                    .step = step,
	                                    .overlap = OVERLAP_ASYNC,
	                                    .trips = 1});
	return out;
}

/* What is exposed of g seconds beside c: all of a gather, of n parts (n - 1) / n (g - c) or 0. */
START_TEST(ring_beside)
{
	static const double beside[][2] = {{8, 1}, {8, 8}, {8, 12}, {1, 8}};
	struct partition_run gathered, ring;

	partition_rings(&gathered, ring_text(&ring_rows[_i]), PROPAGATION_SHARDY, 0,
	                NULL);
	partition_rings(&ring, ring_text(&ring_rows[_i]), PROPAGATION_SHARDY, 1, NULL);
	for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
		double c = beside[i][0], g = beside[i][1], n = ring_rows[_i].parts;
		struct timeline t = run_beside(&gathered, c, g);

		ck_assert_double_eq_tol(t.exposed_s, g, 1e-9);
		t = run_beside(&ring, c, g);
		ck_assert_double_eq_tol(t.compute_s, c, 1e-9);
		ck_assert_double_eq_tol(t.exposed_s, g > c ? (n - 1) / n * (g - c) : 0,
		                        1e-9);
		ck_assert_double_le(t.s, (c > g ? c : g) + 2 * g / n + 1e-9);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("partition_rings");
	TCase *c = tcase_create("partition_rings");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, rings, 0, RING_ROWS);
	tcase_add_test(c, ring_threshold);
	tcase_add_test(c, ring_shared);
	tcase_add_loop_test(c, random_rings, 0, 4);
	tcase_add_test(c, ring_pays);
	tcase_add_loop_test(c, ring_beside, 0, 7);
	tcase_set_timeout(c, 60);
	suite_add_tcase(s, c);
	return s;
}
