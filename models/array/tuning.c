#include "array/tuning.h"

#include "base/scan.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[TUNINGS] = {
	[TUNING_CC] = "cc",
	[TUNING_STEP] = "step",
	[TUNING_NET_STEP] = "net_step",
	[TUNING_NET_LATENCY_S] = "net_latency_s",
	[TUNING_NET_POST_S] = "net_post_s",
	[TUNING_FILL_S] = "fill_s",
	[TUNING_NET_FILL_S] = "net_fill_s",
	[TUNING_SEND_S] = "send_s",
	[TUNING_NET_SEND_S] = "net_send_s",
	[TUNING_SEND_WAIT_S] = "send_wait_s",
	[TUNING_NET_RENDEZVOUS_S] = "net_rendezvous_s",
	[TUNING_NET_CHUNK_BYTES] = "net_chunk_bytes",
	[TUNING_NET_SIMPLE] = "net_simple",
	[TUNING_NET_LL128] = "net_ll128",
	[TUNING_NET_SEND_SHARE] = "net_send_share",
	[TUNING_NET_SEND_CHANNELS] = "net_send_channels",
	[TUNING_CHANNEL_BPS] = "channel_Bps",
	[TUNING_GRAPH_CHANNELS] = "graph_channels",
	[TUNING_GRAPH_BPS] = "graph_Bps",
	[TUNING_GRAPH_NVLS_CHANNELS] = "graph_nvls_channels",
	[TUNING_GRAPH_NVLS_BPS] = "graph_nvls_Bps",
	[TUNING_GRAPH_NET_CHANNELS] = "graph_net_channels",
	[TUNING_GRAPH_NET_BPS] = "graph_net_Bps",
	[TUNING_GRAPH_TREE_BPS] = "graph_tree_Bps",
	[TUNING_LAUNCH_EACH_S] = "launch_each_s",
	[TUNING_LAUNCH_GRAPH_S] = "launch_graph_s",
	[TUNING_SCHEDULED] = "scheduled",
	[TUNING_SCHEDULED_ROUND_S] = "scheduled_round_s",
	[TUNING_BF16_FLOPS] = "bf16_flops",
	[TUNING_F8_FLOPS] = "f8_flops",
	[TUNING_INT8_FLOPS] = "int8_flops",
	[TUNING_F32_FLOPS] = "f32_flops",
	[TUNING_MATMUL_SHARE] = "matmul_share",
	[TUNING_F32_SHARE] = "f32_share",
	[TUNING_MATMUL_S] = "matmul_s",
	[TUNING_ATTENTION_SHARE] = "attention_share",
	[TUNING_ATTENTION_BACK_SHARE] = "attention_back_share",
	[TUNING_MEMORY_SHARE] = "memory_share",
	[TUNING_KERNEL_S] = "kernel_s",
	[TUNING_CONTENTION] = "contention",
	[TUNING_TORCH_ATTENTION_SHARE] = "torch_attention_share",
	[TUNING_EAGER_STEP_S] = "eager_step_s",
	[TUNING_EXPERTS_BPS] = "experts_Bps",
	[TUNING_EXPERTS_NODES_BPS] = "experts_nodes_Bps",
	[TUNING_EXPERTS_CONTENTION] = "experts_contention",
};

const struct tuning tuning_default = {
	.value = {[TUNING_STEP] = 1,
                  [TUNING_NET_STEP] = 1,
                  [TUNING_NET_CHUNK_BYTES] = 512 * 1024,
                  [TUNING_NET_LL128] = 1,
                  [TUNING_NET_SEND_SHARE] = 1,
                  [TUNING_MATMUL_SHARE] = 1,
                  [TUNING_F32_SHARE] = 1,
                  [TUNING_ATTENTION_SHARE] = 1,
                  [TUNING_ATTENTION_BACK_SHARE] = 1,
                  [TUNING_MEMORY_SHARE] = 1,
                  [TUNING_TORCH_ATTENTION_SHARE] = 1},
};

const char *tuning_name(enum tuning_key key)
{
	return names[key];
}

bool tuning_is_switch(enum tuning_key key)
{
	return key == TUNING_SCHEDULED || key == TUNING_NET_SIMPLE ||
	       key == TUNING_NET_LL128;
}

int tuning_find(const char *name, size_t length)
{
	for (int i = 0; i < TUNINGS; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], name, length))
			return i;
	return -1;
}

static bool ends_in(int key, const char *end)
{
	size_t n = strlen(names[key]), of = strlen(end);

	return n > of && !strcmp(names[key] + n - of, end);
}

/* Returns whether a constant is a share of something: above 0, at most 1. */
static bool is_share(int key)
{
	return ends_in(key, "_share");
}

/* Reads one "key=number" and stores its end in *end. */
static enum status read_one(struct tuning *out, bool *given, struct scan *s,
                            const char *word, const char **end)
{
	size_t n = strcspn(word, "= ");
	int key = tuning_find(word, n);
	char *rest;
	double x;

	if (word[n] != '=')
		return scan_fail_at(s, word, E_SYNTAX, "expected key=number");
	if (key < 0)
		return scan_fail_at(s, word, E_RANGE, "unknown constant '%.*s'", (int)n,
		                    word);
	if (given[key])
		return scan_fail_at(s, word, E_RANGE, "'%s' is there twice", names[key]);
	given[key] = true;
	word += n + 1;
	x = strspn(word, "0123456789") ? strtod(word, &rest) : -1;
	if (x >= 0 && !units_in_range(x))
		return scan_fail_at(s, word, E_RANGE,
		                    "out of range, expected 0 or 1e-18 to 1e24");
	if (x < 0 || (*rest && *rest != ' '))
		return scan_fail_at(s, word, E_SYNTAX, "expected a number of 0 or more");
	out->value[key] = x;
	if (is_share(key) && !(x > 0 && x <= 1))
		return scan_fail_at(s, word, E_RANGE,
		                    "%s is out of range, expected above 0, at most 1",
		                    names[key]);
	if (tuning_is_switch((enum tuning_key)key) && x != 0 && x != 1)
		return scan_fail_at(s, word, E_RANGE, "%s is a switch, expected 0 or 1",
		                    names[key]);
	if (ends_in(key, "_channels") && (x > 64 || x != floor(x)))
		return scan_fail_at(s, word, E_RANGE,
		                    "%s is out of range, expected a whole number to 64",
		                    names[key]);
	*end = rest;
	return OK;
}

enum status tuning_parse(struct tuning *out, const char *text, struct where at,
                         struct error *e)
{
	struct error local = {0};
	struct scan s = scan_start(text, at, e ? e : &local);
	bool given[TUNINGS] = {false};

	*out = tuning_default;
	while (*text) {
		if (read_one(out, given, &s, text, &text) != OK)
			return s.error->code;
		text += *text == ' ';
	}
	return OK;
}

void tuning_print(struct text *out, const struct tuning *t)
{
	const char *space = "";

	for (int i = 0; i < TUNINGS; i++) {
		if (t->value[i] == tuning_default.value[i])
			continue;
		text_printf(out, "%s%s=%.15g", space, names[i], t->value[i]);
		space = " ";
	}
}
