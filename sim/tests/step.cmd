# Training steps of models: data and tensor parallel, without and with overlap; a pipeline,
# whose bubble is there; the totals as JSON; and jobs that cannot be.
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=4,tensor=4 --platform dgx-h100:2
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=4,pipeline=2 --platform dgx-a100:1 \
	--overlap none
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=8 --platform dgx-h100:1 \
	--format json | sed -n '/"program"/,/^ }/p; /"totals"/,/^ }/p'
# One device waits for nobody; a model without batches is given them; the size of the job.
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=1 --platform 'dgx-h100:{n}' | head -n 8
shardsim step scenarios/models/llama-3-8b.yaml --parallel fsdp=16 --platform 'dgx-h100:{n}' \
	--batch 32 --micro-batch 2 --seq 4096 | head -n 2
exec 2>&1
shardsim step scenarios/models/llama-3-8b.yaml --parallel fsdp=8 --platform dgx-h100:1 --seq 1
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=8 --platform dgx-h100:1 --batch 0
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=8,expert=2 --platform dgx-h100:1
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=16 --platform dgx-h100:1
shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=4,tenser=2 --platform dgx-h100:1
shardsim step scenarios/models/gpt-7b.yaml --parallel tensor=7 --platform dgx-h100:1
shardsim step scenarios/models/gpt-7b.yaml --platform dgx-h100:1
