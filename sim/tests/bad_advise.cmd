# Problems, compilers and logs that are none.
try() {
	shardsim advise "$@"
	echo "exit $?"
}
# Warnings on a platform that is none, whatever the size: before any of them, with its place.
warned() {
	cat >"$TMPDIR/log" <<END
The compiler cannot go from sharding {devices=[8,1]<=[8]} to {devices=[1,8]<=[8]} for %s = bf16[16,16] add(
The compiler cannot go from sharding {devices=[4,1]<=[4]} to {devices=[1,4]<=[4]} for %s = bf16[16,16] add(
END
	shardsim advise "$TMPDIR/log" --platform "$@"
	echo "exit $?"
}
{
	try
	try --array 'f32[8]' --mesh x=2 --from "P('x')" --to 'P()' --compiler shady
	try --array 'f32[8]' --mesh x=2 --from "P('x')" --to 'P()' --compiler best
	try --array 'f32[8]' --mesh x=2 --from "P('x')" --to "P('y')"
	try --array 'f32[8]' --mesh x=4 --from "P('x')" --to 'P()' --platform torus:2x1
	try --array 'f32[8]' --mesh x=4 --from "P('x')" --to 'P()' --platform tpu-v9:4
	try --array 'f32[8]' --mesh x=4 --from "P('x')" --to 'P()' --set nodes=2
	try --array 'f32[8]' --mesh x=4 --from "P('x')" --to 'P()' --vocabulary some
	try /nowhere/log
	try --xla-warning @/nowhere/log
	try --xla-warning 'from sharding {replicated} to {devices=[2]<=[2]}'
	try --xla-warning 'from here'
	try log --xla-warning x
	try log --from "P('x')"
	try /dev/null --top many
	warned foo:1
	warned 'foo:{n}'
	warned tpu-v4:3z
	warned 'tpu-v4:{nn}'
	warned 'tpu-v4:{9999}'
	warned 'tpu-v4:{n}{foo=1}'
	warned 'dgx-h100:{n}' --set nic.bandwidth=x
	warned /nowhere.xml
	# What follows from the size is a matter of each warning.
	warned 'tpu-v4:{n}' --set slow_device=6:0.5 --top 0
	warned tpu-v4:2x2x1 --top 0
} 2>&1 | grep -v -e '^Try' -e 'information'
