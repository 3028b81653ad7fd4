/*
 * Folders with a families.yaml of a test's own, and what its faults and those of a
 * platform's name are to say.
 */
#ifndef SHARDSIM_TESTS_FAMILY_FOLDER_H
#define SHARDSIM_TESTS_FAMILY_FOLDER_H

#include "base/arena.h"

/*
 * Makes a folder, which $SHARDSIM_DATA names from then on, and returns its name. Its
 * families.yaml has the text with the first `from` replaced by `to`; `from` must be in
 * it, unless it is NULL, which replaces nothing.
 */
const char *family_folder(struct arena *a, const char *yaml, const char *from,
                          const char *to);

/* Removes the folder and all that is in it; $SHARDSIM_DATA still names it. */
void family_folder_remove(const char *folder);

/*
 * An edit of a families.yaml that makes an error in that line, with this in its text.
 */
struct yaml_fault {
	const char *from, *to;
	unsigned line;
	const char *text;
};

/* Fails the test unless the platform `spec` of the edited families is that error. */
void yaml_fault_check(const char *yaml, const char *spec, const struct yaml_fault *f);

/* A platform, with a setting unless that is NULL, of which one is an error. */
struct spec_fault {
	const char *spec, *set;
	unsigned col;
	const char *text;
};

void spec_fault_check(const struct spec_fault *f);

#endif
