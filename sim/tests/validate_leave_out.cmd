# Steps of a machine with other constants than the family has, as they would be measured: 0.6 of the peak, and
# a contention of 0.25. Whatever set, model or scale is left out, constants near these are found, and the times.
echo 'set,name,model,platform,parallel,seq,global_batch,micro_batch,precision,fuse,zero,recompute,attention,measured_s,left_out,detail,source' >"$TMPDIR/steps.csv"
sed 's/recompute: full, zero: 3, fuse: eager/zero: 3, fuse: compiled/' scenarios/models/gpt-7b.yaml >"$TMPDIR/m.yaml"
row() {
	s=$(shardsim step "$TMPDIR/m.yaml" --parallel "$3" --platform dgx-a100:2 --set matmul_share=0.6 --set contention=0.25 \
		--seq "$4" --batch 64 --micro-batch "$5" --format json | sed -n 's/.*"step_s": \(.*\),/\1/p')
	echo "$1,$2,m.yaml,dgx-a100:2,\"$3\",$4,64,$5,bf16,compiled,3,none,flash,$s,,by hand,by hand"
}
{
	row one short fsdp=16 512 1
	row one short fsdp=8 512 2
	row one long fsdp=16 2048 2
	row one long fsdp=8 2048 2
	row two short fsdp=16 1024 1
	row two long fsdp=16 4096 4
	row two long fsdp=4 4096 4
} >>"$TMPDIR/steps.csv"
shardsim validate "$TMPDIR/steps.csv" --leave-one-out | sed -n '/Left out in turn/,$p'
exec 2>&1
shardsim validate sim/tests/programs.csv --leave-one-out
