for command in plan platform; do
	[ $command = platform ] && set -- || set -- --array 'f32[8]' --mesh x=2 --from "P('x')" --to 'P()' --platform
	shardsim $command "$@" dgx-a100:1 --set launch_s=1us --set nvlink.latency=2us --set launch_s=3us
	echo $?
done
