shardsim sweep "$PWD/scenarios/smoke.yaml" --vocabulary jax --platform dgx-a100:1 --out "$TMPDIR/rows" || true
shardsim plan --array 'f32[8]' --mesh x=4 --from "P('x')" --to "P()" --vocabulary jax
