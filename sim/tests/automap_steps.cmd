# Published steps as shardings: models on machines whose configurations are put in the order in which
# they were measured, outliers, and what no sharding says. Then the rows, and what is wrong in one.
mkdir "$TMPDIR/platforms"
ln -s "$PWD/scenarios" "$TMPDIR/scenarios"
{
	head -n 1 platforms/steps.csv
	grep -E '^mpt-h100,MPT-(1b|760m),.*dgx-h100:1,' platforms/steps.csv | grep -E ',(512|2048|8192|16384),'
	grep -E '^mpt-a100-80,MPT-760m,.*dgx-a100:1,' platforms/steps.csv
	grep -E '^megatron-(h100|a100|gb200),(LLAMA3_70B|Megatron 22b|Nemotron_3_Nano),' platforms/steps.csv |
		head -n 6
} >"$TMPDIR/platforms/steps.csv"
shardsim automap "$TMPDIR/platforms/steps.csv" --budget 100
shardsim automap "$TMPDIR/platforms/steps.csv" --budget 1 --format csv | cut -d , -f 1-6,8,10- | grep -v '"'
# No outlier is what took as long up to 1 %, or what had more to compute than what was faster: twice the
# tokens in a pass, twice the passes, or layers in another way. The shortest sequences stay one in all
# of these, as they took 1.1 % longer than the next.
outliers() {
	{ head -n 1 platforms/steps.csv; grep -E '^mpt-a100-80,MPT-760m,.*dgx-a100:1,' platforms/steps.csv; } |
		sed "$1" >"$TMPDIR/platforms/steps.csv"
	shardsim automap "$TMPDIR/platforms/steps.csv" --budget 1 --format csv | grep -c 'true$'
}
cp "$TMPDIR/platforms/steps.csv" "$TMPDIR/kept.csv"
outliers ''
outliers 's/,3\.031,/,3.29,/'
outliers 's/,2048,384,24,/,2048,384,12,/'
outliers 's/,2048,384,24,/,2048,192,24,/'
outliers '/,2048,384,24,/s/,none,/,full,/'
cp "$TMPDIR/kept.csv" "$TMPDIR/platforms/steps.csv"
shardsim automap "$TMPDIR/platforms/steps.csv" --mesh x=8 2>&1 | head -n 1
sed 's/fsdp=8/fsdp=x/' "$TMPDIR/platforms/steps.csv" >"$TMPDIR/platforms/bad.csv"
shardsim automap "$TMPDIR/platforms/bad.csv" 2>&1 | sed "s|$TMPDIR|TMP|"
# Micro batches and layers that are computed again.
shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8,model=4 --platform dgx-a100:4 --batch 64 \
	--micro-batches 4 --recompute full | sed -n 2,11p
shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8 --search none --batch 6 --micro-batches 4 2>&1
shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8 --search none --recompute some 2>&1 | head -n 1
