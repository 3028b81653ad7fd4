#include "last_words.h"

#include <string.h>

/* "[0.1] ./src/file.cpp:48: [category/CRITICAL] What happened" */
static char *first_fault(char *text)
{
	static const char *const levels[] = {"/ERROR] ", "/CRITICAL] "};
	char *first = NULL;

	for (int i = 0; i < 2; i++) {
		char *at = strstr(text, levels[i]);

		if (at && (!first || at < first))
			first = at;
	}
	return first ? strchr(first, ' ') + 1 : NULL;
}

const char *last_words(char *text)
{
	char *line = first_fault(text);
	size_t n = strlen(text);

	if (line) {
		line[strcspn(line, "\n")] = '\0';
		return line;
	}
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[n] = '\0';
	line = strrchr(text, '\n');
	return line ? line + 1 : text;
}
