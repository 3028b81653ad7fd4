# Simulated times of collectives agree with those of SimGrid's own MPI.
.ci/peers 8
