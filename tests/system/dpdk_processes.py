#!/usr/bin/env python3
"""Runs rocetune's commands over ports of DPDK that need no NIC: two processes over memif, and a capture as a port.

usage: dpdk_processes.py --rocetune BINARY [CASE...]

No case looks at a rate or at a time: a busy machine makes them slow, not wrong.
"""
import argparse
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EAL = "--no-huge --no-pci -m 96"
PATIENCE_S = 100
SKIPPED = 77  # what meson takes for a test that was not run


class Failed(Exception):
    pass


class NotRun(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failed(what)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Bench:
    """A server and clients, each a process of its own, joined by memif sockets in a folder."""

    def __init__(self, rocetune, folder):
        self.eal_extra = ""
        self.server_first = False  # whether clients come only once the server waits for them
        self.prefix = []  # of every command: where it runs
        self.rocetune, self.folder, self.place = rocetune, folder, f"127.0.0.1:{free_port()}"

    def vdev(self, role, index=0):
        path = f"{self.folder}/memif{index}.sock"
        return f"--vdev=net_memif{index if role == 'server' else 0},role={role},id={index},socket={path},socket-abstract=no,bsize=8192"

    def start(self, arguments):
        return subprocess.Popen([*self.prefix, self.rocetune, "bench", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, pattern, flags, server_flags=(), clients=1):
        devices = " ".join(self.vdev("server", i) for i in range(clients))
        several = ["--dpdk-port", "all"] if clients > 1 else []
        server = self.start([pattern, "--listen", self.place, "--json", *several, *server_flags, "--dpdk", f"{EAL} {self.eal_extra} {devices}"])
        if self.server_first:
            wait_for_server(server)
        started = [
            self.start([pattern, "--connect", self.place, "--json", *flags, "--dpdk", f"{EAL} {self.eal_extra} {self.vdev('client', i)}"])
            for i in range(clients)
        ]
        results = []
        for process in [*started, server]:
            try:
                out, err = process.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
            if process.returncode != 0:
                for other in [*started, server]:
                    other.kill()
                errors = [err] + [other.communicate()[1] for other in [*started, server] if other is not process]
                raise Failed(f"exit {process.returncode}: {' '.join(process.args[1:])}\n" + "\n".join(errors))
            results.append(json.loads(out))
        return results[:-1], results[-1]


def facts_of(bench, *arguments):
    out = subprocess.run([*bench.prefix, bench.rocetune, "tap", "--json", *arguments], check=True, capture_output=True,
                         text=True, timeout=PATIENCE_S).stdout
    return json.loads(out)["facts"]


def wait_for_server(server):
    told = ""
    for line in server.stderr:
        if "waiting for" in line:
            return
        told += line
    raise Failed(f"the server does not start: {told}")


def right_rows(result, sizes):
    check([row["size_bytes"] for row in result["rows"]] == sizes, f"rows {result['rows']}")
    for row in result["rows"]:
        check(row["content_is_right"], f"content of {row['size_bytes']} bytes")
        check(row["messages"] > 0, f"no message of {row['size_bytes']} bytes")


def case_stream(bench):
    """Every operation moves right content, from one byte to more than a path MTU."""
    for operation in ("write", "read", "send"):
        (client,), server = bench.run(
            "stream", ["--op", operation, "--size", "1B,4096B,20000B", "--mtu", "4096", "--for", "100ms", "--cc", "off"])
        right_rows(client, [1, 4096, 20000])
        check(server["plan"] == client["plan"], "the server was told another plan")


def case_latency(bench):
    """Each message is timed or was not because the thread was away."""
    (client,), _ = bench.run("latency", ["--size", "32B", "--window", "4", "--for", "100ms", "--qps", "3"])
    right_rows(client, [32])
    row = client["rows"][0]
    check(row["latency"]["samples"] + row["latency"]["not_timed"] >= row["messages"], f"{row}")
    check(row["latency"]["min_ns"] <= row["latency"]["p50_ns"] <= row["latency"]["max_ns"], f"{row['latency']}")


def case_faults(bench):
    """A bad network in both directions costs frames, not content, by either recovery."""
    faults = "loss=1% reorder=1%:3 duplicate=1% corrupt=0.5%"
    for recovery in ("go-back-n", "selective-repeat"):
        (client,), server = bench.run(
            "stream", ["--size", "9000B", "--for", "300ms", "--recovery", recovery, "--faults", faults + " seed=3"],
            ["--faults", faults + " seed=4"])
        right_rows(client, [9000])
        row = client["rows"][0]
        check(row["client"]["faults"].get("lost", 0) > 0, f"nothing was lost: {row['client']}")


def case_congestion(bench):
    """Marks of a slow wire come back as CNPs, and the reaction point handles them."""
    (client,), _ = bench.run(
        "stream", ["--size", "64KiB", "--for", "500ms", "--cc", "dcqcn", "--faults", "rate=200Mbps:1MiB mark=16KiB"])
    right_rows(client, [65536])
    row = client["rows"][0]
    check(row["server"]["ce_packets"] > 0, f"no CE arrived: {row['server']}")
    check(row["client"]["cnps_handled"] > 0, f"no CNP came back: {row['client']}")


def case_incast(bench):
    """Two clients, each on a memif of its own, stream to one server at the same time."""
    clients, server = bench.run("incast", ["--clients", "2", "--size", "9000B", "--for", "200ms"], clients=2)
    for client in clients:
        right_rows(client, [9000])
    check(len(server["shares"]) == 2, f"{server['shares']}")
    check(all(share["goodput_bits_per_s"] > 0 for share in server["shares"]), f"{server['shares']}")


def case_shards(bench):
    """Two shards on each side, each with queues and queue pairs of its own."""
    cores = "--lcores=0@0,1@0"  # two threads on one core: slow, and enough to see that they get along
    bench.eal_extra = cores
    (client,), _ = bench.run(
        "stream", ["--size", "32B,5000B", "--for", "200ms", "--shards", "2", "--qps", "2", "--cc", "off"], ["--shards", "2"])
    right_rows(client, [32, 5000])


def case_perftest(bench):
    """Both sides of perftest's exchange, between two of ours; tests/vm/suites/interop.py has perftest itself."""
    place = ["--port", bench.place.split(":")[1], "--size", "3000B", "-n", "50", "--json", "--dpdk"]
    for name in ("ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_write_lat", "ib_read_lat", "ib_send_lat"):
        server = bench.start([name, *place, f"{EAL} {bench.vdev('server')}"])
        try:
            check("waiting for" in server.stderr.readline(), f"{name}: the server does not start")
            client = bench.start([name, "127.0.0.1", *place, f"{EAL} {bench.vdev('client')}"])
            out, err = client.communicate(timeout=PATIENCE_S)
            check(client.returncode == 0, f"{name}: client: exit {client.returncode}: {err}")
            seen, err = server.communicate(timeout=PATIENCE_S)
            check(server.returncode == 0, f"{name}: server: exit {server.returncode}: {err}")
        finally:
            server.kill()
        check(json.loads(out)["messages"] == 50, f"{name}: client: {out}")
        report = json.loads(seen)
        if name in ("ib_write_bw", "ib_read_bw"):
            check(report["peer_report"]["iterations"] == 50, f"{name}: server: {seen}")
        elif name != "ib_read_lat":
            check(report["messages"] == 50, f"{name}: server: {seen}")


@contextlib.contextmanager
def veth_pair():
    """Two interfaces joined by a wire, without addresses: nobody but the test sends on them."""
    names = [f"rt{os.getpid() % 100000}{end}" for end in "ab"]
    # net_af_packet numbers its fanout group by process and interface, both xor-ed: neighbours in both would share one.
    indices = [str(100_000 + os.getpid() % 10_000), str(200_000 + os.getpid() % 10_000)]
    made = subprocess.run(
        ["ip", "link", "add", names[0], "index", indices[0], "type", "veth", "peer", "name", names[1], "index", indices[1]],
        capture_output=True, text=True)
    if made.returncode != 0:
        raise NotRun(f"no veth pair: {made.stderr.strip()}")
    try:
        for name in names:
            pathlib.Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
            subprocess.run(["ip", "link", "set", name, "up"], check=True)
        yield names
    finally:
        subprocess.run(["ip", "link", "del", names[0]], check=True)


def case_steering(bench):
    """A kernel that spreads frames over queues as it likes: each goes on to the shard whose queue pair it is of."""
    with veth_pair() as names:
        bench.eal_extra = "--lcores=0@0,1@0"
        bench.vdev = lambda role, index=0: f"--vdev=net_af_packet0,iface={names[role == 'server']},qpairs=2"
        (client,), _ = bench.run(
            "stream", ["--size", "1000B", "--for", "200ms", "--shards", "2", "--qps", "4", "--cc", "off"], ["--shards", "2"])
        right_rows(client, [1000])


def case_refusal(bench):
    """What the server does not do it refuses, with a reason."""
    server = bench.start(["latency", "--listen", bench.place, "--dpdk", f"{EAL} {bench.vdev('server')}"])
    client = bench.start(["stream", "--connect", bench.place, "--dpdk", f"{EAL} {bench.vdev('client')}"])
    try:
        _, err = client.communicate(timeout=PATIENCE_S)
        check(client.returncode == 3, f"exit {client.returncode}")
        check("refused: the server runs latency, the client stream" in err, err)
        server.communicate(timeout=PATIENCE_S)
        check(server.returncode == 2, f"server: exit {server.returncode}")
    finally:
        client.kill()
        server.kill()


def case_dead_socket(bench):
    """A socket that a killed server left behind is no obstacle."""
    killed = bench.start(["stream", "--listen", bench.place, "--dpdk", f"{EAL} {bench.vdev('server')}"])
    check("waiting for clients" in killed.stderr.readline(), "the server does not start")
    killed.kill()
    killed.communicate()
    check(os.path.exists(f"{bench.folder}/memif0.sock"), "no socket was left behind")
    (client,), _ = bench.run("stream", ["--size", "64B", "--for", "50ms"])
    right_rows(client, [64])


def case_tap(bench):
    """A capture played by DPDK into a port gives the facts of the capture."""
    capture = SOURCE / "tests/cases/55-lab-clean-captures-write-send-read/write.pcap"

    port = facts_of(bench, "--for", "500ms", "--dpdk", f"{EAL} --vdev=net_pcap0,rx_pcap={capture}")
    file = facts_of(bench, "--pcap", str(capture))
    for name in ("capture.frames", "capture.roce_packets", "capture.icrc_ok", "capture.ack_packets"):
        check(name in file and port[name] == file[name], f"{name}: port {port.get(name)}, file {file.get(name)}")


def cases_of(names):
    return {name.removeprefix("case_"): value for name, value in names.items() if name.startswith("case_")}


def main(cases):
    parser = argparse.ArgumentParser()
    parser.add_argument("--rocetune", required=True)
    parser.add_argument("cases", nargs="*", default=list(cases))
    arguments = parser.parse_args()
    failures = not_run = 0
    for name in arguments.cases:
        with tempfile.TemporaryDirectory() as folder:
            try:
                cases[name](Bench(os.path.abspath(arguments.rocetune), folder))
                print(f"ok     {name}: {cases[name].__doc__}")
            except NotRun as reason:
                not_run += 1
                print(f"not run {name}: {reason}")
            except (Failed, subprocess.SubprocessError) as error:
                failures += 1
                print(f"FAILED {name}: {error}")
    print(f"{len(arguments.cases) - failures - not_run} passed, {failures} failed, {not_run} not run")
    if failures:
        return 1
    return SKIPPED if not_run == len(arguments.cases) else 0


if __name__ == "__main__":
    sys.exit(main(cases_of(globals())))
