/* The whole of a platform file. */
#include "family/xml.h"

/*
 * Appends a text as the user typed it, without what XML comments lack: controls and
 * "--".
 */
static void comment_append(struct text *out, const char *s)
{
	for (char before = ' '; *s; before = *s++) {
		bool plain = (unsigned char)*s >= ' ' && (*s != '-' || before != '-');

		text_append(out, plain ? s : " ", 1);
	}
}

enum status platform_generate(struct text *out, const char **note, struct arena *a,
                              const char *spec, const char *const *set, int nset,
                              bool brief, struct error *e)
{
	struct family_machine m;
	struct text body = {0}, said = {0};
	struct error local = {0};

	if (!e)
		e = &local;
	if (family_parse(&m, a, NULL, spec, set, nset, e) == OK) {
		m.brief = brief;
		family_note(&said, &m);
		if (m.family.kind == FAMILY_TORUS)
			torus_generate(&body, &m, spec, e);
		else
			nodes_generate(&body, &m, spec, e);
	}
	if (e->code == OK) {
		text_printf(out, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
		                 "\"https://simgrid.org/simgrid.dtd\">\n<!-- ");
		comment_append(out, spec);
		for (int i = 0; i < nset; i++) {
			text_append(out, " ", 1);
			comment_append(out, set[i]);
		}
		text_printf(out, " -->\n<platform version=\"4.1\">\n"
		                 "  <zone id=\"machine\" routing=\"Full\">\n");
		text_append(out, body.s, body.length);
		text_printf(out, "  </zone>\n</platform>\n");
	}
	if (note)
		*note = said.length ? arena_strdup(a, said.s) : NULL;
	text_free(&said);
	text_free(&body);
	return e->code;
}
