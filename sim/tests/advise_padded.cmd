# 4,095 columns over two devices: padded once, XLA has nothing to pad and cut off around steps.
# A pad of the tile of 4 MiB takes a launch and 2 * 4 MiB of memory traffic.
advise="shardsim advise --mesh a=2,b=2,c=2 --platform torus:2x4"
$advise --array 'bf16[2048,4095]' --from "P('c','a')" --to "P('c','b')" | sed -n '/^padded/,$p'
$advise --array 'bf16[2048,4095]' --from "P('c','a')" --to "P('c','b')" --format json
# Nothing is padded: of an even array, or where the compiler is another.
$advise --array 'bf16[2048,4096]' --from "P('c','a')" --to "P('c','b')" | grep -c '^padded'
$advise --array 'bf16[2048,4095]' --from "P('c','a')" --to "P('c','b')" --compiler shardy |
	grep -c '^padded'
:
