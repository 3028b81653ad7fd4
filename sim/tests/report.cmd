# Two scenarios worked out by hand on one node (235 GB/s, 0.95 us, 5 us per launch, memory
# 2 TB/s). Tiles are 94 MB, 400 us on the link.
# remat: xla-2021 and gather take 3 x 400.95 + 5 us, then slice a tile of 188 MB: 5 + 188;
#   1400.85 us. synth slices to 47 MB (5 + 47), then 3 x 200.95 + 5: 659.85 us. Speedup
#   2.1230; live 7 tiles against 3.5.
# swap: xla-2021 and synth exchange quarters: 3 x 100.95 + 5 + 188: 495.85 us. gather takes
#   1207.85 + 5 + 94: 1306.85 us. Speedup 0.3794; live 2 tiles against 6.
# The median of 1 and 2.1230 is 1.561; swap is a tie, and the one case without a full
# rematerialization.
# The means are 1.457 and 0.616 in time, 1.414 and 0.577 in memory. An interval over two
# values that takes them with chances 1/4, 1/2, 1/4 is from one to the other.
# Bounds are 600.95 and 300.95 us (the tile that a device lacks over its link). Times over
# them are 2.331 and 4.342 for gather (mean 3.182), 1.098 and 1.648 for synth (1.345), 2.331
# and 1.648 for xla-2021 (1.960); quantiles lie in proportion between the two.
# Planner against planner: synth over gather sqrt(2.1230 * 1306.85 / 495.85) = 2.365; live
# 7 : 3.5 and 6 : 2, sqrt(6) = 2.449.
# A device lacks 141 MB of remat and 70.5 MB of swap: gather receives 2 and 4 times that,
# synth once, xla-2021 2 times and once.
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >two.yaml <<'END'
defaults: {family: hand, array: "u8[8,47000000]", mesh: "x=4,y=2", from: "P('x', None)"}
scenarios:
  - {name: remat, to: "P(None, 'y')"}
  - {name: swap, to: "P(None, 'x')"}
END
shardsim platform dgx-a100:1 --set profile=plain --set launch_s=5us -o a100.xml
shardsim sweep two.yaml --platform a100.xml --planner gather,synth,xla-2021 \
	--out rows
shardsim report rows
shardsim report rows --rows | sed 1d | cut -d, -f 1,16-
for format in md csv tex; do
	shardsim report rows --format $format --details
done
