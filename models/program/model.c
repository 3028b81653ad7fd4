#include "program/model.h"

int64_t architecture_vocab(const struct architecture *m)
{
	return (m->vocab + m->vocab_multiple - 1) / m->vocab_multiple *
	       m->vocab_multiple;
}

bool architecture_has_experts(const struct architecture *m, int64_t layer)
{
	return m->moe.experts > 0 && layer >= m->moe.first_dense;
}
