#include "system/file.h"

#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Syncs a file's bytes, so that a power failure may undo the new name but not the
 * bytes.
 */
static bool sync_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), fault = 0;

	if (fd < 0)
		return false;
	if (fsync(fd) != 0)
		fault = errno;
	close(fd);
	errno = fault;
	return fault == 0;
}

bool file_replace(const char *part, const char *path)
{
	return sync_file(part) && rename(part, path) == 0;
}

/* Writes all and closes the file, even when writing fails; false with errno. */
static bool write_and_close(int fd, const char *bytes, size_t n)
{
	bool ok = whole_write(fd, bytes, n);
	int fault = errno;

	if (close(fd) != 0 && ok)
		return false;
	errno = fault;
	return ok;
}

static bool write_in_place(const char *path, const char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	return fd >= 0 && write_and_close(fd, bytes, n);
}

/* Returns the mode that an ordinary new file has. */
static mode_t new_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Makes a new file beside `path` and stores its name in part[PATH_MAX]; -1 with errno. */
static int open_beside(char *part, const char *path)
{
	if (snprintf(part, PATH_MAX, "%s.XXXXXX", path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return mkostemp(part, O_CLOEXEC);
}

static bool write_beside(const char *path, mode_t mode, const char *bytes, size_t n)
{
	char part[PATH_MAX];
	int fd = open_beside(part, path), fault;

	if (fd < 0)
		return false;
	fchmod(fd, mode);
	if (write_and_close(fd, bytes, n) && file_replace(part, path))
		return true;
	fault = errno;
	unlink(part);
	errno = fault;
	return false;
}

static bool write_file(const char *path, const char *bytes, size_t n)
{
	struct stat old;
	char *target;
	bool ok;

	if (stat(path, &old) == 0) {
		if (!S_ISREG(old.st_mode))
			return write_in_place(path, bytes, n);
		if (access(path, W_OK) != 0)
			return false;
		target = realpath(path, NULL);
		ok = target && write_beside(target, old.st_mode & 07777, bytes, n);
		free(target);
		return ok;
	}
	/*
	 * This is a link to a file that does not exist: only the system can follow it.
	 */
	if (lstat(path, &old) == 0)
		return write_in_place(path, bytes, n);
	return write_beside(path, new_mode(), bytes, n);
}

/* Could a file be made beside this one? */
static bool check_beside(const char *path)
{
	char part[PATH_MAX];
	int fd = open_beside(part, path);

	if (fd < 0)
		return false;
	close(fd);
	unlink(part);
	return true;
}

/* As write_file() would; a link to no file is left for it to find out. */
static bool check_file(const char *path)
{
	struct stat old;
	char *target;
	bool ok;

	if (stat(path, &old) != 0)
		return lstat(path, &old) == 0 || check_beside(path);
	if (S_ISDIR(old.st_mode)) {
		errno = EISDIR;
		return false;
	}
	if (access(path, W_OK) != 0)
		return false;
	if (!S_ISREG(old.st_mode))
		return true;
	target = realpath(path, NULL);
	ok = target && check_beside(target);
	free(target);
	return ok;
}

/* Is it not where to write that is wrong, but that no more can be written? */
static bool is_full(int fault)
{
	return fault == ENOSPC || fault == EDQUOT || fault == EFBIG || fault == EIO;
}

/* "-" is standard output elsewhere, and hardly ever meant as a name. */
static bool is_name(const char *path)
{
	return path[0] && strcmp(path, "-") != 0;
}

static enum status refuse(const char *path, struct error *e)
{
	int fault = errno;

	if (!path[0])
		return error_set(e, E_IO, (struct where){0},
		                 "an empty file name, expected where to write");
	if (!is_name(path))
		return error_set(e, E_IO, (struct where){0},
		                 "'-' is no file name here, expected where to write; "
		                 "/dev/stdout is standard output, ./- a file of that "
		                 "name");
	return error_set(e, is_full(fault) ? E_WRITE : E_IO,
	                 (struct where){.file = path}, "cannot write it: %s",
	                 strerror(fault));
}

enum status file_check(const char *path, struct error *e)
{
	return is_name(path) && check_file(path) ? OK : refuse(path, e);
}

/* Returns whether both are one regular file, or will be. */
static bool is_same(const char *path, const char *other)
{
	struct stat a, b;

	if (stat(path, &a) != 0)
		return !strcmp(path, other);
	return stat(other, &b) == 0 && S_ISREG(a.st_mode) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

enum status file_check_apart(const char *path, const char *const *used, int n,
                             struct error *e)
{
	for (int i = 0; i < n; i++)
		if (used[i] && is_same(path, used[i]))
			return error_set(e, E_TYPE, (struct where){.file = path},
			                 "is read, or written for another option, by "
			                 "this command; expected another file to "
			                 "write");
	return file_check(path, e);
}

enum status file_write(const char *path, const char *bytes, size_t n, struct error *e)
{
	return is_name(path) && write_file(path, bytes, n) ? OK : refuse(path, e);
}
