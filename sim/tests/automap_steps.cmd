# Published steps as shardings: two models on a machine whose configurations are put in the order in
# which they were measured, and what no sharding says. Then the rows, and what is wrong in one.
ln -s "$PWD/scenarios" "$TMPDIR/scenarios"
{
	head -n 1 platforms/steps.csv
	grep -E '^mpt-h100,MPT-(1b|760m),.*dgx-h100:1,' platforms/steps.csv | grep -E ',(512|2048|8192|16384),'
	grep -E '^megatron-(h100|a100|gb200),(LLAMA3_70B|Megatron 22b|Nemotron_3_Nano),' platforms/steps.csv |
		head -n 6
} | sed 's|\.\./scenarios|scenarios|' >"$TMPDIR/steps.csv"
shardsim automap "$TMPDIR/steps.csv" --budget 100
shardsim automap "$TMPDIR/steps.csv" --budget 1 --format csv | cut -d , -f 1-6,8,10- | grep -v '"'
shardsim automap "$TMPDIR/steps.csv" --mesh x=8 2>&1 | head -n 1
sed 's/fsdp=8/fsdp=x/' "$TMPDIR/steps.csv" >"$TMPDIR/bad.csv"
shardsim automap "$TMPDIR/bad.csv" 2>&1 | sed "s|$TMPDIR|TMP|"
# Micro batches and layers that are computed again.
shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8,model=4 --platform dgx-a100:4 --batch 64 \
	--micro-batches 4 --recompute full | sed -n 2,11p
shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8 --search none --batch 6 --micro-batches 4 2>&1
shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8 --search none --recompute some 2>&1 | head -n 1
