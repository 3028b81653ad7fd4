/*
 * Steps of convolutions, against what follows from the sizes of their layers. SplitBrain (arXiv
 * 2112.15317): VGG-11 whose convolutions are data-parallel on all devices and whose classifier is cut
 * in groups of k (scenarios/programs/vgg-step.hlo). A UNet (unet-step.hlo).
 */
#include "tests/automap_help.h"
#include "tests/program_help.h"
#include "tests/tests.h"

#include <check.h>

static struct arena *arena;
static struct program program;
static struct graph graph;

enum { DEVICES = 32, IMAGES = 4096, DENSE = 3, CONVS = 8 };

/* Width, height; channels from and to. */
static const int conv[CONVS][3] = {{32, 3, 64},   {16, 64, 128}, {8, 128, 256},
                                   {8, 256, 256}, {4, 256, 512}, {4, 512, 512},
                                   {2, 512, 512}, {2, 512, 512}};
static const int dense[DENSE][2] = {{512, 4096}, {4096, 4096}, {4096, 10}};

static void setup(void)
{
	struct error e = {0};

	arena = arena_new();
	program = program_sample(arena, "vgg-step.hlo");
	ck_assert(graph_make(&graph, arena, &program, true, NULL, 0, &e) == OK);
}

static void teardown(void)
{
	arena_free(arena);
}

static double conv_parameters(void)
{
	double n = 0;

	for (int i = 0; i < CONVS; i++)
		n += (9. * conv[i][1] + 1) * conv[i][2];
	return n;
}

/* Of the classifier on one device in a group of k: the last layer, of 10 classes, is whole. */
static double dense_parameters(int k)
{
	double n = dense[1][1] + (dense[2][0] + 1.) * dense[2][1];

	n += (dense[0][0] + 1.) * dense[0][1] / k;
	return n + (double)dense[1][0] * dense[1][1] / k;
}

START_TEST(has_the_sizes_of_vgg)
{
	double arguments = 0, flops = 0, wanted = 0;

	for (int64_t i = 0; i < graph.group.n; i++)
		if (graph.group.at[i].role == ROLE_PARAMETER)
			arguments += graph.group.at[i].bytes;
	ck_assert_double_eq(arguments, 4 * (conv_parameters() + dense_parameters(1)));
	/* The share of the classifier is what no group can save more than. */
	ck_assert_double_eq_tol(dense_parameters(1) * 4 / arguments, .672, 5e-4);

	for (int64_t i = 0; i < graph.kernel.n; i++)
		flops += graph.kernel.at[i].ask.flops *
		         graph.op.at[graph.kernel.at[i].op].weight;
	/* Three times each layer but the first one; windows beyond the border are nothing. */
	for (int i = 0; i < CONVS; i++) {
		double taps = 3. * conv[i][0] - 2;

		wanted += (i ? 3 : 2) * 2. * IMAGES * taps * taps * conv[i][1] *
		          conv[i][2];
	}
	for (int i = 0; i < DENSE; i++)
		wanted += 3 * 2. * IMAGES * dense[i][0] * dense[i][1];
	ck_assert_double_eq_tol(flops / wanted, 1, 1e-9);
}
END_TEST

/*
 * In groups each device keeps a part of two of the three layers. Where convolutions end
 * their activations are gathered in the group, forward and backward; the sums of the second
 * layer are scattered over the images, and back the gradients of both ends are gathered and
 * scattered. Gradients of all 22 parameters and the loss are reduced over the devices that
 * have the same part of them.
 */
START_TEST(cuts_the_classifier)
{
	static const int k[] = {1, 2, 4, 8};
	const int32_t size[] = {DEVICES / k[_i], k[_i]};
	struct cutting *c = automap_cutting(arena, &graph, k[_i] > 1 ? 2 : 1, size);
	double images = IMAGES / DEVICES * (32. * 32 * 3 + 10) * 4;
	struct evaluator e;
	struct evaluation found;

	if (k[_i] > 1)
		ck_assert_int_eq(automap_tactic(c, "megatron", 1), 1);
	automap_tactic(c, "data", 0);
	if (k[_i] > 1)
		automap_tactic(c, "data", 1);
	evaluator_start(&e, arena, &graph, NULL);
	found = evaluate(&e, c);
	ck_assert_double_eq(found.params_bytes,
	                    4 * (conv_parameters() + dense_parameters(k[_i])) + images);
	ck_assert_double_eq(found.count[COUNT_REDUCE], 2 * (CONVS + DENSE) + 1);
	ck_assert_double_eq(found.count[COUNT_GATHER], k[_i] > 1 ? 3 : 0);
	ck_assert_double_eq(found.count[COUNT_SCATTER], k[_i] > 1 ? 2 : 0);
	ck_assert_double_eq(found.count[COUNT_ALL_TO_ALL], 0);
	/* What is reduced as a whole, and the part of it of a device in the group. */
	ck_assert_double_eq(found.bytes[COUNT_REDUCE],
	                    4 * (conv_parameters() + dense_parameters(k[_i]) + 1));
}
END_TEST

/* Of a UNet's convolutions: width before, stride, channels from and to. */
static const int unet[][4] = {
	{64, 1, 128, 128}, {64, 1, 128, 128}, {64, 2, 128, 128}, {32, 1, 128, 256},
	{32, 1, 256, 256}, {32, 2, 256, 256}, {16, 1, 256, 512}, {16, 1, 512, 512},
	{16, 2, 512, 512}, {8, 1, 512, 512},  {8, 1, 512, 512},  {16, 1, 512, 512},
	{16, 1, 512, 512}, {16, 1, 512, 512}, {32, 1, 512, 256}, {32, 1, 256, 256},
	{32, 1, 256, 256}, {64, 1, 256, 128}, {64, 1, 128, 128}, {64, 1, 128, 128}};

/*
 * Three times each convolution, but for the gradient of the images; windows of stride 1 are cut at
 * both borders, of stride 2 at one. Data parallelism reduces a gradient for each kernel and bias, and
 * the loss, and nothing else.
 */
START_TEST(steps_through_a_unet)
{
	enum { CONVOLUTIONS = sizeof(unet) / sizeof(*unet), UNET_IMAGES = 64 };
	const int32_t size[] = {8};
	struct program step = program_sample(arena, "unet-step.hlo");
	double flops = 0, wanted = 0, parameters = 0, bytes = 0;
	struct error e = {0};
	struct cutting *c;
	struct graph g;

	ck_assert(graph_make(&g, arena, &step, true, NULL, 0, &e) == OK);
	for (int64_t i = 0; i < g.kernel.n; i++)
		flops += g.kernel.at[i].ask.flops * g.op.at[g.kernel.at[i].op].weight;
	for (int i = 0; i < CONVOLUTIONS; i++) {
		int width = unet[i][0] / unet[i][1], from = unet[i][2], to = unet[i][3];
		double taps = 3. * width - (unet[i][1] == 1 ? 2 : 1);

		wanted += (i ? 3 : 2) * 2. * UNET_IMAGES * taps * taps * from * to;
		parameters += 9. * from * to + to;
	}
	ck_assert_double_eq_tol(flops / wanted, 1, 1e-9);
	for (int64_t i = 0; i < g.group.n; i++)
		if (g.group.at[i].role == ROLE_PARAMETER)
			bytes += g.group.at[i].bytes;
	ck_assert_double_eq(bytes, 2 * parameters);
	c = automap_cutting(arena, &g, 1, size);
	automap_tactic(c, "data", 0);
	ck_assert_str_eq(automap_counts(arena, c), "0 41 0 0");
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("automap vgg");
	TCase *t = tcase_create("SplitBrain");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, has_the_sizes_of_vgg);
	tcase_add_loop_test(t, cuts_the_classifier, 0, 4);
	tcase_add_test(t, steps_through_a_unet);
	suite_add_tcase(s, t);
	return s;
}
