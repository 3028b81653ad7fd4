/* Wall time, for what people watch: progress, time limits, planning times. */
#ifndef SHARDSIM_SIM_SYSTEM_WALL_H
#define SHARDSIM_SIM_SYSTEM_WALL_H

/* Returns the seconds since some moment; they never go back. */
double wall_s(void);

#endif
