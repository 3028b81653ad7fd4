# What is forced changes what a plan takes, not the plan. Where it cannot run a step the
# plan is not applicable; an exchange leaves nothing to force. Buffers of XLA are not registered
# with a switch, so its programs have no all-gather of nvls.
export SHARDSIM_DATA="$PWD/platforms"
for forced in --clock=model --algorithm=nvls --algorithm=pairwise --protocol=ll128; do
	shardsim simulate --array 'bf16[8192,8192]' --mesh x=4,y=2 --from "P('x', None)" \
		--to "P(None, 'y')" --planner best,direct --platform dgx-h100:1 --launch process $forced |
		sed -n '4,$s/  *[0-9.]* us/ us/; /memory/d; 4,$p'
done
shardsim simulate --array 'bf16[8192,8192]' --mesh x=4,y=2 --from "P('x', None)" \
	--to "P(None, 'y')" --planner best --platform dgx-h100:1 --launch xla --algorithm nvls |
	sed -n 2,4p
