# A log tells how its run was launched: by one process for eight devices, which is not what is
# simulated unless it is asked for.
exec 2>&1
cat >"$TMPDIR/log" <<'END'
# nThread 1 nGpus 8 minBytes 1048576 maxBytes 4194304 step: 4(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
     1048576        262144     float     sum      -1    45.21   23.19   40.59      0    44.90   23.35   40.87      0
     4194304       1048576     float     sum      -1    73.88   56.77   99.35      0    73.50   57.07   99.87      0
END
export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
shardsim perf all-reduce --platform dgx-h100:1 --measured log
shardsim perf all-reduce --platform dgx-h100:1 --measured log --launch single
