#include "emit/constraint.h"

#include "emit/mlir.h"
#include "notation/notation.h"
#include "notation/read.h"

#include <string.h>

/* What the lines are written from: layouts over the user's dimensions alone. */
struct writing {
	const struct constraints *of;
	struct array array;
	struct arena *arena;
	struct text *why;
};

/* Returns the layout without the first dimensions. */
static struct layout user_layout(const struct constraints *c, const struct layout *l)
{
	struct layout out = layout_replicated(l->rank - c->manual);

	for (int dim = 0; dim < out.rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim + c->manual, &n);

		for (int k = 0; k < n; k++)
			layout_append(&out, dim, part[k]);
	}
	return out;
}

static const char *mesh_name(const struct writing *w, const struct mesh *m)
{
	return m == &w->of->problem->mesh || mesh_equal(m, &w->of->problem->mesh)
	               ? "mesh"
	               : "to_mesh";
}

/* Returns whether the i-th constraint is the first on its mesh. */
static bool is_first(const struct constraints *c, int i)
{
	for (int k = 0; k < i; k++)
		if (mesh_equal(c->at[k].mesh, c->at[i].mesh))
			return false;
	return true;
}

static void print_sizes(struct text *out, const struct mesh *m)
{
	text_printf(out, "(");
	for (int i = 0; i < m->naxes; i++)
		text_printf(out, "%s%d", i ? ", " : "", m->axis[i].size);
	text_printf(out, "%s)", m->naxes == 1 ? "," : "");
}

static void print_names(struct text *out, const struct mesh *m)
{
	text_printf(out, "(");
	for (int i = 0; i < m->naxes; i++) {
		text_printf(out, "%s", i ? ", " : "");
		name_print(out, m->axis[i].name, '\'');
	}
	text_printf(out, "%s)", m->naxes == 1 ? "," : "");
}

/* --- JAX --------------------------------------------------------------------------- */

/* A mesh some of whose axes are cut into several, the first of which is first[axis]. */
struct cut_mesh {
	struct mesh mesh;
	int first[MESH_AXES_MAX + 1];
	bool any;
};

/* Where the parts of an axis begin and end, as products of the sizes before; rising. */
struct cuts {
	int n;
	int32_t at[3 * 2 * LAYOUT_PARTS_MAX + 2];
};

static void add_cut(struct cuts *c, int32_t at)
{
	int i = c->n;

	for (int k = 0; k < c->n; k++)
		if (c->at[k] == at)
			return;
	for (; i > 0 && c->at[i - 1] > at; i--)
		c->at[i] = c->at[i - 1];
	c->at[i] = at;
	c->n++;
}

/* Finds the cuts of an axis in all layouts on the mesh. */
static void find_cuts(struct cuts *out, const struct constraints *c,
                      const struct mesh *m, int axis)
{
	out->n = 0;
	add_cut(out, 1);
	add_cut(out, m->axis[axis].size);
	for (int i = 0; i < c->n; i++) {
		const struct layout *l = c->at[i].layout;
		int n = 0;

		for (int dim = 0; dim < l->rank && mesh_equal(c->at[i].mesh, m); dim++)
			n += l->nparts[dim];
		for (int k = 0; k < n; k++)
			if (l->part[k].axis == axis) {
				add_cut(out, l->part[k].pre);
				add_cut(out, l->part[k].pre * l->part[k].size);
			}
	}
}

static bool is_axis_name(const struct mesh *m, const char *name)
{
	return mesh_axis(m, name, strlen(name)) >= 0;
}

/* Adds part `i` of `n` of an axis, which has a name of its own unless it is all of it. */
static void add_axis(struct cut_mesh *out, const struct writing *w,
                     const struct mesh *m, struct axis axis, int i, int n)
{
	struct axis *part = &out->mesh.axis[out->mesh.naxes++];

	*part = axis;
	if (n == 1)
		return;
	out->any = true;
	part->name = arena_printf(w->arena, "%s_%d", axis.name, i);
	while (is_axis_name(m, part->name))
		part->name = arena_printf(w->arena, "%s_", part->name);
}

/* Cuts axes so that all layouts on the mesh are of whole ones; false where none do. */
static bool cut_axes(struct cut_mesh *out, const struct writing *w, const struct mesh *m)
{
	*out = (struct cut_mesh){.mesh = *m};
	out->mesh.naxes = 0;
	for (int axis = 0; axis < m->naxes; axis++) {
		struct axis part = m->axis[axis];
		struct cuts cuts;

		find_cuts(&cuts, w->of, m, axis);
		out->first[axis] = out->mesh.naxes;
		if (cuts.n == 1)
			add_axis(out, w, m, part, 0, 1);
		for (int i = 0; i + 1 < cuts.n; i++) {
			if (out->mesh.naxes == MESH_AXES_MAX ||
			    cuts.at[i + 1] % cuts.at[i])
				return false;
			part.size = cuts.at[i + 1] / cuts.at[i];
			add_axis(out, w, m, part, i, cuts.n - 1);
		}
	}
	out->first[m->naxes] = out->mesh.naxes;
	return true;
}

/* Returns a layout over the axes that were cut. */
static struct layout over_cut(const struct cut_mesh *cut, const struct layout *l)
{
	struct layout out = layout_replicated(l->rank);

	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++) {
			int32_t before = 1;

			for (int x = cut->first[part[k].axis];
			     x < cut->first[part[k].axis + 1]; x++) {
				int32_t size = cut->mesh.axis[x].size;

				if (before >= part[k].pre &&
				    before < part[k].pre * part[k].size)
					layout_append(&out, dim,
					              (struct part){x, 1, size});
				before *= size;
			}
		}
	}
	return out;
}

/* Prints the devices in the order of a mesh that the user does not have. */
static void print_devices(struct text *out, const struct mesh *m)
{
	text_printf(out, "np.array(jax.devices())");
	for (int32_t i = 0; m->ids && i < m->ndevices; i++)
		text_printf(out, "%s%d", i ? ", " : "[[", m->ids[i]);
	text_printf(out, "%s.reshape", m->ids ? "]]" : "");
}

/* Says which mesh the lines are over, if it is none that the user has. */
static void define_jax_mesh(struct text *out, const struct writing *w,
                            const struct mesh *m, const struct cut_mesh *cut)
{
	const char *name = mesh_name(w, m);

	if (!cut->any && !w->of->names_mesh)
		return;
	text_printf(out, "%s%s = Mesh(", cut->any ? "cut_" : "", name);
	if (w->of->names_mesh)
		print_devices(out, m);
	else
		text_printf(out, "%s.devices.reshape", name);
	print_sizes(out, &cut->mesh);
	text_printf(out, ", ");
	print_names(out, &cut->mesh);
	text_printf(out, ")\n");
}

/* Says which axes the manual region is over. */
static void note_region(struct text *out, const struct constraints *c,
                        const struct constraint *at)
{
	text_printf(out, "  # inside the shard_map over");
	for (int dim = 0; dim < c->manual; dim++) {
		int n;
		const struct part *part = layout_parts(at->layout, dim, &n);

		for (int k = 0; k < n; k++) {
			text_printf(out, "%s", k ? ", " : " ");
			part_print(out, at->mesh, part[k]);
		}
	}
}

static bool print_jax(struct text *out, const struct writing *w)
{
	const struct constraints *c = w->of;

	for (int i = 0; i < c->n; i++) {
		struct layout l = user_layout(c, c->at[i].layout), over;
		struct cut_mesh cut;

		if (!cut_axes(&cut, w, c->at[i].mesh)) {
			text_printf(w->why, "no axes have all these sub-axes");
			return false;
		}
		if (is_first(c, i))
			define_jax_mesh(out, w, c->at[i].mesh, &cut);
		over = over_cut(&cut, &l);
		text_printf(out, "x = jax.lax.with_sharding_constraint(x, ");
		if (!c->manual)
			text_printf(out, "NamedSharding(%s%s, ", cut.any ? "cut_" : "",
			            mesh_name(w, c->at[i].mesh));
		if (!layout_print_as(out, NOTATION_JAX, &over, &cut.mesh,
		                     &w->array.shape, w->why))
			return false;
		text_printf(out, c->manual ? ")" : "))");
		if (c->manual)
			note_region(out, c, &c->at[i]);
		text_printf(out, "\n");
	}
	return true;
}

/* --- Shardy ------------------------------------------------------------------------ */

/* Prints an element type as MLIR has it: i32, ui8, f8E4M3FN, complex<f32>. */
static void print_mlir_type(struct text *out, const struct dtype *d)
{
	const char *name = d->name;
	size_t length = strlen(name);

	if (strcmp(name, "pred") == 0) {
		text_printf(out, "i1");
	} else if (name[0] == 's' || name[0] == 'u') {
		text_printf(out, "%si%d", name[0] == 'u' ? "u" : "", d->bits);
	} else if (name[0] == 'c') {
		text_printf(out, "complex<f%d>", d->bits / 2);
	} else if (name[0] == 'f' && length > 4) {
		/* f8e4m3fn: all letters behind the size are capitals */
		text_printf(out, "f");
		for (const char *p = name + 1; *p; p++)
			text_printf(out, "%c",
			            *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
	} else {
		text_printf(out, "%s", name);
	}
}

static bool print_sdy(struct text *out, const struct writing *w)
{
	const struct constraints *c = w->of;
	const struct shape *shape = &w->array.shape;

	for (int i = 0; i < c->n; i++)
		if (is_first(c, i))
			put_sdy_mesh(out, c->at[i].mesh, mesh_name(w, c->at[i].mesh));
	for (int i = 0; i < c->n; i++) {
		struct layout l = user_layout(c, c->at[i].layout);

		text_printf(out, "%%%d = sdy.sharding_constraint %%%d <@%s, ", i + 1, i,
		            mesh_name(w, c->at[i].mesh));
		if (!layout_print_as(out, NOTATION_SHARDY, &l, c->at[i].mesh, shape,
		                     w->why))
			return false;
		text_printf(out, "> : tensor<");
		for (int dim = 0; dim < shape->rank; dim++)
			text_printf(out, "%lldx", (long long)shape->dim[dim]);
		print_mlir_type(out, w->array.dtype);
		text_printf(out, ">\n");
	}
	return true;
}

/* --- HLO --------------------------------------------------------------------------- */

/* Puts the manual groups, the first dimension of the list, behind those of the array. */
static struct layout groups_last(const struct tiling *t, struct arena *a)
{
	struct tiling last = {
		.rank = t->rank, .replicas = t->replicas, .ndevices = t->ndevices};
	int32_t groups = t->tiles[0], inside = t->ndevices / groups / t->replicas;
	int32_t *ids = arena_alloc(a, (size_t)t->ndevices, sizeof(*ids));

	memcpy(last.tiles, t->tiles + 1, (size_t)(t->rank - 1) * sizeof(*last.tiles));
	last.tiles[t->rank - 1] = groups;
	for (int32_t k = 0; k < t->ndevices; k++) {
		int32_t replica = k % t->replicas, tile = k / t->replicas % inside;
		int32_t group = k / t->replicas / inside;

		ids[(tile * groups + group) * t->replicas + replica] = t->ids[k];
	}
	last.ids = ids;
	return layout_of_tiling(&last, a);
}

static bool print_hlo(struct text *out, const struct writing *w)
{
	static const char replicated[] = " last_tile_dim_replicate}";
	const struct constraints *c = w->of;

	for (int i = 0; i < c->n; i++) {
		const struct layout *l = c->at[i].layout;
		struct layout led;
		size_t end;

		if (c->manual)
			led = groups_last(layout_tiling(l, c->at[i].mesh, w->arena),
			                  w->arena);
		text_printf(out, "sharding=");
		if (!layout_print_as(out, NOTATION_HLO, c->manual ? &led : l,
		                     c->at[i].mesh, &c->problem->array.shape, w->why))
			return false;
		if (c->manual) {
			bool copies = led.tiling->replicas > 1;

			end = out->length - (copies ? sizeof(replicated) - 1 : 1);
			out->length = end;
			text_printf(out, " last_tile_dims={manual%s}}",
			            copies ? ", replicated" : "");
		}
		text_printf(out, "\n");
	}
	return true;
}

/* --- DTensor ----------------------------------------------------------------------- */

static bool print_dtensor(struct text *out, const struct writing *w)
{
	const struct constraints *c = w->of;

	if (c->manual) {
		text_printf(w->why, "PyTorch has no manual regions");
		return false;
	}
	if (c->problem->two_meshes) {
		text_printf(w->why, "DTensor redistributes within one mesh only");
		return false;
	}
	for (int i = 0; i < c->n; i++) {
		const struct mesh *m = c->at[i].mesh;
		struct text placements = {0};

		if (is_first(c, i) && c->names_mesh) {
			text_printf(out, "%s = init_device_mesh('cuda', ",
			            mesh_name(w, m));
			print_sizes(out, m);
			text_printf(out, ", mesh_dim_names=");
			print_names(out, m);
			text_printf(out, ")\n");
		}
		if (!layout_print_as(&placements, NOTATION_DTENSOR, c->at[i].layout, m,
		                     &c->problem->array.shape, w->why)) {
			text_free(&placements);
			return false;
		}
		/* Only lists are Python; the other form tells orders that lists do not. */
		if (placements.s[0] != '[') {
			text_printf(w->why,
			            "placements list no mesh dimensions in another "
			            "order than the mesh's, as %s has them",
			            placements.s);
			text_free(&placements);
			return false;
		}
		text_printf(out, "x = x.redistribute(%s, %s)\n", mesh_name(w, m),
		            placements.s);
		text_free(&placements);
	}
	return true;
}

/* ----------------------------------------------------------------------------------- */

static const struct {
	const char *name, *title;
	bool (*print)(struct text *out, const struct writing *w);
} forms[CONSTRAINT_FORMS] = {
	[CONSTRAINT_JAX] = {"jax", "JAX", print_jax},
	[CONSTRAINT_SDY] = {"sdy", "Shardy", print_sdy},
	[CONSTRAINT_HLO] = {"hlo", "HLO", print_hlo},
	[CONSTRAINT_DTENSOR] = {"dtensor", "DTensor", print_dtensor},
};

const char *constraint_form_name(enum constraint_form form)
{
	return forms[form].name;
}

const char *constraint_form_title(enum constraint_form form)
{
	return forms[form].title;
}

bool constraints_print(struct text *out, enum constraint_form form,
                       const struct constraints *c, struct text *why)
{
	struct writing w = {.of = c, .array = c->problem->array, .why = why};
	struct text lines = {0};
	bool done;

	w.arena = arena_new();
	w.array.shape.rank -= c->manual;
	for (int dim = 0; dim < w.array.shape.rank; dim++)
		w.array.shape.dim[dim] = c->problem->array.shape.dim[dim + c->manual];
	done = forms[form].print(&lines, &w);
	if (done && lines.length)
		text_append(out, lines.s, lines.length);
	text_free(&lines);
	arena_free(w.arena);
	return done;
}
