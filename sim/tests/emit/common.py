"""What the tests of emitted texts share: seeded problems, and checks that are counted."""

import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "execute"))
import problems  # noqa: E402

# Meshes of up to 16 devices; two are of up to 8 each.
problems.mesh.__defaults__ = (16,)
passed = failed = 0


def check(good, text):
    global passed, failed
    passed, failed = passed + good, failed + (not good)
    if not good:
        print(text)


def done():
    """The last line: how many checks passed and failed."""
    print(passed, failed)


def quoted(options):
    return " ".join(f"'{o}'" for o in options)


def shardsim(*options):
    return subprocess.run(["shardsim", *options], capture_output=True, text=True)


def plans(options):
    """The JSON of all planners, None where the problem is refused."""
    run = shardsim("plan", *options, "--planner", "all", "--messages", "--format", "json")
    return None if run.returncode else json.loads(run.stdout)


def draw(seed, count):
    """`count` problems: options, the JSON of the problem, and its plans that can run.
    Types of less than a byte are read as bytes: no runtime has a sum of them."""
    rng, number, left = random.Random(seed), 0, count
    while left:
        options = [o.replace("s4[", "u8[") for o in problems.draw(rng, number)]
        number += 1
        document = plans(options)
        results = [r for r in document["results"] if r["status"] == "ok" and r["steps"]] \
            if document else []
        if results and 2 <= document["problem"]["devices"] <= 16:
            yield rng, options, document["problem"], results
            left -= 1


def ops(result):
    return {step["op"] for step in result["steps"]}
