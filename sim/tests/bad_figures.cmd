# Figures beyond what they can be, and such without the unit that was meant; peaks with one.
for set in matmul_share=7 attention_share=1.5 memory_share=2 bf16_flops=989 bf16_flops=989TB \
	matmul_share=0 attention_share=0.0 memory_share=0 bf16_flops=0 launch_s=5 kernel_s=3 memory_bytes=80; do
	shardsim platform dgx-h100:1 --set $set -o "$TMPDIR/p.xml" 2>&1 | head -n 1
done
for set in bf16_flops=500TFLOPS bf16_flops=500TFLOP/s bf16_flops=0.5PFLOPS bf16_flops=500e12; do
	shardsim platform dgx-h100:1 --set $set | grep -o 'bf16_flops=[0-9]*' | tail -n 1
done
