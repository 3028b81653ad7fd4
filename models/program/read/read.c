/* Which reader a text is for. */
#include "base/input.h"
#include "program/read/build.h"

#include <string.h>

/* HLO's texts begin with HloModule, those of MLIR with module, a mesh or a function. */
static bool is_mlir(struct build *b)
{
	char c = lex_peek(&b->s);

	return c == '#' || (c == 'm' && !strncmp(b->s.pos, "module", 6)) ||
	       !strncmp(b->s.pos, "func.", 5) || !strncmp(b->s.pos, "sdy.", 4);
}

enum status program_of_text(struct program *out, struct arena *a, const char *text,
                            size_t length, const char *file, struct error *e)
{
	struct error local = {0};
	struct build b;

	e = e ? e : &local;
	if (build_begin(&b, out, a, text, length, file, e)) {
		bool good = is_mlir(&b) ? read_stablehlo(&b) : read_hlo(&b);

		if (!good && e->code == OK)
			scan_fail(&b.s, E_SYNTAX, "this is not expected here");
	}
	build_end(&b);
	return e->code;
}

enum status program_read(struct program *out, struct arena *a, const char *path,
                         struct error *e)
{
	struct text text = {0};
	enum status status = input_read(&text, path, e);

	if (status == OK)
		status = program_of_text(out, a, text.s ? text.s : "", text.length,
		                         arena_strdup(a, path), e);
	text_free(&text);
	return status;
}
