/*
 * StableHLO, self-checking: a file for `stablehlo-translate --interpret`, which runs the
 * function of `stablehlo` on a small array on all partitions and compares their tiles.
 */
#include "emit/kinds.h"

#include "emit/put.h"
#include "emit/stablehlo.h"

enum { TEST_ELEMENTS_MAX = 1 << 20 }; /* that a test may write out */

/* Appends the elements of a tile, each its number in the array times `times` plus `plus`. */
static void put_dense(struct hlo *h, const int64_t *start, const struct shape *tile,
                      int64_t times, int64_t plus)
{
	struct shape whole = local_array(&h->l, true);
	int64_t at[RANK_MAX] = {0};
	int dim = 0;

	text_printf(h->out, "dense<");
	do {
		int64_t number = 0;

		for (int i = dim; i < tile->rank; i++)
			text_printf(h->out, "[");
		for (int i = 0; i < tile->rank; i++)
			number = number * whole.dim[i] + start[i] + at[i];
		number = number * times + plus;
		text_printf(h->out, "%lld", (long long)number);
		for (dim = tile->rank; dim > 0 && ++at[dim - 1] == tile->dim[dim - 1];
		     dim--) {
			at[dim - 1] = 0;
			text_printf(h->out, "]");
		}
		text_printf(h->out, dim > 0 ? ", " : "");
	} while (dim > 0);
	text_printf(h->out, "> : ");
	stablehlo_type(h, tile);
	text_printf(h->out, "\n");
}

static void put_types(struct hlo *h, const struct shape *s)
{
	text_printf(h->out, "(");
	for (int32_t d = 0; d < h->l.plan->problem->ndevices; d++) {
		text_printf(h->out, d ? ", " : "");
		stablehlo_type(h, s);
	}
	text_printf(h->out, ")");
}

static void put_main(struct hlo *h)
{
	struct shape from = hlo_tile(h, false), to = hlo_tile(h, true);
	struct shape whole = local_array(&h->l, true);
	const int64_t *start = local_starts(&h->l, false);
	const int32_t *part = local_contribution(&h->l);
	int32_t n = h->l.plan->problem->ndevices, sums = local_partials(&h->l, false);
	int64_t size = shape_elements(&whole), all = 0;

	text_printf(h->out, "func.func @main() {\n");
	for (int32_t d = 0; d < n; d++) {
		text_printf(h->out, "  %%i%d = stablehlo.constant ", d);
		put_dense(h, start + (int64_t)d * whole.rank, &from, 1,
		          sums > 1 ? local_weight(part[d], sums) * size : 0);
	}
	text_printf(h->out, "  %%r:%d = \"interpreter.run_parallel\"(", n);
	for (int32_t d = 0; d < n; d++)
		text_printf(h->out, "%s%%i%d", d ? ", " : "", d);
	text_printf(h->out, ") {programs = [[");
	for (int32_t d = 0; d < n; d++)
		text_printf(h->out, "%s@plan", d ? ", " : "");
	text_printf(h->out, "]]} : ");
	put_types(h, &from);
	text_printf(h->out, " -> ");
	put_types(h, &to);
	text_printf(h->out, "\n");
	if (sums > 1)
		all = local_weights(sums);
	start = local_starts(&h->l, true);
	for (int32_t d = 0; d < n; d++) {
		text_printf(h->out, "  check.expect_eq_const %%r#%d, ", d);
		put_dense(h, start + (int64_t)d * whole.rank, &to, sums, all * size);
	}
	text_printf(h->out, "  func.return\n}\n");
}

static enum emitted emit_test(struct text *out, const struct emission *what,
                              struct arena *scratch, struct text *why)
{
	struct hlo h = {.out = out, .small = true, .type = "i32", .zero = "0"};
	struct shape from, to;
	int64_t elements;

	if (!local_make(&h.l, what->plan, scratch, why))
		return EMIT_CANNOT;
	if (local_partials(&h.l, true) > 1) {
		text_printf(why,
		            "the target is a sum, whose contributions a test cannot "
		            "tell: --emit stablehlo has the function, --emit torch a "
		            "check that adds them");
		return EMIT_CANNOT;
	}
	from = hlo_tile(&h, false);
	to = hlo_tile(&h, true);
	elements = (shape_elements(&from) + shape_elements(&to)) *
	           what->plan->problem->ndevices;
	if (elements > TEST_ELEMENTS_MAX) {
		text_printf(why,
		            "a test would write out %lld elements, at most %d: --emit "
		            "jax or "
		            "torch computes them",
		            (long long)elements, TEST_ELEMENTS_MAX);
		return EMIT_CANNOT;
	}
	hlo_begin_module(&h, what, &emitter_stablehlo_test);
	hlo_function(&h, "plan");
	put_main(&h);
	text_printf(out, "}\n");
	return EMITTED;
}

const struct emitter emitter_stablehlo_test = {
	.name = "stablehlo-test",
	.help = "the same on a small array, for stablehlo-translate --interpret",
	.comment = "// ",
	.comment_end = "",
	.emit = emit_test,
};
