#include "planner/types.h"

bool types_say(const struct problem *p, struct text *why)
{
	if (p->from.kind == LAYOUT_MAXIMAL || p->to.kind == LAYOUT_MAXIMAL) {
		text_printf(why, "the whole array lies on one device");
		return false;
	}
	if (!p->same_devices) {
		text_printf(why, "source and target are on different devices");
		return false;
	}
	if (!p->has_atoms) {
		text_printf(why, "%s", p->no_atoms);
		return false;
	}
	if (!p->padded_ok) {
		text_printf(why, "no padded shape suits both source and target");
		return false;
	}
	return true;
}
