#include "program/build.h"
bool read_stablehlo(struct build *b)
{
	scan_fail(&b->s, E_INFEASIBLE, "StableHLO is not read");
	return false;
}
