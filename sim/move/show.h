/* A move as people and programs read it. */
#ifndef SHARDSIM_SIM_MOVE_SHOW_H
#define SHARDSIM_SIM_MOVE_SHOW_H

#include "move/move.h"

struct move_shown {
	const struct move_work *work;
	const struct move_how *how;
	const char *platform;
	const struct bench *bench;
	int n;
	const struct move_result *result; /* [n], of one planner each */
	bool timing;
};

void move_text(struct text *out, const struct move_shown *s, struct arena *a);
void move_json(struct text *out, const struct move_shown *s);

#endif
