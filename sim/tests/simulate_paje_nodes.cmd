# Two GPUs of different nodes, whose NICs are ends of a cluster: after net_send_s (3.632 us)
# 48 KiB / net_send_share (0.9286) at 48 GB/s (1.103 us), each way.
shardsim simulate --array 'bf16[1024,96]' --mesh 'x=2' --from "P('x')" --to "P(None, 'x')" \
	--platform dgx-h100:2 --devices 0,8 --clock fluid --paje "$TMPDIR/trace.paje"
awk '$1 == 6 { name[$3] = $6 }
     $1 == 9 || $1 == 10 { print ($1 == 9 ? "from" : "to"), $2, name[$4], $5 }' "$TMPDIR/trace.paje"
