"""Emits plans of random problems as programs, runs these by interpreters of their
languages, and compares every element of every device.

usage: check_programs.py [SEED PROBLEMS [FOLDER]]

With FOLDER the texts of torch-p2p are kept there, RANKS-NUMBER.py, for real_torch.py. Prints
how many texts of each kind were emitted, could not be (by reason), and are wrong; then, in
the last line, how many checks passed and failed.
"""

import json
import os
import random
import re
import subprocess
import sys
from collections import Counter

import common
import fake_jax
import fake_torch
import shardy
import stablehlo
from common import check, problems, quoted, shardsim
from executor import Run
from layout import Layout
from nd import Nd, need

PLANNERS = ["synth", "best", "best-portable", "shardy", "dtensor", "direct", "digit", "xla"]
KINDS = ["jax", "jax-p2p", "torch", "torch-p2p", "dtensor", "stablehlo", "stablehlo-test", "sdy"]


class Tiles:
    """The tiles of a problem before and after its plan, by the plan's JSON alone."""

    def __init__(self, problem, result):
        self.run = Run(problem, result)
        self.problem = problem
        self.source = Layout(problem["from"], self.run.mesh, self.run.extent)
        self.target = Layout(problem["to"], self.run.to_mesh, self.run.extent)

    def before(self):
        shape = self.source.tile_shape()
        return {d: None if b is None else Nd(shape, [v or 0 for v in b])
                for d, b in self.run.buffer.items()}

    def check(self, after):
        """Holds every real element of every device to the target."""
        run = self.run
        run.where = run.places(self.target)
        shape = tuple(self.target.tile_shape())
        for d in run.devices:
            need(run.where[d] is None or after[d].shape == shape,
                 f"device {d} has {after[d].shape}, not {shape}")
            run.buffer[d] = None if run.where[d] is None else after[d].data
        run.check_buffers(self.target, "at the end")


def run_jax(text, tiles):
    problem = tiles.problem
    if problem["from_devices"]:  # devices have the platform's numbers
        fake_jax.run(text)
        return
    summed = tiles.source.sums > 1
    real = None if summed or tiles.target.sums > 1 else tiles.run.real
    out = fake_jax.run(text, real, tiles.before(), summed)
    if tiles.target.sums > 1:
        out = {d: t.reshape(t.shape[1:]) for d, t in out.items()}
    tiles.check(out)


def run_torch(text, tiles):
    tiles.check(fake_torch.run(text, tiles.problem["devices"], tiles.before()))


def run_dtensor(text, tiles):
    """Its check compares placements with placements: the last ones must be the target's."""
    for d, names in fake_torch.run(text, tiles.problem["devices"]).items():
        for end, mesh, name in (("from", tiles.run.mesh, "x"), ("to", tiles.run.to_mesh, "got")):
            tensor = names[name]
            layout = Layout(tiles.problem[end], mesh, tensor.shape)
            if layout.sums > 1:
                continue
            begin, size = tensor.box(tensor.mesh, tensor.placements, tensor.shape,
                                     tensor.mesh.coordinate)
            for b, s, g, i in zip(begin, size, tensor.shape, layout.indices(d)):
                i = range(min(i[0], g), min(i[-1] + 1, g))
                need((s == 0 and len(i) == 0) or (b, s) == (i.start, len(i)),
                     f"device {d} has [{b}, {b + s}), not {i}")


def run_stablehlo(text, tiles, result):
    before = tiles.before()
    module = stablehlo.Module(text)
    need(module.partitions == len(before), "another number of partitions")
    after = module.call("main", [before[d] for d in range(module.partitions)])
    tiles.check(dict(enumerate(after)))
    module.same_plan(result["steps"])


def run_test(text, tiles):
    stablehlo.Module(text).test()


def run_sdy(text, tiles, result):
    shardy.same_plan(text, tiles.problem, result["steps"])


RUN = {"jax": run_jax, "jax-p2p": run_jax, "torch": run_torch, "torch-p2p": run_torch, "dtensor": run_dtensor,
       "stablehlo": run_stablehlo, "stablehlo-test": run_test, "sdy": run_sdy}


def wrong(kind, text, problem, result):
    """Why a text is wrong, None if it is right."""
    try:
        tiles = Tiles(problem, result)
        if kind in ("sdy", "stablehlo"):  # which are also read back
            RUN[kind](text, tiles, result)
        else:
            RUN[kind](text, tiles)
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return None


def reason_of(stderr):
    """What could not be said, without numbers."""
    found = re.search(r"cannot express the plan of [\w-]+: (.*?)(?:, which|: --emit|$)", stderr, re.M)
    return found and re.sub(r"\d+", "N", found[1])


def plan_some(options, number):
    """The first of the planners, from `number` on, that can plan the problem."""
    for k in range(len(PLANNERS)):
        more = [*options, "--planner", PLANNERS[(number + k) % len(PLANNERS)]]
        plan = shardsim("plan", *more, "--format", "json")
        if plan.returncode:
            check(plan.returncode == 2, f"{quoted(more)}: {plan.stderr}")
            return None
        document = json.loads(plan.stdout)
        if document["results"][0]["status"] == "ok":
            return more, document["problem"], document["results"][0]
    return None


def run_problem(options, number, seen, said, folder):
    planned = plan_some(options, number)
    if not planned:
        seen["no plan"] += 1
        return
    options, problem, result = planned
    real = [int(g) for g in re.findall(r"(\d+)(?=[,\]])", problem["array"])]
    if number % 4 == 0 and real == problem["padded_shape"]:
        run_scaled(options, number, seen)
    for kind in KINDS:
        where = f"{kind}: shardsim plan {quoted(options)}"
        emitted = shardsim("plan", *options, "--emit", kind)
        if emitted.returncode:
            reason = reason_of(emitted.stderr)
            check(emitted.returncode == 1 and not emitted.stdout and reason is not None,
                  f"{where}: {emitted.returncode}: {emitted.stderr}")
            seen[f"{kind}: cannot, {reason}"] += 1
            continue
        why = wrong(kind, emitted.stdout, problem, result)
        check(why is None, f"{where}: {why}")
        seen[f"{kind}: emitted"] += 1
        for step in result["steps"]:
            said[kind, step["op"]] += 1
            said[kind, "fused"] += len(step["blocks"]) > 1
            said[kind, "strided"] += "digits" in step
        seen[f"{kind}: wrong"] += why is not None
        if folder and kind == "torch-p2p":
            name = f"{problem['devices']:02}-{number:05}.py"
            with open(os.path.join(folder, name), "w") as file:
                file.write(emitted.stdout)


def check_said(said, count):
    """Every kind says every step that it can; rare ones only where many problems are drawn."""
    often = ["slice", "all-gather", "all-to-all"]
    rare = ["all-reduce", "permute", "reduce-scatter", "partial", "fused", "strided"]
    for kind in KINDS:
        for what in often + (rare if count >= 1000 else []):
            if (kind, what) not in (("sdy", "strided"), ("stablehlo-test", "partial")):
                check(said[kind, what], f"{kind}: no {what}")


def run_scaled(options, number, seen):
    """Of an array that is 512 times as long in every dimension only the check runs, which is
    of a small one."""
    at = options.index("--array") + 1
    array = re.sub(r"(\d+)(?=[,\]])", lambda m: str(512 * int(m[1])), options[at])
    options = [*options[:at], array, *options[at + 1:]]
    kind = [k for k in KINDS if k not in ("stablehlo", "sdy")][number // 4 % 6]
    emitted = shardsim("plan", *options, "--emit", kind)
    if emitted.returncode:
        return
    devices = int(re.search(r" for (\d+) devices", emitted.stdout)[1])
    where = f"{kind}: shardsim plan {quoted(options)}"
    try:
        if kind == "stablehlo-test":
            stablehlo.Module(emitted.stdout).test()
        elif kind in ("jax", "jax-p2p"):
            fake_jax.run(emitted.stdout)
        else:
            fake_torch.run(emitted.stdout, devices)
        check(True, "")
    except Exception as e:
        check(False, f"{where}: {type(e).__name__}: {e}")
    seen["large arrays by small ones"] += 1


# --- what must be found -----------------------------------------------------------------

# No device holds what another one does, so that nothing may change unnoticed.
FULL = [
    ("f32[8,8]", "x=4,y=2", "P('x', 'y')", "P('y', 'x')", "shardy"),
    ("f32[16,4]", "x=4,y=2", "P(('x', 'y'))", "P(('y', 'x'))", "synth"),
    ("f32[8,8]", "x=2,y=2", "P('x', None, unreduced={'y'})", "P(('x', 'y'))", "best"),
    ("f32[8,6]", "x=2,y=3", "P('x')", "P('x', 'y')", "synth"),
    ("f32[8,8]", "x=4,y=2", "P(None, 'x')", "P('x', None)", "synth"),
    ("f32[8,9]", "x=4,y=3", "P('x', 'y')", "P(None, 'x')", "gather"),
]
DAMAGES = {
    "jax": [(r"concat_axis=(\d)", "concat_axis=1 - \\1"), (r"perm=\[\((\d+), (\d+)\), \((\d+), ",
            r"perm=[(\3, \2), (\1, "), (r"lax\.axis_index\('y'\)", "0"),
            (r"concat_axis=(\d), tiled", r"concat_axis=\1, split_axis=\1, tiled"), (r"psum_scatter", "all_to_all")],
    "jax-p2p": [(r"\), True, \[", "), False, ["), (r"\]\], \[1,", "]], [0,"),
                (r"\[\((\d+), (\d+)\), \((\d+),", r"[(\3, \2), (\1,"),
                (r"there = \[", "there = here = [")],
    "torch": [(r"permute_tensor\(a.flatten\(\), \[(\d+), (\d+)",
               r"permute_tensor(a.flatten(), [\2, \1"),
              (r"a.flatten\(\)", "a"), (r"a\.chunk\((\d), 0\)", r"a.chunk(\1, 1)"),
              (r"\(mesh, 0\)", "(mesh, 1)"),
              (r"get_local_rank\('y'\)", "get_local_rank('x')")],
    "torch-p2p": [(r"\n        \(0, 0, .*", ""),
                  (r"(        \(\d, 0, )\((\d), (\d)\)(.*)\n(.*)\((\d), (\d)\), (\d, 0, \()",
                   r"\1(\6, \7)\4\n\5(\2, \3), \8"),
                  (r"True, False", "False, False")],
    "dtensor": [(r"return x", "return DTensor(x.mesh, x.placements, x.shape, x.local * 2)")],
    "stablehlo": [(r"concat_dimension = 0", "concat_dimension = 1"),
                  (r"split_dimension = 1", "split_dimension = 0"),
                  (r"pairs = dense<\[\[(\d+), (\d+)\], \[(\d+)", r"pairs = dense<[[\3, \2], [\1"),
                  (r"groups = dense<\[\[(\d+), (\d+)", r"groups = dense<[[\2, \1"),
                  (r"handle = 1,", "handle = 0,"), (r"stablehlo\.add", "stablehlo.mul")],
    "stablehlo-test": [(r"dense<\[\[(\d+), (\d+)", r"dense<[[\2, \1")],
    "sdy": [(r"0->1", "1->0"), (r"all_slice \[\{\}, ", "all_slice [{}, {}, "),
            (r'out_sharding=<@mesh, \[(\{.*?\}), (\{.*?\})', r"out_sharding=<@mesh, [\2, \1")],
}


def check_damages():
    found = Counter()
    for array, mesh, source, target, planner in FULL:
        options = ["--array", array, "--mesh", mesh, "--from", source, "--to", target,
                   "--planner", planner]
        document = json.loads(shardsim("plan", *options, "--format", "json").stdout)
        for kind, damages in DAMAGES.items():
            text = shardsim("plan", *options, "--emit", kind).stdout
            for number, (pattern, other) in enumerate(damages):
                damaged = re.sub(pattern, other, text, count=1)
                if damaged == text:
                    continue
                why = wrong(kind, damaged, document["problem"], document["results"][0])
                check(why is not None, f"{kind} of {array} {source} -> {target} passes with "
                      f"{pattern} changed")
                found[kind, number] += 1
    for kind, damages in DAMAGES.items():
        for number, (pattern, _) in enumerate(damages):
            check(found[kind, number], f"{kind}: nothing was damaged by {pattern}")


def main():
    seed, count = map(int, sys.argv[1:3] or (20240229, 100))
    folder = sys.argv[3] if len(sys.argv) > 3 else None
    rng, seen, said = random.Random(seed), Counter(), Counter()
    problems.MOST = 16
    for number in range(count):
        # Kinds of problems take turns, and so do planners, at another pace.
        run_problem(problems.draw(rng, number // len(PLANNERS) + number), number, seen, said,
                    folder)
    for line in sorted(seen):
        print(f"{seen[line]:7} {line}")
    for kind in KINDS:
        check(seen[f"{kind}: emitted"] >= count / 8, f"only {seen[f'{kind}: emitted']} {kind}")
    print("said:", {f"{kind} {what}": n for (kind, what), n in sorted(said.items()) if n})
    check_said(said, count)
    check_damages()
    common.done()


main()
