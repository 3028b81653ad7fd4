/*
 * Readers of untrusted text, each of which gets one input, from libFuzzer
 * (fuzz_reader.c) or, with what that once found, from check_corpus.c. What is read must
 * print and read back as the same; what is refused must leave an error with a text. A
 * broken promise aborts.
 */
#ifndef SHARDSIM_TESTS_CORPUS_H
#define SHARDSIM_TESTS_CORPUS_H

#include "base/arena.h"

struct reader_target {
	const char *name; /* also the folder of sim/tests/corpus */
	/* `text` has `length` bytes and a zero behind; zeros may be among them. */
	void (*run)(struct arena *a, const char *text, size_t length);
};

/*
 *   notation   mesh, array, layout on a line each (the layout may have more); an empty
 *              mesh: two HLO layouts on a line each
 *   problem    array, mesh, to_mesh, from, to, memory_limit, num_devices, devices,
 *              to_devices on a line each, empty where not given
 *   plan       the number of a problem, then the plan as text
 *   plan_json  the same, as JSON
 *   suite, families   the file
 *   platform   the XML file
 *   family     family:shape, then a setting on each line
 *   program    the text of HLO or StableHLO
 *
 * Ended by a NULL name.
 */
extern const struct reader_target reader_targets[];

#endif
