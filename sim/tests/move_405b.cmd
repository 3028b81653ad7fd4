# A refit of Llama-3-405B from 512 devices to 16 replicas of 8 others: 1137 arrays of 7 kinds.
# The 94.5 GiB of a replica's device do not fit into 80 GB.
for machine in dgx-h200:80 dgx-h100:80; do
	shardsim move scenarios/models/llama-3-405b.yaml --from fsdp=512 \
		--to data=16,tensor=8 --to-devices 512-639 --platform $machine \
		--concurrent 4 --batch 4GiB
done
