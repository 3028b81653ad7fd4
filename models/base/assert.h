/*
 * assert() of this library: an invariant that does not hold ends the program, or the call
 * of shardsim.h that is being made (memory.h). It is looked at in every build.
 */
#ifndef SHARDSIM_BASE_ASSERT_H
#define SHARDSIM_BASE_ASSERT_H

#include <assert.h> /* for static_assert */

_Noreturn void assert_broken(const char *what, const char *file, int line);

#undef assert
#define assert(what) ((what) ? (void)0 : assert_broken(#what, __FILE__, __LINE__))

#endif
