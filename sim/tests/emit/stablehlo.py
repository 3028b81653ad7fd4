"""Runs functions of StableHLO on all partitions, line by line, by openxla/stablehlo's
docs/spec.md: values are one array for each partition. Reads the forms that emitted texts
have, and no others: collectives in the generic form, their groups numbers of partitions."""

import re

import nd
from nd import Nd, need

TYPE = r"tensor<(?:[^<>]|<[^<>]*>)*>"


def shape_of(text):
    inside = re.fullmatch(r"tensor<(.*)>", text)[1].split("x", -1)
    shape = []
    while inside and inside[0].isdigit():
        shape.append(int(inside.pop(0)))
    return tuple(shape), "x".join(inside)


def dense(text, shape):
    flat = [v == "true" if v in ("true", "false") else int(float(v))
            for v in re.findall(r"true|false|-?\d+(?:\.0)?", text)]
    count = 1
    for g in shape:
        count *= g
    if not text.startswith("["):
        flat = flat[:1] * count
    return Nd(shape, flat)


def rows(text, name):
    """Of `name = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>` the rows; of a missing one []."""
    found = re.search(name + r" = dense<\[(.*?)\]> : tensor<(\d+)x(\d+)xi64>", text)
    out = [[int(i) for i in row.split(",")] for row in re.findall(r"\[([\d, ]*)\]", found[1])]
    need(len(out) == int(found[2]) and all(len(r) == int(found[3]) for r in out),
         f"{name} of another type")
    return out


def number(text, name):
    return int(re.search(name + r" = (\d+) : i64", text)[1])


def said_of(step):
    op, blocks, groups = step["op"], step["blocks"], step["replica_groups"]
    if op == "partial":
        return (op,)
    if op == "permute":
        return op, step["source_target_pairs"]
    if op == "slice":
        size = list(step["operand_shape"])
        for b in blocks:
            size[b["to_dim"]] //= b["factor"]
        starts = [[0] * len(size) for _ in step["kept_blocks"]]
        for start, kept in zip(starts, step["kept_blocks"]):
            for b, k in zip(blocks, kept):
                start[b["to_dim"]] = k * size[b["to_dim"]]
        return op, starts
    ends = [b[end] if len(blocks) == 1 else 0 for end in ("from_dim", "to_dim")
            for b in blocks[:1]]
    return {"all-gather": (op, groups, ends[0]), "all-to-all": (op, groups, *ends),
            "reduce-scatter": (op, groups, ends[1]), "all-reduce": (op, groups)}[op]


class Module:
    def __init__(self, text):
        text = re.sub(r"//.*", "", text)
        self.partitions = int(re.search(r"mhlo.num_partitions = (\d+) : i32", text)[1])
        need("mhlo.num_replicas = 1 : i32" in text, "replicas")
        # An operation with a region becomes one line.
        text = re.sub(r"\(\{\n(.*?)\}\)", lambda m: "({" + m[1].replace("\n", ";") + "})",
                      text, flags=re.S)
        self.functions = {}
        for name, args, body in re.findall(
                r"func\.func @(\w+)\((.*?)\)(?: -> [^{]*)? \{\n(.*?)\n\}", text, flags=re.S):
            self.functions[name] = (args, body.split("\n"))

    def call(self, name, operand):
        """Runs a function of one tile on the tiles of all partitions."""
        args, lines = self.functions[name]
        shape, _ = shape_of(re.fullmatch(r"%a: (.*)", args)[1])
        need(all(v.shape == shape for v in operand), f"tiles that are not {shape}")
        self.values, self.channels = {"%a": operand}, set()
        self.said = []  # the steps, as plan_of() has them
        for line in lines:
            line = line.strip()
            if line.startswith("return "):
                return self.typed(*re.fullmatch(r"return (%\w+) : (.*)", line).groups())
            if line:
                self.run(line)
        raise AssertionError("no return")

    def typed(self, value, text):
        shape, _ = shape_of(text)
        value = self.values[value]
        need(all(v.shape == shape for v in value), f"{value[0].shape} is not {text}")
        return value

    def run(self, line):
        name, op, rest = re.fullmatch(r'(%\w+) = "?([\w.]+)"?(.*)', line).groups()
        need(name not in self.values, f"{name} twice")
        self.values[name] = self.result(op, rest.strip())

    def result(self, op, rest):
        if op == "stablehlo.partition_id":
            need(rest == ": tensor<ui32>", rest)
            return [Nd((), [p]) for p in range(self.partitions)]
        if op == "stablehlo.constant":
            text, type_ = re.fullmatch(rf"dense<(.*)> : ({TYPE})", rest).groups()
            return [dense(text, shape_of(type_)[0])] * self.partitions
        if op == "stablehlo.select":
            holds, a, b, one, type_ = re.fullmatch(
                rf"(%\w+), (%\w+), (%\w+) : ({TYPE}), ({TYPE})", rest).groups()
            need(one == "tensor<i1>", one)
            self.said.append(("partial",))
            return [x if h.data[0] else y for h, x, y in zip(
                self.typed(holds, one), self.typed(a, type_), self.typed(b, type_))]
        head, from_, to = re.fullmatch(rf"(.*) : \((.*)\) -> ({TYPE})", rest).groups()
        from_ = re.findall(TYPE, from_)
        names = re.findall(r"%\w+", head.split("<{")[0].split(", dims")[0])
        operands = [self.typed(n, t) for n, t in zip(names, from_)]
        need(len(operands) == len(names) == len(from_), f"operands of {rest}")
        out = getattr(self, op.split(".")[1])(head, *operands)
        shape, _ = shape_of(to)
        if op == "stablehlo.reshape":
            out = [v.reshape(shape) for v in out]
        need(all(v.shape == shape for v in out), f"{op} gives {out[0].shape}, not {to}")
        return out

    # --- local ---------------------------------------------------------------------------

    def reshape(self, _, a):
        return a

    def transpose(self, head, a):
        order = [int(k) for k in re.search(r"dims = \[([\d, ]*)\]", head)[1].split(",")]
        return [v.transpose(*order) for v in a]

    def starts(self, indices, extents, sizes):
        """Of each partition; a start is clamped so that the box lies inside."""
        need(len(indices) == len(extents), "another number of indices")
        return [[max(0, min(i[p].data[0], g - s)) for i, g, s in zip(indices, extents, sizes)]
                for p in range(self.partitions)]

    def dynamic_slice(self, head, a, *indices):
        sizes = [int(s) for s in re.search(r"slice_sizes = array<i64: ([\d, ]*)>",
                                           head)[1].split(",")]
        starts = self.starts(indices, a[0].shape, sizes)
        if "%id)" not in head:  # not that of a table
            self.said.append(("slice", starts))
        return [v.box(at, sizes) for v, at in zip(a, starts)]

    def dynamic_update_slice(self, _, a, update, *indices):
        self.said.append(("partial",))
        return [v.with_box(at, u) for v, u, at in
                zip(a, update, self.starts(indices, a[0].shape, update[0].shape))]

    # --- collectives ---------------------------------------------------------------------

    def channel(self, head):
        handle = re.search(r"channel_handle = #stablehlo.channel_handle<handle = (\d+), "
                           r"type = 1>", head)[1]
        need(int(handle) > 0 and handle not in self.channels, "a channel twice")
        self.channels.add(handle)

    def over(self, head, a, op, *said, ids=True):
        """op(values of the group, own place) on every partition of the replica groups."""
        self.channel(head)
        need(("use_global_device_ids" in head) == ids, "device ids")
        groups = rows(head, "replica_groups")
        self.said.append(said[:1] + (groups,) + said[1:])
        members = [m for g in groups for m in g]
        need(sorted(members) == list(range(self.partitions)), "groups that are no partition")
        out = [None] * self.partitions
        for group in groups:
            for place, m in enumerate(group):
                out[m] = op([a[i] for i in group], place)
        return out

    def all_gather(self, head, a):
        dim = number(head, "all_gather_dim")
        return self.over(head, a, lambda parts, _: nd.concatenate(parts, dim),
                         "all-gather", dim)

    def all_to_all(self, head, a):
        split, join = number(head, "split_dimension"), number(head, "concat_dimension")
        count = number(head, "split_count")

        def swap(parts, place):
            need(len(parts) == count, "split_count is not the size of the group")
            return nd.concatenate([p.chunk(count, split)[place] for p in parts], join)
        return self.over(head, a, swap, "all-to-all", join, split, ids=False)

    def sums(self, head):
        need(re.search(r"\^bb0\(%p: (.*), %q: \1\):;.*stablehlo\.add %p, %q : \1;"
                       r".*stablehlo\.return %s : \1;", head), "a region that is no sum")

    def all_reduce(self, head, a):
        self.sums(head)
        return self.over(head, a, lambda parts, _: nd.total(parts), "all-reduce")

    def reduce_scatter(self, head, a):
        self.sums(head)
        dim = number(head, "scatter_dimension")
        return self.over(head, a, lambda parts, place: nd.total(
            [p.chunk(len(parts), dim)[place] for p in parts]), "reduce-scatter", dim)

    def collective_permute(self, head, a):
        self.channel(head)
        pairs = rows(head, "source_target_pairs")
        self.said.append(("permute", pairs))
        need(all(len({p[i] for p in pairs}) == len(pairs) for i in (0, 1)), "a device twice")
        out = [nd.zeros(v.shape) for v in a]
        for source, target in pairs:
            out[target] = a[source]
        return out

    # --- the plan ------------------------------------------------------------------------

    def same_plan(self, steps):
        """Holds what call() ran to the steps of a plan's JSON, in order: who with whom, and
        which dimensions; several moves are one collective over the first dimension."""
        need(len(self.said) == len(steps), f"{len(self.said)} steps, not {len(steps)}")
        for i, (said, step) in enumerate(zip(self.said, steps)):
            need(said == said_of(step), f"step {i + 1} reads as {said}, not {said_of(step)}")

    # --- tests ---------------------------------------------------------------------------

    def test(self):
        """Runs @main of a test file; returns how many elements it compared."""
        _, lines = self.functions["main"]
        constants, results, compared = {}, {}, 0
        for line in map(str.strip, lines):
            if " = stablehlo.constant " in line:
                name, text, type_ = re.fullmatch(
                    rf"(%\w+) = stablehlo.constant dense<(.*)> : ({TYPE})", line).groups()
                constants[name] = dense(text, shape_of(type_)[0])
            elif "interpreter.run_parallel" in line:
                count, operands, programs = re.match(
                    r'%r:(\d+) = "interpreter.run_parallel"\((.*?)\) '
                    r"\{programs = \[\[(.*?)\]\]\} : ", line).groups()
                need(programs.split(", ") == ["@plan"] * int(count), "other programs")
                got = self.call("plan", [constants[n] for n in operands.split(", ")])
                results = {f"%r#{i}": v for i, v in enumerate(got)}
                need(len(results) == int(count) == self.partitions, "other results")
            elif line.startswith("check.expect_eq_const"):
                name, text, type_ = re.fullmatch(
                    rf"check.expect_eq_const (%r#\d+), dense<(.*)> : ({TYPE})", line).groups()
                want, have = dense(text, shape_of(type_)[0]), results.pop(name)
                need(want.shape == have.shape and (want == have).all(), f"{name} is wrong")
                compared += len(want.data)
        need(not results and compared, "results that are not compared")
        return compared
