/*
 * What XLA's own tests expect of reshards (facts from openxla/xla,
 * xla/service/spmd/spmd_partitioner_test.cc as of 2025-26, named after its tests): the
 * kinds of operations in order, the local shapes between them, and where the test says
 * so, groups.
 */
#include "tests/tests.h"
#include "xla_text.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* clang-format off */
static const struct {
	const char *name, *devices, *array, *from, *to, *steps;
} fact_table[] = {
	{"TiledToReplicated", "2", "2,3", "[2,1]", "-,-", "gather 2,3"},
	{"TiledToTiledEven", "2", "8,2", "[2,1]", "[1,2]", "swap 8,1"},
	{"TiledToTiledUneven", "2", "7,31,128", "[1,2,1]", "[2,1,1]",
	 "window 8,16,128; swap 4,32,128; window 4,31,128"},
	{"MultipleSourceTargetDimsInOneAllToAll1", "8", "64,64,64,64", "[1,4,2,1]",
	 "[2,1,1,4]<=[4,2]T(1,0)", "swap 32,64,64,16"},
	{"MultipleSourceTargetDimsInOneAllToAll2", "8", "64,64,64,64,64,64",
	 "[2,2,2,1,1,1]", "[1,1,1,2,2,2]<=[2,2,2]T(1,0,2)",
	 "swap 64,64,64,32,32,32; permute 64,64,64,32,32,32"},
	{"MultipleSourceTargetDimsInOneAllToAll3", "64", "64,64,64,64", "[2,4,8,1]",
	 "[4,2,1,8]<=[2,2,2,8]T(0,2,1,3)", "swap 16,32,64,8"},
	{"SubgroupAllToAllReshard", "8", "8,8,8,8", "[2,2,1,2]",
	 "[1,2,2,2]<=[2,2,2]T(1,0,2)", "swap 8,4,4,4"},
	{"SubgroupAllToAllReshard2", "8", "8,8", "[2,4]", "[4,2]<=[2,2,2]T(1,0,2)",
	 "swap 2,4; permute 2,4"},
	{"SubgroupAllToAllReshard3", "8", "8,8,8", "[2,4,1]",
	 "[1,2,4]<=[2,2,2]T(1,0,2)", "swap 4,8,2; swap 8,4,2; permute 8,4,2"},
	{"UnpartitionedGather", "2", "3,9", "-,-", "[1,2]", "window 3,10; slice 3,5"},
	{"ElementwiseTest_PartialReplicateToTiledHaloExchange", "4", "6,3",
	 "[2,1,2] r", "[4,1]", "send 3,3; window 4,3; slice 2,3"},
	{"TileToPartialReplicateReshard", "4", "8,8", "[2,2]", "[2,1,2] r",
	 "gather 4,8"},
	{"TileToPartialReplicateReshardUnevenPartition", "6", "8,8", "[2,3]",
	 "[1,2,3] r", "gather 4,9; window 4,8; swap 8,4"},
	{"PartialReplicateToTileReshardUnevenPartition", "6", "8,8", "[1,2,3] r",
	 "[2,3]", "swap 4,8; window 4,9; slice 4,3"},
	{"PartialReplicateToTileReshard", "4", "8,8", "[2,1,2] r", "[2,2]",
	 "slice 4,4"},
	{"PartialReplicateToPartialReplicateReshard_AllReduce", "8", "8,8",
	 "[2,2,2] r", "[2,1,4] r", "gather 4,8"},
	{"PartialReplicateToPartialReplicateReshard_DynamicSlice", "8", "8,8",
	 "[2,1,4] r", "[2,2,2] r", "slice 4,4"},
	{"PartialReplicateToPartialReplicateReshardWithCollectivePermute", "8", "8,8",
	 "[2,2,2] r", "[1,2,4] r", "permute 4,4; gather 8,4"},
	{"PartialReplicateToPartialReplicateReshardCollectivePermute1", "8", "8,8",
	 "[1,2,4] r", "[2,2,2] r", "slice 4,4; permute 4,4"},
	{"PartialReplicateToPartialReplicateReshardHaloExchange", "8", "6,3",
	 "[4,1,2] r", "[2,1,4] r",
	 "send 2,3; window 2,3; gather 4,3; window 3,3"},
	{"PartialReplicateToPartialReplicateReshardHaloExchange1", "8", "6,3",
	 "[2,1,4] r", "[4,1,2] r", "send 3,3; window 4,3; slice 2,3"},
	{"PartitionConvWithFeatureGroupCountRHSAlignWithLHS", "2", "5,1,1,1024",
	 "[2,1,1,1]", "[1,1,1,2]", "swap 6,1,1,512; window 5,1,1,512"},
	{"PartitionConvWithBathGroupCountOutputAlignWithLHS", "2", "5,1,1,1024",
	 "[1,1,1,2]", "[2,1,1,1]", "window 6,1,1,512; swap 3,1,1,1024"},
	{"GatherParallelDimRedistributionOperand", "8", "8,4,2,2", "[4,2,1,1]",
	 "[8,1,1,1]", "swap 1,4,2,2"},
	{"GatherParallelDimRedistributionIndices", "8", "8,4,2,2", "[8,1,1,1]",
	 "[4,2,1,1]", "swap 2,2,2,2"},
	{"GatherParallelDimSwappedDimensions", "8", "8,4,2,2", "[4,2,1,1]",
	 "[2,4,1,1]", "swap 4,1,2,2; permute 4,1,2,2"},
	{"BroadcastAsReplicate", "4", "1,1", "[2,2]", "-,-", "sum 1,1"},
	{"BroadcastAsReplicate2", "4", "1,2", "[2,2]", "-,-", "sum 1,1; gather 1,2"},
	{"BroadcastAsReplicate3", "4", "1,1", "[2,1,2] r", "-,-", "sum 1,1"},
	{"UnevenPadAllToAllReshard", "8", "19,19", "[2,4]<=[4,2]T(1,0)", "[4,2]",
	 "swap 5,10; permute 5,10"},
	{"ComplexReshardSplit", "16", "8,8,8", "[1,2,8]", "[4,2,2]",
	 "swap 2,4,4; permute 2,4,4"},
	{"ComplexReshardSplitToRight", "8", "8,32", "[8,1]", "[2,4]", "swap 4,8"},
	{"ComplexReshardSplitToLeft1", "8", "8,32", "[1,8]", "[2,4]<=[4,2]T(1,0)",
	 "swap 4,8"},
	{"ComplexReshardSplitToLeft2", "8", "5,32", "[1,8]", "[4,2]<=[2,4]T(1,0)",
	 "window 8,4; swap 2,16"},
	{"NoComplexReshardSplitToLeft", "8", "8,33", "[1,8]", "[2,4]<=[4,2]T(1,0)",
	 "gather 8,40; window 8,33; window 8,36; slice 4,9"},
	{"ReshardToASingleAllToAll", "32", "8,32", "[8,4]<=[2,4,4]T(0,2,1)", "[2,16]",
	 "swap 4,2"},
	{"ReshardCrash", "8", "8,32,4", "[4,2,1]<=[2,2,2]T(0,2,1)", "[2,2,2]",
	 "swap 4,16,2"},
	{"ReshardNoFullRematCompatible", "8", "6,32,4", "[4,2,1]<=[2,2,2]T(0,2,1)",
	 "[2,2,2]", "gather 8,16,4; window 6,16,4; slice 3,16,2"},
	{"ReshardNoFullRematIncompatible", "8", "6,32,4", "[4,2,1]<=[2,2,2]T(0,2,1)",
	 "[2,2,2]0,1,3,4,2,6,5,7",
	 "gather 8,16,4; window 6,16,4; slice 3,16,2; permute 3,16,2"},
	{"PartialDusReplicate", "16", "3,2", "[8,2]", "-,-", "gather 1,2; sum 3,2"},
	{"ComplexReshardFromPartialReplicate", "8", "4,15,4,16",
	 "[1,1,1,2,4]<=[4,2]T(1,0) r", "[1,8,1,1]",
	 "window 4,16,4,8; slice 4,4,4,8; swap 4,2,4,16"},
	{"ComplexReshardToPartialReplicate", "8", "4,15,4,16", "[1,4,2,1]",
	 "[1,1,1,2,4]<=[4,2]T(1,0) r",
	 "gather 4,16,2,16; window 4,15,2,16; swap 4,15,4,8"},
	{"ComplexReshardMoveMergeDimensionRight", "8", "4,15,4,15", "[1,4,1,2]",
	 "[1,1,1,8]<=[4,2]T(1,0)", "swap 4,16,4,2; window 4,15,4,2"},
	{"ComplexReshardMoveMergeDimensionLeft", "8", "2,15,1,2", "[1,4,1,2]",
	 "[1,8,1,1]", "swap 2,2,1,2"},
	{"ComplexReshardMoveMergeDimensionLeftReorder", "8", "4,15,4,16", "[1,4,1,2]",
	 "[1,8,1,1]<=[4,2]T(1,0)", "swap 4,2,4,16; permute 4,2,4,16"},
	{"PartitionCallMultipleCallsitesMatchedByReshard", "4", "8,2", "[4,1]", "[2,2]",
	 "swap 4,1"},
	{"PartitionDotGroupOnBatchContractingReshard", "4", "32,32,24,1024",
	 "[2,1,1,2]", "[1,2,1,2]", "swap 32,16,24,512"},
	{"OriginalValueWithTrivialShardingAnnotation", "16", "5,1024,1024", "[8,2,1]",
	 "-,-,-", "gather 1,1024,1024; gather 8,1024,1024; window 5,1024,1024"},
	/* Those of mesh['x'=2,..] shardings, as the device lists they mean. */
	{"GetAllToAllNamedSharding", "8", "128,128", "[2,4]", "[4,2]<=[2,2,2]T(0,2,1)",
	 "swap 32,64"},
	{"PatternMatchMergeNamedSharding", "4", "16,16", "[2,2]", "[4,1]", "swap 4,16"},
	{"ReshardFromPartialReplicateWithDynamicSlice", "4", "128,64", "[2,1,2] r",
	 "[2,2]", "slice 64,32"},
	{"ReshardPartialReplicateWithAllToAll", "4", "128,64", "[4,1]", "[2,2]",
	 "swap 64,32"},
	{"ReshardPartialReplicateWithAllToAllMultiAxis", "8", "128,64", "[4,2]", "[2,4]",
	 "swap 64,16; permute 64,16"},
	{"ReshardPartialReplicateWithAllToAllSubAxis", "8", "128,64",
	 "[4,1,2]<=[2,2,2]T(0,2,1) r", "[2,2,2]<=[2,2,2]T(0,2,1) r", "swap 64,32"},
	{"ReshardPartialReplicateWithCollectivePermute", "4", "128,64", "[2,2]",
	 "[2,2]<=[2,2]T(1,0)", "permute 64,32"},
	{"ReshardBetweenPermutedMeshesWithReplicatedAxes", "4", "8,2", "[2,2]",
	 "[2,1,2]3,2,1,0 r", "permute 4,1; gather 4,2"},
	{"Cholesky", "8", "32,32,32", "[2,2,2]", "[8,1,1]",
	 "gather 16,16,32; gather 16,32,32; gather 32,32,32; slice 4,32,32"},
};
/* clang-format on */

static struct xla program(const char *devices, const char *dims, const char *from,
                          const char *to)
{
	struct mesh m = mesh_of(devices);
	struct array array = array_of(dims);
	struct layout s = layout_from(from, &m, arena), t = layout_from(to, &m, arena);
	struct xla x = xla_start(&xla_mode_today, &array.shape, m.ndevices, arena);

	x.uneven = true;
	ck_assert(xla_reshard(&x, layout_tiling(&s, &m, arena),
	                      layout_tiling(&t, &m, arena)));
	return x;
}

START_TEST(facts)
{
	struct xla x = program(fact_table[_i].devices, fact_table[_i].array,
	                       fact_table[_i].from, fact_table[_i].to);
	struct text t = {0};

	for (int k = 0; k < x.nops; k++) {
		text_printf(&t, "%s%s", k ? "; " : "", xla_op_text(&x.op[k]));
		for (int d = 0; d < x.op[k].extent.rank; d++)
			text_printf(&t, "%s%lld", d ? "," : " ",
			            (long long)x.op[k].extent.dim[d]);
	}
	ck_assert_str_eq(text_take(&t, arena), fact_table[_i].steps);
}
END_TEST

static int count_permutes(const struct xla *x)
{
	int n = 0;

	for (int k = 0; k < x->nops; k++)
		n += x->op[k].op == OP_PERMUTE;
	return n;
}

/* The groups that a test lists, all of them, in its order. */
START_TEST(listed_groups)
{
	static const int32_t pairs[] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const int32_t others[] = {0, 2, 1, 3};
	static const int32_t rows[] = {0, 8, 2, 10, 4, 12, 6, 14,
	                               1, 9, 3, 11, 5, 13, 7, 15};
	static const int32_t columns[] = {0, 2,  4,  6,  1, 3,  5,  7,
	                                  8, 10, 12, 14, 9, 11, 13, 15};
	/* GetAllToAllNamedSharding */
	struct xla x = program("8", "128,128", "[2,4]", "[4,2]<=[2,2,2]T(0,2,1)");

	ck_assert_int_eq(x.op[0].groups.ngroups, 4);
	ck_assert_mem_eq(x.op[0].groups.ids, pairs, sizeof(pairs));
	/* ReshardPartialReplicateToFullReplicateNamedSharding: one element of one */
	x = program("4", "1", "[2,2] r", "-");
	ck_assert_int_eq(x.nops, 1);
	ck_assert_int_eq(x.op[0].op, OP_ALL_REDUCE);
	ck_assert_int_eq(x.op[0].groups.ngroups, 2);
	ck_assert_mem_eq(x.op[0].groups.ids, others, sizeof(others));
	/* OriginalValueWithTransposedShardingAnnotation */
	x = program("16", "5,1024,1024", "[8,2,1]<=[2,4,2]T(2,1,0)", "-,-,-");
	ck_assert_int_eq(x.op[0].groups.ngroups, 8);
	ck_assert_mem_eq(x.op[0].groups.ids, rows, sizeof(rows));
	ck_assert_int_eq(x.op[1].groups.ngroups, 2);
	ck_assert_mem_eq(x.op[1].groups.ids, columns, sizeof(columns));
}
END_TEST

/* Groups and counts that the tests above and others name. */
START_TEST(groups)
{
	struct xla x =
		program("8", "64,64,64,64", "[1,4,2,1]", "[2,1,1,4]<=[4,2]T(1,0)");
	static const int32_t one[] = {0, 2, 4, 6, 1, 3, 5, 7};

	ck_assert_int_eq(x.op[0].groups.ngroups, 1);
	ck_assert_mem_eq(x.op[0].groups.ids, one, sizeof(one));
	x = program("64", "64,64,64,64", "[2,4,8,1]", "[4,2,1,8]<=[2,2,2,8]T(0,2,1,3)");
	ck_assert_int_eq(x.op[0].groups.ngroups, 4);
	ck_assert_int_eq(x.op[0].groups.size, 16);
	x = program("8", "8,8,8,8", "[2,2,1,2]", "[1,2,2,2]<=[2,2,2]T(1,0,2)");
	ck_assert_int_eq(x.op[0].groups.ngroups, 4);
	x = program("6", "8,8", "[2,3]", "[1,2,3] r");
	ck_assert_int_eq(x.op[0].groups.ngroups, 2);
	for (int32_t i = 0; i < 6; i++)
		ck_assert_int_eq(x.op[0].groups.ids[i], i);
	/* UnevenPadAllToAllReshard2; and its like from the other side */
	x = program("8", "5,5", "[2,4]<=[4,2]T(1,0)", "[4,2]");
	ck_assert_int_eq(count_permutes(&x), 3);
}
END_TEST

/* ComplexReshardPartialMerging: all-to-all; PartialReshardingInfiniteLoops: an end. */
START_TEST(partial_reshards)
{
	struct xla x = program("8", "256,256,256", "[2,1,2,2] r", "[1,2,1,4] r");
	bool found = false;

	for (int k = 0; k < x.nops; k++)
		found |= x.op[k].op == OP_ALL_TO_ALL;
	ck_assert(found);
	x = program("8", "256,256,256", "[4,1,1,2] r", "[2,2,1,2] r");
	ck_assert_int_gt(x.nops, 0);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("xla_facts");
	TCase *tc = tcase_create("xla_facts");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, facts, 0, COUNT(fact_table));
	tcase_add_test(tc, listed_groups);
	tcase_add_test(tc, groups);
	tcase_add_test(tc, partial_reshards);
	suite_add_tcase(suite, tc);
	return suite;
}
