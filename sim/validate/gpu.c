#include "validate/gpu.h"

#include <ctype.h>
#include <string.h>

/* Compute capabilities times ten, as developer.nvidia.com/cuda-gpus lists them. */
static const struct {
	const char *word;
	int cc;
} gpus[] = {
	{"P100", 60},   {"V100", 70},  {"T4", 75},    {"A100", 80},   {"A800", 80},
	{"A30", 80},    {"A10", 86},   {"A40", 86},   {"L4", 89},     {"L40", 89},
	{"L40S", 89},   {"H100", 90},  {"H200", 90},  {"H800", 90},   {"H20", 90},
	{"GH200", 90},  {"B100", 100}, {"B200", 100}, {"GB200", 100}, {"B300", 103},
	{"GB300", 103},
};

enum { CC_UNKNOWN = -1, CC_AMD = 0 };

const char *gpu_name(struct arena *a, const char *text, const char *end)
{
	const char *bracket = memchr(text, ']', (size_t)(end - text));

	if (!bracket)
		return "";
	text = bracket + 1;
	while (text < end && isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	return arena_strndup(a, text, (size_t)(end - text));
}

static int cc_of(const char *name)
{
	size_t n;

	for (const char *word = name; *word; word += n + (word[n] != '\0')) {
		n = 0;
		while (isalnum((unsigned char)word[n]))
			n++;
		if (n > 2 && !strncmp(word, "MI", 2) && isdigit((unsigned char)word[2]))
			return CC_AMD;
		for (size_t i = 0; i < sizeof(gpus) / sizeof(*gpus); i++)
			if (strlen(gpus[i].word) == n && !strncmp(word, gpus[i].word, n))
				return gpus[i].cc;
	}
	return CC_UNKNOWN;
}

const char *gpu_differs(struct arena *a, const char *name, const struct machine *m)
{
	int has = cc_of(name), is = (int)m->tuning.value[TUNING_CC];
	bool amd = false;

	for (int f = 0; f < m->nfabrics; f++)
		amd |= m->fabric[f].profile && !strcmp(m->fabric[f].profile, "rccl");
	if (has == CC_UNKNOWN || (!amd && !is))
		return NULL;
	if (amd)
		return has == CC_AMD ? NULL
		                     : arena_printf(a,
		                                    "its GPUs are AMD's, the log's are "
		                                    "%s",
		                                    name);
	if (has == CC_AMD)
		return arena_printf(a, "its GPUs are NVIDIA's, the log's are %s", name);
	/* 10.0 and 10.3 are one generation. */
	if (has == is || (has >= 100 && is >= 100))
		return NULL;
	return arena_printf(a,
	                    "its GPUs have compute capability %.1f, the log's %s %.1f: "
	                    "another generation",
	                    is / 10.0, name, has / 10.0);
}
