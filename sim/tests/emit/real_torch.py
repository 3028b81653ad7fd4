"""Runs emitted torch-p2p programs with PyTorch's gloo on this machine.

usage: real_torch.py FOLDER            of RANKS-NUMBER.py, by check_programs.py
       real_torch.py FOLDER RANK RANKS PORT    one of the processes

For each number of ranks as many processes run its programs one after another, each with its
own check. Prints how many ran, then how many passed and failed.
"""

import datetime
import glob
import os
import socket
import subprocess
import sys

MOST = 8  # ranks on one machine


def programs(folder, ranks):
    return sorted(glob.glob(os.path.join(folder, f"{ranks:02}-*.py")))


def one_rank(folder, rank, ranks, port):
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank,
                            world_size=ranks, timeout=datetime.timedelta(seconds=120))
    for path in programs(folder, ranks):
        with open(path) as file:
            text = file.read()
        said = []
        exec(compile(text, path, "exec"),
             {"__name__": "__main__", "print": lambda *words: said.append(words)})
        if said != [("every element of rank", rank, "is right")]:
            raise AssertionError(f"{path}: {said}")
        dist.barrier()
        if rank == 0:
            print(path, flush=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run(folder, ranks):
    """How many of the programs passed, and what was said where one did not."""
    port = free_port()
    started = [subprocess.Popen(
        [sys.executable, __file__, folder, str(rank), str(ranks), str(port)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"})
        for rank in range(ranks)]
    said = [process.communicate() for process in started]
    faults = [err for process, (_, err) in zip(started, said) if process.returncode]
    return len(said[0][0].splitlines()), faults


def main(folder):
    passed = failed = 0
    for ranks in range(2, MOST + 1):
        wanted = len(programs(folder, ranks))
        if not wanted:
            continue
        right, faults = run(folder, ranks)
        print(f"{right} of {wanted} programs of {ranks} ranks")
        for fault in faults[:1]:
            print(fault)
        passed, failed = passed + right, failed + wanted - right
    print(passed, failed)


if len(sys.argv) > 2:
    one_rank(sys.argv[1], *map(int, sys.argv[2:]))
else:
    main(sys.argv[1])
