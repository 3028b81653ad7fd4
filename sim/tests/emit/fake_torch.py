"""torch, torch.distributed, its functional collectives, device meshes and DTensors as far as
emitted programs need them, by their documentation: a thread for each rank runs the program
unchanged, and collectives meet in a common place. In the order of a process group ranks rise,
whatever the order they were listed in (torch.distributed.new_group)."""

import sys
import threading
from itertools import product
from math import prod
from types import ModuleType, SimpleNamespace

import nd
from nd import Nd, need

here = threading.local()  # .rank, .world of the thread


class Tensor:
    """A view of storage that several tensors may share: places[i] is where element i is."""

    def __init__(self, shape, storage, places=None):
        self.shape, self.storage = tuple(shape), storage
        self.places = list(range(prod(self.shape))) if places is None else places
        need(len(self.places) == prod(self.shape), f"{len(self.places)} elements of {shape}")

    def nd(self):
        return Nd(self.shape, [self.storage[p] for p in self.places])

    def is_contiguous(self):
        first = self.places[0] if self.places else 0
        return all(p == first + i for i, p in enumerate(self.places))

    def contiguous(self):
        return self if self.is_contiguous() else of(self.nd())

    def clone(self):
        return of(self.nd())

    def flatten(self):
        c = self.contiguous()
        return Tensor((len(c.places),), c.storage, c.places)

    def view(self, shape):
        need(self.is_contiguous(), "a view of what is not contiguous")
        return Tensor(shape, self.storage, self.places)

    def reshape(self, *shape):
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = shape[0]
        c = self.contiguous()
        need(prod(shape) == len(c.places), f"reshape of {self.shape} to {shape}")
        return Tensor(shape, c.storage, c.places)

    def numel(self):
        return len(self.places)

    def size(self, dim):
        return self.shape[dim]

    def chunk(self, n, dim):
        return [self.pick(part) for part in Nd(self.shape, self.places).chunk(n, dim)]

    def pick(self, places):
        """A view of what a selection of places says."""
        return Tensor(places.shape, self.storage, places.data)

    def select(self, key):
        return self if key == () else self.pick(Nd(self.shape, self.places)[key])

    __getitem__ = select

    def __setitem__(self, key, value):
        part = self.select(key)
        need(part.shape == value.shape, f"{value.shape} put into {part.shape}")
        for p, v in zip(part.places, value.nd().data):
            self.storage[p] = v

    def __iadd__(self, other):
        values = other.nd().data if isinstance(other, Tensor) else [other] * self.numel()
        need(not isinstance(other, Tensor) or self.shape == other.shape, "a sum of shapes")
        for p, v in zip(self.places, values):
            self.storage[p] += v
        return self

    def new_zeros(self, shape):
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return Tensor(shape, [0] * prod(shape))

    def new_empty(self, shape):
        return Tensor(tuple(shape), [None] * prod(shape))

    def __mul__(self, other):
        return of(self.nd() * other)

    def __add__(self, other):
        return of(self.nd() + (other.nd() if isinstance(other, Tensor) else other))

    def __eq__(self, other):
        return self.nd() == other.nd()

    __hash__ = None

    def tolist(self):
        return self.nd().data


def of(array):
    return Tensor(array.shape, list(array.data))


def cat(parts, dim):
    return of(nd.concatenate([p.nd() for p in parts], dim))


# --- ranks that meet --------------------------------------------------------------------


class World:
    """Where ranks wait for each other; one that waits for what cannot come is an error."""

    def __init__(self, size):
        self.size, self.lock = size, threading.Condition()
        self.said, self.board, self.epoch = {}, None, 0
        self.letters, self.waiting, self.gone, self.broken = {}, {}, 0, False

    def wait(self, ready):
        """Within the lock."""
        self.waiting[here.rank] = ready
        while not ready():
            stuck = len(self.waiting) + self.gone == self.size and \
                not any(r() for r in self.waiting.values())
            if stuck or self.broken:
                self.broken = True
                self.lock.notify_all()
                raise Stuck("waits for what no rank does")
            self.lock.wait()
        del self.waiting[here.rank]

    def leave(self, failed):
        with self.lock:
            self.gone += 1
            self.broken = self.broken or failed
            self.lock.notify_all()

    def share(self, value):
        """What all ranks say, by rank."""
        with self.lock:
            epoch = self.epoch
            self.said[here.rank] = value
            if len(self.said) == self.size:
                self.board, self.said = self.said, {}
                self.epoch += 1
                self.lock.notify_all()
            self.wait(lambda: self.epoch > epoch)
            return self.board

    def send(self, target, tag, value):
        with self.lock:
            self.letters.setdefault((here.rank, target, tag), []).append(value)
            self.lock.notify_all()

    def receive(self, source, tag):
        key = (source, here.rank, tag)
        with self.lock:
            self.wait(lambda: self.letters.get(key))
            return self.letters[key].pop(0)


class Stuck(Exception):
    pass


class Group:
    """A process group: its ranks rise."""

    def __init__(self, ranks):
        need(len(set(ranks)) == len(ranks), "a rank twice in a group")
        self.ranks = sorted(ranks)

    def gather(self, op, value):
        board = here.world.share((op, self.ranks, value))
        said = [board[r] for r in self.ranks]
        need(all(s[:2] == (op, self.ranks) for s in said), f"ranks in other lines: {said}")
        return [s[2] for s in said], self.ranks.index(here.rank)


class DeviceMesh:
    def __init__(self, device, mesh, *, mesh_dim_names=None):
        need(device == "cpu", "another device")
        if isinstance(mesh, list):
            width = len(mesh[0]) if isinstance(mesh[0], list) else None
            flat = [r for row in mesh for r in row] if width else mesh
            mesh = Tensor((len(mesh), width) if width else (len(mesh),), flat)
        self.shape, ranks = mesh.shape, mesh.tolist()
        self.names = mesh_dim_names
        need(mesh_dim_names is None or len(mesh_dim_names) == len(self.shape), "names")
        need(len(set(ranks)) == len(ranks), "a rank twice in a mesh")
        self.at = dict(zip(ranks, product(*map(range, self.shape))))
        self.coordinate = self.at[here.rank]

    def group(self, dim):
        mine = self.coordinate
        return Group([r for r, at in self.at.items()
                      if at[:dim] + at[dim + 1:] == mine[:dim] + mine[dim + 1:]])

    def get_local_rank(self, name):
        return self.coordinate[self.names.index(name)]


def init_device_mesh(device, shape, *, mesh_dim_names=None):
    need(prod(shape) <= here.world.size, "a mesh of more than all ranks")
    return DeviceMesh(device, Tensor(shape, list(range(prod(shape)))),
                      mesh_dim_names=mesh_dim_names)


def resolve(group):
    if isinstance(group, Group):
        return group
    need(isinstance(group, tuple) and isinstance(group[0], DeviceMesh), f"no group: {group}")
    return group[0].group(group[1])


# --- functional collectives -------------------------------------------------------------


def all_gather_tensor(a, gather_dim, group):
    need(a.is_contiguous(), "all_gather_tensor of what is not contiguous")
    parts, _ = resolve(group).gather("all_gather", a.nd())
    return of(nd.concatenate(parts, gather_dim))


def all_reduce(a, op, group):
    need(op == "sum", op)
    parts, _ = resolve(group).gather("all_reduce", a.nd())
    return of(nd.total(parts))


def reduce_scatter_tensor(a, op, scatter_dim, group):
    need(op == "sum", op)
    parts, me = resolve(group).gather("reduce_scatter", a.nd())
    return of(nd.total([p.chunk(len(parts), scatter_dim)[me] for p in parts]))


def all_to_all_single(a, output_sizes, input_sizes, group):
    group = resolve(group)
    n = len(group.ranks)
    need(a.is_contiguous(), "all_to_all_single of what is not contiguous")
    need((output_sizes is None) == (input_sizes is None), "one list of sizes alone")
    if input_sizes is None:
        need(a.shape[0] % n == 0, "rows that do not divide")
        output_sizes = input_sizes = [a.shape[0] // n] * n
    need(sum(input_sizes) == a.shape[0], f"{input_sizes} of {a.shape[0]} rows")
    parts, me = group.gather("all_to_all", (a.nd(), input_sizes))
    out = []
    for (part, sizes), wanted in zip(parts, output_sizes):
        need(sizes[me] == wanted, f"{sizes[me]} rows come, not {wanted}")
        if wanted:
            out.append(part.along(0, sum(sizes[:me]), wanted))
    return of(nd.concatenate(out, 0))


def permute_tensor(a, src_dst, group):
    """Counts elements where all_to_all_single counts rows."""
    group = resolve(group)
    me, n = group.ranks.index(here.rank), len(group.ranks)
    need(len(src_dst) == n, "another number of ranks")
    output_sizes, input_sizes = [0] * n, [0] * n
    for source, target in enumerate(src_dst):
        if source == me:
            input_sizes[target] = a.numel()
        if target == me:
            output_sizes[source] = a.numel()
    return all_to_all_single(a, output_sizes, input_sizes, group)


# --- point to point ---------------------------------------------------------------------


class P2POp:
    def __init__(self, op, tensor, peer, group=None, tag=0):
        need(peer != here.rank, "a message to oneself")
        need(tensor.is_contiguous(), "a message that is not contiguous")
        self.op, self.tensor, self.peer, self.tag = op, tensor, peer, tag


def isend(op):
    here.world.send(op.peer, op.tag, op.tensor.nd())
    return SimpleNamespace(wait=lambda: None)


def irecv(op):
    def wait():
        value = here.world.receive(op.peer, op.tag)
        need(value.shape == op.tensor.shape, "a message of another shape")
        for p, v in zip(op.tensor.places, value.data):
            op.tensor.storage[p] = v
    return SimpleNamespace(wait=wait)


def all_reduce_in_place(a):
    parts, _ = Group(range(here.world.size)).gather("all_reduce_", a.nd())
    a[tuple(map(slice, a.shape))] = of(nd.total(parts))


# --- DTensor ----------------------------------------------------------------------------


class Placement:
    def __init__(self, kind, dim=None):
        self.kind, self.dim = kind, dim


def even_cut(extent, n, i):
    """torch.chunk: pieces of the same size but the last ones."""
    size = -(-extent // n)
    low = min(i * size, extent)
    return low, min(low + size, extent) - low


class DTensor:
    """Each rank has its tile; sums are over mesh dimensions that are partial. Placements cut
    a dimension one mesh dimension after another, the first one outermost."""

    def __init__(self, mesh, placements, shape, local):
        self.mesh, self.placements, self.shape, self.local = mesh, placements, shape, local

    @staticmethod
    def box(mesh, placements, shape, at):
        begin, size = [0] * len(shape), list(shape)
        for k, placement in enumerate(placements):
            if placement.kind == "shard":
                d = placement.dim
                low, size[d] = even_cut(size[d], mesh.shape[k], at[k])
                begin[d] += low
        return begin, size

    @classmethod
    def from_local(cls, local, mesh, placements):
        shape = list(local.shape)
        for k, placement in enumerate(placements):
            if placement.kind == "shard":
                shape[placement.dim] *= mesh.shape[k]
        return cls(mesh, placements, tuple(shape), local)

    def to_local(self):
        return self.local

    def whole(self):
        """The array, from one rank of each that hold the same."""
        board = here.world.share(self.local.nd())
        total = nd.zeros(self.shape)
        for rank, at in self.mesh.at.items():
            if any(p.kind == "replicate" and i for p, i in zip(self.placements, at)):
                continue
            begin, size = self.box(self.mesh, self.placements, self.shape, at)
            need(board[rank].shape == tuple(size), "a tile of another size")
            total = total.with_box(begin, total.box(begin, size) + board[rank])
        return total

    def redistribute(self, placements):
        need(len(placements) == len(self.mesh.shape), "another number of placements")
        return distribute_tensor(of(self.whole()), self.mesh, placements)

    def full_tensor(self):
        return of(self.whole())


def distribute_tensor(whole, mesh, placements):
    array = whole.nd()
    begin, size = DTensor.box(mesh, placements, array.shape, mesh.coordinate)
    local = array.box(begin, size)
    if any(p.kind == "partial" and i for p, i in zip(placements, mesh.coordinate)):
        local = nd.zeros(local.shape)
    return DTensor(mesh, placements, array.shape, of(local))


# --- modules ----------------------------------------------------------------------------


def module(name, **contents):
    m = ModuleType(name)
    m.__dict__.update(contents)
    return m


def modules():
    fc = module("torch.distributed._functional_collectives", **{f.__name__: f for f in (
        all_gather_tensor, all_reduce, reduce_scatter_tensor, all_to_all_single,
        permute_tensor)})
    device_mesh = module("torch.distributed.device_mesh", DeviceMesh=DeviceMesh,
                         init_device_mesh=init_device_mesh)
    tensor = module("torch.distributed.tensor", DTensor=DTensor,
                    distribute_tensor=distribute_tensor,
                    Shard=lambda dim: Placement("shard", dim),
                    Replicate=lambda: Placement("replicate"),
                    Partial=lambda: Placement("partial"))

    class Groups:
        WORLD = property(lambda self: Group(range(here.world.size)))

    dist = module("torch.distributed", _functional_collectives=fc, device_mesh=device_mesh,
                  tensor=tensor, is_initialized=lambda: False,
                  init_process_group=lambda backend: need(backend == "gloo", backend),
                  get_rank=lambda: here.rank, get_world_size=lambda: here.world.size,
                  group=Groups(), P2POp=P2POp, isend=isend, irecv=irecv,
                  batch_isend_irecv=lambda ops: [op.op(op) for op in ops],
                  all_reduce=all_reduce_in_place)
    torch = module("torch", distributed=dist, int32="int32", cat=cat,
                   cuda=SimpleNamespace(is_available=lambda: False),
                   arange=lambda n, dtype, device: of(nd.arange(n)),
                   tensor=lambda values: Tensor((len(values),), values),
                   zeros_like=lambda a: of(nd.zeros(a.shape)))
    return {m.__name__: m for m in (torch, dist, fc, device_mesh, tensor)}


def run(text, ranks, buffers=None):
    """Runs an emitted program, its check included, on `ranks` ranks. Of `buffers`, tiles by
    rank (None: an empty tensor), it returns what `reshard` makes; else the names of the
    program, by rank."""
    sys.modules.update(modules())
    code = compile(text, "emitted.py", "exec")
    world, wrong, out = World(ranks), [], {}

    def one(rank):
        here.rank, here.world = rank, world
        try:
            names = {"__name__": "__main__", "print": lambda *_: None}
            exec(code, names)
            out[rank] = names
            if buffers is not None:
                tile = buffers[rank]
                got = names["reshard"](Tensor((0,), []) if tile is None else of(tile))
                out[rank] = got.nd()
            world.leave(False)
        except Exception as e:  # ranks that wait for this one are stuck
            wrong.append((isinstance(e, Stuck), rank, e))
            world.leave(True)
    threads = [threading.Thread(target=one, args=(r,)) for r in range(ranks)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if wrong:
        _, rank, e = min(wrong, key=lambda w: w[:2])
        raise AssertionError(f"rank {rank}: {type(e).__name__}: {e}") from e
    need(not any(world.letters.values()), "a message that nobody got")
    return out
