#include "system/stop.h"

#include <stddef.h>

static volatile sig_atomic_t caught;

static void note(int signal)
{
	caught = signal;
}

const volatile sig_atomic_t *stop_on_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = note,
	                           .sa_flags = SA_RESETHAND | SA_RESTART};
	struct sigaction old;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	return &caught;
}
