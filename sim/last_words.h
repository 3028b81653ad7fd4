/* What a process that died had to say. */
#ifndef SHARDSIM_SIM_LAST_WORDS_H
#define SHARDSIM_SIM_LAST_WORDS_H

/*
 * Of what it left on stderr: the first fault that SimGrid reports, without the head of
 * that line (a trace of its own functions follows it), else the last line that is not
 * empty; "" if there is none. Cuts the text up and points into it.
 */
const char *last_words(char *text);

#endif
