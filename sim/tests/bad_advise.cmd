# Problems, compilers and logs that are none.
try() {
	shardsim advise "$@"
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
} 2>&1 | grep -v -e '^Try' -e 'information'
