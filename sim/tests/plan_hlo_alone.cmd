# An HLO layout brings its own mesh. Of a 16 MiB tile 7/8 go to the other seven devices.
shardsim plan --array 'bf16[8192,8192]' --from '{devices=[8,1]<=[8]}' \
	--to '{devices=[1,8]<=[8]}'
shardsim plan --array 'bf16[8192,8192]' --from '{replicated}' \
	--to '{devices=[1,8]<=[8]}' --num-devices 8
