#include "system/last_words.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 1 << 16 /* bytes of stderr that are looked at */ };

/*
 * Returns what follows the head of the first line such as "[0.1] ./src/file.cpp:48:
 * [category/CRITICAL] What happened"; NULL if there is none.
 */
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

off_t words_heard(void)
{
	return lseek(STDERR_FILENO, 0, SEEK_CUR);
}

void replay_death(char *out, size_t size, int status, int fd, off_t heard)
{
	off_t n = heard < 0 ? 0 : lseek(fd, 0, SEEK_CUR) - heard;
	char *text = xmalloc(WORDS_MAX + 1, 1);
	ssize_t got =
		n > 0 ? pread(fd, text, n < WORDS_MAX ? (size_t)n : WORDS_MAX, heard)
		      : 0;
	const char *words;

	text[got > 0 ? got : 0] = '\0';
	words = last_words(text);
	if (WIFSIGNALED(status))
		snprintf(out, size, "the replay died of signal %d (%s)%s%.300s",
		         WTERMSIG(status), strsignal(WTERMSIG(status)),
		         *words ? ": " : "", words);
	else
		snprintf(out, size, "the replay ended with status %d%s%.300s",
		         WEXITSTATUS(status), *words ? ": " : "", words);
	free(text);
}
