"""Arrays of any rank as a shape and a flat list, row-major: what the interpreters of emitted
programs compute with. No operation here knows of devices."""

from functools import lru_cache
from itertools import product
from math import prod


def need(holds, what):
    if not holds:
        raise AssertionError(what)


@lru_cache(maxsize=4096)
def box_places(shape, begin, size):
    """The places in a flat list of `shape` of the box at `begin`."""
    places = [0]
    for g, b, s in zip(shape, begin, size):
        need(0 <= b and b + s <= g, f"a box at {begin} of {size} in {shape}")
        places = [p * g + i for p in places for i in range(b, b + s)]
    return places


@lru_cache(maxsize=4096)
def turned_places(shape, order):
    weight = [prod(shape[k + 1:]) for k in range(len(shape))]
    return [sum(i * weight[k] for i, k in zip(at, order))
            for at in product(*(range(shape[k]) for k in order))]


class Nd:
    def __init__(self, shape, data, dtype="i32"):
        self.shape, self.data, self.dtype = tuple(shape), data, dtype
        need(len(data) == prod(self.shape), f"{len(data)} elements of {shape}")

    def like(self, data):
        return Nd(self.shape, data, self.dtype)

    # --- shapes -------------------------------------------------------------------------

    @property
    def ndim(self):
        return len(self.shape)

    def reshape(self, *shape):
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = shape[0]
        need(prod(shape) == len(self.data), f"reshape of {self.shape} to {shape}")
        return Nd(shape, self.data, self.dtype)

    def transpose(self, *order):
        need(sorted(order) == list(range(self.ndim)), f"transpose {order} of {self.shape}")
        places = turned_places(self.shape, order)
        return Nd([self.shape[k] for k in order], [self.data[p] for p in places], self.dtype)

    # --- parts --------------------------------------------------------------------------

    def box(self, begin, size):
        places = box_places(self.shape, tuple(begin), tuple(size))
        return Nd(size, [self.data[p] for p in places], self.dtype)

    def with_box(self, begin, part):
        data = list(self.data)
        for p, v in zip(box_places(self.shape, tuple(begin), part.shape), part.data):
            data[p] = v
        return self.like(data)

    def along(self, dim, begin, size):
        at, extent = [0] * self.ndim, list(self.shape)
        at[dim], extent[dim] = begin, size
        return self.box(at, extent)

    def chunk(self, n, dim):
        need(self.shape[dim] % n == 0, f"{n} chunks of dimension {dim} of {self.shape}")
        size = self.shape[dim] // n
        return [self.along(dim, i * size, size) for i in range(n)]

    def __getitem__(self, key):
        if isinstance(key, list):
            need(self.ndim == 1, "a list of places of more than one dimension")
            return Nd((len(key),), [self.data[i] for i in key], self.dtype)
        keys = key if isinstance(key, tuple) else (key,)
        begin, size, kept, dim = [], [], [], 0
        for k in keys:
            if k is None:
                kept.append(1)
                continue
            g = self.shape[dim]
            dim += 1
            if isinstance(k, slice):
                low, high, step = k.indices(g)
                need(step == 1, "a slice with a step")
                begin.append(low)
                size.append(max(high - low, 0))
                kept.append(size[-1])
            else:
                begin.append(k + g if k < 0 else k)
                size.append(1)
        rest = self.shape[dim:]
        out = self.box(begin + [0] * len(rest), size + list(rest))
        return out.reshape(tuple(kept) + rest)

    # --- values -------------------------------------------------------------------------

    def each(self, other, op):
        if isinstance(other, Nd):
            need(self.shape == other.shape, f"{self.shape} with {other.shape}")
            return self.like([op(a, b) for a, b in zip(self.data, other.data)])
        return self.like([op(a, other) for a in self.data])

    def __add__(self, other):
        return self.each(other, lambda a, b: a + b)

    def __mul__(self, other):
        return self.each(other, lambda a, b: a * b)

    def __eq__(self, other):
        return self.each(other, lambda a, b: a == b)

    __hash__ = None

    def all(self):
        return all(self.data)

    def sum(self, axis):
        need(axis == 0, "a sum over another dimension than the first")
        rows = self.chunk(self.shape[0], 0)
        total = rows[0]
        for row in rows[1:]:
            total = total + row
        return total.reshape(self.shape[1:])


def zeros(shape, dtype="i32"):
    return Nd(shape, [0] * prod(shape), dtype)


def arange(n, dtype="i32"):
    return Nd((n,), list(range(n)), dtype)


def concatenate(parts, dim):
    parts = list(parts)
    shape = list(parts[0].shape)
    for p in parts:
        need(p.shape[:dim] + p.shape[dim + 1:] == parts[0].shape[:dim] + parts[0].shape[dim + 1:],
             f"{p.shape} beside {parts[0].shape} along {dim}")
    shape[dim] = sum(p.shape[dim] for p in parts)
    if dim == 0:
        return Nd(shape, [v for p in parts for v in p.data], parts[0].dtype)
    out, at = zeros(shape, parts[0].dtype), [0] * len(shape)
    for p in parts:
        for place, v in zip(box_places(out.shape, tuple(at), p.shape), p.data):
            out.data[place] = v
        at[dim] += p.shape[dim]
    return out


def total(parts):
    """The sum of arrays of one shape."""
    need(all(p.shape == parts[0].shape for p in parts), "a sum of arrays of unequal shapes")
    return parts[0].like([sum(vs) for vs in zip(*(p.data for p in parts))])
