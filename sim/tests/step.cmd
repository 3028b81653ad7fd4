# Training steps of models: data and tensor parallel, without and with overlap; a pipeline,
# whose bubble is there; the totals as JSON; and jobs that cannot be.
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=4,tensor=4 --platform dgx-h100:2
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=4,pipeline=2 --platform dgx-a100:1 \
	--overlap none
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=8 --platform dgx-h100:1 \
	--format json | sed -n '/"totals"/,/^ }/p'
exec 2>&1
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=16 --platform dgx-h100:1
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=4,tenser=2 --platform dgx-h100:1
shardsim step scenarios/models/gpt-7b.yaml --parallel tensor=7 --platform dgx-h100:1
shardsim step scenarios/models/gpt-7b.yaml --platform dgx-h100:1
