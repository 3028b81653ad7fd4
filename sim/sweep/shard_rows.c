/* Shards: rows as lines of JSON. */
#include "sweep/shard.h"

#include "system/version.h"

#include "base/input.h"
#include "plan/plan_json.h"

#include <jansson.h>

#include <math.h>
#include <string.h>

enum status shard_parse(struct shard *out, const char *text, struct where at,
                        struct error *e)
{
	struct scan s = scan_start(text, at, e);
	int64_t shard, of;

	if (!scan_int(&s, "the shard", 0, INT32_MAX, &shard) || !scan_expect(&s, "/") ||
	    !scan_int(&s, "how many shards there are", 1, INT32_MAX, &of) ||
	    scan_finish(&s) != OK)
		return e->code;
	if (shard >= of)
		return error_set(e, E_RANGE, at,
		                 "shards are counted from 0: expected 0/%lld to "
		                 "%lld/%lld",
		                 (long long)of, (long long)of - 1, (long long)of);
	*out = (struct shard){(int)shard, (int)of};
	return OK;
}

/* The end of a line: the digest of all bytes before it. */
enum { SUM_SIZE = sizeof(",\"sum\":\"\"}\n") - 1 + DIGEST_TEXT };

static void print_sum(char out[SUM_SIZE], const char *bytes, size_t n)
{
	struct digest d = digest_start();
	char digest[DIGEST_TEXT];

	digest_bytes(&d, bytes, n);
	digest_print(digest, d);
	snprintf(out, SUM_SIZE, ",\"sum\":\"%s\"}\n", digest);
}

/* Appends the line of an object, with its checksum, and frees the object. */
static void print_line(struct text *out, json_t *o)
{
	char *line = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(17));
	size_t n = strlen(line) - 1; /* without the last brace */
	char sum[SUM_SIZE];

	print_sum(sum, line, n);
	text_append(out, line, n);
	text_append(out, sum, SUM_SIZE - 1);
	free(line);
	json_decref(o);
}

/* Returns whether the line, which ends with a newline, has the checksum of its bytes. */
static bool sum_fits(const char *line, size_t length)
{
	size_t n = length < SUM_SIZE - 1 ? 0 : length - (SUM_SIZE - 1);
	char sum[SUM_SIZE];

	print_sum(sum, line, n);
	return length - n == SUM_SIZE - 1 && memcmp(line + n, sum, SUM_SIZE - 1) == 0;
}

void shard_print_head(struct text *out, struct digest plan, struct shard part)
{
	char digest[DIGEST_TEXT];

	digest_print(digest, plan);
	print_line(out, json_pack("{ss ss ss si si}", "schema", "shardsim-shard/1",
	                          "version", version_text, "plan", digest, "shard",
	                          part.shard, "of", part.of));
}

static json_t *field_json(const struct row_column *c, const struct row *r)
{
	const void *field = (const char *)r + c->offset;
	const char *text;

	switch (c->kind) {
	case ROW_TEXT:
		text = *(const char *const *)field;
		return json_text(text ? text : "");
	case ROW_STATUS:
		return json_string(outcome_name(*(const enum outcome *)field));
	case ROW_REAL: /* no JSON number is a NaN */
		return isfinite(*(const double *)field)
		               ? json_real(*(const double *)field)
		               : json_null();
	case ROW_BYTES:
		return *(const int64_t *)field < 0
		               ? json_null()
		               : json_integer(*(const int64_t *)field);
	case ROW_FLAG:
		break;
	}
	return json_boolean(*(const bool *)field);
}

void shard_print_row(struct text *out, const struct row *r, struct digest key,
                     const char *log)
{
	json_t *o = json_object();
	char digest[DIGEST_TEXT];

	digest_print(digest, key);
	json_object_set_new(o, "key", json_string(digest));
	json_object_set_new(o, "log", log ? json_text(log) : json_null());
	for (int c = 0; c < ROW_COLUMNS; c++)
		json_object_set_new(o, row_columns[c].name,
		                    field_json(&row_columns[c], r));
	print_line(out, o);
}

static bool take_row_field(struct row *r, const struct row_column *c,
                           const json_t *value)
{
	void *field = (char *)r + c->offset;

	switch (c->kind) {
	case ROW_TEXT:
		*(const char **)field = json_string_value(value);
		return json_is_string(value);
	case ROW_STATUS:
		return json_is_string(value) &&
		       outcome_parse(field, json_string_value(value));
	case ROW_REAL:
		if (json_is_number(value))
			*(double *)field = json_number_value(value);
		return json_is_number(value) || json_is_null(value);
	case ROW_BYTES:
		if (json_is_integer(value))
			*(int64_t *)field = json_integer_value(value);
		return json_is_integer(value) || json_is_null(value);
	case ROW_FLAG:
		break;
	}
	*(bool *)field = json_is_true(value);
	return json_is_boolean(value);
}

/* Takes a row from an object, whose texts it borrows. */
static bool take_shard_row(struct row *r, struct digest *key, const json_t *o)
{
	const char *digest = json_string_value(json_object_get(o, "key"));

	*r = row_empty();
	for (int c = 0; c < ROW_COLUMNS; c++)
		if (!take_row_field(r, &row_columns[c],
		                    json_object_get(o, row_columns[c].name)))
			return false;
	return digest && digest_parse(key, digest);
}

static enum status check_head(struct shard *out, const json_t *head, const char *path,
                              struct digest plan, struct error *e)
{
	struct where at = {.file = path, .line = 1, .col = 1};
	const char *schema = json_string_value(json_object_get(head, "schema"));
	const char *version = json_string_value(json_object_get(head, "version"));
	const char *text = json_string_value(json_object_get(head, "plan"));
	json_int_t shard = json_integer_value(json_object_get(head, "shard"));
	json_int_t of = json_integer_value(json_object_get(head, "of"));
	struct digest digest;

	if (!schema || strcmp(schema, "shardsim-shard/1") != 0 || !version || !text ||
	    !digest_parse(&digest, text) || of < 1 || of > INT32_MAX || shard < 0 ||
	    shard >= of)
		return error_set(e, E_SYNTAX, at,
		                 "this is no shard, expected what `sweep run` writes");
	if (strcmp(version, version_text) != 0)
		return error_set(e, E_TYPE, at,
		                 "a shard of shardsim %.60s, but this is %s: measure "
		                 "it again",
		                 version, version_text);
	if (!digest_equal(digest, plan))
		return error_set(e, E_TYPE, at, "this is a shard of another plan");
	if (out)
		*out = (struct shard){(int)shard, (int)of};
	return OK;
}

/* A shard that is read. */
struct reading {
	struct shard *out;
	struct digest plan;
	shard_each_fn *each;
	void *self;
	struct where at;
};

/* Reads a line, which ends with a newline; the first one is the head. */
static enum status read_line(const struct reading *r, const char *line, size_t length,
                             struct error *e)
{
	json_t *o = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	struct digest key;
	struct row row;

	if (r->at.line == 1)
		check_head(r->out, o, r->at.file, r->plan, e);
	if (e->code == OK && (!sum_fits(line, length) ||
	                      (r->at.line > 1 && !(o && take_shard_row(&row, &key, o)))))
		error_set(e, E_SYNTAX, r->at,
		          "this line does not fit its checksum, as it was damaged or "
		          "edited: %s, and `sweep run` measures its cases again",
		          r->at.line > 1 ? "take it out" : "remove the file");
	else if (e->code == OK && r->at.line > 1)
		r->each(r->self, key, &row,
		        json_string_value(json_object_get(o, "log")), line, length, e);
	json_decref(o);
	return e->code;
}

enum status shard_read(struct shard *out, const char *path, struct digest plan,
                       shard_each_fn *each, void *self, struct error *e)
{
	struct reading r = {out, plan, each, self, {.file = path, .col = 1}};
	struct text text = {0};
	size_t at = 0;

	input_read(&text, path, e);
	while (e->code == OK && at < text.length) {
		const char *line = text.s + at;
		const char *end = memchr(line, '\n', text.length - at);

		if (!end)
			break;
		r.at.line++;
		read_line(&r, line, (size_t)(end - line) + 1, e);
		at = (size_t)(end - text.s) + 1;
	}
	if (e->code == OK && r.at.line == 0)
		check_head(out, NULL, path, plan, e);
	text_free(&text);
	return e->code;
}
