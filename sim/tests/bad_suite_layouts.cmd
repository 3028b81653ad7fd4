export SHARDSIM_DATA="$PWD/platforms"
cd "$TMPDIR" || exit 9
cat >suite.yaml <<'END'
generate: {kind: layouts, array: "f32[64,64,64]", mesh: "a=2,b=2,c=2,d=2,e=2,f=2"}
END
shardsim sweep suite.yaml --platform dgx-a100:1 --out rows
