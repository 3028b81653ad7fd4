# Shardings in the words of other systems: JAX, Shardy, PyTorch; and the step as a program, which
# a compiler's dump would be.
for kind in jax sdy dtensor; do
	shardsim automap scenarios/models/gpt-24.yaml --mesh batch=4,model=2 --search none \
		--tactic data:batch --tactic megatron:model --tactic zero3:batch --emit $kind |
		sed 's/\(.\{120\}\).*/\1/' | head -n 24
done
# What no argument can say.
shardsim automap scenarios/models/gpt-24.yaml --mesh model=4 --search none --tactic megatron:model \
	--tactic sequence:model --emit jax | tail -n 2
shardsim automap scenarios/models/gpt-24.yaml --emit hlo -o "$TMPDIR/step.hlo"
shardsim program "$TMPDIR/step.hlo" --platform dgx-a100:1 | head -n 4
shardsim automap "$TMPDIR/step.hlo" --mesh batch=8,model=4 --search none --tactic data:batch \
	--tactic megatron:model | sed -n 2,6p
# Shardings and a mesh that texts give, with a loop; on another mesh they are left out.
shardsim automap scenarios/programs/fsdp-loop.mlir --platform dgx-a100:1 | sed -n '2p;6,20p'
shardsim automap scenarios/programs/mlp-sharded.mlir --search none --emit jax -o "$TMPDIR/jax.py"
tail -n 6 "$TMPDIR/jax.py"
shardsim automap scenarios/programs/fsdp-loop.mlir --mesh x=4 --search none --tactic data:x 2>&1
# What is emitted, read as a program and partitioned by Shardy, takes the step time that was found for
# it, with its collectives beside kernels and without, and has the same kinds of kernels, collectives
# and changes of layout.
cat >"$TMPDIR/chain.mlir" <<'END'
module @chain attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8192x4096xf32> loc("x"), %arg1: tensor<4096x4096xf32> {tf.aliasing_output = 0 : i32} loc("w1"), %arg2: tensor<4096x4096xf32> {tf.aliasing_output = 1 : i32} loc("w2")) -> (tensor<4096x4096xf32>, tensor<4096x4096xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8192x4096xf32>, tensor<4096x4096xf32>) -> tensor<8192x4096xf32>
    %1 = stablehlo.dot_general %0, %arg2, contracting_dims = [1] x [0] : (tensor<8192x4096xf32>, tensor<4096x4096xf32>) -> tensor<8192x4096xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [0] x [0] : (tensor<8192x4096xf32>, tensor<8192x4096xf32>) -> tensor<4096x4096xf32>
    %3 = stablehlo.dot_general %1, %arg2, contracting_dims = [1] x [1] : (tensor<8192x4096xf32>, tensor<4096x4096xf32>) -> tensor<8192x4096xf32>
    %4 = stablehlo.dot_general %arg0, %3, contracting_dims = [0] x [0] : (tensor<8192x4096xf32>, tensor<8192x4096xf32>) -> tensor<4096x4096xf32>
    %5 = stablehlo.subtract %arg1, %4 : tensor<4096x4096xf32>
    %6 = stablehlo.subtract %arg2, %2 : tensor<4096x4096xf32>
    return %5, %6 : tensor<4096x4096xf32>, tensor<4096x4096xf32>
  }
}
END
step_s() {
	sed -n 's/.*"step_s": \([0-9.e-]*\).*/\1/p' "$1" | head -n 1
}
rows() {
	sed -n '/"compute_s"/p;/"communication_s"/p;/"dot_flops"/p;/"compute_by_kind"/,/}/p
		/"communication_interval_s"/,/]/p;/^ "reshards"/,/^ "ops"/{/"planner"/d;/"place"/d;p}' "$1"
}
for tactics in 'data:x' 'data:x data:y' 'data:x zero3:x'; do
	set -- --mesh x=4,y=2 --platform dgx-a100:1 --search none
	for tactic in $tactics; do
		set -- "$@" --tactic $tactic
	done
	shardsim automap "$TMPDIR/chain.mlir" "$@" --emit sdy -o "$TMPDIR/cut.mlir" >"$TMPDIR/found"
	for overlap in none async; do
		shardsim automap "$TMPDIR/chain.mlir" "$@" --overlap $overlap --format json >"$TMPDIR/found"
		shardsim program "$TMPDIR/cut.mlir" --platform dgx-a100:1 --partitioner shardy \
			--overlap $overlap --format json >"$TMPDIR/read"
		echo "$(step_s "$TMPDIR/found") $(step_s "$TMPDIR/read")" | awk -v what="$tactics, $overlap" '{
			print what ": " ($1 > 0 && ($1 / $2 - 1) ^ 2 < 1e-14 ? "the same step" : $0)
		}'
		rows "$TMPDIR/found" >"$TMPDIR/rows"
		rows "$TMPDIR/read" | diff "$TMPDIR/rows" - &&
			echo "the same rows, $(grep -c group_size "$TMPDIR/rows") of collectives"
	done
done
# The step of a model with all its shardings in its text: sums of data parallelism are those found.
shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8,model=4 --search none --tactic data:batch \
	--emit annotate -o "$TMPDIR/cut.hlo" >"$TMPDIR/found"
shardsim program "$TMPDIR/cut.hlo" --platform dgx-a100:4 --partitioner shardy | grep '^  collectives'
# Weights come out as they went in: what ZeRO updates in parts is gathered in the text's step, too.
cat >"$TMPDIR/small.yaml" <<'END'
name: small
layers: 2
hidden: 256
heads: 4
head_dim: 128
ffn: 1024
gated: false
vocab: 640
final_norm: false
head: none
bias: true
norm: layer
train: {seq: 128, global_batch: 8, dtype: bf16, optimizer: adam, attention: math}
END
counts() {
	sed -n '/^ "collectives"/,/^ \]/p' "$1" | tr -d ' ,"' | awk -F : '
		$1 == "op" { op = $2 } $1 == "count" { count = $2 } $1 == "group_size" { n[op "/" $2] += count }
		END { for (op in n) print n[op], op }' | sort -k 2
}
for tactics in 'data:batch zero2:batch' 'data:batch zero3:batch' 'data:batch megatron:model zero2:batch'; do
	set -- --mesh batch=4,model=2 --platform dgx-a100:1 --search none --overlap none
	for tactic in $tactics; do
		set -- "$@" --tactic $tactic
	done
	shardsim automap "$TMPDIR/small.yaml" "$@" --format json --emit annotate -o "$TMPDIR/cut.hlo" >"$TMPDIR/found"
	shardsim program "$TMPDIR/cut.hlo" --platform dgx-a100:1 --partitioner shardy --overlap none --raw \
		--format json >"$TMPDIR/read"
	counts "$TMPDIR/found" >"$TMPDIR/rows"
	counts "$TMPDIR/read" | diff "$TMPDIR/rows" - && echo "$tactics: the same" $(cat "$TMPDIR/rows")
done
# A text with another mesh cannot have this one's, too.
shardsim automap scenarios/programs/mlp.mlir --mesh x=4 --search none --tactic data:x --emit annotate 2>&1 |
	grep -A 2 '^--emit'
# A search that counts what is exposed alone; and what is wrong to ask.
shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8,model=4 --platform dgx-a100:4 \
	--overlap async | sed -n 2,12p
shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8 --search none --overlap async 2>&1 | head -n 1
shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8 --overlap stream 2>&1 | head -n 1
# Where no module is to be made parallel, no function that makes it so is named.
shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8 --search none --tactic data:batch \
	--emit dtensor | sed -n '1p;/parallelize/p'
# Where the text goes is looked at before anything is read.
shardsim automap "$TMPDIR/nothing.yaml" --emit jax -o "$TMPDIR" 2>&1 | sed "s,$TMPDIR,TMPDIR,"
shardsim automap "$TMPDIR/nothing.yaml" --devices-out "$TMPDIR/no/order" 2>&1 | sed "s,$TMPDIR,TMPDIR,"
# Megatron's matrices as styles of PyTorch's modules, said before what ZeRO-3 keeps in parts.
shardsim automap scenarios/models/gpt-24.yaml --mesh batch=4,model=2 --search none --tactic data:batch \
	--tactic megatron:model --tactic sequence:model --tactic zero3:batch --emit dtensor | sed -n '/^def/,$p'
