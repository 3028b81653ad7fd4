#include "family_folder.h"

#include "platform/platform.h"

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *family_folder(struct arena *a, const char *yaml, const char *from,
                          const char *to)
{
	const char *at = from ? strstr(yaml, from) : yaml;
	const char *tmp = getenv("TMPDIR");
	char *folder = arena_printf(a, "%s/check-XXXXXX", tmp ? tmp : "/tmp");
	FILE *out;

	ck_assert_msg(at != NULL, "no '%s' in the text", from);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	out = fopen(arena_printf(a, "%s/families.yaml", folder), "w");
	ck_assert_ptr_nonnull(out);
	fprintf(out, "%.*s%s%s", (int)(at - yaml), yaml, from ? to : "",
	        at + (from ? strlen(from) : 0));
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_int_eq(setenv("SHARDSIM_DATA", folder, 1), 0);
	return folder;
}

void family_folder_remove(const char *folder)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

void yaml_fault_check(const char *yaml, const char *spec, const struct yaml_fault *f)
{
	struct arena *a = arena_new();
	const char *folder = family_folder(a, yaml, f->from, f->to);
	struct text out = {0};
	struct error e = {0};

	ck_assert_int_ne(platform_text(&out, a, spec, NULL, 0, false, &e), OK);
	family_folder_remove(folder);
	ck_assert_msg(strstr(e.text, f->text) != NULL, "%s", e.text);
	ck_assert_msg(strstr(e.at.file, "families.yaml") != NULL, "%s", e.at.file);
	ck_assert_msg(e.at.line == f->line, "line %u: %s", e.at.line, e.text);
	arena_free(a);
}

void spec_fault_check(const struct spec_fault *f)
{
	struct arena *a = arena_new();
	struct text out = {0};
	struct error e = {0};

	ck_assert_int_ne(
		platform_text(&out, a, f->spec, &f->set, f->set ? 1 : 0, false, &e), OK);
	ck_assert_ptr_null(out.s);
	ck_assert_str_eq(e.at.file, f->set ? "--set" : "--platform");
	ck_assert_msg(strstr(e.text, f->text) != NULL, "%s", e.text);
	ck_assert_msg(e.at.col == f->col, "col %u: %s", e.at.col, e.text);
	arena_free(a);
}
