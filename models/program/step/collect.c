/* The collectives of a step. */
#include "program/step/write.h"

#include <string.h>

static const char *const axis_name[STEP_AXES] = {
	"pipeline", "data", "fsdp",   "context", "tensor",
	"expert",   "data", "expert", "expert",
};

/* Prints the groups along an axis: the mesh of all, with this axis brought to the end. */
static void print_groups(struct text *t, const struct step_writer *w,
                         enum step_axis axis)
{
	static const enum step_axis plain[] = {AXIS_PIPELINE, AXIS_DATA, AXIS_FSDP,
	                                       AXIS_CONTEXT, AXIS_TENSOR};
	static const enum step_axis experts[] = {AXIS_PIPELINE, AXIS_EXPERT_SHARES,
	                                         AXIS_EXPERT, AXIS_CONTEXT, AXIS_TENSOR};
	static const enum step_axis nodes[] = {AXIS_PIPELINE,     AXIS_EXPERT_SHARES,
	                                       AXIS_EXPERT_NODES, AXIS_EXPERT_INSIDE,
	                                       AXIS_CONTEXT,      AXIS_TENSOR};
	bool cut = axis == AXIS_EXPERT_NODES || axis == AXIS_EXPERT_INSIDE;
	const enum step_axis *mesh = cut                   ? nodes
	                             : axis >= AXIS_EXPERT ? experts
	                                                   : plain;
	int n = cut ? 6 : 5, at = 0;

	text_printf(t, "replica_groups=[%lld,%lld]<=[",
	            (long long)(w->devices / w->degree[axis]),
	            (long long)w->degree[axis]);
	for (int i = 0; i < n; i++) {
		text_printf(t, "%s%lld", i ? "," : "", (long long)w->degree[mesh[i]]);
		at = mesh[i] == axis ? i : at;
	}
	text_printf(t, "]T(");
	for (int i = 0; i < n; i++)
		if (i != at)
			text_printf(t, "%d,", i);
	text_printf(t, "%d)", at);
}

static const char *collective_text(struct step_writer *w, enum step_axis axis,
                                   const char *key, int dim, const char *applied)
{
	struct text t = {0};

	text_printf(&t, ", channel_id=%lld, ", (long long)++w->channels);
	print_groups(&t, w, axis);
	if (key)
		text_printf(&t, ", %s={%d}", key, dim);
	if (!applied || strcmp(applied, "gather") != 0) {
		if (applied)
			text_printf(&t,
			            ", use_global_device_ids=true, to_apply=%%add_%s",
			            applied);
	} else {
		text_printf(&t, ", use_global_device_ids=true");
	}
	return text_take(&t, w->a);
}

struct array_of write_gather(struct step_writer *w, enum step_axis axis,
                             struct array_of x, int dim)
{
	struct array_of out = x;

	if (w->degree[axis] == 1)
		return x;
	out.dim[dim] *= w->degree[axis];
	return write_op(w, "all-gather", axis_name[axis], out, &x, 1,
	                collective_text(w, axis, "dimensions", dim, "gather"));
}

struct array_of write_scatter(struct step_writer *w, enum step_axis axis,
                              struct array_of x, int dim)
{
	struct array_of out = x;

	if (w->degree[axis] == 1)
		return x;
	out.dim[dim] /= w->degree[axis];
	return write_op(w, "reduce-scatter", axis_name[axis], out, &x, 1,
	                collective_text(w, axis, "dimensions", dim, x.type));
}

struct array_of write_sum(struct step_writer *w, enum step_axis axis, struct array_of x)
{
	if (w->degree[axis] == 1)
		return x;
	return write_op(w, "all-reduce", axis_name[axis], x, &x, 1,
	                collective_text(w, axis, NULL, 0, x.type));
}

struct array_of write_all_to_all(struct step_writer *w, enum step_axis axis,
                                 struct array_of x, int dim)
{
	if (w->degree[axis] == 1)
		return x;
	return write_op(w, "all-to-all", axis_name[axis], x, &x, 1,
	                collective_text(w, axis, "dimensions", dim, NULL));
}

struct array_of write_shift(struct step_writer *w, enum step_axis axis,
                            struct array_of x)
{
	int64_t stride = 1, n = w->degree[axis];
	struct text t = {0};

	if (n == 1)
		return x;
	for (int i = (int)axis + 1; i <= AXIS_TENSOR; i++)
		stride *= w->degree[i];
	text_printf(&t, ", channel_id=%lld, source_target_pairs={",
	            (long long)++w->channels);
	for (int64_t i = 0, k = 0; i < w->devices; i++)
		if (i / stride % n + 1 < n)
			text_printf(&t, "%s{%lld,%lld}", k++ ? "," : "", (long long)i,
			            (long long)(i + stride));
	text_printf(&t, "}");
	return write_op(w, "collective-permute", axis_name[axis], x, &x, 1,
	                text_take(&t, w->a));
}

void write_bundle(struct step_writer *w, const char *op, enum step_axis axis,
                  struct array_of *x, int n)
{
	bool gather = !strcmp(op, "all-gather"), sum = !strcmp(op, "all-reduce");
	int64_t degree = w->degree[axis];
	struct array_of out[COMBINED_MAX];

	if (degree == 1 || n == 0)
		return;
	for (int i = 0; i < n; i++) {
		out[i] = x[i];
		if (gather)
			out[i].dim[0] *= degree;
		else if (!sum)
			out[i].dim[0] /= degree;
	}
	if (n == 1) {
		*x = write_op(w, op, axis_name[axis], *out, x, 1,
		              collective_text(w, axis, sum ? NULL : "dimensions", 0,
		                              gather ? "gather" : x->type));
		return;
	}
	write_tuple_op(w, op, axis_name[axis], x, n, out, n,
	               collective_text(w, axis, sum ? NULL : "dimensions", 0,
	                               gather ? "gather" : x->type));
	memcpy(x, out, (size_t)n * sizeof(*x));
}
