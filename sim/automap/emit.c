/* Shardings in the words of JAX, Shardy and PyTorch. */
#include "automap/show.h"
#include "automap/words.h"
#include "emit/mlir.h"
#include "notation/notation.h"
#include "program/annotate.h"

#include <string.h>

static void print_mesh_shape(struct text *out, const struct mesh *m)
{
	text_printf(out, "(");
	for (int i = 0; i < m->naxes; i++)
		text_printf(out, "%s%d", i ? ", " : "", (int)m->axis[i].size);
	text_printf(out, m->naxes == 1 ? ",)" : ")");
}

static void print_names(struct text *out, const struct mesh *m)
{
	text_printf(out, "(");
	for (int i = 0; i < m->naxes; i++)
		text_printf(out, "%s'%s'", i ? ", " : "", m->axis[i].name);
	text_printf(out, m->naxes == 1 ? ",)" : ")");
}

static void print_order(struct text *out, const struct automap_found *f)
{
	text_printf(out, "[");
	for (int32_t i = 0; i < f->mesh.ndevices; i++)
		text_printf(out, "%s%d", i ? ", " : "",
		            (int)(f->device ? f->device[i] : i));
	text_printf(out, "]");
}

/* Calls `print` for every argument with its name and layout. */
static void each(struct text *out, struct arena *a, const struct automap_show *s,
                 void (*print)(struct text *out, const struct mesh *m, const char *name,
                               int32_t argument, const struct layout *l,
                               const struct shape *shape))
{
	const struct graph *g = s->ask->graph;
	int32_t n = g->program->region.at[g->program->entry].param.n;
	int32_t *group = arena_alloc(a, (size_t)n + 1, sizeof(*group));

	for (int32_t i = 0; i < g->group.n; i++)
		for (int32_t k = 0; k < g->group.at[i].narguments; k++)
			group[g->argument.at[g->group.at[i].first_argument + k]] = i;
	for (int32_t v = 0; v < n; v++) {
		struct layout l = automap_group_layout(&s->answer->best, g, group[v]);
		const struct value_type *t = g->group.at[group[v]].type;
		struct span name = argument_name(g->program, v);
		struct shape shape = {.rank = t->rank};

		for (int i = 0; i < t->rank; i++)
			shape.dim[i] = t->dim[i];
		print(out, &s->answer->best.mesh,
		      arena_strndup(a, name.at, (size_t)name.length), v, &l, &shape);
	}
}

static void print_jax(struct text *out, const struct mesh *m, const char *name,
                      int32_t argument, const struct layout *l,
                      const struct shape *shape)
{
	(void)argument;
	text_printf(out, "    NamedSharding(mesh, ");
	layout_print(out, l, m, shape);
	text_printf(out, "),  # %s\n", name);
}

/* What no argument says: a constraint on arrays within the step. */
static void print_sums(struct text *out, struct arena *a, const struct automap_show *s,
                       const char *mark)
{
	const struct automap_found *f = &s->answer->best;
	int64_t n;
	const struct whole_values *whole =
		automap_whole_values(&n, a, f, s->ask->graph, true);

	for (int64_t i = 0; i < n; i++)
		text_printf(out,
		            "%s constrain what %s makes (%s) not to be cut along %s\n",
		            mark, whole[i].names, whole[i].what, whole[i].axis);
	for (int i = 0; i < f->cutting->naxes; i++)
		if (f->cutting->sums[i] >= 0)
			text_printf(
				out,
				"%s constrain arrays that are summed over %s to be cut "
				"along their dimension %d\n",
				mark, automap_axis(f, i), f->cutting->sums[i]);
	for (int i = 0; i < f->cutting->naxes; i++)
		if (f->cutting->experts >> i & 1)
			text_printf(out,
			            "%s constrain rows gathered for experts, and those "
			            "that "
			            "are added back, not to be cut along %s\n",
			            mark, automap_axis(f, i));
}

static bool emit_jax(struct text *out, struct arena *a, const struct automap_show *s,
                     struct text *why)
{
	const struct automap_found *f = &s->answer->best;

	(void)why;
	text_printf(out,
	            "# %s: pass in_shardings to jax.jit(step, in_shardings=...)\n"
	            "import jax\nimport numpy as np\n"
	            "from jax.sharding import Mesh, NamedSharding, "
	            "PartitionSpec as P\n\norder = ",
	            s->name);
	print_order(out, f);
	text_printf(out, "\nmesh = Mesh(np.array(jax.devices())[order].reshape");
	print_mesh_shape(out, &f->mesh);
	text_printf(out, ", ");
	print_names(out, &f->mesh);
	text_printf(out, ")\nin_shardings = (\n");
	each(out, a, s, print_jax);
	text_printf(out, ")\n");
	print_sums(out, a, s, "#");
	return true;
}

static void print_sdy(struct text *out, const struct mesh *m, const char *name,
                      int32_t argument, const struct layout *l,
                      const struct shape *shape)
{
	text_printf(out, "%%arg%d {sdy.sharding = #sdy.sharding<@mesh, ", (int)argument);
	layout_print_as(out, NOTATION_SHARDY, l, m, shape, NULL);
	text_printf(out, ">} // %s\n", name);
}

static bool emit_sdy(struct text *out, struct arena *a, const struct automap_show *s,
                     struct text *why)
{
	struct mesh mesh = s->answer->best.mesh;

	if (!program_is_hlo(s->ask->graph->program))
		return automap_annotate(out, a, s, why);
	if (s->answer->best.device)
		mesh.ids = s->answer->best.device;
	text_printf(out, "// %s: attributes of @main's arguments\n", s->name);
	put_sdy_mesh(out, &mesh, "mesh");
	each(out, a, s, print_sdy);
	print_sums(out, a, s, "//");
	return true;
}

/* Where PyTorch's order of shards is another than that of the mesh it is said in brackets. */
static void print_dtensor(struct text *out, const struct mesh *m, const char *name,
                          int32_t argument, const struct layout *l,
                          const struct shape *shape)
{
	(void)argument;
	(void)shape;
	text_printf(out, "    \"%s\": [", name);
	for (int axis = 0; axis < m->naxes; axis++) {
		int at = -1, split = 1, n;

		for (int d = 0; d < l->rank; d++) {
			const struct part *p = layout_parts(l, d, &n);

			for (int i = 0; i < n; i++) {
				if (p[i].axis == axis)
					at = d;
				for (int k = 0; k < i && p[i].axis == axis; k++)
					split *= p[k].axis > axis ? p[k].size : 1;
			}
		}
		text_printf(out, "%s", axis ? ", " : "");
		if (at < 0)
			text_printf(out, "Replicate()");
		else if (split > 1)
			text_printf(out, "_StridedShard(%d, split_factor=%d)", at,
			            split);
		else
			text_printf(out, "Shard(%d)", at);
	}
	text_printf(out, "],\n");
}

/* Returns whether a dimension of a tensor of an op has a factor. */
static bool has_factor(const struct graph *g, int32_t tensor, int dim, int factor)
{
	const struct graph_dim *d;

	if (g->tensor.at[tensor].first_dim < 0)
		return false;
	d = graph_dim_of(g, tensor, dim);
	for (int32_t i = 0; i < d->n; i++)
		if (g->factor_of.at[d->first + i] == factor)
			return true;
	return false;
}

/*
 * Returns the dimension of an argument along which an op of the forward pass that reads it runs in
 * parallel on an axis; -1: none does, and what is cut along the axis is gathered before it is used.
 */
static int parallel_dim(const struct automap_show *s, int32_t value, int axis)
{
	const struct graph *g = s->ask->graph;
	const struct graph_value *v = &g->value.at[value];

	for (int32_t i = 0; i < v->nusers; i++) {
		int32_t op = g->user.at[v->first_user + i];
		const struct graph_op *o = &g->op.at[op];
		int factor = cuts_at(&s->answer->best.cutting->op[op], axis);

		if (o->phase != PHASE_FORWARD || factor < 0)
			continue;
		for (int32_t t = o->first_tensor; t < o->first_tensor + o->nin; t++)
			for (int d = 0; d < v->type->rank; d++)
				if (g->tensor.at[t].value == value &&
				    has_factor(g, t, d, factor))
					return d;
	}
	return -1;
}

/*
 * Writes the styles of modules that multiply in parallel on an axis, a line each; `gathered`: whether
 * other parameters are kept in parts along it. Columns are the last dimension of a matrix here, and the
 * first one of torch.nn.Linear's.
 */
static void put_styles(struct text *out, const struct automap_show *s, int axis,
                       bool *gathered)
{
	const struct graph *g = s->ask->graph;
	const struct cutting *c = s->answer->best.cutting;

	for (int32_t i = 0; i < g->group.n; i++) {
		const struct graph_group *group = &g->group.at[i];
		int32_t value = g->member.at[group->first];
		int dim = cuts_at(&c->value[value], axis), at;

		if (group->role != ROLE_PARAMETER || dim < 0 ||
		    !strchr(group->name, '.'))
			continue;
		at = parallel_dim(s, value, axis);
		*gathered |= at < 0;
		if (group->type->rank != 2 || at != dim)
			continue;
		text_printf(out, "        \"%s\": %s(", group->name,
		            dim ? "ColwiseParallel" : "RowwiseParallel");
		if (c->sums[axis] >= 0)
			text_printf(out, "%s_layouts=Shard(%d)",
			            dim ? "input" : "output", c->sums[axis]);
		text_printf(out, "),\n");
	}
}

/*
 * A function that does the same to a model whose modules have the names of arguments. PyTorch wants what
 * multiplies in parallel to be said before what is kept in parts.
 */
static void put_modules(struct text *out, const struct automap_show *s)
{
	const struct automap_found *f = &s->answer->best;
	struct text plans = {0}, parts = {0};

	for (int axis = 0; axis < f->cutting->naxes; axis++) {
		const char *name = automap_axis(f, axis);
		struct text styles = {0};
		bool gathered = false;

		put_styles(&styles, s, axis, &gathered);
		if (styles.length)
			text_printf(&plans,
			            "    parallelize_module(model, mesh[\"%s\"], "
			            "{\n%s    })\n",
			            name, styles.s);
		if (gathered)
			text_printf(&parts, "%s\"%s\"", parts.length ? ", " : "", name);
		text_free(&styles);
	}
	if (plans.length || parts.length)
		text_printf(out, "\n\ndef parallelize(model):\n");
	if (plans.length)
		text_printf(out,
		            "    from torch.distributed.tensor.parallel import (\n"
		            "        ColwiseParallel, RowwiseParallel, "
		            "parallelize_module)\n%s",
		            plans.s);
	if (parts.length)
		text_printf(out,
		            "    from torch.distributed.fsdp import fully_shard\n"
		            "    fully_shard(model, mesh=mesh[%s])\n",
		            parts.s);
	if (plans.length || parts.length)
		text_printf(out, "    return model\n\n\n");
	text_free(&plans);
	text_free(&parts);
}

static bool emit_dtensor(struct text *out, struct arena *a,
                         const struct automap_show *s, struct text *why)
{
	const struct automap_found *f = &s->answer->best;
	struct text modules = {0};

	(void)why;
	put_modules(&modules, s);
	text_printf(
		out,
		"# %s: distribute_tensor(parameter, mesh, placements[name])%s\n"
		"import torch\nfrom torch.distributed.device_mesh import DeviceMesh\n"
		"from torch.distributed.tensor import Replicate, Shard\n"
		"from torch.distributed.tensor.placement_types import _StridedShard\n\n"
		"mesh = DeviceMesh(\"cuda\", torch.tensor(",
		s->name, modules.length ? ", or parallelize(model)" : "");
	print_order(out, f);
	text_printf(out, ").reshape");
	print_mesh_shape(out, &f->mesh);
	text_printf(out, ", mesh_dim_names=");
	print_names(out, &f->mesh);
	text_printf(out, ")\nplacements = {\n");
	each(out, a, s, print_dtensor);
	text_printf(out, "}\n");
	if (modules.length)
		text_printf(out, "%s", modules.s);
	text_free(&modules);
	print_sums(out, a, s, "#");
	return true;
}

bool automap_emit(struct text *out, struct arena *a, const char *kind,
                  const struct automap_show *s, struct text *why)
{
	static const struct {
		const char *name;
		bool (*emit)(struct text *, struct arena *, const struct automap_show *,
		             struct text *);
	} kinds[] = {{"annotate", automap_annotate},
	             {"jax", emit_jax},
	             {"sdy", emit_sdy},
	             {"dtensor", emit_dtensor}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, kind))
			return kinds[i].emit(out, a, s, why);
	return false;
}
