#include "facts/model.h"

#include "facts/yaml_reader.h"
#include "program/tensors.h"

#include "base/scan.h"
#include "base/suggest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum value {
	VALUE_COUNT,
	VALUE_FLAG,
	VALUE_WORD,
	VALUE_FACTOR,
	VALUE_DTYPE,
	VALUE_TEXT
};

/* A field of a mapping, which is read into a struct at an offset. */
struct field {
	const char *key;
	enum value value;
	size_t at;
	int64_t lo, hi;           /* of a count */
	const char *const *words; /* the number of the word is stored; ends with NULL */
};

#define COUNT(type, member, lo, hi)                                                    \
	{                                                                              \
#member, VALUE_COUNT, offsetof(struct type, member), lo, hi, NULL      \
	}
#define FLAG(type, member)                                                             \
	{                                                                              \
#member, VALUE_FLAG, offsetof(struct type, member), 0, 0, NULL         \
	}
#define WORD(type, member, words)                                                      \
	{                                                                              \
#member, VALUE_WORD, offsetof(struct type, member), 0, 0, words        \
	}
#define OTHER(type, member, value)                                                     \
	{                                                                              \
#member, value, offsetof(struct type, member), 0, 0, NULL              \
	}

static const char *const heads[] = {"tied", "untied", "none", NULL};
static const char *const norms[] = {"rms", "layer", NULL};
static const char *const positions[] = {"rope", "learned", "alibi", "none", NULL};
static const char *const optimizers[] = {"adam", "adamw", "momentum",
                                         "lion", "sgd",   NULL};
static const char *const recomputes[] = {"none", "selective", "full", NULL};
static const char *const attentions[] = {"flash", "math", "torch", NULL};
static const char *const dispatches[] = {"copies", "nodes", NULL};
static const char *const schedules[] = {"1f1b", "gpipe", NULL};
static const char *const fuses[] = {"eager", "compiled", NULL};

static const struct field model_fields[] = {
	OTHER(architecture, name, VALUE_TEXT),
	OTHER(architecture, source, VALUE_TEXT),
	COUNT(architecture, layers, 1, MODEL_LAYERS_MAX),
	COUNT(architecture, hidden, 1, MODEL_DIM_MAX),
	COUNT(architecture, heads, 1, 1 << 20),
	COUNT(architecture, kv_heads, 1, 1 << 20),
	COUNT(architecture, head_dim, 1, 1 << 20),
	COUNT(architecture, ffn, 1, MODEL_DIM_MAX),
	FLAG(architecture, gated),
	COUNT(architecture, vocab, 1, MODEL_DIM_MAX),
	COUNT(architecture, vocab_multiple, 1, 1 << 20),
	FLAG(architecture, final_norm),
	WORD(architecture, head, heads),
	FLAG(architecture, bias),
	FLAG(architecture, qk_norm),
	WORD(architecture, norm, norms),
	WORD(architecture, positions, positions),
	COUNT(architecture, window, 0, MODEL_DIM_MAX),
	{0},
};

/* `dropless` is the word for no capacity, and is not kept. */
struct moe_read {
	struct model_moe moe;
	bool dropless;
};

static const struct field moe_fields[] = {
	COUNT(moe_read, moe.experts, 1, 1 << 20),
	COUNT(moe_read, moe.top_k, 1, 1 << 20),
	COUNT(moe_read, moe.ffn, 1, MODEL_DIM_MAX),
	COUNT(moe_read, moe.shared, 0, 1 << 10),
	COUNT(moe_read, moe.first_dense, 0, MODEL_LAYERS_MAX),
	OTHER(moe_read, moe.capacity, VALUE_FACTOR),
	FLAG(moe_read, dropless),
	WORD(moe_read, moe.dispatch, dispatches),
	FLAG(moe_read, moe.overlap),
	{0},
};

static const struct field mla_fields[] = {
	COUNT(model_mla, q_rank, 0, MODEL_DIM_MAX),
	COUNT(model_mla, kv_rank, 1, MODEL_DIM_MAX),
	COUNT(model_mla, rope_dim, 0, 1 << 20),
	COUNT(model_mla, v_dim, 1, 1 << 20),
	{0},
};

static const struct field train_fields[] = {
	COUNT(model_train, seq, 1, MODEL_DIM_MAX),
	COUNT(model_train, global_batch, 1, MODEL_DIM_MAX),
	COUNT(model_train, micro_batch, 1, MODEL_DIM_MAX),
	OTHER(model_train, dtype, VALUE_DTYPE),
	OTHER(model_train, master_dtype, VALUE_DTYPE),
	OTHER(model_train, matmul_dtype, VALUE_DTYPE),
	OTHER(model_train, residual_dtype, VALUE_DTYPE),
	WORD(model_train, optimizer, optimizers),
	WORD(model_train, recompute, recomputes),
	WORD(model_train, attention, attentions),
	FLAG(model_train, causal),
	FLAG(model_train, sequence_parallel),
	FLAG(model_train, dropout),
	COUNT(model_train, interleave, 1, MODEL_LAYERS_MAX),
	WORD(model_train, schedule, schedules),
	COUNT(model_train, zero, 0, 3),
	COUNT(model_train, prefetch, 0, MODEL_LAYERS_MAX),
	WORD(model_train, fuse, fuses),
	{0},
};

static const char *const sections[] = {"moe", "mla", "train", NULL};

/* Returns the name of a field as files have it: behind a dot, where there is one. */
static const char *key_of(const struct field *f)
{
	const char *dot = strrchr(f->key, '.');

	return dot ? dot + 1 : f->key;
}

static enum status unknown_word(struct reader *r, const char *what, const char *word,
                                const char *const *known, struct where at)
{
	struct suggestion near = suggest_among(word, strlen(word), known);
	struct text all = {0};

	for (int i = 0; known[i]; i++)
		text_printf(&all, "%s%s", i ? ", " : "", known[i]);
	error_set(r->error, E_SYNTAX, at, "unknown %s '%.60s', expected one of %s%s",
	          what, word, all.s, suggest_ask(&near, ""));
	text_free(&all);
	return r->error->code;
}

static enum status read_dtype(struct reader *r, const struct field *f, const char *text,
                              struct where at, const struct dtype **out)
{
	const char *known[64];
	struct suggestion near;
	int n = 0;

	*out = dtype_find(text, strlen(text));
	if (*out)
		return OK;
	for (const struct dtype *d = dtypes; d->name && n < 63; d++)
		known[n++] = d->name;
	known[n] = NULL;
	near = suggest_among(text, strlen(text), known);
	return error_set(
		r->error, E_SYNTAX, at,
		"'%s' has the unknown type '%.40s', expected one of those that "
		"'shardsim list dtypes' prints%s",
		key_of(f), text, suggest_ask(&near, ""));
}

static enum status read_factor(struct reader *r, const struct field *f,
                               const char *text, struct where at, double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (text[0] < '0' || text[0] > '9' || *end || !(*out > 0 && *out <= 1e6))
		return error_set(
			r->error, E_RANGE, at,
			"'%s' is '%.40s', expected a number above 0 and at most "
			"1e6",
			key_of(f), text);
	return OK;
}

static enum status read_value(struct reader *r, const struct field *f,
                              yaml_node_t *node, char *into)
{
	static const char *const flags[] = {"false", "true", NULL};
	struct where at = node_where(r, node);
	const char *text = node_text(node);
	const char *const *words = f->value == VALUE_FLAG ? flags : f->words;
	struct scan s;
	int i = 0;

	if (!text || !*text)
		return error_set(r->error, E_SYNTAX, at, "'%s' must be a text",
		                 key_of(f));
	switch (f->value) {
	case VALUE_TEXT:
		*(const char **)into = arena_strdup(r->arena, text);
		return OK;
	case VALUE_DTYPE:
		return read_dtype(r, f, text, at, (const struct dtype **)into);
	case VALUE_FACTOR:
		return read_factor(r, f, text, at, (double *)into);
	case VALUE_COUNT:
		s = scan_start(text, at, r->error);
		return scan_int(&s, key_of(f), f->lo, f->hi, (int64_t *)into)
		               ? scan_finish(&s)
		               : r->error->code;
	case VALUE_FLAG:
	case VALUE_WORD:
		break;
	}
	while (words[i] && strcmp(words[i], text) != 0)
		i++;
	if (!words[i])
		return unknown_word(r, key_of(f), text, words, at);
	if (f->value == VALUE_FLAG)
		*(bool *)into = i == 1;
	else
		*(int *)into = i;
	return OK;
}

/* Checks that every key is a field or among `more`, and is there once. */
static enum status check_keys(struct reader *r, yaml_node_t *map,
                              const struct field *fields, const char *const *more)
{
	const char *known[40];
	int n = 0;

	for (; fields->key; fields++)
		known[n++] = key_of(fields);
	for (; more && *more; more++)
		known[n++] = *more;
	known[n] = NULL;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start;
	     p < map->data.mapping.pairs.top; p++) {
		yaml_node_t *key = yaml_document_get_node(&r->doc, p->key);

		if (node_text(key) && map_find(r, map, node_text(key)) !=
		                              yaml_document_get_node(&r->doc, p->value))
			return error_set(r->error, E_SYNTAX, node_where(r, key),
			                 "'%s' is there twice", node_text(key));
	}
	return map_check(r, map, known);
}

static enum status read_fields(struct reader *r, yaml_node_t *map,
                               const struct field *fields, const char *const *more,
                               void *into)
{
	if (map->type != YAML_MAPPING_NODE)
		return error_set(r->error, E_SYNTAX, node_where(r, map),
		                 "expected a mapping of fields");
	if (check_keys(r, map, fields, more) != OK)
		return r->error->code;
	for (; fields->key; fields++) {
		yaml_node_t *node = map_find(r, map, key_of(fields));

		if (node && read_value(r, fields, node, (char *)into + fields->at) != OK)
			return r->error->code;
	}
	return OK;
}

/* Returns the place of a field, or that of the mapping where it is not there. */
static struct where field_where(struct reader *r, yaml_node_t *map, const char *key)
{
	yaml_node_t *node = map_find(r, map, key);

	return node_where(r, node ? node : map);
}

static enum status read_moe(struct reader *r, yaml_node_t *map, struct architecture *m)
{
	struct moe_read read = {0};
	struct model_moe *moe = &read.moe;

	if (read_fields(r, map, moe_fields, NULL, &read) != OK ||
	    !map_get(r, map, "experts") || !map_get(r, map, "top_k") ||
	    !map_get(r, map, "ffn"))
		return r->error->code;
	if (moe->top_k > moe->experts)
		return error_set(r->error, E_RANGE, field_where(r, map, "top_k"),
		                 "top_k %lld of %lld experts", (long long)moe->top_k,
		                 (long long)moe->experts);
	if (moe->first_dense > m->layers)
		return error_set(r->error, E_RANGE, field_where(r, map, "first_dense"),
		                 "first_dense %lld of %lld layers",
		                 (long long)moe->first_dense, (long long)m->layers);
	if (read.dropless && moe->capacity > 0)
		return error_set(r->error, E_TYPE, field_where(r, map, "capacity"),
		                 "dropless experts have no capacity");
	m->moe = *moe;
	return OK;
}

static enum status read_mla(struct reader *r, yaml_node_t *map, struct architecture *m)
{
	m->mla.v_dim = m->head_dim;
	if (read_fields(r, map, mla_fields, NULL, &m->mla) != OK ||
	    !map_get(r, map, "kv_rank"))
		return r->error->code;
	if (m->kv_heads != m->heads)
		return error_set(r->error, E_TYPE, node_where(r, map),
		                 "latent attention has no kv_heads of its own: %lld of "
		                 "%lld heads",
		                 (long long)m->kv_heads, (long long)m->heads);
	return OK;
}

static enum status read_train(struct reader *r, yaml_node_t *map, struct architecture *m)
{
	struct model_train *t = &m->train;

	if (read_fields(r, map, train_fields, NULL, t) != OK)
		return r->error->code;
	if (t->global_batch && t->micro_batch && t->global_batch % t->micro_batch)
		return error_set(r->error, E_TYPE, field_where(r, map, "micro_batch"),
		                 "a global batch of %lld is no multiple of micro_batch "
		                 "%lld",
		                 (long long)t->global_batch, (long long)t->micro_batch);
	if (t->interleave > m->layers)
		return error_set(r->error, E_RANGE, field_where(r, map, "interleave"),
		                 "interleave %lld of %lld layers",
		                 (long long)t->interleave, (long long)m->layers);
	if (t->interleave > 1 && t->schedule != SCHEDULE_1F1B)
		return error_set(r->error, E_TYPE, field_where(r, map, "schedule"),
		                 "only the schedule 1f1b interleaves");
	return OK;
}

/* Sets what follows from other fields, and checks that they go together. */
static enum status settle(struct reader *r, yaml_node_t *map, struct architecture *m)
{
	if (!m->kv_heads)
		m->kv_heads = m->heads;
	if (m->heads % m->kv_heads)
		return error_set(r->error, E_TYPE, field_where(r, map, "kv_heads"),
		                 "%lld heads are no multiple of %lld kv_heads",
		                 (long long)m->heads, (long long)m->kv_heads);
	if (!m->head_dim && m->hidden % m->heads)
		return error_set(r->error, E_TYPE, field_where(r, map, "heads"),
		                 "hidden %lld over %lld heads is no whole number, "
		                 "expected head_dim",
		                 (long long)m->hidden, (long long)m->heads);
	if (!m->head_dim)
		m->head_dim = m->hidden / m->heads;
	return OK;
}

/* Returns the parameters as a figure that cannot overflow. */
static double count_parameters(const struct architecture *m, struct arena *a)
{
	struct model_tensor *tensor;
	double sum = 0;
	int64_t n;

	model_tensors(&tensor, &n, a, m);
	for (int64_t i = 0; i < n; i++) {
		double elements = 1;

		for (int k = 0; k < tensor[i].rank; k++)
			elements *= (double)tensor[i].dim[k];
		sum += elements;
	}
	return sum;
}

/* Checks what only all sections together tell. */
static enum status check_whole(struct reader *r, yaml_node_t *map,
                               const struct architecture *m)
{
	struct arena *scratch;
	double parameters;

	if (!m->ffn && (!m->moe.experts || m->moe.first_dense))
		return error_set(r->error, E_SYNTAX, node_where(r, map),
		                 "'ffn' is missing: %s layers have no experts",
		                 m->moe.experts ? "the first_dense" : "the");
	if (m->positions == POSITIONS_LEARNED && !m->train.seq)
		return error_set(r->error, E_TYPE, field_where(r, map, "positions"),
		                 "learned positions are as many as train.seq, which is "
		                 "missing");
	scratch = arena_new();
	parameters = count_parameters(m, scratch);
	arena_free(scratch);
	if (parameters > MODEL_PARAMETERS_MAX)
		return error_set(r->error, E_RANGE, node_where(r, map),
		                 "%.3g parameters, expected at most %.3g", parameters,
		                 MODEL_PARAMETERS_MAX);
	return OK;
}

static enum status read_model(struct reader *r, void *into)
{
	static const char *const needed[] = {"name",  "layers", "hidden",
	                                     "heads", "vocab",  NULL};
	struct architecture *m = into;
	yaml_node_t *map = yaml_document_get_root_node(&r->doc), *section;

	if (!map || map->type != YAML_MAPPING_NODE)
		return error_set(
			r->error, E_SYNTAX,
			(struct where){.file = r->path, .line = 1, .col = 1},
			"expected a model: a mapping with name, layers, hidden, "
			"heads and vocab");
	if (read_fields(r, map, model_fields, sections, m) != OK)
		return r->error->code;
	for (int i = 0; needed[i]; i++)
		if (!map_get(r, map, needed[i]))
			return r->error->code;
	if (settle(r, map, m) != OK)
		return r->error->code;
	section = map_find(r, map, "moe");
	if (section && read_moe(r, section, m) != OK)
		return r->error->code;
	section = map_find(r, map, "mla");
	if (section && read_mla(r, section, m) != OK)
		return r->error->code;
	section = map_find(r, map, "train");
	if (section && read_train(r, section, m) != OK)
		return r->error->code;
	return check_whole(r, map, m);
}

enum status architecture_read(struct architecture *out, struct arena *a,
                              const char *path, struct error *e)
{
	*out = (struct architecture){
		.gated = true,
		.vocab_multiple = 1,
		.final_norm = true,
		.head = HEAD_UNTIED,
		.train = {.dtype = dtype_find("bf16", 4),
	                  .master_dtype = dtype_find("f32", 3),
	                  .causal = true,
	                  .interleave = 1,
	                  .prefetch = 1},
	};
	return yaml_read(a, path, read_model, out, e);
}
