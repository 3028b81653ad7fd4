#include "program/annotate.h"

#include "emit/mlir.h"
#include "notation/notation.h"
#include "program/lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A part of the text that another one takes the place of. */
struct edit {
	const char *at;
	int32_t gone;
	const char *text;
	int32_t order; /* of edits at one place */
};

struct annotating {
	struct arena *a;
	const struct program *p;
	const struct shardings *s;
	const char *mesh;   /* "@mesh" of MLIR */
	const char *prefix; /* of the names of constraints */
	LIST(struct edit) edit;
	int32_t constraints;
	int32_t unsaid;    /* values whose shardings could not be written */
	bool *used;        /* [values] */
	bool *constrained; /* [values]: a constraint of the text says their sharding */
};

bool program_is_hlo(const struct program *p)
{
	const char *at = strstr(p->text, "HloModule");

	return at && (at == p->text || at[-1] == '\n');
}

static void add_edit(struct annotating *w, const char *at, int32_t gone,
                     const char *text)
{
	*list_add(&w->edit, w->a) = (struct edit){at, gone, text, (int32_t)w->edit.n};
}

static int by_place(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	if (x->at != y->at)
		return (x->at > y->at) - (x->at < y->at);
	return x->order - y->order;
}

static void apply(struct text *out, struct annotating *w)
{
	const char *from = w->p->text;

	if (w->edit.n)
		qsort(w->edit.at, (size_t)w->edit.n, sizeof(*w->edit.at), by_place);
	for (int64_t i = 0; i < w->edit.n; i++) {
		const struct edit *e = &w->edit.at[i];

		text_printf(out, "%.*s%s", (int)(e->at - from), from, e->text);
		from = e->at + e->gone;
	}
	text_printf(out, "%s", from);
}

/* The byte behind the last one of a part that is neither blank nor in a comment. */
static const char *last_of(struct span part)
{
	struct error e = {0};
	struct scan s = scan_start(part.at, (struct where){0}, &e);
	const char *last = part.at;
	struct span text;

	while (lex_peek(&s) && s.pos < span_end(part)) {
		if ((*s.pos != '"' && *s.pos != '\'') || !lex_quoted(&s, &text))
			s.pos++;
		last = s.pos;
	}
	return last;
}

static const struct sharding *sharding_of(const struct annotating *w, int32_t value)
{
	return &w->s->at[w->s->of[value]];
}

/*
 * What is to be said of a value: scalars and what is made anew are left out, and what the text says
 * that nobody understood.
 */
static bool is_said(const struct annotating *w, int32_t value)
{
	const struct sharding *s = sharding_of(w, value);

	return s->type->rank > 0 && s->type->rank <= RANK_MAX && !s->anew && !s->left;
}

static const char *sharding_text(const struct annotating *w, int32_t value,
                                 enum notation n)
{
	const struct value_type *t = sharding_of(w, value)->type;
	struct layout l = shardings_value(w->s, value);
	struct shape shape = {.rank = l.rank};
	struct text out = {0}, why = {0};

	for (int d = 0; d < l.rank; d++)
		shape.dim[d] = t->dim[d] ? t->dim[d] : 1;
	if (!layout_print_as(&out, n, &l, &w->s->mesh, &shape, &why)) {
		text_free(&why);
		text_free(&out);
		return NULL;
	}
	return text_take(&out, w->a);
}

/* Ops that have values of their own, and stand in code that runs. */
static bool has_own(const struct annotating *w, const struct instruction *op)
{
	bool any = false;

	if (!op->nvalues || op->code == HLO_TUPLE || op->code == HLO_GET_TUPLE_ELEMENT ||
	    op->region < 0 || w->p->region.at[op->region].kind != REGION_CODE ||
	    w->p->value.at[op->first_value].same != op->first_value)
		return false;
	for (int32_t k = 0; k < op->nvalues; k++)
		any |= is_said(w, op->first_value + k);
	return any;
}

/* --- HLO --- */

/* The shardings of n values from the first on; NULL: HLO cannot say one of them. */
static const char *hlo_list(const struct annotating *w, int32_t first, int32_t n,
                            bool tuple)
{
	struct text out = {0};

	if (tuple)
		text_printf(&out, "{");
	for (int32_t v = first; v < first + n; v++) {
		const char *one = is_said(w, v) ? sharding_text(w, v, NOTATION_HLO)
		                                : "{replicated}";

		if (!one) {
			text_free(&out);
			return NULL;
		}
		text_printf(&out, "%s%s", v > first ? ", " : "", one);
	}
	if (tuple)
		text_printf(&out, "}");
	return text_take(&out, w->a);
}

/* Says it of n values that the op makes; of all or, where one of them is left as it is, of none. */
static void put_hlo(struct annotating *w, const struct instruction *op, int32_t first,
                    int32_t n, bool tuple)
{
	const char *said = hlo_list(w, first, n, tuple);

	for (int32_t v = first; v < first + n; v++)
		if (sharding_of(w, v)->left)
			return;
	if (!said)
		w->unsaid += n;
	else if (op->sharding.at)
		add_edit(w, op->sharding.at, op->sharding.length, said);
	else
		add_edit(w, last_of(op->written), 0,
		         arena_printf(w->a, ", sharding=%s", said));
}

/* The shardings of results are those of the tuple that the entry ends with. */
static void annotate_hlo_results(struct annotating *w)
{
	const struct region *entry = &w->p->region.at[w->p->entry];
	const struct instruction *last =
		entry->nops ? &w->p->op.at[entry->op[entry->nops - 1]] : NULL;
	int32_t first = (int32_t)w->p->value.n, n = entry->result.n;
	bool any = false;

	for (int32_t k = 0; k < n; k++)
		any |= is_said(w, first + k);
	if (any && last->code == HLO_TUPLE && last->nvalues == n)
		put_hlo(w, last, first, n, true);
}

static void annotate_hlo(struct annotating *w)
{
	for (int64_t i = 0; i < w->p->op.n; i++) {
		const struct instruction *op = &w->p->op.at[i];

		if (has_own(w, op))
			put_hlo(w, op, op->first_value, op->nvalues, op->nvalues > 1);
	}
	annotate_hlo_results(w);
}

/* --- MLIR --- */

static const char *sdy_text(const struct annotating *w, int32_t value)
{
	const char *dims = sharding_text(w, value, NOTATION_SHARDY);

	/* With axes that are unreduced it is whole, of a mesh of another name. */
	if (dims && *dims == '#')
		return arena_printf(w->a, "<%s%s", w->mesh, strchr(dims, ','));
	return dims ? arena_printf(w->a, "<%s, %s>", w->mesh, dims) : NULL;
}

/* Says it in a dictionary `{..}`, which may be none yet; `old` is what it says of it. */
static void put_attribute(struct annotating *w, struct span dict, struct span old,
                          int32_t value)
{
	bool quoted = old.at && *old.at == '"'; /* mhlo.sharding, in HLO's words */
	const char *said =
		quoted ? sharding_text(w, value, NOTATION_HLO) : sdy_text(w, value);
	struct span inner = {dict.at + 1, dict.length - 2};

	if (!said)
		w->unsaid++;
	else if (old.at)
		add_edit(w, old.at, old.length,
		         arena_printf(w->a, quoted ? "\"%s\"" : "#sdy.sharding%s", said));
	else if (dict.length)
		add_edit(w, dict.at + 1, 0,
		         arena_printf(w->a, "sdy.sharding = #sdy.sharding%s%s", said,
		                      last_of(inner) > inner.at ? ", " : ""));
	else
		add_edit(w, dict.at, 0,
		         arena_printf(w->a, " {sdy.sharding = #sdy.sharding%s}", said));
}

/* The shardings of the entry's results, in the dictionaries behind their types. */
static void annotate_entry_results(struct annotating *w)
{
	const struct region *r = &w->p->region.at[w->p->entry];
	int32_t first = (int32_t)w->p->value.n;

	if (r->result_type.at && r->result.n == 1 && is_said(w, first)) {
		const char *end = r->result_type.at + r->result_type.length;

		add_edit(w, r->result_type.at, 0, "(");
		put_attribute(w, (struct span){end, 0}, (struct span){NULL, 0}, first);
		add_edit(w, end, 0, ")");
	}
	for (int32_t k = 0; r->result_written && k < r->result.n; k++)
		if (is_said(w, first + k))
			put_attribute(w, r->result_written[k], r->result_sharding[k],
			              first + k);
}

static const char *line_start(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

/*
 * The name of result k of an op: `%0#1` of `%0:2 =`, `%b` of `%a, %b =`. NULL: it has none, as what
 * a loop hands on of the values around it, and parts of tuples.
 */
static const char *result_name(const struct annotating *w, const struct instruction *op,
                               int32_t k)
{
	const char *at = op->written.at, *end;

	while (*at == '%') {
		char *next;
		int32_t n;

		end = at + 1 + (at[1] == '"' ? 1 + strcspn(at + 2, "\"") + 1 : 0);
		while (isalnum((unsigned char)*end) || (*end && strchr("_$.-", *end)))
			end++;
		n = *end == ':' ? (int32_t)strtol(end + 1, &next, 10) : 1;
		if (k < n && *end == ':')
			return arena_printf(w->a, "%.*s#%d", (int)(end - at), at,
			                    (int)k);
		if (k < n && at == op->written.at && op->nvalues > 1 &&
		    op->code != HLO_WHILE && end[strspn(end, " \t\r\n")] == '=')
			return NULL;
		if (k < n)
			return arena_strndup(w->a, at, (size_t)(end - at));
		k -= n;
		at = *end == ':' ? next : end;
		at += strspn(at, " \t\r\n");
		at += *at == ',';
		at += strspn(at, " \t\r\n");
	}
	return NULL;
}

/* In a line of its own behind the op's; where something else ends that line right behind the op. */
static void put_behind(struct annotating *w, const struct instruction *op,
                       const char *line)
{
	const char *at = last_of(op->written), *rest = at + strspn(at, " \t\r");

	if (!strncmp(rest, "//", 2))
		rest += strcspn(rest, "\n");
	if (*rest == '\n')
		add_edit(w, rest + 1, 0, arena_printf(w->a, "%s\n", line));
	else
		add_edit(w, at, 0, arena_printf(w->a, "\n%s", line));
}

static void annotate_results(struct annotating *w, const struct instruction *op)
{
	const char *type, *zero;

	for (int32_t k = 0; k < op->nvalues; k++) {
		int32_t v = op->first_value + k;
		const char *said = is_said(w, v) ? sdy_text(w, v) : NULL;
		const char *name = result_name(w, op, k);
		const struct value_type *t = &w->p->value.at[v].type;
		struct text line = {0};
		struct shape shape = {.rank = t->rank};

		/* What a loop has beyond its names are values around it, which have theirs. */
		w->unsaid += is_said(w, v) && (!said || !name) && op->code != HLO_WHILE;
		if (!said || !name || w->constrained[v])
			continue;
		for (int d = 0; d < t->rank; d++)
			shape.dim[d] = t->dim[d];
		mlir_type(&type, &zero, t->dtype);
		text_printf(&line,
		            "    %s%d = sdy.sharding_constraint %s %s : ", w->prefix,
		            (int)w->constraints++, name, said);
		put_tensor(&line, type, &shape);
		put_behind(w, op, text_take(&line, w->a));
	}
}

/* The value whose sharding a constraint says: its result or, where nobody uses that, its operand. */
static int32_t constrained(const struct annotating *w, const struct instruction *op)
{
	return w->used[op->first_value] ? op->first_value : op_operand(w->p, op, 0);
}

static void note_used(struct annotating *w)
{
	const struct program *p = w->p;

	w->used = arena_alloc(w->a, (size_t)p->value.n + 1, sizeof(*w->used));
	w->constrained =
		arena_alloc(w->a, (size_t)p->value.n + 1, sizeof(*w->constrained));
	for (int64_t i = 0; i < p->operand.n; i++)
		w->used[p->operand.at[i]] = true;
	for (int64_t i = 0; i < p->region.n; i++)
		for (int32_t k = 0; k < p->region.at[i].result.n; k++)
			w->used[p->region.at[i].result.at[k]] = true;
	for (int64_t i = 0; i < p->op.n; i++)
		if (p->op.at[i].code == HLO_SHARDING_CONSTRAINT && p->op.at[i].noperands)
			w->constrained[constrained(w, &p->op.at[i])] = true;
}

/* A constraint says the new sharding in its old one's place. */
static void annotate_constraint(struct annotating *w, const struct instruction *op)
{
	int32_t v = constrained(w, op);
	const char *said = is_said(w, v) ? sdy_text(w, v) : NULL;

	if (said && op->sharding.at && *op->sharding.at == '<')
		add_edit(w, op->sharding.at, op->sharding.length, said);
}

static void annotate_mlir(struct annotating *w)
{
	note_used(w);
	w->prefix = "%constraint";
	while (strstr(w->p->text, w->prefix))
		w->prefix = arena_printf(w->a, "%s_", w->prefix);
	for (int64_t n = 0; n < w->p->region.n; n++) {
		const struct region *r = &w->p->region.at[n];

		for (int32_t i = 0; i < r->nops; i++) {
			const struct instruction *op = &w->p->op.at[r->op[i]];

			if (op->code == HLO_SHARDING_CONSTRAINT && op->noperands)
				annotate_constraint(w, op);
			else if (!has_own(w, op) || !op->name.length)
				continue;
			else if (op->code != HLO_PARAMETER)
				annotate_results(w, op);
			else if (r->name.length)
				put_attribute(w, op->written, op->sharding,
				              op->first_value);
		}
	}
	annotate_entry_results(w);
}

/* Takes the mesh of the text as that which constraints name. */
static bool take_mesh(struct annotating *w, const struct span *s, struct text *why)
{
	const char *text = arena_strndup(w->a, s->at, (size_t)s->length);
	struct error e = {0};
	struct mesh mesh;

	w->mesh = arena_strndup(w->a, s->at, (size_t)mesh_name_of(*s).length);
	if (mesh_parse(&mesh, w->a, strchr(text, '<'), (struct where){0}, &e) == OK &&
	    mesh_equal(&mesh, &w->s->mesh))
		return true;
	text_printf(why, "the text has another mesh, %.*s", (int)s->length, s->at);
	return false;
}

/* Finds the mesh that constraints name, or puts it in front of the entry. */
static bool name_mesh(struct annotating *w, struct text *why)
{
	const struct span *second, *found = shardings_mesh(w->p, &second);
	const char *entry = w->p->region.at[w->p->entry].name.at;
	struct text line = {0};

	if (found)
		return take_mesh(w, found, why);
	if (!w->s->mesh.naxes || !entry) {
		text_printf(why,
		            "the text has no sdy.mesh whose axes constraints could "
		            "name");
		return false;
	}
	w->mesh = "@mesh";
	text_printf(&line, "  ");
	put_sdy_mesh(&line, &w->s->mesh, "mesh");
	add_edit(w, line_start(w->p->text, entry), 0, text_take(&line, w->a));
	return true;
}

bool program_annotate(struct text *out, struct arena *a, const struct program *p,
                      const struct shardings *s, struct text *why)
{
	struct annotating w = {.a = a, .p = p, .s = s};

	if (p->stage != STAGE_ANNOTATED && p->ndevices > 1) {
		text_printf(why,
		            "the program is %s: its arrays are those of one device, "
		            "expected one that is not partitioned yet",
		            stage_name(p->stage));
		return false;
	}
	if (program_is_hlo(p)) {
		annotate_hlo(&w);
	} else {
		if (!name_mesh(&w, why))
			return false;
		annotate_mlir(&w);
	}
	apply(out, &w);
	if (w.unsaid)
		text_printf(why,
		            "of %d %s the text has no place for a sharding: nothing is "
		            "said of %s",
		            (int)w.unsaid, w.unsaid > 1 ? "values" : "value",
		            w.unsaid > 1 ? "them" : "it");
	return true;
}
