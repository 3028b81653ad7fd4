"""Reads a plan back from Shardy's collectives, by the grammar in openxla/shardy's
docs/sharding_representation.md and docs/sdy_dialect.md, and holds it to the steps of the
plan's JSON."""

import re

from layout import read_jax, read_shardy
from nd import need

AXES = r'\{[^{}]*\}'
OPS = {"all_slice": "slice", "all_gather": "all-gather", "all_to_all": "all-to-all",
       "collective_permute": "permute", "reduce_scatter": "reduce-scatter",
       "all_reduce": "all-reduce", "replicated_to_unreduced": "partial",
       "sharded_to_unreduced": "partial"}


class Axes:
    """A mesh, for readers of layouts."""

    def __init__(self, axes):
        self.sizes = dict(axes)


def parts(text, mesh):
    return [(name, int(pre or 1), int(size or mesh.sizes[name])) for name, pre, size in
            re.findall(r'"([^"]+)"(?::\((\d+)\)(\d+))?', text)]


def maximal(listed):
    """No two neighbours of one axis continue each other."""
    return all(not (a[0] == b[0] and a[1] * a[2] == b[1]) for a, b in zip(listed, listed[1:]))


def merged(listed):
    out = []
    for name, pre, size in listed:
        if out and out[-1][0] == name and out[-1][1] * out[-1][2] == pre:
            out[-1] = (name, out[-1][1], out[-1][2] * size)
        else:
            out.append((name, pre, size))
    return tuple(out)


def sharding(text, mesh):
    """<@mesh, [...], unreduced={...}> as dimensions and a set."""
    dims, unreduced = re.fullmatch(
        rf'<@mesh, \[((?:{AXES}(?:, )?)*)\](?:, unreduced=({AXES}))?>', text).groups()
    dims = [parts(d, mesh) for d in re.findall(AXES, dims)]
    need(all(maximal(d) for d in dims), f"sub-axes that are not maximal in {text}")
    return [merged(d) for d in dims], frozenset(merged(sorted(parts(unreduced or "", mesh))))


def moves_of(op, text, mesh):
    """{(axes, from, to)}, None where a side has no dimension."""
    if op == "permute":
        return frozenset()
    if text.startswith("{"):
        return frozenset({(merged(sorted(parts(text, mesh))), None, None)})
    if "->" in text:
        found = re.findall(rf"({AXES}): (\d+)->(\d+)", text)
        sources = [int(a) for _, a, _ in found]
        need(sources == sorted(set(sources)), "moves that are not in the order of sources")
        return frozenset((merged(parts(p, mesh)), int(a), int(b)) for p, a, b in found)
    out = set()
    for dim, inside in enumerate(re.findall(AXES, text)):
        if parts(inside, mesh):
            ends = (None, dim) if op in ("slice", "reduce-scatter") else (dim, None)
            out.add((merged(parts(inside, mesh)),) + ends)
    return frozenset(out)


def read(text):
    """The mesh, the layout before, and the steps [(op, moves, layout after)]."""
    text = re.sub(r"//.*\n", "", text)
    axes, order = re.match(r"sdy\.mesh @mesh = <\[(.*?)\](?:, device_ids=\[(.*?)\])?>",
                           text).groups()
    axes = [(n, int(s)) for n, s in re.findall(r'"([^"]+)"=(\d+)', axes)]
    mesh = Axes(axes)
    before = re.search(r"sdy\.sharding = #sdy\.sharding(<.*?>)\}", text)[1]
    steps, last = [], "%a"
    for name, op, inside, operand, after, _ in re.findall(
            r"^  (%\d+) = sdy\.(\w+) (?:(.*) )?(%\w+) out_sharding=(<@.*>) : (tensor<.*>)$",
            text, flags=re.M):
        need(operand == last, "an operation on another value than the last")
        last = name
        steps.append((OPS[op], moves_of(OPS[op], inside, mesh), sharding(after, mesh)))
    need(f"return {last} : " in text, "another value is returned")
    order = order and [int(i) for i in order.split(",")]
    return axes, order, sharding(before, mesh), steps


def from_json(problem, steps):
    mesh = Axes(problem["mesh"])

    def layout(text):
        dims, unreduced = (read_jax if text[0] == "P" else read_shardy)(text, mesh)
        dims += [[]] * (len(problem["padded_shape"]) - len(dims))
        return [merged(d) for d in dims], frozenset(merged(sorted(unreduced)))

    def part(text):
        name, pre, size = re.fullmatch(r"(.*?)(?::\((\d+)\)(\d+))?", text).groups()
        return name, int(pre or 1), int(size or mesh.sizes[name])
    out, last = [], layout(problem["from"])
    for step in steps:
        moves = set()
        sets = step["op"] == "all-reduce" or (
            step["op"] == "partial" and step["moves"][0]["from_dim"] is None)
        for m in step["moves"]:
            axes = [part(a) for a in m["axes"]]
            moves.add((merged(axes), m["from_dim"], m["to_dim"]))
        if sets:
            moves = {(merged(sorted(a for m in moves for a in m[0])), None, None)}
        after = layout(step["layout"])
        if step["op"] != "pad" or after != last:
            out.append((step["op"], frozenset(moves), after))
        last = after
    return problem["mesh"], problem["mesh_order"], layout(problem["from"]), out


def same_plan(text, problem, steps):
    axes, order, before, read_steps = read(text)
    want = from_json(problem, steps)
    need([list(a) for a in axes] == want[0] and order == want[1], "another mesh")
    need(before == want[2], f"starts at {before}, not {want[2]}")
    need(len(read_steps) == len(want[3]), f"{len(read_steps)} steps, not {len(want[3])}")
    for i, (have, wanted) in enumerate(zip(read_steps, want[3])):
        need(have == wanted, f"step {i + 1} reads as {have}, not {wanted}")
