/*
 * The order in which people expect names: numbers by their values, also those in units.
 * `25GBps` is before `100GBps`, `64KiB` before `1MiB`, `4x4x4` before `16x16`.
 */
#ifndef SHARDSIM_SIM_TEXT_ORDER_H
#define SHARDSIM_SIM_TEXT_ORDER_H

/*
 * Compares two texts part by part as strcmp() does byte by byte; a number, with a fraction
 * and a unit of bytes, rates or times (base/units.h) behind it, is one part. Returns 0 only
 * for equal texts: those with equal parts, such as `1MiB` and `1024KiB`, are in byte
 * order. An exponent belongs to a number that begins the text or stands behind `=`.
 */
int order_compare(const char *a, const char *b);

/* Compares two pointers to texts so, for qsort() and bsearch(). */
int order_names(const void *a, const void *b);

#endif
