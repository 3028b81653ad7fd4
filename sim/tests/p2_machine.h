/* Machines of links that are the published systems of validate/p2.h. */
#ifndef SHARDSIM_SIM_TESTS_P2_MACHINE_H
#define SHARDSIM_SIM_TESTS_P2_MACHINE_H

#include "array/machine.h"

/*
 * Make the machines from their pictures. An A100 node is a switch and a NIC; a V100
 * node is a ring of eight, four PCIe switches, a bridge and a NIC.
 */
struct machine *machine_p2_a100(struct arena *a, int32_t nodes);
struct machine *machine_p2_v100(struct arena *a, int32_t nodes);

#endif
