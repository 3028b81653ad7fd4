#include "system/stop.h"

#include "system/wall.h"

#include <stddef.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof(signals) / sizeof(*signals) };

static volatile sig_atomic_t caught;
static double first_s; /* read and written by note() alone, which no other of them interrupts */

static void note(int number)
{
	double now_s = wall_s();

	if (caught == 0)
		first_s = now_s;
	if (caught == number && now_s - first_s > STOP_TWICE_S) {
		signal(number, SIG_DFL);
		raise(number);
	}
	caught = number;
}

const volatile sig_atomic_t *stop_on_signals(void)
{
	struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
	struct sigaction old;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaddset(&action.sa_mask, signals[i]);
	for (size_t i = 0; i < SIGNALS; i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	return &caught;
}
