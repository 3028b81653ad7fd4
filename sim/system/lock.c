#include "system/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Returns whether the file still has that name: a process that gives its lock back
 * removes the file.
 */
static bool has_name(int fd, const char *path)
{
	struct stat ours, named;

	return fstat(fd, &ours) == 0 && stat(path, &named) == 0 &&
	       ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

/*
 * Tries once to lock the file, and sets *held to whether another process has the lock.
 * If it returns false without an error, the other process gave the lock back meanwhile.
 */
static bool try_lock(int fd, const char *path, bool *held, struct where at,
                     struct error *e)
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

/*
 * Returns `path` without its folder; name_length() does not count the ".lock" behind
 * it.
 */
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
		if (try_lock(*fd, path, &held, at, e))
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
