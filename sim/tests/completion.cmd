# The completion, called as bash calls it: COMP_WORDS, the last of them begun.
export SHARDSIM_DATA="$PWD/platforms"
cat >"$TMPDIR/script" <<'SCRIPT'
. sim/doc/completion.bash
complete -p shardsim
try() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_shardsim
	printf '%s => %s\n' "$*" "${COMPREPLY[*]}"
}
try shardsim s
try shardsim --v
try shardsim help p
try shardsim simulate --mi
try shardsim simulate --link
try shardsim plan --planner sh
try shardsim plan --planner = synth,xla,dt
try shardsim simulate --clock = m
try shardsim simulate --clock model,fl
try shardsim simulate --platform dgx-h
try shardsim sweep scenarios/smoke.yaml --platform tpu-v4:4x4x4,mi300
try shardsim plan --minimise ''
try shardsim plan --emit g
try shardsim report rows --format = t
try shardsim plan --mesh ''
try shardsim list p
try shardsim platform gb
try shardsim perf all-
try shardsim perf all-gather --al
try shardsim step --para
try shardsim step scenarios/models/gpt-7b.yaml --overlap ''
try shardsim nosuch --x
SCRIPT
bash "$TMPDIR/script"
