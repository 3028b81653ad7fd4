# A mesh smaller than its torus sits on a slice of it. 8 of 8x8x8 chips are 2x2x2: an
# all-gather of 7.2 MB in three parts of 2.4 MB, each along all three axes one after
# another, at 45 GB/s. A part grows from 0.3 to 0.6, 1.2 and 2.4 MB, over one link each:
# (0.3 + 0.6 + 1.2) MB / 45 GB/s = 46.67 us, 3 hops of 1 us, a launch of 3.55 us: 53.22 us.
# No device receives its 6.3 MB over three links in less than 46.67 us and a hop.
shardsim simulate --array 'u8[7200000]' --mesh x=8 --from "P('x')" --to 'P(None)' \
	--platform tpu-v4:8x8x8 --clock model,fluid
# The machine of the mesh's size has the same chips and no others.
shardsim simulate --array 'u8[7200000]' --mesh x=8 --from "P('x')" --to 'P(None)' \
	--platform 'tpu-v4:{n}' --clock model,fluid
# JSON lists the devices of a slice: here 2x2 of 4x8. Two meshes sit on what both need.
for to in x=4 x=2; do
	shardsim plan --array 'u8[64]' --mesh x=4 --to-mesh $to --from "P('x')" --to 'P()' \
		--platform tpu-v5e:4x8 --planner direct --format json |
		sed -n 's/.*\("from_devices".*\), "padded_shape".*/\1/p'
done
# A machine with a setting that has as few nodes as will do.
shardsim plan --array 'u8[24]' --mesh x=12 --from "P('x')" --to 'P(None)' \
	--platform 'dgx-h100:{n}{nic.bandwidth=100GB/s}' | sed -n 2p
# None that is offered is large enough.
shardsim plan --array 'u8[512]' --mesh x=512 --from "P('x')" --to 'P(None)' \
	--platform 'tpu-v5e:{n}' | tail -1
# Where no mesh says what n is, and sizes of which there are none.
for size in '{n}' '{' '{0}' '{9999}'; do
	shardsim platform "tpu-v4:$size" || echo $?
done
