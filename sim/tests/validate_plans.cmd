# Timings that emitted programs print: the outputs of two, and what shardsim says of their
# plans, which is what simulate says of the first. Each has a machine of
# its size; a plan that the machine cannot hold is left out.
export SHARDSIM_DATA="$PWD/platforms"
cat >"$TMPDIR/timings.csv" <<'CSV'
# 72 elements on 4 ranks, 0 wrong
#    predicted     measured        least         most  step
array,mesh,to_mesh,from,to,planner,ranks,measured_s
"f32[1024,1024]","x=2,y=2","","P('x', 'y')","P('y', None)","synth",4,0.001
# another program
array,mesh,to_mesh,from,to,planner,ranks,measured_s
"f32[4096,1024]","x=2","a=4","P('x')","P('a')","direct",4,0.002
"f32[1048576,1048576]","x=2","","P('x')","P()","gather",2,0.5
CSV
cd "$TMPDIR" || exit 9
for format in md csv json; do
	shardsim validate timings.csv --platform 'dgx-a100:{n}' --format $format
done
shardsim simulate --array 'f32[1024,1024]' --mesh x=2,y=2 --from "P('x', 'y')" \
	--to "P('y', None)" --platform 'dgx-a100:{n}' | grep total
try() {
	echo 'array,mesh,to_mesh,from,to,planner,ranks,measured_s' >bad.csv
	echo "$1" >>bad.csv
	shardsim validate bad.csv --platform dgx-a100:1 2>&1
}
try '"f32[8]","x=2","","P('"'z'"')","P()","synth",2,1'
try '"f32[8]","x=2","","P()","P()","synth",2,fast'
try '"f32[8]","x=2","","P()","P()","none",2,1'
try '"f32[8]","x=2","","P()","P()","synth",3,1'
try ''
shardsim validate timings.csv 2>&1
