# A partitioned program, as compilers run it and as it stands; by loop; on one node of two.
shardsim program scenarios/programs/fsdp.hlo --platform dgx-h100:1
shardsim program scenarios/programs/fsdp.hlo --platform dgx-h100:2 --devices 0-3,8-11 --raw \
	--report collectives --planner none
shardsim program scenarios/programs/fsdp.hlo --platform dgx-h100:1 --report ops --by loop
# A platform of the program's size.
shardsim program scenarios/programs/fsdp.hlo --platform 'dgx-h100:{n}' --report summary | head -n 1
