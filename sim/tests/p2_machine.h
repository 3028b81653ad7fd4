/* Machines of links that are the published systems of validate/p2.h. */
#ifndef SHARDSIM_SIM_TESTS_P2_MACHINE_H
#define SHARDSIM_SIM_TESTS_P2_MACHINE_H

#include "array/machine.h"

/*
 * They are made from their pictures: an A100 node is one switch and one NIC, a V100 node
 * a ring of eight, four PCIe switches, a bridge and one NIC.
 */
struct machine *machine_p2_a100(struct arena *a, int32_t nodes);
struct machine *machine_p2_v100(struct arena *a, int32_t nodes);

#endif
