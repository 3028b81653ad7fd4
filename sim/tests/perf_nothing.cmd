# nccl-tests cuts an all-to-all over 8 devices to 16 bytes for each, so of 4 to 64 bytes nothing is
# left, which has no time: a launch alone is none. 300 bytes run as 256, and 1,000 as 896.
export SHARDSIM_DATA="$PWD/platforms"
exec 2>&1
shardsim perf all-to-all --platform dgx-h100:1 -b 4 -e 256 -f 4 | cut -c1-90
shardsim perf all-gather --platform dgx-h100:1 -b 300 -e 1000 -i 700 | cut -c1-40
shardsim perf all-reduce --platform dgx-h100:1 -b 0 -e 0 --format csv
shardsim perf all-reduce --platform dgx-h100:1 -b 0 -e 0 --format json | grep -e time_s -e refusal
# 1,001 bytes are no whole elements, of which an all-reduce has 250; a timing of 7 bytes sent
# nothing to one of eight.
shardsim perf all-reduce --platform dgx-h100:1 -b 1001 -e 1001 | cut -c1-40
cat >"$TMPDIR/tiny.csv" <<'END'
set,system,nodes,devices,collective,bytes,time_us,busbw_GBps
a,S,1,8,all-to-all,7,20,
a,S,1,8,all-to-all,1024,20,
END
shardsim perf all-to-all --platform dgx-h100:1 --measured "$TMPDIR/tiny.csv" 2>&1 | sed "s,$TMPDIR/,," | cut -c1-80
# Two systems are two, though the name of one is a part of the other's.
cat >"$TMPDIR/two.csv" <<'EOF'
set,system,nodes,devices,collective,bytes,time_us,busbw_GBps
a,node 10,1,8,all-reduce,1048576,50,
b,node 1,1,8,all-reduce,2097152,60,
EOF
shardsim perf all-reduce --platform dgx-h100:1 --measured "$TMPDIR/two.csv" 2>&1 | sed "s,$TMPDIR/,,"
