#include "facts/kind.h"

const struct kind *kind_of(const struct family *f)
{
	return f->kind == FAMILY_TORUS ? &kind_torus : &kind_nodes;
}
