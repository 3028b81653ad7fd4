"""Reads emitted GOAL schedules by the grammar of LogGOPSim, and runs them.

usage: check_goal.py [SEED PROBLEMS]

A send is done when its receive is, which is the strictest that a simulator may be. All
operations must end, sends and receives match in order, sizes fit 32 bits, a step waits for
those before it on each rank, and every pair of ranks carries the bytes of --messages.
"""

import json
import re
import sys
from collections import Counter, defaultdict, deque
from math import ceil

import common
from common import check, quoted, shardsim

OP = re.compile(r"(?:([a-zA-Z]\w*): )?(?:calc (\d+)(?: cpu \d+)?|"
                r"(send|recv) (\d+)b (to|from) (\d+)(?: tag (\d+))?(?: cpu \d+)?(?: nic \d+)?)$")
REQUIRES = re.compile(r"([a-zA-Z]\w*) requires ([a-zA-Z]\w*)$")


class GoalError(Exception):
    pass


def need(holds, what):
    if not holds:
        raise GoalError(what)


class Op:
    def __init__(self, kind, size=0, peer=None, tag=0):
        self.kind, self.size, self.peer, self.tag = kind, size, peer, tag
        self.after, self.before, self.behind = [], 0, 0


def read(text):
    """The operations of every rank, in order; Op.after are those that wait for one."""
    ranks, count, rank, labels = {}, None, None, {}
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"//.*", "", line).strip()
        found = re.match(r"num_ranks (\d+)$", line)
        begin = re.match(r"rank (\d+) {$", line)
        op, requires = OP.match(line), REQUIRES.match(line)
        if found:
            count = int(found[1])
        elif begin:
            rank, labels = int(begin[1]), {}
            need(count and rank < count and rank not in ranks, f"line {number}: {line}")
            ranks[rank] = []
        elif line == "}":
            need(ranks[rank], f"line {number}: a rank without operations")
            rank = None
        elif requires and rank is not None:
            need(requires[1] in labels and requires[2] in labels, f"line {number}: {line}")
            labels[requires[2]].after.append(labels[requires[1]])
            labels[requires[1]].before += 1
        elif op and rank is not None:
            need((op[3] == "send") == (op[5] == "to"), f"line {number}: {line}")
            one = Op("calc") if op[2] else \
                Op(op[3], int(op[4]), int(op[6]), int(op[7] or 0))
            need(one.size < 2**31 and (op[2] or one.size > 0), f"line {number}: {line}")
            ranks[rank].append(one)
            labels[op[1]] = one
        else:
            need(not line, f"line {number}: {line}")
    need(sorted(ranks) == list(range(count or 0)), "ranks are missing")
    return ranks


def run(ranks):
    """Runs all; returns the bytes and the number of messages by pair and tag."""
    waiting = defaultdict(deque)  # what is posted and has no partner yet
    ready = deque((r, op) for r, ops in ranks.items() for op in ops if not op.before)
    left = sum(map(len, ranks.values()))
    sent = Counter()

    def finish(rank, op):
        nonlocal left
        left -= 1
        for next_ in op.after:
            next_.before -= 1
            if not next_.before:
                ready.append((rank, next_))

    while ready:
        rank, op = ready.popleft()
        if op.kind == "calc":
            finish(rank, op)
            continue
        need(op.peer in ranks and op.peer != rank, f"rank {rank} has the peer {op.peer}")
        pair = (rank, op.peer) if op.kind == "send" else (op.peer, rank)
        partners = waiting[pair, op.tag, "recv" if op.kind == "send" else "send"]
        if not partners:
            waiting[pair, op.tag, op.kind].append((rank, op))
            continue
        other, partner = partners.popleft()
        need(partner.size == op.size, f"{pair} sends {op.size} for {partner.size}")
        sent[pair, op.tag] += op.size
        finish(rank, op)
        finish(other, partner)
    need(left == 0, f"{left} operations never end")
    return sent


def check_order(ranks):
    """On each rank an operation of a step is behind all of the steps before."""
    for rank, ops in ranks.items():
        steps = defaultdict(int)
        for i, op in enumerate(ops):
            if op.kind != "calc":
                steps[op.tag] |= 1 << i
        for i, op in enumerate(ops):  # labels are defined before they are required
            op.behind |= 1 << i
            for next_ in op.after:
                next_.behind |= op.behind
            for tag, all_ in steps.items():
                need(op.kind == "calc" or tag >= op.tag or all_ & op.behind == all_,
                     f"rank {rank}: step {op.tag} does not wait for step {tag}")


def wanted(result):
    """Bytes by pair and step, and in how many pieces they may be rounded up."""
    bytes_, pieces = Counter(), Counter()
    for number, step in enumerate(result["steps"], 1):
        for m in step["messages"]:
            key = (m["from"], m["to"]), number
            bytes_[key] += m["bytes"]
            pieces[key] += 1
    return bytes_, pieces


def check_plan(text, result):
    ranks = read(text)
    check_order(ranks)
    sent = run(ranks)
    bytes_, pieces = wanted(result)
    need(set(sent) == set(bytes_), "other pairs than --messages")
    for key, n in bytes_.items():
        need(ceil(n - 1e-3) <= sent[key] <= n + pieces[key], f"{key}: {sent[key]}, not {n}")


def wrong(text, result):
    try:
        check_plan(text, result)
    except GoalError as e:
        return str(e)
    return None


PLATFORMS = [None, "dgx-a100:{n}", "tpu-v4:{n}", "tpu-v5e:{n}", "dgx-h100:{n}"]

DAMAGES = [
    (r"(send \d+b to) \d+ tag 1", r"\1 0 tag 1"),
    (r"send \d+b", "send 3b"),
    (r"l\d+: recv .*\n", ""),
    (r"l(\d+) requires l\d+\n", r"l\1 requires l\1\n"),
    (r"recv (\d+)b", "recv 4294967296b"),
    (r"tag 2", "tag 1"),
]


def check_damages():
    options = ["plan", "--array", "f32[16,8]", "--mesh", "x=2,y=4", "--from", "P('x', 'y')",
               "--to", "P('y')", "--platform", "tpu-v4:{n}"]
    document = json.loads(shardsim(*options, "--messages", "--format", "json").stdout)
    text, result = shardsim(*options, "--emit", "goal").stdout, document["results"][0]
    check(wrong(text, result) is None, f"not damaged: {wrong(text, result)}")
    for pattern, other in DAMAGES:
        changed = re.sub(pattern, other, text, count=1)
        check(changed != text and wrong(changed, result) is not None,
              f"nobody finds {pattern} as {other}")


def main():
    seed, count = map(int, sys.argv[1:] or (20220502, 60))
    seen = Counter()
    for rng, options, problem, results in common.draw(seed, count):
        result, platform = rng.choice(results), rng.choice(PLATFORMS)
        options = options + ["--planner", result["planner"]]
        if platform:
            options += ["--platform", platform]
            placed = shardsim("plan", *options, "--messages", "--format", "json")
            # Not where devices are named that the machine lacks.
            result = json.loads(placed.stdout)["results"][0] if placed.stdout else None
        if not result or result["status"] != "ok":
            seen["refused"] += 1
            continue
        emitted = shardsim("plan", *options, "--emit", "goal")
        why = wrong(emitted.stdout, result) if emitted.returncode == 0 else emitted.stderr
        check(why is None, f"{quoted(options)}: {why}")
        seen[platform or "no machine"] += 1
        seen.update(common.ops(result))
    check(seen["refused"] <= count // 4, f"{seen['refused']} of {count} refused")
    check_damages()
    print("run:", dict(sorted(seen.items())))
    common.done()


main()
