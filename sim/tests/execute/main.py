"""Runs the plans of random problems on real arrays, by their JSON alone (executor.py).

usage: main.py [SEED PROBLEMS]

Then damages plans, one pair, box, group or figure at a time, and holds that every damaged
one is found wrong. The last line is how many checks passed and failed.
"""

import copy
import json
import random
import subprocess
import sys
from collections import Counter

import problems
from executor import PlanError, Run

passed = failed = 0


def check(good, text):
    global passed, failed
    passed, failed = passed + good, failed + (not good)
    if not good:
        print(text)


def plans(options):
    """The JSON of all planners, or None where shardsim refuses the problem."""
    done = subprocess.run(["shardsim", "plan", *options, "--planner", "all", "--messages",
                           "--format", "json"], capture_output=True, text=True)
    if done.returncode:
        check(done.returncode == 2 and not done.stdout, f"{options}: {done.stderr}")
        return None
    return json.loads(done.stdout)


def wrong(problem, result):
    """Why a plan is wrong, None if it is right."""
    try:
        run = Run(problem, result)
        run.run()
    except (PlanError, IndexError, KeyError, TypeError, ValueError) as e:
        return f"{type(e).__name__}: {e}"
    return None


def check_messages(run, step, got, where):
    """Without a platform every device is sent what it gets."""
    sent = Counter()
    for m in step["messages"]:
        sent[m["to"]] += m["bytes"]
    for d in run.devices:
        bytes_ = got[d] * run.bits / 8
        # An all-reduce cuts its buffer as evenly as it can, a message counts shares.
        check(abs(sent[d] - bytes_) <= (run.bits if step["op"] == "all-reduce" else 0),
              f"{where}: device {d} is sent {sent[d]} bytes in {step['op']}, not {bytes_}")


def run_plan(problem, result, where, seen):
    run = Run(problem, result)
    try:
        run.run()
        check(True, "")
    except PlanError as e:
        check(False, f"{where}: {e}")
        return
    seen[result["planner"]] += 1
    for step, got in zip(result["steps"], run.received):
        check_messages(run, step, got, where)
        seen[step["op"]] += 1
        seen["padding"] += step["padding_bytes"] > 0
        for field in ("digits", "boxes", "kept_blocks", "unpadded", "on_target_mesh",
                      "summed_shape", "part_elements", "tile_shape", "tile_starts"):
            seen[field] += field in step
        if step["padding_bytes"] > 0:
            seen[f"padding of {result['planner']}"] += 1


def run_problem(options, seen):
    document = plans(options)
    if not document:
        return
    problem = document["problem"]
    for field in ("mesh_order", "to_mesh", "to_devices"):
        seen[field] += problem[field] is not None
    for result in document["results"]:
        where = f"{result['planner']}: shardsim plan " + " ".join(
            f"'{o}'" for o in options)
        check(result["status"] in ("ok", "not-applicable", "over-memory"),
              f"{where}: {result['status']}: {result['message']}")
        if result["status"] == "ok":
            run_plan(problem, result, where, seen)


# --- what must be found -----------------------------------------------------------------


def swap(items, i, j):
    items[i], items[j] = items[j], items[i]


def damages(step):
    """Ways to damage a step, each changing it in place."""
    if step["replica_groups"]:
        yield "members", lambda s: swap(s["replica_groups"][0], 0, 1)
    if len(step["replica_groups"] or ()) > 1:
        yield "groups", lambda s: s["replica_groups"].pop()
    if "kept_blocks" in step:
        yield "blocks", lambda s: swap(s["kept_blocks"], 0, -1)
    if step["op"] == "permute" and "boxes" not in step:
        pairs = step["source_target_pairs"]
        yield "sources", lambda s: s["source_target_pairs"].__setitem__(
            slice(0, 2), [[pairs[1][0], pairs[0][1]], [pairs[0][0], pairs[1][1]]])
        yield "pairs", lambda s: s["source_target_pairs"].pop()
    if step.get("boxes"):
        yield "box", lambda s: s["boxes"].pop()
        yield "low", lambda s: s["boxes"][0]["bounds"][0].__setitem__(
            0, s["boxes"][0]["bounds"][0][0] + 1)
        yield "high", lambda s: s["boxes"][-1]["bounds"][-1].__setitem__(
            1, s["boxes"][-1]["bounds"][-1][1] + 1)
        yield "turned", lambda s: s["boxes"][0]["pairs"][0].reverse()
    for field in ("recv_bytes", "padding_bytes"):
        yield field, lambda s, field=field: s.__setitem__(field, s[field] + 1)
    if step["blocks"]:
        yield "factor", lambda s: s["blocks"][0].__setitem__(
            "factor", s["blocks"][0]["factor"] * 2)


# No device holds what another one does, so that nothing may be exchanged unnoticed.
FULL = [
    ("f32[8,8]", "x=4,y=2", "P('x', 'y')", "P('y', 'x')"),
    ("f32[16,4]", "x=4,y=2", "P(('x', 'y'))", "P(('y', 'x'))"),
    ("f32[16,16]", "x=2,y=2", "P(('y', 'x'))", "P('x', 'y')"),
    ("f32[7,9]", "x=4,y=2", "P('x', 'y')", "P('y', 'x')"),
    ("f32[13]", "x=2,y=3", "P(('x', 'y'))", "P(('y', 'x'))"),
]


def check_damages():
    found = Counter()
    for array, mesh, source, target in FULL:
        document = plans(["--array", array, "--mesh", mesh, "--from", source, "--to", target])
        for result in document["results"]:
            for i, step in enumerate(result["steps"]):
                for name, damage in damages(step):
                    other = copy.deepcopy(result)
                    damage(other["steps"][i])
                    why = wrong(document["problem"], other)
                    check(why is not None, f"{array} {source} -> {target}, "
                          f"{result['planner']}: step {i + 1} passes with other {name}")
                    found[name] += 1
    check(len(found) == 12 and min(found.values()) > 3, f"damages: {dict(found)}")
    print("damages found:", dict(found))


def main():
    seed, count = map(int, sys.argv[1:] or (20211201, 250))
    rng, seen = random.Random(seed), Counter()
    for number in range(count):
        run_problem(problems.draw(rng, number), seen)
    print("run:", dict(sorted(seen.items())))
    if len(sys.argv) == 1:
        listed = subprocess.run(["shardsim", "list", "planners"], capture_output=True,
                                text=True).stdout
        fields = ["slice", "all-gather", "all-to-all", "permute", "reduce-scatter",
                  "all-reduce", "exchange", "pad", "partial", "digits", "boxes",
                  "kept_blocks", "unpadded", "on_target_mesh", "summed_shape",
                  "part_elements", "tile_shape", "tile_starts", "mesh_order", "to_mesh",
                  "to_devices", "padding of shardy", "padding of dtensor",
                  "padding of dtensor-mincost", "padding of xla"]
        for name in [line.split()[0] for line in listed.splitlines()] + fields:
            check(seen[name] >= 2, f"only {seen[name]} runs have {name}")
    check_damages()
    print(passed, failed)


main()
