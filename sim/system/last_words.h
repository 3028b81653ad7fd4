/* What a process that died had to say. */
#ifndef SHARDSIM_SIM_SYSTEM_LAST_WORDS_H
#define SHARDSIM_SIM_SYSTEM_LAST_WORDS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Returns the line that tells most in what a process left on stderr. That is the first
 * fault that SimGrid reports, without the head of its line, since SimGrid then prints a
 * trace of its own functions; else it is the last line that is not empty, or "". The
 * function changes the text and returns a place in it.
 */
const char *last_words(char *text);

/*
 * Returns how many bytes are on stderr, so that replay_death() knows what was said
 * since; -1 where stderr is no file.
 */
off_t words_heard(void);

/*
 * Prints why a replay ended in a child whose stderr was `fd`, from waitpid()'s status
 * and the last words after the first `heard` bytes of `fd`: "the replay died of signal
 * 6 (Aborted): Out of memory". There are words only where `fd` is a file that can be
 * read.
 */
void replay_death(char *out, size_t size, int status, int fd, off_t heard);

#endif
