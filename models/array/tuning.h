/*
 * What a platform says of the library that runs its collectives, beyond links and
 * devices: a few constants that no wire explains, measured or fitted. Plain data, read
 * from the host property `constants` ("step=0.8 fill_s=3e-06"); what they do is the
 * profiles' business (collective/profile.h).
 */
#ifndef SHARDSIM_ARRAY_TUNING_H
#define SHARDSIM_ARRAY_TUNING_H

#include "base/arena.h"
#include "base/error.h"

enum tuning_key {
	TUNING_CC,       /* compute capability times ten: 70, 80, 90, 100; 0 none */
	TUNING_STEP,     /* factor on the library's latency per step inside a node */
	TUNING_NET_STEP, /* the same across nodes */
	TUNING_NET_POST_S, /* of a ring over nodes, a step inside takes so long or longer */
	TUNING_NET_GROWTH, /* over m nodes steps are (m/2)^this times as long: jitter */
	TUNING_FILL_S,     /* pipeline fill and drain, inside a node */
	TUNING_NET_FILL_S, /* the same across nodes */
	TUNING_SEND_S,     /* cost of one peer of a set of sends, inside a node */
	TUNING_NET_SEND_S, /* the same across nodes */
	TUNING_NET_SEND_SHARE, /* of the NIC's bandwidth, what plain sends reach */
	TUNING_CHANNEL_BPS,    /* one channel of a send; 0: no limit */
	TUNING_LAUNCH_EACH_S,  /* one process for all devices: each further launch */
	TUNING_LAUNCH_GRAPH_S, /* in a captured graph: in place of launch_s */
	TUNINGS
};

/* In SI units; a key that was not given has its default: 1 for factors and shares. */
struct tuning {
	double value[TUNINGS];
};

extern const struct tuning tuning_default;

/* Returns "step", "fill_s" and so on. */
const char *tuning_name(enum tuning_key key);

/* Returns the key of that name of `length` bytes, -1 if there is none. */
int tuning_find(const char *name, size_t length);

/*
 * Reads "key=number ..." with single spaces between; plain decimal numbers >= 0.
 * E_SYNTAX or E_RANGE with the place inside the text: a key unknown or there twice, no
 * number.
 */
enum status tuning_parse(struct tuning *out, const char *text, struct where at,
                         struct error *e);

/* Appends what differs from the default, in the same form; nothing if nothing does. */
void tuning_print(struct text *out, const struct tuning *t);

#endif
