"""What the text of a layout says, by the words of sim/doc/shardsim-1.schema.json alone.

A layout gives every device the number of its tile in each dimension (or digit), and, where
there are unreduced axes, which contribution to the sum it holds. Nothing here is shared
with shardsim.
"""

import ast
import re
from itertools import product
from math import prod


class Mesh:
    """Named axes, the first most major; order[position] is the number of a device."""

    def __init__(self, axes, order):
        self.sizes = dict(axes)
        self.count = prod(self.sizes.values())
        order = order or range(self.count)
        names = list(self.sizes)
        self.coordinates = {}
        for position, c in enumerate(product(*(range(self.sizes[n]) for n in names))):
            self.coordinates[order[position]] = dict(zip(names, c))

    def digit(self, device, part):
        """The coordinate of a device in a part (name, pre, size) of an axis."""
        name, pre, size = part
        return self.coordinates[device][name] // (self.sizes[name] // (pre * size)) % size

    def value(self, device, parts):
        number = 0
        for part in parts:
            number = number * part[2] + self.digit(device, part)
        return number


class Layout:
    """shards[k] of dimension k; tile[device], its numbers there; sum_of[device], its
    contribution; lead[device], what devices that hold the same sum have in common."""

    def __init__(self, text, mesh, extent):
        self.digits = [[g] for g in extent]
        head = re.match(r"\[([\d,]*)\]->\[([\d,]*)\] ", text)
        if head:
            self.digits = split(extent, [int(g) for g in head[2].split(",")])
            text = text[head.end():]
        self.extent = [g for digits in self.digits for g in digits]
        self.tile, self.sum_of, self.lead, self.sums = {}, {}, {}, 1
        if text.startswith("{"):
            self.read_hlo(text, mesh)
        else:
            self.read_axes(text, mesh)

    def read_axes(self, text, mesh):
        dims, unreduced = read_jax(text, mesh) if text[0] == "P" else \
            read_shardy(text, mesh)
        dims += [[]] * (len(self.extent) - len(dims))
        self.shards = [prod(p[2] for p in parts) for parts in dims]
        self.sums = prod(p[2] for p in unreduced)
        for device in mesh.coordinates:
            self.tile[device] = [mesh.value(device, parts) for parts in dims]
            self.sum_of[device] = mesh.value(device, unreduced)
        # Devices of one sum differ in the digits of unreduced parts only.
        for device, at in mesh.coordinates.items():
            rest = dict(at)
            for name, pre, size in unreduced:
                weight = mesh.sizes[name] // (pre * size)
                rest[name] -= mesh.digit(device, (name, pre, size)) * weight
            self.lead[device] = tuple(rest.values())

    def read_hlo(self, text, mesh):
        rank = len(self.extent)
        one = re.match(r"\{maximal device=(\d+)\}", text)
        if one or text == "{replicated}":
            self.shards = [1] * rank
            held_by = [int(one[1])] if one else list(mesh.coordinates)
            for device in held_by:
                self.tile[device], self.sum_of[device] = [0] * rank, 0
                self.lead[device] = device
            return
        counts, ids, last = re.match(r"\{devices=\[([\d,]*)\](\S*?)(?: (.*))?\}$",
                                     text).groups()
        counts = [int(c) for c in counts.split(",")]
        last = {None: [], "last_tile_dim_replicate": ["replicated"]}.get(last) \
            if last in (None, "last_tile_dim_replicate") else \
            re.findall(r"\w+", last.split("=")[1])
        self.shards = counts[:rank]
        for at, device in zip(product(*map(range, counts)), read_ids(ids)):
            kind = dict(zip(last, at[rank:]))
            self.tile[device] = list(at[:rank])
            self.sum_of[device] = kind.get("unreduced", 0)
            self.lead[device] = (at[:rank], kind.get("replicated", 0))
        self.sums = counts[rank + last.index("unreduced")] if "unreduced" in last else 1

    def tile_shape(self):
        return [-(-g // s) for g, s in zip(self.extent, self.shards)]

    def indices(self, device, tile=None, starts=None):
        """Per dimension of the array the indices that a device's buffer has, in order;
        None where it holds nothing."""
        if device not in self.tile:
            return None
        size = tile or self.tile_shape()
        if len(size) != len(self.extent):
            raise ValueError("tile_shape of another rank")
        begin = starts[device] if starts else \
            [i * t for i, t in zip(self.tile[device], size)]
        runs = [range(b, b + t) for b, t in zip(begin, size)]
        out, k = [], 0
        for digits in self.digits:
            indices = [0]
            for g in digits:
                if len(digits) > 1 and runs[k].stop > g:
                    raise ValueError("a digit that ends in padding")
                indices = [i * g + j for i in indices for j in runs[k]]
                k += 1
            out.append(indices)
        return out


def split(extent, digits):
    """The digits of each dimension, whose products are the extents."""
    out, k = [], 0
    for g in extent:
        own = []
        while prod(own) != g or not own:
            own.append(digits[k])
            k += 1
        out.append(own)
    # What is left has one value each and changes nothing.
    out[-1] += digits[k:]
    return out


def read_jax(text, mesh):
    call = ast.parse(text, mode="eval").body

    def parts(node):
        value = ast.literal_eval(node)
        names = [] if value is None else [value] if isinstance(value, str) else value
        return [(name, 1, mesh.sizes[name]) for name in names]

    unreduced = [p for word in call.keywords for p in parts(word.value)]
    return [parts(node) for node in call.args], unreduced


def read_shardy(text, mesh):
    def parts(inside):
        found = re.findall(r'"([^"]+)"(?::\((\d+)\)(\d+))?', inside)
        return [(name, int(pre or 1), int(size or mesh.sizes[name]))
                for name, pre, size in found]

    dims = re.search(r"\[(.*?)\]", text)[1]
    unreduced = re.search(r"unreduced=\{(.*?)\}", text)
    return [parts(inside) for inside in re.findall(r"\{(.*?)\}", dims)], \
        parts(unreduced[1]) if unreduced else []


def read_ids(text):
    if not text.startswith("<="):
        return [int(i) for i in text.split(",")]
    shape, order = re.match(r"<=\[([\d,]+)\](?:T\(([\d,]+)\))?$", text).groups()
    shape = [int(g) for g in shape.split(",")]
    order = [int(k) for k in order.split(",")] if order else range(len(shape))
    weight = [prod(shape[k + 1:]) for k in range(len(shape))]
    return [sum(i * weight[k] for i, k in zip(at, order))
            for at in product(*(range(shape[k]) for k in order))]
