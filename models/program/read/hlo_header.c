/* What stands before the computations of HLO's text: a header, tables of places in the source. */
#include "program/read/hlo.h"

#include <string.h>

struct header {
	struct build *b;
	struct hlo_header *h;
};

/* --- header --- */

/* Reads `{}`, `{3}`, `{3,1}`. */
static bool read_path(struct build *b, int64_t path[2])
{
	struct ints at;

	if (!lex_ints(&b->s, b->a, "{", "}", &at))
		return false;
	path[0] = at.n > 0 ? at.at[0] : -1;
	path[1] = at.n > 1 ? at.at[1] : 0;
	return true;
}

/* Reads `(0, {}, may-alias)` behind the path of a result, or `(0, {})` of a donor. */
static bool read_buffer(struct header *r, struct alias_path *path)
{
	struct build *b = r->b;
	int64_t inside[2];
	struct span kind;

	path->pos = b->s.pos;
	if (!lex_expect(&b->s, "(") ||
	    !lex_int(&b->s, "a parameter", 0, INT32_MAX, &path->parameter[0]) ||
	    !lex_expect(&b->s, ",") || !read_path(b, inside))
		return false;
	path->parameter[1] = inside[0] < 0 ? 0 : inside[0];
	if (lex_take(&b->s, ",") && !lex_name(&b->s, "", &kind)) {
		scan_fail(&b->s, E_SYNTAX, "expected may-alias or must-alias");
		return false;
	}
	if (!lex_expect(&b->s, ")"))
		return false;
	*list_add(&r->h->alias, b->a) = *path;
	return true;
}

static bool read_aliases(struct header *r, bool donors)
{
	struct build *b = r->b;
	bool first = true;

	if (!lex_expect(&b->s, "{"))
		return false;
	while (!lex_take(&b->s, "}")) {
		struct alias_path path = {.result = {-1, 0}};

		if (!first && !lex_expect(&b->s, ","))
			return false;
		if (!donors && (!read_path(b, path.result) || !lex_expect(&b->s, ":")))
			return false;
		if (!donors && path.result[0] < 0)
			path.result[0] = 0;
		if (!read_buffer(r, &path))
			return false;
		first = false;
	}
	return true;
}

static bool read_count(struct build *b, int32_t *out)
{
	int64_t n;

	if (!lex_int(&b->s, "a number of devices", 1, MESH_DEVICES_MAX, &n))
		return false;
	*out = (int32_t)n;
	return true;
}

static bool read_header_attr(struct header *r, struct span key)
{
	struct build *b = r->b;
	struct span value;

	if (span_is(key, "input_output_alias"))
		return read_aliases(r, false);
	if (span_is(key, "buffer_donor"))
		return read_aliases(r, true);
	if (span_is(key, "num_partitions"))
		return read_count(b, &b->p->partitions);
	if (span_is(key, "replica_count"))
		return read_count(b, &b->p->replicas);
	if (!lex_value(&b->s, &value))
		return false;
	if (span_is(key, "is_scheduled"))
		b->p->scheduled = span_is(value, "true");
	if (span_is(key, "frontend_attributes") && span_find(value, "sdy.meshes"))
		*list_add(&b->p->mesh, b->a) = value;
	return true;
}

static bool read_header(struct header *r)
{
	struct build *b = r->b;
	struct span key;

	if (!lex_word(&b->s, "HloModule")) {
		scan_fail(&b->s, E_SYNTAX, "expected 'HloModule' or 'module'");
		return false;
	}
	if (!lex_name(&b->s, "%@", &b->p->name)) {
		scan_fail(&b->s, E_SYNTAX, "expected the name of the module");
		return false;
	}
	lex_take(&b->s, ":");
	while (lex_take(&b->s, ",")) {
		if (!lex_name(&b->s, "", &key) || !lex_expect(&b->s, "=")) {
			scan_fail(&b->s, E_SYNTAX, "expected key=value");
			return false;
		}
		if (!read_header_attr(r, key))
			return false;
	}
	return true;
}

/* --- tables of places --- */

/* Reads `name_a=1 name_b=2 ...` between braces and stores two of them. */
static bool read_row(struct build *b, const char *one, int64_t *first, const char *two,
                     int64_t *second)
{
	struct span key;
	int64_t value;

	*first = *second = 0;
	if (!lex_expect(&b->s, "{"))
		return false;
	while (!lex_take(&b->s, "}")) {
		if (!lex_name(&b->s, "", &key) || !lex_expect(&b->s, "=") ||
		    !lex_signed(&b->s, "a number", &value)) {
			scan_fail(&b->s, E_SYNTAX, "expected key=number");
			return false;
		}
		if (span_is(key, one))
			*first = value;
		else if (span_is(key, two))
			*second = value;
	}
	return true;
}

static bool read_table(struct header *r, int table)
{
	struct build *b = r->b;
	int64_t number, first, second;
	struct span text;

	while (lex_peek(&b->s) >= '0' && *b->s.pos <= '9') {
		if (!lex_int(&b->s, "a number", 0, INT32_MAX, &number))
			return false;
		if (table < 2) {
			if (!lex_quoted(&b->s, &text))
				return false;
			if (table == 0)
				*list_add(&r->h->frames.file, b->a) = text;
			continue;
		}
		if (!read_row(b, table == 2 ? "file_name_id" : "file_location_id",
		              &first, table == 2 ? "line" : "parent_frame_id", &second))
			return false;
		if (table == 3) {
			*list_add(&r->h->frames.frame, b->a) = first;
			continue;
		}
		*list_add(&r->h->frames.location, b->a) =
			(struct hlo_place){first, second};
	}
	return true;
}

static bool read_tables(struct header *r)
{
	static const char *const names[] = {"FileNames", "FunctionNames",
	                                    "FileLocations", "StackFrames"};
	bool found = true;

	while (found) {
		found = false;
		for (int i = 0; i < 4 && !found; i++)
			if (lex_word(&r->b->s, names[i])) {
				if (!read_table(r, i))
					return false;
				found = true;
			}
	}
	return true;
}

bool hlo_header(struct build *b, struct hlo_header *h)
{
	struct header r = {b, h};

	return read_header(&r) && read_tables(&r);
}
