"""Checks emitted MSCCL XML by the rules of its readers, and runs it on real buffers.

usage: check_msccl.py [SEED PROBLEMS]

Thread blocks run in any order that dependencies allow; a step that reads what another
thread block writes later, or has not been told to wait for, is found by running the blocks
in an unfriendly order: every block as late as it can be.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict, deque
from itertools import product
from math import prod

import common
from common import check, quoted, shardsim

from executor import Run, value_of  # sim/tests/execute
from layout import Layout

TYPES = {"s": (1, 0), "r": (0, 1), "cpy": (1, 1), "re": (1, 1), "rrc": (1, 1), "nop": (0, 0)}
COLLECTIVES = ("allreduce", "allgather", "reducescatter", "alltoall", "custom")


class MscclError(Exception):
    pass


def need(holds, what):
    if not holds:
        raise MscclError(what)


class Step:
    def __init__(self, node):
        number = {k: int(node.get(k)) for k in ("s", "srcoff", "dstoff", "cnt", "depid",
                                                "deps", "hasdep")}
        self.type = node.get("type")
        self.src, self.dst = ((node.get("srcbuf"), number["srcoff"]),
                              (node.get("dstbuf"), number["dstoff"]))
        self.number, self.n = number["s"], number["cnt"]
        self.wait = (number["depid"], number["deps"])
        self.waited = number["hasdep"] == 1


class Block:
    def __init__(self, node):
        self.id, self.send, self.recv, self.chan = (
            int(node.get(k)) for k in ("id", "send", "recv", "chan"))
        self.steps = [Step(step) for step in node]


def check_block(block, gpu, chunks, ranks, channels, waited):
    where = f"gpu {gpu}, tb {block.id}"
    need(-1 <= block.send < ranks and -1 <= block.recv < ranks, f"{where}: peers")
    need(gpu not in (block.send, block.recv), f"{where}: a peer is the gpu itself")
    need(0 <= block.chan < channels and 0 < len(block.steps) <= 64, f"{where}: steps")
    for i, step in enumerate(block.steps):
        need(step.number == i and step.type in TYPES, f"{where}: step {i}")
        need(0 < step.n < 72 or step.type == "nop", f"{where}: step {i}: cnt")
        need(step.type != "s" or block.send >= 0, f"{where}: sends to nobody")
        need(step.type not in ("r", "rrc") or block.recv >= 0, f"{where}: nobody sends")
        for (buffer, at), uses in zip((step.src, step.dst), TYPES[step.type]):
            need(buffer in chunks and (not uses or 0 <= at <= chunks[buffer] - step.n),
                 f"{where}: step {i}: {buffer}{at}")
        need(step.waited == ((block.id, i) in waited), f"{where}: step {i}: hasdep")
        need(step.wait[0] != block.id, f"{where}: step {i} waits for its own block")


def check_rules(algo):
    """Returns the blocks and the chunks of buffers of every gpu."""
    ranks, channels = int(algo.get("ngpus")), int(algo.get("nchannels"))
    gpus = [([Block(tb) for tb in gpu],
             {b: int(gpu.get(f"{b}_chunks")) for b in "ios"}) for gpu in algo]
    need(algo.tag == "algo" and algo.get("proto") in ("Simple", "LL", "LL128"), "proto")
    need(algo.get("coll") in COLLECTIVES and algo.get("inplace") == "0", "coll")
    need(int(algo.get("minBytes")) <= int(algo.get("maxBytes")), "bytes")
    need([int(g.get("id")) for g in algo] == list(range(ranks)), "gpus")
    need(int(algo.get("nchunksperloop")) ==
         max(max(c["i"], c["o"]) for _, c in gpus), "nchunksperloop")
    ends = Counter()
    for gpu, (blocks, chunks) in enumerate(gpus):
        need([b.id for b in blocks] == list(range(len(blocks))), f"gpu {gpu}: tb ids")
        need(max(Counter(b.chan for b in blocks).values()) <= 32, f"gpu {gpu}: 32 tbs")
        waited = {s.wait for b in blocks for s in b.steps if s.wait[0] >= 0}
        need(all(0 <= b < len(blocks) and 0 <= s < len(blocks[b].steps)
                 for b, s in waited), f"gpu {gpu}: a dependency on nothing")
        for block in blocks:
            check_block(block, gpu, chunks, ranks, channels, waited)
            if block.send >= 0:
                ends[gpu, block.send, block.chan, "send"] += 1
            if block.recv >= 0:
                ends[block.recv, gpu, block.chan, "recv"] += 1
    need(all(n == 1 for n in ends.values()), "two thread blocks on one connection")
    need({k[:3] for k in ends if k[3] == "send"} == {k[:3] for k in ends if k[3] == "recv"},
         "a connection has one end")
    return gpus


def run(gpus, inputs, elements, late):
    """Runs all steps; returns the output buffers. `late` blocks go last."""
    memory = [{"i": [v[k * elements:(k + 1) * elements] for k in range(c["i"])],
               "o": [None] * c["o"], "s": [None] * c["s"]}
              for v, (_, c) in zip(inputs, gpus)]
    at, pipes = defaultdict(int), defaultdict(deque)
    order = [(g, b) for g, (blocks, _) in enumerate(gpus) for b in blocks]
    order.sort(key=lambda gb: (gb[1].id if late else -gb[1].id, gb[0]))

    def try_step(gpu, block, step):
        if step.wait[0] >= 0 and at[gpu, step.wait[0]] <= step.wait[1]:
            return False
        pipe = pipes[block.recv, gpu, block.chan]
        if step.type in ("r", "rrc") and not pipe:
            return False
        (source, from_), (target, to) = step.src, step.dst
        data = memory[gpu][source][from_:from_ + step.n] if TYPES[step.type][0] else None
        need(data is None or None not in data, f"gpu {gpu} reads what is not there")
        if step.type in ("r", "rrc"):
            got = pipe.popleft()
            need(len(got) == step.n, f"gpu {gpu} receives another number of chunks")
            data = got if step.type == "r" else \
                [[x + y for x, y in zip(a, b)] for a, b in zip(data, got)]
        if step.type == "s":
            pipes[gpu, block.send, block.chan].append(data)
        elif step.type != "nop":
            memory[gpu][target][to:to + step.n] = data
        return True

    moved = True
    while moved:
        moved = False
        for gpu, block in order:
            while at[gpu, block.id] < len(block.steps) and \
                    try_step(gpu, block, block.steps[at[gpu, block.id]]):
                at[gpu, block.id] += 1
                moved = True
                if late:
                    break
    need(all(at[g, b.id] == len(b.steps) for g, b in order), "it never ends")
    need(not any(pipes.values()), "something is sent to nobody")
    return [[v for chunk in m["o"] for v in (chunk or [None])] for m in memory]


def tiles(problem, result, text, mesh):
    """The elements of every device's tile, and its contribution, by executor.py's Run."""
    ends = Run(problem, {**result, "steps": []})
    layout = Layout(text, ends.mesh if mesh == "from" else ends.to_mesh, ends.extent)
    places = [[ends.number(i) for i in product(*layout.indices(d))] for d in ends.devices]
    return ends, layout, places


def check_plan(text, problem, result):
    ends, layout, places = tiles(problem, result, problem["from"], "from")
    gpus = check_rules(ElementTree.fromstring(text))
    inputs = [[value_of(e, layout.sum_of[d]) for e in place]
              for d, place in enumerate(places)]
    need(prod(map(len, places)) > 0, "no input")
    elements = len(places[0]) // gpus[0][1]["i"]
    _, target, wanted = tiles(problem, result, problem["to"], "to")
    for late in (False, True):
        out = run(gpus, inputs, elements, late)
        sums = defaultdict(lambda: None)
        for d, place in enumerate(wanted):
            need(len(out[d]) == len(place) and None not in out[d], f"gpu {d}: its output")
            so_far = sums[target.lead[d]] or [0] * len(place)
            sums[target.lead[d]] = [x + y for x, y in zip(so_far, out[d])]
        for d, place in enumerate(wanted):
            need(sums[target.lead[d]] == [ends.total(e) for e in place],
                 f"gpu {d} has wrong elements")


def wrong(text, problem, result):
    try:
        check_plan(text, problem, result)
    except (MscclError, ElementTree.ParseError) as e:
        return str(e)
    return None


DAMAGES = [
    (r'srcoff="0"', 'srcoff="1"'),
    (r'dstoff="0"', 'dstoff="1"'),
    (r'type="rrc"', 'type="r"'),
    (r'depid="\d+" deps="\d+"', 'depid="-1" deps="-1"'),
    (r'hasdep="1"', 'hasdep="0"'),
    (r'<step .*type="s".*/>', ""),
    (r'send="1"', 'send="0"'),
    (r'cnt="1"', 'cnt="2"'),
]


def check_damages():
    options = ["--array", "f32[16,4]", "--mesh", "x=2,y=2", "--from",
               "P(None, None, unreduced={'x'})", "--to", "P(('x', 'y'))"]
    document = common.plans(options)
    result = next(r for r in document["results"] if r["planner"] == "best")
    text = shardsim("plan", *options, "--planner", "best", "--emit", "msccl").stdout
    problem = document["problem"]
    check(wrong(text, problem, result) is None, f"not damaged: {wrong(text, problem, result)}")
    for pattern, other in DAMAGES:
        changed = re.sub(pattern, other, text, count=1)
        if changed == text:
            check(False, f"there is no {pattern}")
            continue
        check(wrong(changed, problem, result) is not None,
              f"nobody finds {pattern} as {other}")


REASONS = r"tiles are not equal|on other devices|no whole byte|parts of tiles|" \
          r"a thread block has \d+ steps|an all-reduce of \d+ elements"


def main():
    seed, count = map(int, sys.argv[1:] or (20220503, 60))
    seen = Counter()
    for rng, options, problem, results in common.draw(seed, count):
        result = rng.choice(results)
        run_ = shardsim("plan", *options, "--planner", result["planner"], "--emit", "msccl")
        refused = re.search(REASONS, run_.stderr)
        if refused and run_.returncode == 1 and not run_.stdout:
            seen["refused: " + re.sub(r"\d+", "n", refused[0])] += 1
            continue
        why = wrong(run_.stdout, problem, result) if run_.returncode == 0 else run_.stderr
        check(why is None, f"{result['planner']}: {quoted(options)}: {why}")
        seen["run"] += 1
        seen.update(common.ops(result))
    check(seen["run"] >= count // 5, f"only {seen['run']} of {count} could be said")
    check_damages()
    print("run:", dict(sorted(seen.items())))
    common.done()


main()
