#include "system/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void child_end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have ended before this process asked. */
	if (getppid() != parent)
		_exit(1);
}

void child_read(struct text *out, int fd)
{
	char block[65536];
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			text_append(out, block, (size_t)n);
	}
	close(fd);
}

int child_wait(pid_t child)
{
	int status = -1;

	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}
