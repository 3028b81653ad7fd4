#include "system/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is the file still the one of that name? Who gives a lock back removes its file. */
static bool has_name(int fd, const char *path)
{
	struct stat ours, named;

	return fstat(fd, &ours) == 0 && stat(path, &named) == 0 &&
	       ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

/*
 * Tries once; *held is whether another process has it. False without an error: the other
 * one gave it back meanwhile.
 */
static bool take(int fd, const char *path, bool *held, struct where at, struct error *e)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_SETLK, &lock) == 0)
		return has_name(fd, path);
	if (errno != EACCES && errno != EAGAIN)
		error_set(e, E_IO, at, "cannot lock it: %s", strerror(errno));
	else if ((*held = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK))
		error_set(e, E_IO, at, "process %ld is writing a sweep there",
		          (long)lock.l_pid);
	return false;
}

/* The name of what the lock is of: `path` without its folder and ".lock". */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int name_length(const char *path)
{
	size_t n = strlen(name_of(path));

	return (int)(n > 5 ? n - 5 : n);
}

enum status lock_take(int *fd, const char *path, struct where at, struct error *e)
{
	bool held = false;

	for (;;) {
		*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		if (*fd < 0)
			return error_set(e, E_IO, at, "cannot write %.*s: %s",
			                 name_length(path), name_of(path),
			                 strerror(errno));
		if (take(*fd, path, &held, at, e))
			return OK;
		close(*fd);
		*fd = held ? LOCK_HELD : -1;
		if (e->code != OK)
			return e->code;
	}
}

void lock_give(int fd, const char *path)
{
	if (fd < 0)
		return;
	unlink(path);
	close(fd);
}
