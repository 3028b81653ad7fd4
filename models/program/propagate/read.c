/* What a text says of shardings, in Shardy's spelling and in HLO's. */
#include "program/sharding.h"

#include "notation/notation.h"
#include "program/lex.h"

#include <stdlib.h>
#include <string.h>

struct reading {
	struct shardings *s;
	struct arena *a;
	struct program *p;
	struct error *e;
	int32_t line;
	const char *from; /* what is read, in the program's text */
	struct {
		const char *at; /* of a sharding in the program's text */
		char *text,
			*next; /* its plain text, item k of it; NULL: it is no list */
		int32_t k;
	} list;
	bool named; /* the text has a mesh, whose axes Shardy's texts name */
	bool *used; /* [values] */
};

static struct where place(const struct reading *r)
{
	return (struct where){r->p->file, (unsigned)r->line, 1, NULL};
}

/* The very place, which takes a walk through the text: for errors. */
static struct where exact_place(const struct reading *r)
{
	const struct where begin = {r->p->file, 1, 1, NULL};
	const struct scan s = scan_start(r->p->text, begin, r->e);
	struct where at = scan_where(&s, r->from);

	at.source = NULL;
	return at;
}

/* The text without comments and quotes around it, and `\22` and `\"` as quotes. */
static char *plain(struct arena *a, struct span s)
{
	char *out = arena_alloc(a, (size_t)s.length + 1, 1), *to = out;

	for (int32_t i = 0; i < s.length; i++) {
		if (s.at[i] == '\\' && i + 2 < s.length && !memcmp(s.at + i, "\\22", 3)) {
			*to++ = '"';
			i += 2;
		} else if (s.at[i] == '\\' && i + 1 < s.length && s.at[i + 1] == '"') {
			*to++ = s.at[++i];
		} else if (s.at[i] == '/' && i + 1 < s.length && s.at[i + 1] == '*') {
			while (i < s.length && (s.at[i] != '/' || s.at[i - 1] != '*'))
				i++;
		} else {
			*to++ = s.at[i];
		}
	}
	if (to - out > 1 && *out == '"' && to[-1] == '"') {
		to[-1] = 0;
		return out + 1;
	}
	return out;
}

/* The end of the item that begins at p: a comma or bracket that closes no other one. */
static char *item_end(char *p)
{
	int depth = 0;
	bool quoted = false;

	for (; *p; p++) {
		if (*p == '"')
			quoted = !quoted;
		if (quoted)
			continue;
		/* `<=` of device lists opens nothing. */
		if (strchr("[{(", *p) || (*p == '<' && p[1] != '='))
			depth++;
		if (strchr("]})>", *p) && --depth < 0)
			return p;
		if (*p == ',' && !depth)
			return p;
	}
	return p;
}

/* Where the list of one sharding per value begins, NULL where one is for all. */
static char *list_start(char *text)
{
	static const char each[] = "sharding_per_value<[";
	char *list = strstr(text, each);

	if (list)
		return list + sizeof(each) - 1;
	if (text[0] == '[' && text[1] == '<')
		return text + 1;
	return strncmp(text, "{{", 2) ? NULL : text + 1;
}

/*
 * What a text says of the result k of an op. It is asked of one result after another: the
 * list is gone through once.
 */
static char *text_of(struct reading *r, struct span s, int32_t k)
{
	char *end;

	if (s.at != r->list.at || k < r->list.k) {
		r->list.at = s.at;
		r->list.k = 0;
		r->list.text = plain(r->a, s);
		r->list.next = list_start(r->list.text);
	}
	if (!r->list.next)
		return r->list.text;
	for (; r->list.k < k; r->list.k++) {
		end = item_end(r->list.next);
		if (*end != ',')
			return NULL;
		r->list.next = end + 1;
	}
	while (*r->list.next == ' ')
		r->list.next++;
	end = item_end(r->list.next);
	return arena_strndup(r->a, r->list.next, (size_t)(end - r->list.next));
}

/* --- meshes --- */

/* Reads the one of the program's meshes whose axes are named. */
static enum status read_mesh(struct reading *r)
{
	const struct span *second, *mesh = shardings_mesh(r->p, &second);
	char *from;

	if (!mesh)
		return OK;
	r->named = true;
	if (second) {
		r->from = second->at;
		return error_set(
			r->e, E_INFEASIBLE, exact_place(r),
			"shardings name axes of this mesh and of %.*s, expected "
			"those of one mesh",
			(int)mesh_name_of(*mesh).length, mesh->at);
	}
	from = strstr(plain(r->a, *mesh), "<[");
	*item_end(from) = 0;
	r->from = mesh->at;
	return mesh_parse(&r->s->mesh, r->a, from, exact_place(r), r->e);
}

/* Without a mesh in the text the device list of most digits gives one. */
static void guess_mesh(struct reading *r)
{
	for (int64_t i = 0; i < r->p->op.n; i++) {
		struct span s = r->p->op.at[i].sharding;
		struct mesh mesh;
		char *text = s.at ? text_of(r, s, 0) : NULL;
		struct error none = {0};

		if (!text || strncmp(text, "{devices=", 9) || strstr(text, "manual") ||
		    hlo_mesh(&mesh, r->a, text, place(r), text, place(r), 0, &none) != OK)
			continue;
		if (mesh.ndevices > r->s->mesh.ndevices ||
		    (mesh.ndevices == r->s->mesh.ndevices &&
		     mesh.naxes > r->s->mesh.naxes))
			r->s->mesh = mesh;
	}
}

/* --- one sharding --- */

static bool add_part(struct axes *axes, struct part part)
{
	if (axes->n == AXES_MOST)
		return false;
	axes->at[axes->n++] = part;
	return true;
}

/* Axes behind `replicated=` or `unreduced=`. */
static enum status read_set(struct reading *r, const char *text, const char *key,
                            struct axes *out)
{
	const struct shape one = {1, {INT64_C(1) << 40}};
	const char *at = strstr(text, key), *close;
	struct layout l;
	const struct part *part;
	int n;

	if (!at || !(close = strchr(at, '}')))
		return OK;
	at += strlen(key);
	if (layout_parse(&l, &r->s->mesh, &one, r->a,
	                 arena_printf(r->a, "[%.*s]", (int)(close + 1 - at), at),
	                 place(r), r->e) != OK)
		return r->e->code;
	part = layout_parts(&l, 0, &n);
	for (int i = 0; i < n; i++)
		if (!add_part(out, part[i]))
			return error_set(r->e, E_RANGE, place(r), "more than %d axes",
			                 AXES_MOST);
	return OK;
}

/* Which dimensions are open, and priorities: `[{"x", ?}, {}p1]`; the layout has the axes. */
static void read_marks(struct sharding *s, const char *text)
{
	const char *p = strchr(text, '[');
	bool quoted = false;

	for (int32_t d = 0; p && *p && *p != ']' && d < s->type->rank; p++) {
		quoted ^= *p == '"';
		if (quoted)
			continue;
		if (*p == '?')
			s->dim[d].closed = false;
		if (*p != '}')
			continue;
		if (p[1] == 'p')
			s->dim[d].priority = (int32_t)strtol(p + 2, NULL, 10);
		d++;
	}
}

/* Dimensions of HLO's annotations that the compiler is to choose. */
static void read_unspecified(struct sharding *s, struct span config)
{
	const char *p = config.at ? memchr(config.at, '[', (size_t)config.length) : NULL;
	const char *end = config.at ? config.at + config.length : NULL;

	if (!p || !span_find(config, "unspecified_dims"))
		return;
	for (; p < end && *p != ']'; p++) {
		int64_t d = 0;

		if (*p < '0' || *p > '9')
			continue;
		for (; p < end && *p >= '0' && *p <= '9' && d < RANK_MAX; p++)
			d = d * 10 + (*p - '0');
		if (d < s->type->rank)
			s->dim[d].closed = false;
		p--;
	}
}

/* Texts that say something else than axes of the one mesh, and need another machinery. */
static bool beyond(struct reading *r, const char *text)
{
	const char *name = strchr(text, '@');
	bool sdy = strchr(text, '<') && name && name < text + 16;

	/* What is laid out by hand is laid out by who wrote it. */
	if (!strcmp(text, "{manual}"))
		return true;
	if (strstr(text, "manual") || strstr(text, "unknown") ||
	    strstr(text, "maximal") || strstr(text, "mesh<")) {
		program_warn(r->p, r->line, "'%.60s' is not handed on", text);
		return true;
	}
	if (!r->s->mesh.naxes && !sdy && strncmp(text, "{replicated", 11))
		return true;
	return false;
}

static enum status fill(struct reading *r, struct sharding *s, const struct layout *l,
                        const char *text)
{
	for (int32_t d = 0; d < s->type->rank; d++) {
		int n;
		const struct part *part = layout_parts(l, d, &n);

		s->dim[d] = (struct dim_sharding){.closed = true};
		for (int i = 0; i < n; i++)
			if (!add_part(&s->dim[d].axes, part[i]))
				return error_set(r->e, E_RANGE, place(r),
				                 "more than %d axes in a dimension",
				                 AXES_MOST);
	}
	s->given = true;
	s->anew = false;
	if (notation_detect(text) != NOTATION_SHARDY)
		return OK;
	read_marks(s, text);
	if (read_set(r, text, "replicated=", &s->replicated) != OK)
		return r->e->code;
	return read_set(r, text, "unreduced=", &s->unreduced);
}

static enum status read_one(struct reading *r, int32_t number, const char *text)
{
	struct sharding *s = &r->s->at[r->s->of[number]];
	struct shape shape = {.rank = s->type->rank};
	struct error wrong = {0};
	struct layout l;

	if (!text || s->given || s->type->rank > RANK_MAX)
		return OK;
	if (beyond(r, text)) {
		s->left = true;
		return OK;
	}
	for (int d = 0; d < shape.rank; d++)
		shape.dim[d] = s->type->dim[d] ? s->type->dim[d] : 1;
	if (layout_parse(&l, &r->s->mesh, &shape, r->a, text, place(r), &wrong) != OK)
		return layout_parse(&l, &r->s->mesh, &shape, r->a, text, exact_place(r),
		                    r->e);
	if (l.kind != LAYOUT_AXES) {
		program_warn(r->p, r->line, "no axes say '%.60s': it is not handed on",
		             text);
		s->left = true;
		return OK;
	}
	return fill(r, s, &l, text);
}

/* --- all of them --- */

/* Shardy's own text in `frontend_attributes`, else the op's sharding. */
static struct span said(const struct reading *r, const struct instruction *op)
{
	const char *p = r->named && op->frontend.at
	                        ? span_find(op->frontend, "xla.sdy.sharding")
	                        : NULL;
	const char *end = p ? op->frontend.at + op->frontend.length : NULL;
	const char *from;

	if (!p || !(from = memchr(p, '#', (size_t)(end - p))))
		return op->sharding;
	for (p = from; p < end && (*p != '"' || p[-1] == '\\'); p++)
		;
	return (struct span){from, (int32_t)(p - from)};
}

/* What a manual computation takes in and gives out. */
static enum status read_manual(struct reading *r, const struct instruction *op,
                               int32_t first)
{
	const struct manual_attr *manual = op->as.manual;

	r->line = op->line;
	for (int32_t k = 0; manual->in.at && k < op->noperands; k++) {
		r->from = manual->in.at;
		if (read_one(r, first + k, text_of(r, manual->in, k)) != OK)
			return r->e->code;
	}
	for (int32_t k = 0; manual->out.at && k < op->nvalues; k++) {
		r->from = manual->out.at;
		if (read_one(r, op->first_value + k, text_of(r, manual->out, k)) != OK)
			return r->e->code;
	}
	return OK;
}

static enum status read_op(struct reading *r, const struct instruction *op)
{
	struct span s = said(r, op);
	bool shown = op->code == HLO_SHARDING_CONSTRAINT || op->code == HLO_RESHARD;

	r->line = op->line;
	r->from = s.at;
	/* A bracket of another op of the name kind is no sharding: an index. */
	if (!s.at || op->code == HLO_TUPLE || (!shown && *s.at == '['))
		return OK;
	if (shown && *s.at != '<') {
		program_warn(r->p, op->line, "'%.*s' is not handed on",
		             s.length < 60 ? (int)s.length : 60, s.at);
		return OK;
	}
	/*
	 * A constraint whose result nobody uses says how its operand is sharded, unless each
	 * user has that made anew.
	 */
	if (shown && op->noperands && !r->used[op->first_value] &&
	    !r->s->at[r->s->of[op_operand(r->p, op, 0)]].anew) {
		r->s->at[r->s->of[op_operand(r->p, op, 0)]].given = false;
		if (read_one(r, op_operand(r->p, op, 0), text_of(r, s, 0)) != OK)
			return r->e->code;
	}
	for (int32_t k = 0; k < op->nvalues; k++) {
		if (read_one(r, op->first_value + k, text_of(r, s, k)) != OK)
			return r->e->code;
		if (op->code == HLO_CUSTOM_CALL)
			read_unspecified(&r->s->at[r->s->of[op->first_value + k]],
			                 op->as.custom->config);
	}
	return OK;
}

/* Results of the entry: as the function says, or the tuple that HLO's entry ends with. */
static enum status read_results(struct reading *r)
{
	const struct region *entry = &r->p->region.at[r->p->entry];
	const struct instruction *last =
		entry->nops ? &r->p->op.at[entry->op[entry->nops - 1]] : NULL;
	bool tuple = last && last->code == HLO_TUPLE && last->sharding.at &&
	             last->nvalues == entry->result.n;

	for (int32_t k = 0; k < entry->result.n; k++) {
		struct span s = {NULL, 0};

		r->line = entry->line;
		if (entry->result_sharding)
			s = entry->result_sharding[k];
		else if (tuple)
			s = last->sharding;
		r->from = s.at;
		if (s.at && read_one(r, (int32_t)r->p->value.n + k,
		                     text_of(r, s, tuple ? k : 0)) != OK)
			return r->e->code;
	}
	return OK;
}

/* The text says how many devices run it, in its head, and so do its shardings. */
static enum status check_devices(struct reading *r)
{
	const struct mesh *mesh = &r->s->mesh;

	if (!mesh->naxes || r->p->counted || mesh->ndevices == r->p->ndevices)
		return OK;
	if (mesh->ndevices > r->p->ndevices)
		return error_set(r->e, E_TYPE, place(r),
		                 "shardings over %d devices, expected at most %d, the "
		                 "partitions of the module",
		                 (int)mesh->ndevices, (int)r->p->ndevices);
	program_warn(
		r->p, 0,
		"the module is said to run on %d devices, and its mesh has %d: it is "
		"taken to run on these",
		(int)r->p->ndevices, (int)mesh->ndevices);
	return OK;
}

enum status shardings_read(struct shardings *out, struct arena *a, struct program *p,
                           struct error *e)
{
	struct reading r = {.s = out, .a = a, .p = p, .e = e, .line = 1, .from = p->text};

	r.used = arena_alloc(a, (size_t)p->value.n + 1, sizeof(*r.used));
	for (int64_t i = 0; i < p->operand.n; i++)
		r.used[p->operand.at[i]] = true;
	for (int64_t i = 0; i < p->region.n; i++)
		for (int32_t k = 0; k < p->region.at[i].result.n; k++)
			r.used[p->region.at[i].result.at[k]] = true;
	if (read_mesh(&r) != OK)
		return e->code;
	if (!out->mesh.naxes)
		guess_mesh(&r);
	if (!out->mesh.ndevices)
		out->mesh.ndevices = 1;
	if (check_devices(&r) != OK)
		return e->code;
	for (int64_t i = 0; i < p->op.n; i++)
		if ((out->manual[i] >= 0 ? read_manual(&r, &p->op.at[i], out->manual[i])
		                         : read_op(&r, &p->op.at[i])) != OK)
			return e->code;
	return read_results(&r);
}
