shardsim plan --array 'f32[64,64]' --from '{devices=[8,1]<=[8]}' \
	--to '{devices=[1,8]<=[8]}' --num-devices 7
