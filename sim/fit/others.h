/*
 * How a family's timings are met without its own fit: by what other families' fits say. Its
 * documented figures, and what mappings say of single runs, stay.
 */
#ifndef SHARDSIM_SIM_FIT_OTHERS_H
#define SHARDSIM_SIM_FIT_OTHERS_H

#include "fit/family.h"

/* Rows from 1 MiB, from 64 KiB and below that. */
enum { LEFT_OUT_SIZES = 3 };

struct left_out_family {
	const char *family;
	size_t n[LEFT_OUT_SIZES];     /* rows that are no outliers */
	double error[LEFT_OUT_SIZES]; /* the geometric means of their error factors */
};

/*
 * Stores for each of the n fits how its family is met if each constant that was fitted has
 * the middle, the geometric mean, of what the fits of other families say. A bandwidth, and what no
 * other family was fitted for, has the value of its prior. The machines of the
 * validation are as they were afterwards.
 */
enum status families_left_out(struct left_out_family *out, struct validation *v,
                              const struct family_fit *fit, int n, struct arena *a,
                              struct error *e);

#endif
