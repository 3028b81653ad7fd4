/* What suites vary: figures by name, each in a unit that its name tells. */
#ifndef SHARDSIM_SIM_SUITE_VARIED_H
#define SHARDSIM_SIM_SUITE_VARIED_H

enum varied_unit {
	VARIED_TEXT, /* a text, as a mesh is, or a number of things */
	VARIED_BYTES,
	VARIED_COUNT, /* a whole number of things, from 1 */
	VARIED_RATE,  /* bytes per second */
	VARIED_TIME   /* seconds */
};

/*
 * Returns the unit of `bytes` and of figures of platforms (facts/families.h): `...bytes`, `....bandwidth` and
 * `..._Bps`, `....latency` and `..._s`.
 */
enum varied_unit varied_unit(const char *key);

/* Returns the value of a text in that unit (base/units.h), that of VARIED_TEXT if it is a
 * number; NaN if there is none. */
double varied_value(enum varied_unit unit, const char *text);

#endif
