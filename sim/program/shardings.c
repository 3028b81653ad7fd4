#include "program/shardings.h"

#include "notation/notation.h"
#include "program/rows.h"
#include "text/columns.h"

/* The rows of one kind: those behind the most are counted. */
struct listing {
	struct columns table;
	struct arena *a;
	const struct program *p;
	const struct shardings *s;
	int64_t most, shown, left;
};

static void list_sharding(struct listing *l, const char *kind, const char *name,
                          int32_t number, struct span source)
{
	const struct sharding *s = &l->s->at[l->s->of[number]];
	struct layout layout = sharding_layout(s);
	struct shape shape = {.rank = s->type->rank};
	struct text type = {0}, spec = {0};

	if (l->shown++ >= l->most) {
		l->left++;
		return;
	}
	text_printf(&type, "%s[", s->type->dtype->name);
	for (int32_t d = 0; d < s->type->rank; d++) {
		text_printf(&type, "%s%lld", d ? "," : "", (long long)s->type->dim[d]);
		if (d < layout.rank)
			shape.dim[d] = s->type->dim[d];
	}
	text_printf(&type, "]");
	shape.rank = layout.rank;
	layout_print(&spec, &layout, &l->s->mesh, &shape);
	const char *cells[] = {kind,
	                       name,
	                       text_take(&type, l->a),
	                       text_take(&spec, l->a),
	                       s->given ? "given" : "",
	                       arena_strndup(l->a, source.length ? source.at : "",
	                                     (size_t)source.length)};

	columns_row(&l->table, cells);
}

static const char *name_of(struct arena *a, struct span name)
{
	return arena_strndup(a, name.length ? name.at : "", (size_t)name.length);
}

static void add_dots(struct listing *l)
{
	for (int64_t i = 0; i < l->p->op.n; i++) {
		const struct instruction *op = &l->p->op.at[i];

		if (op->code == HLO_DOT)
			list_sharding(l, "dot", name_of(l->a, op->name),
			              op->first_value, op_source_name(l->p, op));
	}
}

void program_show_shardings(struct text *out, struct arena *a, const struct program *p,
                            const struct shardings *s, int64_t most)
{
	static const char *const head[] = {"kind",   "name", "type",
	                                   "layout", "",     "what"};
	const struct region *entry = &p->region.at[p->entry];
	struct listing l = {.a = a, .p = p, .s = s, .most = most};

	if (p->name.length)
		text_printf(out, "%.*s: ", (int)p->name.length, p->name.at);
	text_printf(out, "mesh ");
	mesh_print(out, &s->mesh);
	text_printf(out, "%s\n", s->mesh.naxes ? "" : "of one device");
	columns_start(&l.table, a, 6, 6);
	columns_row(&l.table, head);
	for (int32_t i = 0; i < entry->param.n; i++) {
		const struct instruction *op =
			&p->op.at[p->value.at[entry->param.at[i]].op];

		list_sharding(&l, "argument", name_of(a, op->name), entry->param.at[i],
		              op->op_name);
	}
	l.shown = 0;
	add_dots(&l);
	l.shown = 0;
	for (int32_t i = 0; i < entry->result.n; i++)
		list_sharding(
			&l, "result", arena_printf(a, "%d", (int)i),
			(int32_t)p->value.n + i,
			op_source_name(p,
		                       &p->op.at[p->value.at[entry->result.at[i]].op]));
	columns_print(out, &l.table, 2);
	if (l.left)
		text_printf(out, "  and %lld more\n", (long long)l.left);
}
