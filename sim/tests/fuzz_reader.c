/*
 * libFuzzer's side of corpus.h. The program is called fuzz_NAME, or a link to it is,
 * and runs the target of that name.
 */
#include "corpus.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct reader_target *target = reader_targets;
static struct arena *arena;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = strrchr((*argv)[0], '/');

	(void)argc;
	name = name ? name + 1 : (*argv)[0];
	while (target->name &&
	       (strncmp(name, "fuzz_", 5) != 0 || strcmp(name + 5, target->name) != 0))
		target++;
	if (!target->name) {
		fprintf(stderr, "%s: no such target\n", name);
		exit(2);
	}
	arena = arena_new();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of its own, so that a byte read behind it is found. */
	char *text = xmalloc(size + 1, 1);

	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	target->run(arena, text, size);
	free(text);
	arena_reset(arena);
	return 0;
}
