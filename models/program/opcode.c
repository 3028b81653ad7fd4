#include "program/opcode.h"

#include <stdbool.h>

#include <string.h>

static const struct {
	const char *name;
	enum op_class class;
	int flops;
} opcodes[] = {
#define X(code, name, class, flops) {name, CLASS_##class, flops},
	OPCODES(X)
#undef X
};

static const char *const class_names[CLASSES] = {
	[CLASS_FREE] = "free",
	[CLASS_ELEMENTWISE] = "elementwise",
	[CLASS_MATMUL] = "matmul",
	[CLASS_CONVOLUTION] = "convolution",
	[CLASS_REDUCE] = "reduce",
	[CLASS_MOVE] = "move",
	[CLASS_INDEX] = "index",
	[CLASS_SORT] = "sort",
	[CLASS_RANDOM] = "random",
	[CLASS_SOLVE] = "solve",
	[CLASS_COLLECTIVE] = "collective",
	[CLASS_CUSTOM] = "custom",
	[CLASS_LOOP] = "loop",
	[CLASS_BRANCH] = "branch",
	[CLASS_CALL] = "call",
	[CLASS_TRANSFER] = "transfer",
};

const char *opcode_name(enum opcode code)
{
	return opcodes[code].name;
}

enum op_class opcode_class(enum opcode code)
{
	return opcodes[code].class;
}

const char *op_class_name(enum op_class c)
{
	return class_names[c];
}

int opcode_flops(enum opcode code)
{
	return opcodes[code].flops;
}

static bool named(const char *known, const char *name, size_t length)
{
	return *known == *name && !strncmp(known, name, length) && !known[length];
}

enum opcode opcode_find(const char *name, size_t length)
{
	for (int i = 0; i < HLO_OPCODES; i++)
		if (named(opcodes[i].name, name, length))
			return (enum opcode)i;
	return HLO_OPCODES;
}

/* Names that are not HLO's with `_` for `-`. */
static const struct {
	const char *name;
	enum opcode code;
} others[] = {
	{"broadcast_in_dim", HLO_BROADCAST},
	{"dot_general", HLO_DOT},
	{"case", HLO_CONDITIONAL},
	{"if", HLO_CONDITIONAL},
	{"composite", HLO_CALL},
	{"optimization_barrier", HLO_OPT_BARRIER},
	{"count_leading_zeros", HLO_COUNT_LEADING_ZEROS},
	{"top_k", HLO_TOPK},
	{"rng_get_and_update_state", HLO_RNG_STATE},
};

enum opcode opcode_of_stablehlo(const char *name, size_t length)
{
	static const char *const dialects[] = {"stablehlo.", "mhlo.", "sdy.", "chlo.",
	                                       "func."};
	char hlo[40];
	size_t prefix = 0;

	for (size_t i = 0; i < sizeof(dialects) / sizeof(*dialects); i++)
		if (strlen(dialects[i]) < length &&
		    !strncmp(name, dialects[i], strlen(dialects[i])))
			prefix = strlen(dialects[i]);
	if (!prefix && !(length == 4 && !strncmp(name, "call", 4)))
		return HLO_OPCODES;
	name += prefix;
	length -= prefix;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (named(others[i].name, name, length))
			return others[i].code;
	if (length >= sizeof(hlo))
		return HLO_OPCODES;
	for (size_t i = 0; i < length; i++)
		hlo[i] = name[i] == '_' ? '-' : name[i];
	return opcode_find(hlo, length);
}
