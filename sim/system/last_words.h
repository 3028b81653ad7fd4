/* What a process that died had to say. */
#ifndef SHARDSIM_SIM_SYSTEM_LAST_WORDS_H
#define SHARDSIM_SIM_SYSTEM_LAST_WORDS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Of what it left on stderr: the first fault that SimGrid reports, without the head of
 * that line (a trace of its own functions follows it), else the last line that is not
 * empty; "" if there is none. Cuts the text up and points into it.
 */
const char *last_words(char *text);

/* How long stderr is, to know later what was said since; -1 where it is no file. */
off_t words_heard(void);

/*
 * Why a replay in a child whose stderr was `fd` ended, by waitpid()'s status, with the last
 * words said since that was `heard` bytes long: "the replay died of signal 6 (Aborted):
 * Out of memory". Only a file that can be read tells words.
 */
void replay_death(char *out, size_t size, int status, int fd, off_t heard);

#endif
