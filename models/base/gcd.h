/* The greatest common divisor. */
#ifndef SHARDSIM_BASE_GCD_H
#define SHARDSIM_BASE_GCD_H

#include <stdint.h>

/* Of numbers >= 0, by Euclid's algorithm; of 0 and n it is n. */
static inline int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

#endif
