/* What validate.c and figure.c share. */
#ifndef SHARDSIM_SIM_VALIDATE_STATE_H
#define SHARDSIM_SIM_VALIDATE_STATE_H

#include "collective/nccl.h"
#include "validate/validate.h"

/* A machine with what an entry sets on it; rows of several entries may share one. */
struct site {
	const char *platform, *family;
	const struct mapping_entry *entry;
	struct machine *machine;
	struct device *device; /* the machine's, ours to change */
	struct link *link;
	struct model *model;
	uint32_t *touched; /* [nlinks]: which figures change the link, a bit for each */
	int nfigures;      /* how many of these bits there are */
};

struct validation {
	struct arena *arena;
	const char *what; /* the rows are, "published timings" */
	bool of_one;      /* machine, which the user named */
	const char *note; /* why a log may not be of it, or NULL */
	int64_t n;
	struct prediction *row;
	int *site_of;      /* [n], -1 without one */
	struct perf *perf; /* [n] */
	struct likely_table likely;
	int nsites;
	struct site *site;
	struct nccl_prepared **prepared; /* [n]; NULL: lay its messages each time */
};

#endif
