/* Telling the spellings apart, and the entry points that take any of them. */
#include "notation/notation.h"
#include "base/assert.h"
#include "notation/read.h"

#include <ctype.h>
#include <string.h>

typedef enum status layout_reader(struct layout *out, const struct mesh *mesh,
                                  const struct shape *shape, struct arena *a,
                                  struct scan *s);

static const struct {
	const char *name;
	layout_reader *read;
	layout_printer *print;
} spellings[NOTATIONS] = {
	[NOTATION_JAX] = {"jax", jax_parse, jax_print},
	[NOTATION_HLO] = {"hlo", hlo_parse, hlo_print},
	[NOTATION_SHARDY] = {"shardy", shardy_parse, shardy_print},
	[NOTATION_DTENSOR] = {"dtensor", dtensor_parse, dtensor_print},
	[NOTATION_PAPER] = {"paper", paper_parse, paper_print},
};

const char *notation_name(enum notation n)
{
	assert(n < NOTATIONS);
	return spellings[n].name;
}

static const char *skip_space(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

static bool starts(const char *p, const char *word)
{
	return strncmp(p, word, strlen(word)) == 0;
}

/* Tells the three spellings that begin with `[` apart by what stands behind it. */
static enum notation detect_list(const char *p)
{
	p = skip_space(p);
	if (*p == '{' || *p == ']')
		return NOTATION_SHARDY;
	if (isdigit((unsigned char)*p))
		return NOTATION_PAPER;
	return isalpha((unsigned char)*p) || *p == '_' ? NOTATION_DTENSOR : NOTATIONS;
}

/* `P(` is JAX's, except PyTorch's short form of a reduction: `P(sum)`, and `PS(0)`. */
static enum notation detect_p(const char *p)
{
	static const char *const reductions[] = {"sum", "avg", "product", "max", "min"};
	bool shard = starts(p, "PS");
	const char *in = skip_space(p + (shard ? 2 : 1));

	if (starts(p, "PartitionSpec"))
		return NOTATION_JAX;
	if (*in != '(' || starts(p, "Partial"))
		return NOTATION_DTENSOR;
	in = skip_space(in + 1);
	if (shard)
		return isdigit((unsigned char)*in) || *in == '-' ? NOTATION_DTENSOR
		                                                 : NOTATION_JAX;
	for (size_t i = 0; i < sizeof(reductions) / sizeof(*reductions); i++)
		if (starts(in, reductions[i]))
			return NOTATION_DTENSOR;
	return NOTATION_JAX;
}

enum notation notation_detect(const char *text)
{
	const char *p = skip_space(text);

	if (*p == '{' || starts(p, "sharding="))
		return NOTATION_HLO;
	if (*p == '#' || starts(p, "<@"))
		return NOTATION_SHARDY;
	if (*p == '[')
		return detect_list(p + 1);
	if (*p == '(')
		return isalpha((unsigned char)*skip_space(p + 1)) ||
		                       *skip_space(p + 1) == '_'
		               ? NOTATION_DTENSOR
		               : NOTATIONS;
	if (starts(p, "jax.") || starts(p, "NamedSharding"))
		return NOTATION_JAX;
	if (*p == 'P')
		return detect_p(p);
	return *p == 'S' || *p == 'R' || *p == '_' ? NOTATION_DTENSOR : NOTATIONS;
}

enum status layout_parse(struct layout *out, const struct mesh *mesh,
                         const struct shape *shape, struct arena *a, const char *text,
                         struct where at, struct error *e)
{
	struct scan s = scan_start(text, at, e);
	enum notation n = notation_detect(text);

	if (n == NOTATIONS)
		return scan_fail(&s, E_SYNTAX,
		                 "expected a layout such as P('x', None), "
		                 "{devices=[2,4]<=[8]}, [{\"x\"}, {}], "
		                 "[Shard(0), Replicate()] or [4{x}8, 8{}8]");
	if (spellings[n].read(out, mesh, shape, a, &s) != OK)
		return e->code;
	return scan_finish(&s);
}

bool layout_print_as(struct text *out, enum notation n, const struct layout *l,
                     const struct mesh *mesh, const struct shape *shape,
                     struct text *why)
{
	struct layout normal = *l;

	assert(n < NOTATIONS);
	layout_tidy(&normal);
	if (n != NOTATION_HLO && l->kind != LAYOUT_AXES) {
		text_printf(
			why,
			l->kind == LAYOUT_MAXIMAL
				? "%s cannot say an array that is on one device only"
				: "%s cannot say a device list that no axes of the "
				  "mesh give",
			notation_name(n));
		return false;
	}
	return spellings[n].print(out, &normal, mesh, shape, why);
}

void layout_print(struct text *out, const struct layout *l, const struct mesh *mesh,
                  const struct shape *shape)
{
	static const enum notation order[] = {NOTATION_JAX, NOTATION_SHARDY,
	                                      NOTATION_HLO};
	struct text why = {0};
	bool done = false;

	for (size_t i = 0; i < sizeof(order) / sizeof(*order) && !done; i++)
		done = layout_print_as(out, order[i], l, mesh, shape, &why);
	assert(done);
	text_free(&why);
}
