#include "tests/interpret_look.h"

#include "program/rules_build.h"

#include <check.h>
#include <string.h>

static int64_t number(const int64_t *list, int32_t k, int64_t usual)
{
	return list ? list[k] : usual;
}

/* --- windows --- */

void interpret_pad(struct tensor *out, const struct instruction *op,
                   const struct tensor *const *in)
{
	const struct slice_attr *s = op->as.slice;
	int64_t at[RANK_MAX];

	for (int64_t i = 0; i < tensor_count(out); i++)
		out->at[i] = *in[1]->at;
	for (int64_t i = 0; i < tensor_count(in[0]); i++) {
		bool inside = true;

		tensor_index(at, in[0], i);
		for (int32_t d = 0; d < out->rank; d++) {
			at[d] = at[d] * (1 + s->stride.at[d]) + s->start.at[d];
			inside &= at[d] >= 0 && at[d] < out->dim[d];
		}
		if (inside)
			*tensor_at(out, at) = in[0]->at[i];
	}
}

/* The element that a place of a window meets; false between and outside of elements. */
static bool meet(int64_t *to, const struct window *w, int32_t k, int64_t out,
                 int64_t place, int64_t size)
{
	int64_t at = out * number(w->stride, k, 1) +
	             place * number(w->rhs_dilate, k, 1) - number(w->low, k, 0);
	int64_t dilate = number(w->lhs_dilate, k, 1);

	if (at < 0 || at % dilate || at / dilate >= size)
		return false;
	*to = at / dilate;
	return true;
}

void interpret_reduce_window(struct tensor *out, const struct program *p,
                             const struct instruction *op,
                             const struct tensor *const *in)
{
	const struct window *w = op->as.window;
	struct tensor window = {.rank = out->rank};
	int64_t at[RANK_MAX], place[RANK_MAX], from[RANK_MAX];

	for (int32_t d = 0; d < out->rank; d++)
		window.dim[d] = number(w->size, d, 1);
	for (int64_t i = 0; i < tensor_count(out); i++) {
		tensor_index(at, out, i);
		out->at[i] = *in[1]->at;
		for (int64_t k = 0; k < tensor_count(&window); k++) {
			bool inside = true;

			tensor_index(place, &window, k);
			for (int32_t d = 0; d < out->rank; d++)
				inside &= meet(&from[d], w, d, at[d], place[d],
				               in[0]->dim[d]);
			if (inside)
				out->at[i] =
					interpret_apply(op_applied(p, op), out->at[i],
				                        *tensor_at(in[0], from));
		}
	}
}

void interpret_convolution(struct tensor *out, const struct instruction *op,
                           const struct tensor *const *in)
{
	const struct conv_attr *c = op->as.conv;
	int64_t groups = c->feature_groups, at[RANK_MAX], from[RANK_MAX],
		place[RANK_MAX];

	ck_assert_int_eq(c->batch_groups, 1);
	ck_assert_int_eq(in[1]->dim[c->kernel_in] * groups, in[0]->dim[c->feature]);
	for (int64_t i = 0; i < tensor_count(out); i++) {
		tensor_index(at, out, i);
		for (int64_t k = 0; k < tensor_count(in[1]); k++) {
			int64_t group = at[c->out_feature] /
			                (in[1]->dim[c->kernel_out] / groups);
			bool inside;

			tensor_index(place, in[1], k);
			inside = place[c->kernel_out] == at[c->out_feature];
			from[c->batch] = at[c->out_batch];
			from[c->feature] =
				group * in[1]->dim[c->kernel_in] + place[c->kernel_in];
			for (int32_t s = 0; s < c->nspatial && inside; s++) {
				int64_t j = place[c->kernel_spatial[s]];

				if (c->window.reversal && c->window.reversal[s])
					j = in[1]->dim[c->kernel_spatial[s]] - 1 - j;
				inside = meet(&from[c->spatial[s]], &c->window, s,
				              at[c->out_spatial[s]], j,
				              in[0]->dim[c->spatial[s]]);
			}
			if (inside)
				out->at[i] += in[1]->at[k] * *tensor_at(in[0], from);
		}
	}
}

/* --- indices --- */

/*
 * Where a place of the slices is in the operand, as HLO's gather and scatter say it: the vector of
 * indices that its batch dimensions name, and its offset. `size` of a dimension: the slice's.
 */
static void look(int64_t *to, const struct index_attr *g, const struct tensor *operand,
                 const struct tensor *indices, const struct tensor *slices,
                 const int64_t *at)
{
	int64_t index[RANK_MAX] = {0};
	int32_t n = 0, offset = 0;

	memset(to, 0, (size_t)operand->rank * sizeof(*to));
	for (int32_t d = 0; d < slices->rank; d++) {
		if (ints_have(g->offset_dims, d))
			continue;
		n += n == g->index_vector_dim;
		index[n++] = at[d];
	}
	for (int32_t i = 0; i < g->operand_batching_dims.n; i++)
		to[g->operand_batching_dims.at[i]] =
			index[g->indices_batching_dims.at[i]];
	for (int32_t i = 0; i < g->start_index_map.n; i++) {
		if (g->index_vector_dim < indices->rank)
			index[g->index_vector_dim] = i;
		to[g->start_index_map.at[i]] = (int64_t)*tensor_at(indices, index);
	}
	for (int32_t d = 0; d < operand->rank; d++)
		if (!ints_have(g->collapsed_slice_dims, d) &&
		    !ints_have(g->operand_batching_dims, d))
			to[d] += at[g->offset_dims.at[offset++]];
}

void interpret_gather(struct tensor *out, const struct instruction *op,
                      const struct tensor *const *in)
{
	const struct index_attr *g = op->as.gather;
	int64_t at[RANK_MAX], from[RANK_MAX];

	for (int64_t i = 0; i < tensor_count(out); i++) {
		int32_t offset = 0;

		tensor_index(at, out, i);
		/* Where a slice starts is clamped, so that all of it is inside. */
		look(from, g, in[0], in[1], out, at);
		for (int32_t d = 0; d < in[0]->rank; d++) {
			bool gone = ints_have(g->collapsed_slice_dims, d) ||
			            ints_have(g->operand_batching_dims, d);
			int64_t add = gone ? 0 : at[g->offset_dims.at[offset]];
			int64_t last = in[0]->dim[d] - g->slice_sizes.at[d];

			offset += !gone;
			if (ints_have(g->operand_batching_dims, d))
				continue;
			from[d] -= add;
			from[d] = from[d] < 0 ? 0 : from[d] > last ? last : from[d];
			from[d] += add;
		}
		out->at[i] = *tensor_at(in[0], from);
	}
}

/* Updates outside of the operand are left out. */
void interpret_scatter(struct tensor *out, const struct program *p,
                       const struct instruction *op, const struct tensor *const *in)
{
	int64_t at[RANK_MAX], to[RANK_MAX];

	ck_assert_int_eq(op->noperands, 3);
	memcpy(out->at, in[0]->at, (size_t)tensor_count(out) * sizeof(*out->at));
	for (int64_t i = 0; i < tensor_count(in[2]); i++) {
		bool inside = true;

		tensor_index(at, in[2], i);
		look(to, op->as.gather, out, in[1], in[2], at);
		for (int32_t d = 0; d < out->rank; d++)
			inside &= to[d] >= 0 && to[d] < out->dim[d];
		if (inside)
			*tensor_at(out, to) = interpret_apply(
				op_applied(p, op), *tensor_at(out, to), in[2]->at[i]);
	}
}
