"""jax, jax.lax, jax.numpy, jax.sharding and numpy as far as emitted programs need them, by the
words of docs.jax.dev: a shard_map runs its body once, on values that hold one array for each
device, so all devices are in the same line."""

import sys
from itertools import product
from math import prod
from types import ModuleType, SimpleNamespace

import nd
from nd import Nd, need

DEVICES = 64


class Each:
    """One value for each device: arrays of one shape, or numbers."""

    def __init__(self, values):
        self.values = values
        if isinstance(values[0], Nd):
            need(all(v.shape == values[0].shape for v in values), "tiles of unequal shapes")

    def map(self, op):
        return Each([op(v) for v in self.values])

    def with_other(self, other, op):
        others = other.values if isinstance(other, Each) else [other] * len(self.values)
        return Each([op(a, b) for a, b in zip(self.values, others)])

    shape = property(lambda self: self.values[0].shape)
    dtype = property(lambda self: self.values[0].dtype)

    def reshape(self, *shape):
        return self.map(lambda v: v.reshape(*shape))

    def transpose(self, *order):
        return self.map(lambda v: v.transpose(*order))

    def __getitem__(self, key):
        return self.map(lambda v: v[key])

    def __mul__(self, other):
        return self.with_other(other, lambda a, b: a * b)

    def __add__(self, other):
        return self.with_other(other, lambda a, b: a + b)

    def __eq__(self, other):
        return self.with_other(other, lambda a, b: a == b)

    __hash__ = None


# --- meshes and shardings ---------------------------------------------------------------


class P(tuple):
    def __new__(cls, *entries):
        return tuple.__new__(cls, entries)


class Mesh:
    def __init__(self, devices, names):
        need(len(devices.shape) == len(names) == len(set(names)), "names of other axes")
        need(len(set(devices.data)) == len(devices.data), "a device twice in a mesh")
        self.devices, self.sizes = devices.data, dict(zip(names, devices.shape))
        self.coordinates = [dict(zip(names, at)) for at in
                            product(*map(range, devices.shape))]

    def names(self, axes):
        names = axes if isinstance(axes, tuple) else () if axes is None else (axes,)
        need(all(n in self.sizes for n in names), f"no axes {axes}")
        need(len(set(names)) == len(names), f"an axis twice in {axes}")
        return names

    def index(self, position, axes):
        out = 0
        for n in self.names(axes):
            out = out * self.sizes[n] + self.coordinates[position][n]
        return out

    def groups(self, axes):
        """For each position, those that differ from it in `axes` alone, by their index."""
        names = self.names(axes)
        others = tuple(n for n in self.sizes if n not in names)
        found = {}
        for p in range(len(self.devices)):
            found.setdefault(self.index(p, others), []).append(p)
        out = {}
        for group in found.values():
            group.sort(key=lambda p: self.index(p, names))
            out.update((p, group) for p in group)
        return out

    def tile(self, spec, shape, position):
        """The box of a device, as begin and size."""
        need(len(spec) <= len(shape), f"{spec} of an array of {shape}")
        spec = tuple(spec) + (None,) * (len(shape) - len(spec))
        used = [n for axes in spec for n in self.names(axes)]
        need(len(set(used)) == len(used), f"an axis twice in {spec}")
        begin, size = [], []
        for axes, g in zip(spec, shape):
            n = prod(self.sizes[a] for a in self.names(axes))
            need(g % n == 0, f"{n} does not divide {g}")
            size.append(g // n)
            begin.append(self.index(position, axes) * size[-1])
        return begin, size


class NamedSharding:
    def __init__(self, mesh, spec):
        self.mesh, self.spec = mesh, spec


def device_put(value, sharding):
    for p in range(len(sharding.mesh.devices)):
        sharding.mesh.tile(sharding.spec, value.shape, p)
    return value


class Placed:
    """A global array whose tiles lie on devices."""

    def __init__(self, mesh, spec, tiles):
        shards = [prod(mesh.sizes[n] for n in mesh.names(a)) for a in spec]
        self.shape = tuple(s * n for s, n in zip(tiles[0].shape, shards))
        self.addressable_shards = []
        for p, tile in enumerate(tiles):
            begin, size = mesh.tile(spec, self.shape, p)
            self.addressable_shards.append(SimpleNamespace(
                data=tile, device=mesh.devices[p],
                index=tuple(slice(b, b + s) for b, s in zip(begin, size))))

    def whole(self):
        out = nd.zeros(self.shape)
        for shard in self.addressable_shards:
            out = out.with_box([s.start for s in shard.index], shard.data)
        return out

    def __getitem__(self, key):
        return self.whole()[key]


current = []


def shard_map(body, *, mesh, in_specs, out_specs, check_vma=True):
    need(not check_vma, "an all_gather's result counts as varying")

    def mapped(value):
        value = asarray(value)
        boxes = [mesh.tile(in_specs, value.shape, p) for p in range(len(mesh.devices))]
        current.append(mesh)
        out = body(Each([value.box(*b) for b in boxes]))
        current.pop()
        need(len(out_specs) == len(out.shape), f"{out_specs} of tiles of {out.shape}")
        return Placed(mesh, out_specs, out.values)
    return mapped


# --- jax.lax ----------------------------------------------------------------------------


def over(axes, values, op):
    """op(values of the group, own index), on every device."""
    groups = current[-1].groups(axes)
    return Each([op([values[m] for m in groups[p]], groups[p].index(p))
                 for p in range(len(values))])


def axis_index(axes):
    return Each([current[-1].index(p, axes) for p in range(len(current[-1].devices))])


def all_gather(a, axes, *, axis=0, tiled=False):
    def gather(parts, _):
        if not tiled:
            parts = [p.reshape(p.shape[:axis] + (1,) + p.shape[axis:]) for p in parts]
        return nd.concatenate(parts, axis)
    return over(axes, a.values, gather)


def all_to_all(a, axes, split_axis, concat_axis, *, tiled=False):
    need(tiled, "all_to_all with new dimensions")
    return over(axes, a.values, lambda parts, i: nd.concatenate(
        [p.chunk(len(parts), split_axis)[i] for p in parts], concat_axis))


def psum(a, axes):
    return over(axes, a.values, lambda parts, _: nd.total(parts))


def psum_scatter(a, axes, *, scatter_dimension=0, tiled=False):
    def scatter(parts, i):
        out = nd.total([p.chunk(len(parts), scatter_dimension)[i] for p in parts])
        if tiled:
            return out
        need(parts[0].shape[scatter_dimension] == len(parts), "no dimension of the axis' size")
        return out.reshape(out.shape[:scatter_dimension] + out.shape[scatter_dimension + 1:])
    return over(axes, a.values, scatter)


def ppermute(a, axes, perm):
    sources, targets = zip(*perm)
    need(len(set(sources)) == len(perm) == len(set(targets)), "a source or target twice")
    source = {t: s for s, t in perm}
    return over(axes, a.values, lambda parts, i: parts[source[i]] if i in source
                else nd.zeros(parts[0].shape, parts[0].dtype))


def clamp(begin, size, extent):
    return max(0, min(begin, extent - size))


def dynamic_slice_in_dim(a, start, size, axis=0):
    return a.with_other(start, lambda v, b: v.along(
        axis, clamp(b, size, v.shape[axis]), size))


def dynamic_slice(a, starts, sizes):
    """The starts are a number of each device for each dimension."""
    need(len(starts) == len(sizes) == len(a.shape), "another number of starts")
    return Each([v.box([clamp(s.values[p], n, g) for s, n, g in zip(starts, sizes, v.shape)],
                       sizes) for p, v in enumerate(a.values)])


def dynamic_update_slice(a, update, starts):
    need(len(starts) == len(a.shape), "another number of starts")
    return Each([v.with_box([clamp(s.values[p], n, g) for s, n, g in
                             zip(starts, part.shape, v.shape)], part)
                 for p, (v, part) in enumerate(zip(spread(a).values, update.values))])


def dynamic_update_slice_in_dim(a, update, start, axis):
    def put(v, part, b):
        at = [0] * v.ndim
        at[axis] = clamp(b, part.shape[axis], v.shape[axis])
        return v.with_box(at, part)
    return Each([put(v, part, b) for v, part, b in
                 zip(spread(a).values, update.values, start.values)])


# --- jax.numpy, numpy -------------------------------------------------------------------


def spread(a):
    return a if isinstance(a, Each) else Each([a] * len(current[-1].devices))


def jnp_array(values):
    values = Nd((len(values),), values)
    return SimpleIndexed(values)


class SimpleIndexed:
    def __init__(self, values):
        self.values = values

    def __getitem__(self, index):
        return index.map(lambda i: self.values.data[i])


def where(holds, a, b):
    return Each([x if h else y for h, x, y in
                 zip(holds.values, spread(a).values, spread(b).values)])


def asarray(value):
    return value.whole() if isinstance(value, Placed) else value


def array(values):
    return Nd((len(values),), list(values))


def pad(value, widths):
    value = asarray(value)
    need(len(widths) == value.ndim, "pads of another rank")
    shape = [low + g + high for (low, high), g in zip(widths, value.shape)]
    return nd.zeros(shape).with_box([low for low, _ in widths], value)


def module(name, **contents):
    m = ModuleType(name)
    m.__dict__.update(contents)
    return m


def modules():
    lax = module("jax.lax", **{f.__name__: f for f in (
        axis_index, all_gather, all_to_all, psum, psum_scatter, ppermute,
        dynamic_slice, dynamic_update_slice, dynamic_slice_in_dim,
        dynamic_update_slice_in_dim)})
    jnp = module("jax.numpy", array=jnp_array, where=where, pad=pad,
                 zeros_like=lambda a: a.map(lambda v: nd.zeros(v.shape, v.dtype)),
                 zeros=lambda shape, dtype: spread(nd.zeros(tuple(shape), dtype)))
    sharding = module("jax.sharding", Mesh=Mesh, NamedSharding=NamedSharding, PartitionSpec=P)
    numpy = module("numpy", array=array, asarray=asarray, int32="i32", prod=prod, pad=pad,
                   arange=nd.arange, stack=lambda rows: nd.concatenate(
                       [r.reshape((1,) + r.shape) for r in rows], 0))
    jax = module("jax", lax=lax, numpy=jnp, sharding=sharding, shard_map=shard_map,
                 jit=lambda f: f, device_put=device_put,
                 devices=lambda: [f"device {i}" for i in range(DEVICES)])
    return {"jax": jax, "jax.lax": lax, "jax.numpy": jnp, "jax.sharding": sharding,
            "numpy": numpy}


def run(text, real=None, buffers=None, summed=False):
    """Runs an emitted program and its own check, then its function on an array of the shape
    `real`, each element of which must come out. Of `buffers`, tiles by the device's number, it
    returns what the body makes."""
    sys.modules.update(modules())
    names = {"__name__": "__main__", "print": lambda *_: None}
    exec(compile(text, "emitted.py", "exec"), names)
    if real is not None:
        want = nd.arange(prod(real)).reshape(tuple(real))
        got = asarray(names["reshard"](want))
        need(got.shape == want.shape and (got == want).all(), "another array comes out")
    if buffers is None:
        return None
    numbers = [int(d.split()[1]) for d in names["mesh"].devices]
    tiles = [buffers[d] for d in numbers]
    if summed:
        tiles = [t.reshape((1,) + t.shape) for t in tiles]
    current.append(names["mesh"])
    units = [names["UNIT"]] if "UNIT" in names else []
    out = names["body"](Each(tiles), *units)
    current.pop()
    return dict(zip(numbers, out.values))
