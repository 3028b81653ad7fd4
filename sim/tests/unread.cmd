# What is given and nothing reads on a machine is told, by every command: who calls on a TPU is XLA,
# and nobody where there is no library; figures of schedules and of NCCL's graphs count where
# schedules may run and its own model ranks.
exec 2>&1
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
notes() {
	shardsim "$@" 2>&1 | grep -e 'shardsim: note' -e '^--' -e '^shardsim perf:'
}
moved() {
	notes simulate --array 'f32[8,8]' --mesh x=8 --from "P('x', None)" --to "P(None, 'x')" "$@"
}
moved --platform tpu-v5e:2x4 --launch process
moved --platform tpu-v5e:2x4 --launch xla
moved --platform tpu-v5e:2x4 --launch eager
shardsim platform dgx-a100:1 --set profile=plain -o plain.xml
moved --platform plain.xml --launch xla
moved --platform dgx-a100:1 --launch process
echo schedules
moved --platform dgx-a100:1 --set scheduled_round_s=9us
moved --platform dgx-a100:1 --set scheduled_round_s=9us --algorithm scheduled
moved --platform dgx-a100:1 --set scheduled_round_s=9us --set scheduled=1
moved --platform 'dgx-a100:1{graph_Bps=10GB/s,scheduled_round_s=1us}'
moved --platform 'dgx-a100:1{graph_Bps=10GB/s,scheduled_round_s=1us}' --algorithm tuner
echo commands
notes perf all-reduce --platform tpu-v5e:2x4 -b 1M -e 1M --launch process --set scheduled_round_s=1us
cat >job.hlo <<'END'
HloModule m, num_partitions=8
ENTRY e {
  p = f32[8] parameter(0)
  ROOT r = f32[64] all-gather(p), replica_groups={{0,1,2,3,4,5,6,7}}, dimensions={0}
}
END
notes program job.hlo --platform tpu-v5e:2x4 --launch process
cat >suite.yaml <<'END'
scenarios:
  - {name: a, array: "u8[8]", mesh: "x=8", from: "P('x')", to: "P(None)"}
END
notes move suite.yaml --platform tpu-v5e:2x4 --launch process
notes sweep suite.yaml --platform tpu-v5e:2x4,dgx-a100:1 --set 'graph_Bps={10GB/s,20GB/s}' --launch process \
	--planner gather --out rows
notes place --hierarchy 2,4 --axes 4,2 --reduce 0 --platform tpu-v5e:2x4 --launch process
printf 'set,system,nodes,devices,collective,bytes,time_us,busbw_GBps\na,S,1,8,all-reduce,1024,9,\n' >t.csv
notes validate t.csv --platform tpu-v5e:2x4 --launch process
echo a program alone
notes perf all-gather --emit mpi --launch xla
notes perf all-gather --emit mpi --platform dgx-a100:1
notes perf all-gather --emit mpi -o bench.c --clock flow
notes perf all-gather --emit mpi -o bench.c -b 1K -e 1K
# Beside one the table is of its caller, MPI, unless another is named.
shardsim perf all-gather --emit mpi -o bench.c -b 1K -e 1K --platform dgx-a100:1 | head -n 1
shardsim perf all-gather --emit mpi -o bench.c -b 1K -e 1K --platform dgx-a100:1 --launch process | head -n 1
