"""Recompute a report's tables from the rows of its sweep, by the definitions alone.

usage: report_tables.py ROWS.csv TABLES.csv BASELINE

Prints how many lines of each section agree; a figure that does not is printed and the exit
status is 1. It shares no code with shardsim.
"""

import csv
import math
import sys
from collections import Counter, defaultdict

rows_path, tables_path, BASELINE = sys.argv[1:]
with open(rows_path, newline="") as f:
    rows = list(csv.DictReader(f))
with open(tables_path, newline="") as f:
    lines = list(csv.DictReader(f))

FIRST = ["best", "best-portable", "synth", "xla", "xla-2021"]


def kind_of(row):
    if row["source"].startswith("generated: layouts"):
        return "layouts"
    return "random" if row["source"].startswith("generated") else "real"


def time_of(row):
    return float(row["time_s"]) if row["status"] == "ok" and row["time_s"] else None


def geomean(x):
    return math.exp(math.fsum(map(math.log, x)) / len(x)) if x else None


def median(x):
    x, half = sorted(x), len(x) // 2
    if not x:
        return None
    return x[half] if len(x) % 2 else (x[half - 1] + x[half]) / 2


# (kind, machine, clock) -> scenario -> planner -> row
places = defaultdict(lambda: defaultdict(dict))
for row in rows:
    place = kind_of(row), row.get("machine") or row["platform"], row["clock"]
    places[place][row["scenario"]][row["planner"]] = row


def compare(cases):
    """The figures of (baseline's row, planner's row) pairs of which both take time."""
    ratios = [time_of(b) / time_of(p) for b, p in cases]
    memory = [
        int(b["peak_live_bytes"]) / int(p["peak_live_bytes"])
        for b, p in cases
        if int(b["peak_live_bytes"] or 0) > 0 and int(p["peak_live_bytes"] or 0) > 0
    ]
    ties = sum(abs(r - 1) <= 1e-6 for r in ratios)
    wins = sum(r - 1 > 1e-6 for r in ratios)
    return {
        "n": len(ratios),
        "speedup": geomean(ratios),
        "speedup_median": median(ratios),
        "speedup_min": min(ratios, default=None),
        "speedup_max": max(ratios, default=None),
        "wins": wins,
        "ties": ties,
        "losses": len(ratios) - wins - ties,
        "memory_n": len(memory),
        "memory_ratio": geomean(memory),
    }


def pairs(scenarios, planner):
    """All pairs of rows of the baseline and the planner."""
    return [
        (by[BASELINE], by[planner])
        for by in scenarios.values()
        if BASELINE in by and planner in by
    ]


def moving(cases):
    return [c for c in cases if all((time_of(r) or 0) > 0 for r in c)]


def over(row):
    return row["status"] == "over-memory"


expected = {}
for (kind, machine, clock), scenarios in places.items():
    planners = sorted({p for by in scenarios.values() for p in by})
    shown = [p for p in FIRST if p in planners and p != BASELINE]
    for planner in planners:
        if planner == BASELINE:
            continue
        every = pairs(scenarios, planner)
        cases = moving(every)
        place = kind, machine, clock, planner
        expected["total", *place, ""] = compare(cases)
        if planner not in shown:
            continue
        expected["first", *place, "all"] = {
            **compare(cases),
            "baseline_over_memory": sum(over(b) for b, _ in every),
            "over_memory": sum(over(p) and not over(b) for b, p in every),
        }
        expected["first", *place, "without rematerialization"] = compare(
            [c for c in cases if c[0]["full_remat"] == "0"]
        )
    solved = [
        by
        for by in scenarios.values()
        if any(time_of(row) is not None for row in by.values())
    ]
    same = [by for by in solved if len(moving([tuple(by.values())])) == 1]
    same = [by for by in same if len(by) == len(planners)]
    for planner in planners:
        expected["same", kind, machine, clock, planner, ""] = {
            "n": len(same),
            "scenarios": len(solved),
            "speedup": geomean(
                [time_of(by[BASELINE]) / time_of(by[planner]) for by in same]
            ),
            "cannot": sum(
                planner not in by or time_of(by[planner]) is None for by in solved
            ),
        }

failed, agreed = 0, Counter()
for line in lines:
    if line["section"] not in ("first", "same", "total"):
        continue
    key = tuple(
        line[c] for c in ("section", "kind", "platform", "clock", "planner", "cases")
    )
    for name, want in expected.pop(key, {"no such line": 0}).items():
        got = float(line[name]) if line.get(name) else None
        if got is None or want is None:
            good = got is want
        else:
            good = abs(got - want) <= 2e-8 * abs(want)
        if not good:
            print(*key, name, "is", got, "expected", want)
            failed = 1
    agreed[line["section"], line["kind"]] += 1
for key in expected:
    print("no line", *key)
    failed = 1
for (section, kind), n in sorted(agreed.items()):
    print(f"{section}: {n} lines of {kind}")
sys.exit(failed)
