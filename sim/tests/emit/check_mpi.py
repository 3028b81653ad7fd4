"""Compiles emitted MPI programs and runs their own checks under mpirun.

usage: check_mpi.py [SEED PROBLEMS]

A problem is run by one of its plans, one that has a step which few were run with so far.
Then tables of programs are damaged, and the checks must find it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import common
from common import check, quoted, shardsim

# As root, with more ranks than cores.
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca",
          "mpi_yield_when_idle", "1"]


def command(*words):
    return subprocess.run(words, capture_output=True, text=True)


def mpirun(ranks, *words):
    """Runs a program. Runs at the same time must not make one folder of sessions both."""
    with tempfile.TemporaryDirectory() as sessions:
        return command(*MPIRUN, "--mca", "orte_tmpdir_base", sessions, "-n", str(ranks), *words)


def features(result):
    """What of a plan the program has code of its own for."""
    out = set(common.ops(result))
    for step in result["steps"]:
        for field in ("digits", "boxes", "unpadded", "on_target_mesh", "summed_shape",
                      "part_elements", "tile_starts"):
            if field in step:
                out.add(f"{step['op']} with {field}")
        out |= {f"{len(step['blocks'])} moves"} if step["blocks"] else set()
    return out


def rarest(results, seen):
    """The plan whose rarest feature was seen least."""
    return min(results, key=lambda r: min(seen[f] for f in features(r)))


def build(folder, name, options, planner, *flags):
    """Emits and compiles a program; returns its path."""
    source, program = f"{folder}/{name}.c", f"{folder}/{name}"
    run = shardsim("plan", *options, "--planner", planner, "--emit", "mpi", "-o", source)
    if run.returncode:
        return run, None
    return command("mpicc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O0", *flags, "-o",
                   program, source), program


def run_plan(folder, number, options, devices, planner):
    where = f"{planner}: {quoted(options)}"
    # Every other one as if an int could count to 3: as large arrays are sent.
    flags = ["-DCOUNT_MOST=3"] if number % 2 else []
    compiled, program = build(folder, f"plan{number}", options, planner, *flags)
    if compiled.returncode:
        return f"{where}: {compiled.stderr}"
    ran = mpirun(devices, program)
    found = re.match(r"# check: (\d+) elements on (\d+) ranks, 0 wrong\n$", ran.stdout)
    os.unlink(program)
    if ran.returncode or not found or int(found[1]) < 1:
        return f"{where}: {ran.stdout}{ran.stderr}"
    return None


SCHEDULED = [
    (8, "f32[8192,4096]", "x=4,y=2", "P('x','y')", "P('y','x')", "tpu-v5e:4x2"),
    (8, "bf16[512,512]", "x=4,y=2", "P(('x','y'))", "P()", "tpu-v5e:2x4"),
    (8, "f32[8192,512,2]", "x=2,y=4", "P(('x','y'))", "P('y',None,'x')", "tpu-v4:2x2x2"),
    (16, "f32[16384,8192]", "x=2,y=8", "P(('x','y'))", "P(None,'x')", "dgx-h100:2"),
    (8, "f32[4000,1009]", "x=4,y=2", "P('x','y')", "P('y','x')", "tpu-v5e:4x2"),
]

TWO_MESHES = [
    (8, "f32[8192,512]", "x=4", "P('x')", "y=4", "P()", "0-3", "4-7", "tpu-v5e:2x4"),
    (8, "f32[8192,512]", "x=1", "P()", "y=8", "P()", "0", "0-7", "tpu-v5e:2x4"),
    (8, "f32[8192,512]", "x=2,y=2", "P('x','y')", "z=6", "P(None,'z')", "0-3", "2-7",
     "tpu-v5e:2x4"),
    (16, "f32[8192,512]", "x=1", "P()", "y=16", "P()", "0", "0-15", "dgx-h100:2"),
]

# Sums whose contributions are added up on their way: to tiles, between dimensions, over nodes,
# with a slice before, a gather behind, all-reduces, and where messages go straight.
SUMS = [
    (8, "f32[8192,512]", "x=8", "P(unreduced={'x'})", "P('x')", "tpu-v5e:2x4"),
    (8, "bf16[8192,512]", "x=2,y=4", "P('x',unreduced={'y'})", "P(None,'y')", "tpu-v5e:2x4"),
    (16, "f32[16384,8192]", "x=2,y=8", "P('x',unreduced={'y'})", "P(None,('y','x'))",
     "dgx-h100:2"),
    (8, "s32[8192,512,2]", "x=2,y=2,z=2", "P('z',unreduced={'x'})", "P(None,'x')", "tpu-v4:2x2x2"),
    (16, "f32[16384,8192]", "x=16", "P(unreduced={'x'})", "P()", "dgx-h100:2"),
    (4, "f64[16,8]", "x=4", "P(unreduced={'x'})", "P()", "tpu-v5e:2x2"),
]

# Arrays of one element, plans of no step, a sum that stays one, contributions of 16 bits.
EDGES = [
    ("gather", 4, ["--array", "f32[]", "--mesh", "x=4", "--from", "P()", "--to", "P()"]),
    ("dtensor", 4, ["--array", "f64[]", "--mesh", "x=2,y=2", "--from",
                    "P(unreduced={'x', 'y'})", "--to", "P(unreduced={'y'})"]),
    ("dtensor", 4, ["--array", "bf16[6]", "--mesh", "x=4", "--from", "P(unreduced={'x'})",
                    "--to", "P()"]),
    # Schedules of messages, with relays: on a torus, over nodes, of uneven tiles.
    *[("direct", n, ["--array", array, "--mesh", mesh, "--from", before, "--to", after,
                     "--platform", platform + "{scheduled=1}"])
      for n, array, mesh, before, after, platform in SCHEDULED],
    *[("direct", n, ["--array", array, "--mesh", mesh, "--from", before, "--to", after,
                     "--platform", platform + "{scheduled=1}"])
      for n, array, mesh, before, after, platform in SUMS],
    # The same between two meshes: from one half to the other, from one device to all.
    *[("direct", n, ["--array", array, "--mesh", mesh, "--from", before, "--to-mesh", other,
                     "--to", after, "--devices", devices, "--to-devices", others,
                     "--platform", platform + "{scheduled=1}"])
      for n, array, mesh, before, other, after, devices, others, platform in TWO_MESHES],
    ("dtensor", 2, ["--array", "f16[6]", "--mesh", "x=2", "--from", "P(unreduced={'x'})",
                    "--to", "P('x')"]),
    ("dtensor", 2, ["--array", "c64[4]", "--mesh", "x=2", "--from", "P(unreduced={'x'})",
                    "--to", "P()"]),
    ("dtensor", 4, ["--array", "s4[8,4]", "--mesh", "x=4", "--from", "P('x')", "--to",
                    "P(None, 'x')"]),
]


# --- programs that are wrong --------------------------------------------------------------

FULL = ["--array", "f32[24,24]", "--mesh", "x=2,y=2", "--from", "P('x', 'y')", "--to",
        "P('y', 'x')"]


def damage(text, pattern, change):
    """Changes the numbers of the first table whose line begins with the pattern."""
    begin = re.search(pattern, text).end()
    end = text.index("};", begin)
    numbers = re.findall(r"-?\d+", text[begin:end])
    pieces = re.split(r"-?\d+", text[begin:end])
    change(numbers)
    inside = "".join(p + n for p, n in zip(pieces, numbers)) + pieces[-1]
    return text[:begin] + inside + text[end:]


def swap(i, j):
    def change(numbers):
        numbers[i], numbers[j] = numbers[j], numbers[i]
    return change


def set_to(i, value):
    return lambda numbers: numbers.__setitem__(i, value)


# Planner, table, how it is changed.
DAMAGES = [
    ("gather", r"int member_1\[\] = \{", swap(0, 1)),
    ("gather", r"int chunk_2\[\] = \{", swap(0, 2)),
    ("synth", r"int pair_1\[\] = \{", swap(1, 3)),
    ("direct", r"struct box box_1\[\] = \{", set_to(5, "24")),
    ("gather", r"struct place to_place\[RANKS\] = \{", set_to(1, "1")),
]


def check_damages(folder):
    for i, (planner, pattern, change) in enumerate(DAMAGES):
        compiled, program = build(folder, f"damaged{i}", FULL, planner)
        source = program + ".c"
        with open(source) as file:
            text = damage(file.read(), pattern, change)
        with open(source, "w") as file:
            file.write(text)
        command("mpicc", "-O0", "-o", program, source)
        ran = mpirun(4, program)
        check(ran.returncode != 0 and not ran.stdout.endswith(" 0 wrong\n"),
              f"{planner} with another {pattern}: {ran.stdout}{ran.stderr}")


def check_use(folder):
    """Options, another number of ranks, no MPI, and the table of times."""
    _, program = build(folder, "use", FULL, "synth")
    without = command("cc", "-fsyntax-only", program + ".c")
    check("no mpi.h: compile with mpicc" in without.stderr, without.stderr)
    ran = mpirun(3, program)
    check(ran.returncode == 2 and "this plan is for 4 ranks, not 3" in ran.stderr, ran.stderr)
    ran = mpirun(4, program, "--no-such")
    check(ran.returncode == 2 and ran.stderr.startswith("usage: mpirun -n 4"), ran.stderr)
    ran = mpirun(4, program, "--check", "--bench", "--bytes", "1000",
                  "--repeats", "5")
    lines = ran.stdout.splitlines()
    check(ran.returncode == 0 and lines[0].endswith(" 0 wrong") and
          lines[-2] == "array,mesh,to_mesh,from,to,planner,ranks,measured_s" and
          lines[-1].startswith('"f32[12,12]","x=2,y=2","","P(\'x\', \'y\')"'),
          ran.stdout + ran.stderr)
    with open(f"{folder}/use.csv", "w") as table:
        table.write(ran.stdout * 2)
    read = shardsim("validate", table.name, "--platform", "cluster:{n}",
                    "--format", "json")
    rows = json.loads(read.stdout)["rows"] if read.returncode == 0 else []
    check(len(rows) == 2 and rows[0]["time_s"] > 0 and
          abs(rows[1]["measured_s"] - float(lines[-1].rsplit(",", 1)[1])) < 1e-12,
          f"{read.stderr}{rows}")


def check_benches(folder, collectives):
    """Programs that time a collective: right sums, and columns that `validate` reads."""
    for name in collectives:
        source, program = f"{folder}/{name}.c", f"{folder}/{name}"
        shardsim("perf", name, "-b", "100", "-e", "1K", "--emit", "mpi", "-o", source)
        compiled = command("mpicc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", program,
                           source)
        check(compiled.returncode == 0, f"{name}: {compiled.stderr}")
        ran = mpirun(3, program)
        check(ran.returncode == 0 and ran.stdout.endswith("values : 0 OK\n"),
              f"{name}: {ran.stdout}{ran.stderr}")
        with open(f"{folder}/{name}.log", "w") as log:
            log.write(ran.stdout)
        read = shardsim("validate", log.name, "--platform", "cluster:nodes=1,gpus=3",
                        "--format", "json")
        rows = json.loads(read.stdout)["rows"] if read.returncode == 0 else []
        check([(r["collective"], r["devices"], r["bytes"]) for r in rows] ==
              [(name, 3, b) for b in SIZES[name in CUT]], f"{name}: {read.stderr}{rows}")


COLLECTIVES = ["all-gather", "reduce-scatter", "all-reduce", "all-to-all", "permute",
               "broadcast", "reduce"]
CUT = COLLECTIVES[:2] + ["all-to-all"]
# Of 100, 200, 400, 800 bytes; three ranks share multiples of 48.
SIZES = [[100, 200, 400, 800], [96, 192, 384, 768]]


def main():
    seed, count = map(int, sys.argv[1:] or (20220501, 10))
    seen, ranks = Counter(), Counter()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        runs = []
        for number, (_, options, problem, results) in enumerate(common.draw(seed, count)):
            result = rarest(results, seen)
            seen.update(features(result) | {result["planner"]})
            ranks[problem["devices"]] += 1
            runs.append(pool.submit(run_plan, folder, number, options, problem["devices"],
                                    result["planner"]))
        for planner, devices, options in EDGES if count > 10 else []:
            runs.append(pool.submit(run_plan, folder, len(runs), options, devices, planner))
        answers = [run.result() for run in runs]
        for answer in answers:
            check(answer is None, answer)
        check_damages(folder)
        check_use(folder)
        check_benches(folder, COLLECTIVES if count > 10 else COLLECTIVES[:2])
    print("programs that ran and moved the right bytes:", answers.count(None))
    print("ranks:", dict(sorted(ranks.items())))
    print("run:", dict(sorted(seen.items())))
    common.done()


main()
