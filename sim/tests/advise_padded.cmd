# 4,095 columns over two devices: padded once, XLA has nothing to pad and cut off around steps.
# A pad of the tile of 4 MiB takes a launch and 2 * 4 MiB of memory traffic.
advise="shardsim advise --mesh x=2,y=2,z=2 --platform dgx-h100:1"
$advise --array 'bf16[2048,4095]' --from "P('x','y')" --to "P('x','z')" | sed -n '/^padded/,$p'
$advise --array 'bf16[2048,4095]' --from "P('x','y')" --to "P('x','z')" --format json
# Nothing is padded: of an even array, or where the compiler is another.
$advise --array 'bf16[2048,4096]' --from "P('x','y')" --to "P('x','z')" | grep -c '^padded'
$advise --array 'bf16[2048,4095]' --from "P('x','y')" --to "P('x','z')" --compiler shardy |
	grep -c '^padded'
:
