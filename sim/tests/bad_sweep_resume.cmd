# What cannot be gone on with, and options that --resume takes from there.
cd "$TMPDIR" || exit 9
shardsim sweep --resume none; echo $?
mkdir empty && shardsim sweep --resume empty; echo $?
shardsim sweep --resume '' 2>&1 | head -n 1
shardsim sweep --resume empty --planner synth 2>&1 | head -n 1
shardsim sweep --resume empty suite.yaml 2>&1 | head -n 1
ls -A empty
