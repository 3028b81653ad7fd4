shardsim sweep --platform dgx-a100:1
