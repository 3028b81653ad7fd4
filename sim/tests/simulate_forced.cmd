# What is forced changes what a plan takes, not the plan. Where it cannot run a step the
# plan is not applicable; an exchange leaves nothing to force. A switch gathers for 32 devices at most.
export SHARDSIM_DATA="$PWD/platforms"
for forced in --clock=model --algorithm=nvls --algorithm=pairwise --protocol=ll128; do
	shardsim simulate --array 'bf16[8192,8192]' --mesh x=4,y=2 --from "P('x', None)" \
		--to "P(None, 'y')" --planner best,direct --platform dgx-h100:1 --launch process $forced |
		sed -n '4,$s/  *[0-9.]* us/ us/; /memory/d; 4,$p'
done
for n in 32 36; do
	shardsim simulate --array "f32[$n,64]" --mesh x=$n --from "P('x', None)" --to "P(None, None)" \
		--planner gather --platform gb200-nvl72:1 --algorithm nvls |
		sed -n '4p; 6{s/  *[0-9.]* us/ us/; p;}'
done
