# A computation that is called twice reads one array of 64 MiB here and two there: with the result 32 and 48 us
# at 4 MiB/us, and the step is their sum.
cat >"$TMPDIR/calls.hlo" <<'HLO'
HloModule calls

relu {
  x = f32[16777216]{0} parameter(0)
  zero = f32[] constant(0)
  zeros = f32[16777216]{0} broadcast(zero), dimensions={}
  ROOT max = f32[16777216]{0} maximum(x, zeros)
}

ENTRY main {
  a = f32[16777216]{0} parameter(0)
  b = f32[16777216]{0} parameter(1)
  one = f32[16777216]{0} call(a), to_apply=relu
  sum = f32[16777216]{0} add(a, b)
  two = f32[16777216]{0} call(sum), to_apply=relu
  ROOT out = (f32[16777216]{0}, f32[16777216]{0}) tuple(one, two)
}
HLO
shardsim program "$TMPDIR/calls.hlo" --platform dgx-h100:1 --set memory_Bps=8388608MB/s --set memory_share=0.5 --report summary
