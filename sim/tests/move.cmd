# A model by rules from stages to engines; each kind of array planned once.
shardsim move sim/tests/move.yaml --platform dgx-h100:2 --clock model,fluid
# The same in the order of the file; with less memory, so that fewer go at once; with too little.
shardsim move sim/tests/move.yaml --platform dgx-h100:2 --order given --batch 0 | tail -n 2
shardsim move sim/tests/move.yaml --platform dgx-h100:2 --memory-limit 64MiB | tail -n 3
shardsim move sim/tests/move.yaml --platform dgx-h100:2 --memory-limit 60MiB | head -n 5
# From data parallel to tensor parallel on the same devices, with what hosts add.
shardsim move sim/tests/move_model.yaml --from data=2,fsdp=4 --to data=2,tensor=4 \
	--platform 'dgx-h100:{n}' --planner best,xla --host-costs --source free
