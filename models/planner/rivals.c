#include "planner/rivals.h"

const struct planner *const rivals[] = {RIVALS(RIVAL_ADDRESS) NULL};
