# As schedules the exchanges of digit and direct, whose senders differ, may be one.
shardsim simulate --array 'f64[1000,4096,100]' --mesh x=2,y=2,z=2,w=2 --from "P('z', ('y', 'w'), None)" \
	--to "P(('y', 'z'), None, 'w')" --platform 'dgx-h100:2{scheduled=1}' --planner direct,digit,best \
	--devices 13,5,6,3,8,15,11,9,14,4,0,1,2,10,7,12 | grep -E '^[a-z]|total' | sed 's/ *80 %.*//'
