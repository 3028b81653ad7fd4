"""Random problems, as options of `shardsim plan`: what the executor is tried on."""

from math import prod

NAMES = "xyz"
MOST = 12  # devices of one mesh


def mesh(rng, most=None):
    most = most or MOST
    while True:
        sizes = [rng.choice([2, 2, 2, 3, 4, 4, 6]) for _ in range(rng.randint(1, 3))]
        if prod(sizes) <= most:
            return list(zip(NAMES, sizes))


def mesh_text(rng, axes):
    """Plain, or with its devices in another order."""
    if rng.random() < 0.7:
        return ",".join(f"{n}={s}" for n, s in axes)
    ids = list(range(prod(s for _, s in axes)))
    rng.shuffle(ids)
    inside = ", ".join(f'"{n}"={s}' for n, s in axes)
    return f"<[{inside}], device_ids={ids}>"


def digits(rng, axes):
    """Parts of axes, whole or cut in two, shuffled; some are left out."""
    parts = []
    for name, size in axes:
        pre = rng.choice([d for d in range(1, size) if size % d == 0])
        parts += [(name, 1, size)] if pre == 1 else [(name, 1, pre),
                                                     (name, pre, size // pre)]
    rng.shuffle(parts)
    return parts[: rng.choice([len(parts), len(parts), rng.randint(0, len(parts))])]


def deal(rng, parts, rank):
    dims = [[] for _ in range(rank)]
    for part in parts:
        rng.choice(dims).append(part)
    return dims


def shards(dims):
    return [prod(p[2] for p in parts) for parts in dims]


def spell(rng, dims, unreduced, axes):
    """JAX's way where axes are whole, else Shardy's."""
    sizes = dict(axes)
    every = [p for parts in dims for p in parts] + unreduced
    if all(p[2] == sizes[p[0]] for p in every):
        def entry(parts):
            names = ", ".join(f"'{p[0]}'" for p in parts)
            return f"({names},)" if parts else "None"
        inside = [entry(parts) for parts in dims]
        if unreduced:
            inside.append("unreduced={%s}" % ", ".join(f"'{p[0]}'" for p in unreduced))
        return f"P({', '.join(inside)})"

    def text(p):
        return f'"{p[0]}"' if p[2] == sizes[p[0]] else f'"{p[0]}":({p[1]}){p[2]}'
    return "[" + ", ".join("{" + ", ".join(map(text, parts)) + "}" for parts in dims) + "]"


def hlo(rng, count, rank):
    """A list of devices in any order, over tiles and perhaps replicas."""
    counts, left = [], count
    for _ in range(rank):
        c = rng.choice([d for d in range(1, left + 1) if left % d == 0])
        counts.append(c)
        left //= c
    ids = list(range(count))
    if rng.random() < 0.6:
        rng.shuffle(ids)
    last = " last_tile_dim_replicate" if left > 1 else ""
    sizes = ",".join(map(str, counts + ([left] if left > 1 else [])))
    if prod(counts) == 1:
        return "{replicated}", counts
    return f"{{devices=[{sizes}]{','.join(map(str, ids))}{last}}}", counts


def extent(rng, ways, even, most=160):
    """One that all of `ways` (shards by dimension) divide, or any small one."""
    shape = []
    for by in zip(*ways):
        unit = 1
        for s in by:
            unit = unit * s if even and unit % s else unit
        shape.append(unit * rng.randint(1, 2) if even else rng.randint(1, 13))
    while prod(shape) > most and not even:
        k = shape.index(max(shape))
        shape[k] = (shape[k] + 1) // 2
    return shape if prod(shape) <= 4 * most else None


def array(rng, shape):
    return f"{rng.choice(['f32', 'bf16', 's8', 's4'])}[{','.join(map(str, shape))}]"


def between_axes(rng, kind):
    """Layouts of axes; of `kind` sum, source and target may have unreduced axes."""
    axes, rank = mesh(rng), rng.randint(1, 3)
    unreduced = [[], []]
    if kind == "sum":
        parts = [(n, 1, s) for n, s in axes]
        some = rng.sample(parts, rng.randint(1, len(parts)))
        unreduced = [some, [p for p in some if rng.random() < 0.2]]
        if rng.random() < 0.15:
            unreduced = unreduced[::-1]
        source, target = ([p for p in parts if p not in u and rng.random() < 0.7]
                          for u in unreduced)
    else:
        source, target = digits(rng, axes), digits(rng, axes)
    ends = [deal(rng, parts, rank) for parts in (source, target)]
    shape = extent(rng, [shards(e) for e in ends], kind != "uneven")
    return shape and ["--array", array(rng, shape), "--mesh", mesh_text(rng, axes),
                      "--from", spell(rng, ends[0], unreduced[0], axes),
                      "--to", spell(rng, ends[1], unreduced[1], axes)]


def between_lists(rng):
    count, rank = rng.choice([4, 6, 8, 8, 12]), rng.randint(1, 3)
    (source, a), (target, b) = hlo(rng, count, rank), hlo(rng, count, rank)
    if rng.random() < 0.1:
        target, b = f"{{maximal device={rng.randrange(count)}}}", [1] * rank
    shape = extent(rng, [a, b], rng.random() < 0.6)
    return shape and ["--array", array(rng, shape), "--num-devices", str(count),
                      "--from", source, "--to", target]


def between_meshes(rng):
    here, there, rank = mesh(rng, 8), mesh(rng, 8), rng.randint(1, 2)
    ends = [deal(rng, digits(rng, axes), rank) for axes in (here, there)]
    shape = extent(rng, [shards(e) for e in ends], rng.random() < 0.6)
    out = ["--mesh", mesh_text(rng, here), "--to-mesh", mesh_text(rng, there),
           "--from", spell(rng, ends[0], [], here), "--to", spell(rng, ends[1], [], there)]
    for option, axes in (("--devices", here), ("--to-devices", there)):
        if rng.random() < 0.6:
            listed = rng.sample(range(12), prod(s for _, s in axes))
            out += [option, ",".join(map(str, listed))]
    return shape and ["--array", array(rng, shape)] + out


def draw(rng, number):
    """Options of problem `number`; kinds take turns."""
    while True:
        kind = number % 8
        options = between_lists(rng) if kind == 3 else between_meshes(rng) if kind == 5 \
            else between_axes(rng, {1: "uneven", 2: "sum", 6: "uneven"}.get(kind, "even"))
        if options:
            return options
