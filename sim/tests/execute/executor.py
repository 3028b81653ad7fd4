"""Executes a plan from the JSON of `shardsim plan`: every device has a real buffer.

It knows what sim/doc/shardsim-1.schema.json says and nothing else. An element of the array
has a number that looks random, and so has each contribution to it where axes are unreduced;
a buffer is a list of them, None where it is padding. PlanError says what is wrong.
"""

import re
from itertools import product
from math import ceil, prod

from layout import Layout, Mesh


class PlanError(Exception):
    pass


def need(holds, what):
    if not holds:
        raise PlanError(what)


def positions(shape):
    return product(*map(range, shape))


def offset(at, shape):
    place = 0
    for i, g in zip(at, shape):
        place = place * g + i
    return place


def value_of(element, contribution):
    return (element * 1000003 + contribution * 7919 + 12345) * 2654435761 % (1 << 61)


def cut(buffer, shape, begin, size):
    """The box of `size` at `begin` of a buffer."""
    return [buffer[offset([b + i for b, i in zip(begin, at)], shape)]
            for at in positions(size)]


def put(buffer, shape, begin, size, values):
    for at, value in zip(positions(size), values):
        buffer[offset([b + i for b, i in zip(begin, at)], shape)] = value


def add(buffers):
    return [None if any(v is None for v in vs) else sum(vs) for vs in zip(*buffers)]


class Run:
    """One plan of a problem. After run(), received[i][d] and padding[i][d] are how many
    elements device d got in step i, and how many of these were padding."""

    def __init__(self, problem, result):
        self.problem, self.steps = problem, result["steps"]
        bits = re.match(r"(?:pred|[a-z]+(\d+))", problem["array"])
        self.bits = int(bits[1] or 8)
        self.real = [int(g) for g in
                     re.search(r"\[(.*)\]", problem["array"])[1].split(",") if g]
        self.mesh = Mesh(problem["mesh"], problem["mesh_order"])
        self.to_mesh = Mesh(problem["to_mesh"] or problem["mesh"],
                            problem["to_mesh_order"])
        unpadded = any(s.get("unpadded") for s in self.steps)
        self.extent = self.real if unpadded else problem["padded_shape"]
        self.devices = range(problem["devices"])
        source = Layout(problem["from"], self.mesh, self.extent)
        self.sums = source.sums
        self.where = self.places(source)
        self.held = {d: {} for d in self.devices}
        self.buffer = {
            d: None if self.where[d] is None else
            [value_of(e, source.sum_of[d]) if e >= 0 else None for e in self.where[d]]
            for d in self.devices}
        self.received, self.padding = [], []

    def total(self, element):
        return sum(value_of(element, c) for c in range(self.sums))

    def places(self, layout, tile=None, starts=None):
        """The elements that every device's buffer has, -1 for padding."""
        out = {}
        for d in self.devices:
            indices = layout.indices(d, tile, starts)
            out[d] = None if indices is None else \
                [self.number(at) for at in product(*indices)]
        return out

    def number(self, at):
        inside = all(0 <= i < g for i, g in zip(at, self.real))
        return offset(at, self.real) if inside else -1

    def run(self):
        shape = None
        for number, step in enumerate(self.steps):
            try:
                self.got = {d: 0 for d in self.devices}
                self.none = {d: 0 for d in self.devices}
                self.shape = step["operand_shape"]
                for d in self.devices:
                    need(self.buffer[d] is None or len(self.buffer[d]) == prod(self.shape),
                         f"device {d} has {len(self.buffer[d] or [])} elements before it, "
                         f"not {self.shape}")
                self.run_step(step)
                self.received.append(self.got)
                self.padding.append(self.none)
                shape = step["local_shape"]
                self.check_bytes(step)
            except PlanError as e:
                raise PlanError(f"step {number + 1} ({step['op']}): {e}") from None
        target = Layout(self.problem["to"], self.to_mesh, self.extent)
        need(shape is None or prod(shape) == prod(target.tile_shape()),
             "the last tiles have another size than the target's")
        self.where = self.places(target)
        self.check_buffers(target, "at the end")

    def run_step(self, step):
        layout = Layout(step["layout"],
                        self.to_mesh if step.get("on_target_mesh") else self.mesh,
                        self.extent)
        after = self.places(layout, step.get("tile_shape"), step.get("tile_starts"))
        op = step["op"]
        if op == "permute" and "boxes" in step:
            after = self.where
            self.hold_boxes(step)
        elif op in ("exchange", "pad"):
            self.retile(step, after)
        elif op == "permute":
            self.permute(step)
        elif op == "slice":
            self.slice(step)
        elif op == "all-reduce" and "summed_shape" in step:
            self.sum_tiles(step, after)
        else:
            self.run_groups(step)
        self.where = after
        self.check_buffers(layout, "after it")

    def check_buffers(self, layout, when):
        """Devices hold what a layout says; those that share a sum have all of it."""
        sums = {}
        for d in self.devices:
            want, have = self.where[d], self.buffer[d]
            if want is None:
                continue
            need(have is not None, f"{when} device {d} has no buffer")
            need(len(have) == len(want),
                 f"{when} device {d} has {len(have)} elements, not {len(want)}")
            total = sums.setdefault(layout.lead[d], [0] * len(want))
            for i, (e, v) in enumerate(zip(want, have)):
                if e >= 0:
                    need(v is not None, f"{when} device {d} lacks element {e}")
                    total[i] += v
        for d in self.devices:
            for e, v in zip(self.where[d] or (), sums.get(layout.lead.get(d), ())):
                need(e < 0 or v == self.total(e), f"{when} device {d} has not element {e}")

    def count(self, device, values):
        self.got[device] += len(values)
        self.none[device] += sum(v is None for v in values)

    # --- one buffer, one group ----------------------------------------------------------

    def slice(self, step):
        shape = list(self.shape)
        for move in step["blocks"]:
            need(shape[move["to_dim"]] % move["factor"] == 0, "the tile does not divide")
            shape[move["to_dim"]] //= move["factor"]
        for d in self.devices:
            begin = [0] * len(shape)
            if self.buffer[d] is not None:
                for move, block in zip(step["blocks"], step["kept_blocks"][d]):
                    begin[move["to_dim"]] = block * shape[move["to_dim"]]
                self.buffer[d] = cut(self.buffer[d], self.shape, begin, shape)

    def permute(self, step):
        new = {d: None for d in self.devices}
        sources = set()
        for a, b in step["source_target_pairs"]:
            need(a not in sources and new[b] is None, f"{a} sends or {b} receives twice")
            need(self.buffer[a] is not None, f"device {a} has nothing to send")
            sources.add(a)
            new[b] = self.buffer[a]
            if a != b:
                self.count(b, new[b])
        self.buffer = new

    def run_groups(self, step):
        blocks, new, seen = step["blocks"], dict(self.buffer), set()
        factors = [b["factor"] for b in blocks]
        for group in step["replica_groups"]:
            need(not seen & set(group) and len(set(group)) == len(group),
                 "a device in two places")
            seen |= set(group)
            need(prod(factors) == len(group), "groups of another size than the factors'")
            need(all(self.buffer[d] is not None for d in group), "a member has no buffer")
            chunks = list(positions(factors))
            for d, own in zip(group, chunks):
                new[d] = self.run_member(step, group, chunks, d, own)
        self.buffer = new

    def run_member(self, step, group, chunks, d, own):
        op, blocks = step["op"], step["blocks"]
        part, whole = list(self.shape), None
        begin = [0] * len(part)
        for move, c in zip(blocks, own):
            if move["to_dim"] is not None:
                need(part[move["to_dim"]] % move["factor"] == 0, "the tile does not divide")
                part[move["to_dim"]] //= move["factor"]
                begin[move["to_dim"]] = c * part[move["to_dim"]]
        if op == "all-reduce":
            buffers = [self.buffer[m] for m in group]
            self.count_sum(d, buffers[0], len(group))
            return add(buffers)
        pieces = [cut(self.buffer[m], self.shape, begin, part) for m in group]
        if op == "reduce-scatter":
            for m, piece in zip(group, pieces):
                if m != d:
                    self.count(d, piece)
            return add(pieces)
        gathers = any(m["from_dim"] is not None for m in blocks)
        if op == "partial" and not gathers:
            return self.buffer[d] if d == group[0] else [0] * len(self.buffer[d])
        need(op in ("all-gather", "all-to-all", "partial") and gathers, f"no op {op}")
        whole = list(part)
        for move in blocks:
            whole[move["from_dim"]] *= move["factor"]
        out = [0] * prod(whole)
        for m, at, piece in zip(group, chunks, pieces):
            place = [0] * len(whole)
            for move, c in zip(blocks, at):
                place[move["from_dim"]] = c * part[move["from_dim"]]
            if op == "partial" and m != d:
                continue
            put(out, whole, place, part, piece)
            if m != d:
                self.count(d, piece)
        return out

    def count_sum(self, d, values, members):
        """An all-reduce scatters sums and gathers them: a device receives every element
        of the other blocks, and its own block from every other member."""
        each = len(values) - len(values) // members
        none = sum(v is None for v in values)
        self.got[d] += 2 * each
        self.none[d] += 2 * (none - none // members)

    # --- boxes --------------------------------------------------------------------------

    def known(self, d):
        """The elements that a device can tell: in its tile and beside it."""
        known = dict(self.held[d])
        for e, v in zip(self.where[d] or (), self.buffer[d] or ()):
            if e >= 0:
                known[e] = v
        return known

    def box_elements(self, step, bounds):
        """The elements of a box, over digits where there are digits."""
        digits = step.get("digits") or [[g] for g in self.extent]
        need(len(bounds) == sum(map(len, digits)), "bounds of another rank")
        indices, k = [], 0
        for own in digits:
            index = [0]
            for g in own:
                low, high = bounds[k]
                need(0 <= low < high <= g, f"a box with the bounds {low} and {high}")
                index = [i * g + j for i in index for j in range(low, high)]
                k += 1
            indices.append(index)
        return [self.number(at) for at in product(*indices)]

    def deliver(self, step):
        """What arrives at each device: [(element, value)]."""
        arrived = {d: [] for d in self.devices}
        known = {d: self.known(d) for d in self.devices}
        for box in step["boxes"]:
            elements = self.box_elements(step, box["bounds"])
            for a, b in box["pairs"]:
                need(a != b, f"device {a} sends to itself")
                for e in elements:
                    need(e >= 0, "padding travels in a box")
                    need(e in known[a], f"device {a} has no element {e} to send")
                    need(known[a][e] == self.total(e), f"device {a} sends no whole sum")
                    arrived[b].append((e, known[a][e]))
        for d, elements in arrived.items():
            self.got[d] += len(elements)
        return arrived

    def hold_boxes(self, step):
        arrived = self.deliver(step)
        for d, elements in arrived.items():
            self.held[d].update(elements)
        if "part_elements" in step:
            self.hold_parts(step, arrived)

    def hold_parts(self, step, arrived):
        """Each pair carries part_elements, the boxes among them."""
        pairs = [p for p in step["source_target_pairs"] if p[0] != p[1]]
        got = {b for _, b in pairs}
        need(all(not e or d in got for d, e in arrived.items()), "a box without a pair")
        for _, b in pairs:
            self.got[b] = step["part_elements"]
            self.none[b] = step["part_elements"] - len(arrived[b])

    def retile(self, step, after):
        arrived = self.deliver(step) if step["op"] == "exchange" else {}
        for d in self.devices:
            known, wanted = self.known(d), set(after[d] or ())
            for e, v in arrived.get(d, ()):
                need(e in wanted, f"device {d} gets element {e}, which is not its own")
                need(e not in known, f"device {d} gets element {e}, which it has")
                known[e] = v
            self.buffer[d] = None if after[d] is None else \
                [known.get(e) if e >= 0 else None for e in after[d]]
        self.held = {d: {} for d in self.devices}

    def sum_tiles(self, step, after):
        new = dict(self.buffer)
        for group in step["replica_groups"]:
            total = {}
            for m in group:
                for e, v in zip(self.where[m] or (), self.buffer[m] or ()):
                    if e >= 0:
                        total[e] = total.get(e, 0) + v
            for m in group:
                new[m] = [total.get(e, 0) if e >= 0 else None for e in after[m]]
                summed = prod(step["summed_shape"])
                real = sum(e >= 0 for e in after[m])
                self.count_sum(m, [0] * real + [None] * (summed - real), len(group))
        self.buffer = new

    # --- what the step says of itself ---------------------------------------------------

    def bytes(self, elements):
        return ceil(elements * self.bits / 8)

    def check_bytes(self, step):
        for name, counted in (("recv_bytes", self.got), ("padding_bytes", self.none)):
            most = self.bytes(max(counted.values()))
            need(step[name] == most, f"{name} {step[name]}, counted {most}")
        for d in self.devices:
            need(self.buffer[d] is None or len(self.buffer[d]) == prod(step["local_shape"]),
                 f"device {d} has another tile than {step['local_shape']}")
