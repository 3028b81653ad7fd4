/* What a reader should know about an answer besides it: what was left out, and what did nothing. */
#ifndef SHARDSIM_SIM_AUTOMAP_REMARKS_H
#define SHARDSIM_SIM_AUTOMAP_REMARKS_H

#include "automap/show.h"

/* Appends them, a line each. */
void automap_remarks(struct text *out, const struct automap_show *s);

#endif
