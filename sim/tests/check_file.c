/* Files that are written whole or not at all, whatever stands in their place. */
#include "system/file.h"
#include "tests/tests.h"

#include <check.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[400];
static struct error error;

static const char *in_dir(const char *name)
{
	static char path[2][800];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static void start(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%.300s/check_file-XXXXXX", tmp ? tmp : P_tmpdir);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	error = (struct error){0};
	umask(027);
}

/* How many files there are; they are removed. */
static int sweep_dir(void)
{
	DIR *d = opendir(dir);
	int n = 0;

	ck_assert_ptr_nonnull(d);
	for (struct dirent *f; (f = readdir(d));) {
		if (f->d_name[0] == '.')
			continue;
		ck_assert_int_eq(remove(in_dir(f->d_name)), 0);
		n++;
	}
	closedir(d);
	return n;
}

static void end(void)
{
	sweep_dir();
	ck_assert_int_eq(rmdir(dir), 0);
}

static void make(const char *name, const char *text, mode_t mode)
{
	FILE *f = fopen(in_dir(name), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert(fputs(text, f) >= 0 && fclose(f) == 0);
	ck_assert_int_eq(chmod(in_dir(name), mode), 0);
}

static void holds(const char *name, const char *text, unsigned mode)
{
	struct stat s;
	char got[64];
	size_t n;
	FILE *f;

	ck_assert_int_eq(stat(in_dir(name), &s), 0);
	ck_assert_uint_eq(s.st_mode, S_IFREG | mode);
	f = fopen(in_dir(name), "r");
	n = fread(got, 1, sizeof(got) - 1, f);
	fclose(f);
	got[n] = '\0';
	ck_assert_str_eq(got, text);
}

static void writes(const char *name, const char *text)
{
	ck_assert_msg(file_write(in_dir(name), text, strlen(text), &error) == OK, "%s",
	              error.text);
}

static void refuses_as(enum status code, const char *path, const char *reason)
{
	error = (struct error){0};
	ck_assert_int_eq(file_write(path, "xyz", 3, &error), code);
	ck_assert_str_eq(error.at.file, path);
	ck_assert_msg(strstr(error.text, reason) != NULL, "%s", error.text);
}

static void refuses(const char *path, const char *reason)
{
	refuses_as(E_IO, path, reason);
}

START_TEST(new_and_old)
{
	writes("new", "one");
	holds("new", "one", 0640);
	make("old", "something long", 0604);
	writes("old", "");
	holds("old", "", 0604);
	ck_assert_int_eq(sweep_dir(), 2);
}
END_TEST

/* The user's files beside it are the user's. */
START_TEST(beside)
{
	make("a.part", "mine", 0600);
	writes("a", "one");
	writes("a", "two");
	holds("a", "two", 0640);
	holds("a.part", "mine", 0600);
	ck_assert_int_eq(sweep_dir(), 2);
}
END_TEST

START_TEST(links)
{
	struct stat s;

	make("far", "old", 0600);
	make("far.part", "mine", 0600);
	ck_assert_int_eq(symlink("far", in_dir("near")), 0);
	ck_assert_int_eq(symlink("none", in_dir("dangling")), 0);
	writes("near", "new");
	holds("far", "new", 0600);
	writes("dangling", "made");
	holds("none", "made", 0640);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(lstat(in_dir(i ? "near" : "dangling"), &s), 0);
		ck_assert(S_ISLNK(s.st_mode));
	}
	ck_assert_int_eq(sweep_dir(), 5);
}
END_TEST

/* A pipe takes the bytes and stays a pipe; /dev/full stays what it is, too. */
START_TEST(no_regular_files)
{
	struct stat s;
	char got[8] = "";
	int fd;

	ck_assert_int_eq(mkfifo(in_dir("pipe"), 0600), 0);
	fd = open(in_dir("pipe"), O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	writes("pipe", "abc");
	ck_assert_int_eq(read(fd, got, sizeof(got)), 3);
	ck_assert_str_eq(got, "abc");
	close(fd);
	ck_assert_int_eq(stat(in_dir("pipe"), &s), 0);
	ck_assert(S_ISFIFO(s.st_mode));

	ck_assert_int_eq(symlink("/dev/full", in_dir("full")), 0);
	refuses_as(E_WRITE, in_dir("full"), "cannot write it: No space left on device");
	ck_assert_int_eq(stat("/dev/full", &s), 0);
	ck_assert(S_ISCHR(s.st_mode));
	ck_assert_int_eq(sweep_dir(), 2);
}
END_TEST

START_TEST(in_the_way)
{
	char name[300];

	ck_assert_int_eq(mkdir(in_dir("folder"), 0700), 0);
	refuses(in_dir("folder"), "Is a directory");
	refuses(in_dir("none/file"), "No such file or directory");
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	refuses(in_dir(name), "File name too long");
	ck_assert_int_eq(sweep_dir(), 1);
	error = (struct error){0};
	ck_assert_int_eq(file_write("", "xyz", 3, &error), E_IO);
	ck_assert_ptr_nonnull(strstr(error.text, "an empty file name"));
}
END_TEST

START_TEST(replacing)
{
	make("part", "new", 0600);
	make("file", "old", 0644);
	ck_assert(file_replace(in_dir("part"), in_dir("file")));
	holds("file", "new", 0600);
	ck_assert(!file_replace(in_dir("part"), in_dir("file")));
	ck_assert_int_eq(sweep_dir(), 1);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("file");
	TCase *tc = tcase_create("file");

	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, new_and_old);
	tcase_add_test(tc, beside);
	tcase_add_test(tc, links);
	tcase_add_test(tc, no_regular_files);
	tcase_add_test(tc, in_the_way);
	tcase_add_test(tc, replacing);
	suite_add_tcase(s, tc);
	return s;
}
