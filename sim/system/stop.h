/* Signals that ask the program to end, for what can print its results so far before it does. */
#ifndef SHARDSIM_SIM_SYSTEM_STOP_H
#define SHARDSIM_SIM_SYSTEM_STOP_H

#include <signal.h>

/* Signals of one kind that arrive within so many seconds count as one. */
#define STOP_TWICE_S 0.5

/*
 * From now on the first SIGINT, SIGTERM or SIGHUP is only noted; a second one of the same kind ends
 * the program as usual. One that follows at once is no second one: timeout(1) sends its signal to
 * the program and to its process group, and a terminal's hang-up may come from the shell too. A
 * signal that is ignored stays so. Returns where the number of the signal is put; it is 0 until
 * one arrives.
 */
const volatile sig_atomic_t *stop_on_signals(void);

#endif
