#!/usr/bin/env python3
"""Runs rocetune's commands over ports of DPDK that need neither a NIC nor memif.

usage: dpdk_ports.py --rocetune BINARY [CASE...]

Interfaces and namespaces are the test's own. What a kernel or a package lacks is said, and the case not run.
"""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
from dpdk_processes import (  # noqa: E402
    EAL, PATIENCE_S, SOURCE, Failed, NotRun, cases_of, check, facts_of, main, right_rows, veth_pair, wait_for_server)

AF_XDP = 44  # linux/socket.h; Python has no name for it


@contextlib.contextmanager
def namespace(bench):
    """A network namespace of the test's own, where its commands run meanwhile."""
    name = f"rt{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode != 0:
        raise NotRun(f"no network namespace: {made.stderr.strip()}")
    bench.prefix = ["ip", "netns", "exec", name]
    try:
        subprocess.run([*bench.prefix, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"], check=True)
        subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


def needs_driver(bench, name):
    out = subprocess.run([bench.rocetune, "inspect", "--json"], check=True, capture_output=True, text=True, timeout=PATIENCE_S).stdout
    if name not in [driver["name"] for driver in json.loads(out)["dpdk"]["drivers"]]:
        raise NotRun(f"DPDK here has no driver net_{name}")


def case_vhost(bench):
    """virtio over a vhost-user socket, either end the server, with frames of MTU 4096; no end dies of the other's end."""
    needs_driver(bench, "vhost")
    needs_driver(bench, "virtio")
    place = f"{bench.folder}/vhost.sock"
    vhost, virtio = f"--vdev=net_vhost0,iface={place},queues=1", f"--vdev=net_virtio_user0,path={place},queues=1"
    for ends in ({"server": vhost, "client": virtio}, {"server": f"{virtio},server=1", "client": f"{vhost},client=1"}):
        bench.server_first = ends["server"] == vhost  # as a server virtio_user starts when somebody has come
        bench.vdev = lambda role, index=0: ends[role]
        (client,), _ = bench.run("stream", ["--size", "64B,9000B", "--mtu", "4096", "--for", "500ms", "--window", "4", "--cc", "off"])
        right_rows(client, [64, 9000])


def case_vhost_queues(bench):
    """Two queues of virtio over vhost-user, a shard on each; either end the server."""
    needs_driver(bench, "vhost")
    needs_driver(bench, "virtio")
    place = f"{bench.folder}/vhost.sock"
    bench.eal_extra = "--lcores=0@0,1@0"  # two threads on one core: slow, and enough to see that they get along
    vhost, virtio = f"--vdev=net_vhost0,iface={place},queues=2", f"--vdev=net_virtio_user0,path={place},queues=2"
    for ends in ({"server": vhost, "client": virtio}, {"server": f"{virtio},server=1", "client": f"{vhost},client=1"}):
        bench.server_first = ends["server"] == vhost
        bench.vdev = lambda role, index=0: ends[role]
        flags = ["--size", "64B,5000B", "--mtu", "4096", "--for", "300ms", "--shards", "2", "--qps", "4", "--window", "4", "--cc", "off"]
        (client,), _ = bench.run("stream", flags, ["--shards", "2"])
        right_rows(client, [64, 5000])


def expect_mtu_refused(bench, mtu, most):
    """By a client that finds out before it looks for a server."""
    large = bench.start(["stream", "--connect", bench.place, "--mtu", str(mtu), "--dpdk", f"{EAL} {bench.vdev('client')}"])
    _, err = large.communicate(timeout=PATIENCE_S)
    check(large.returncode == 2, f"exit {large.returncode}: {err}")
    check(f"mtu: found {mtu}, allowed: up to {most}, which this port carries" in err, err)


def case_af_packet(bench):
    """Packet sockets on a veth pair: the interface's MTU bounds the path MTU."""
    needs_driver(bench, "af_packet")
    with veth_pair() as names:
        slots = "framesz=4352,blocksz=69632,framecnt=1024,qdisc_bypass=0"
        bench.vdev = lambda role, index=0: f"--vdev=net_af_packet0,iface={names[role == 'server']},{slots}"
        flags = ["--size", "64B,9000B", "--for", "500ms", "--window", "4", "--cc", "off", "--address", "192.0.2.2"]
        expect_mtu_refused(bench, 2048, 1024)
        for mtu in (1024, 4096):
            for name in names:
                subprocess.run(["ip", "link", "set", name, "mtu", "1500" if mtu == 1024 else "4300"], check=True)
            (client,), _ = bench.run("stream", [*flags, "--mtu", str(mtu)], ["--address", "192.0.2.1"])
            right_rows(client, [64, 9000])
        subprocess.run(["ip", "link", "set", names[1], "mtu", "1500"], check=True)  # the server's alone
        try:
            bench.run("stream", [*flags, "--mtu", "4096"], ["--address", "192.0.2.1"])
        except Failed as failure:
            check("mtu: found 4096, allowed: up to 1024" in str(failure), str(failure))
        else:
            raise Failed("a path MTU that the server's interface does not carry is taken")


def case_af_xdp(bench):
    """AF_XDP sockets on a veth pair; a path MTU whose frames the interface does not carry is refused; tap."""
    needs_driver(bench, "af_xdp")
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW).close()
    except OSError as error:
        raise NotRun(f"this kernel has no XDP sockets: {error}") from error
    with veth_pair() as names:
        bench.vdev = lambda role, index=0: f"--vdev=net_af_xdp0,iface={names[role == 'server']}"
        (client,), _ = bench.run(
            "stream", ["--size", "64B,5000B", "--mtu", "1024", "--for", "500ms", "--window", "4", "--cc", "off"])
        right_rows(client, [64, 5000])
        expect_mtu_refused(bench, 4096, 1024)  # the interface's MTU; and a page holds no frame of 4096 either
        tap_while_playing(bench, names[0], f"net_af_xdp0,iface={names[1]}")


def case_pcap_wire(bench):
    """libpcap on a veth pair: the driver's MAC is the same on both sides, so each needs an address of its own."""
    needs_driver(bench, "pcap")
    with veth_pair() as names:
        bench.vdev = lambda role, index=0: "--vdev=net_pcap0,rx_iface_in={0},tx_iface={0}".format(names[role == "server"])
        flags = ["--size", "64B,5000B", "--mtu", "1024", "--for", "500ms", "--window", "4", "--cc", "off", "--address", "192.0.2.2"]
        (client,), _ = bench.run("stream", flags, ["--address", "192.0.2.1"])
        right_rows(client, [64, 5000])
        expect_mtu_refused(bench, 2048, 1024)
        expect_mtu_refused(bench, 4096, 1024)


def case_pcap_file(bench):
    """What a port of two devices floods goes into the capture that one of them is."""
    needs_driver(bench, "pcap")
    capture = f"{bench.folder}/out.pcap"
    memif = bench.vdev
    bench.vdev = lambda role, index=0: memif(role) + (f" --vdev=net_pcap0,tx_pcap={capture}" if role == "server" else "")
    (client,), _ = bench.run("stream", ["--size", "64B", "--for", "500ms"], ["--dpdk-port", "all"])
    right_rows(client, [64])
    frames = facts_of(bench, "--pcap", capture)["capture.frames"]
    check(frames > 0, f"{frames} frames in {capture}")


# Sends a capture's frames into an interface again and again, from when it is there: PLAYER CAPTURE INTERFACE SECONDS.
PLAYER = """
import socket, struct, sys, time
data, end = open(sys.argv[1], "rb").read(), time.monotonic() + float(sys.argv[3])
frames, at = [], 24
while at < len(data):
    size = struct.unpack_from("<I", data, at + 8)[0]
    frames.append(data[at + 16:at + 16 + size])
    at += 16 + size
while time.monotonic() < end:
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
            out.bind((sys.argv[2], 0))
            for frame in frames:
                out.send(frame)
    except OSError:
        pass
    time.sleep(0.05)
"""


def tap_while_playing(bench, interface, device):
    """A tap on a port must see RoCE packets that the kernel sends into it, whole."""
    capture = str(SOURCE / "tests/cases/55-lab-clean-captures-write-send-read/write.pcap")
    player = subprocess.Popen([*bench.prefix, sys.executable, "-c", PLAYER, capture, interface, str(PATIENCE_S)])
    try:
        facts = facts_of(bench, "--for", "1s", "--dpdk", f"{EAL} --vdev={device}")
    finally:
        player.kill()
        player.wait()
    seen = facts["capture.roce_packets"]
    check(seen > 0 and facts["capture.icrc_ok"] == seen, f"{device}: {seen} RoCE packets, {facts.get('capture.icrc_ok')} good")


def case_tap_ports(bench):
    """tap on an interface of the kernel's by af_packet and by libpcap."""
    for driver, options in (("af_packet", "iface={}"), ("pcap", "rx_iface_in={}")):
        needs_driver(bench, driver)
        with veth_pair() as names:
            tap_while_playing(bench, names[0], f"net_{driver}0,{options}".format(names[1]))


def case_tap_device(bench):
    """A tap device against the kernel, which finds our address by ARP, and a process behind its interface; and tap on it."""
    needs_driver(bench, "tap")
    if not os.path.exists("/dev/net/tun"):
        raise NotRun("no /dev/net/tun")
    with namespace(bench) as name:
        place = ["--json", "--dpdk"]
        server = bench.start(["stream", "--listen", bench.place, "--address", "192.0.2.1", *place, f"{EAL} --vdev=net_tap0,iface=rttap"])
        try:
            wait_for_server(server)
            subprocess.run(["ip", "-n", name, "address", "add", "192.0.2.9/24", "dev", "rttap"], check=True)
            client = bench.start(["stream", "--connect", bench.place, "--address", "192.0.2.2", "--size", "64B,5000B", "--for", "1s", "--window", "4",
                                  "--cc", "off", *place, f"{EAL} --vdev=net_af_packet0,iface=rttap"])
            asked, neighbour = "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'', ('192.0.2.1', 9))", ""
            while client.poll() is None and "lladdr" not in neighbour:
                subprocess.run([*bench.prefix, sys.executable, "-c", asked], check=True)
                neighbour = subprocess.run(["ip", "-n", name, "neighbour", "show", "192.0.2.1"], capture_output=True, text=True).stdout
            out, err = client.communicate(timeout=PATIENCE_S)
            check(client.returncode == 0, f"client: exit {client.returncode}: {err}")
            right_rows(json.loads(out), [64, 5000])
            check("lladdr" in neighbour, f"the kernel does not find 192.0.2.1: {neighbour}")
            server.communicate(timeout=PATIENCE_S)
            check(server.returncode == 0, f"server: exit {server.returncode}")
        finally:
            server.kill()
        tap_while_playing(bench, "rttap", "net_tap0,iface=rttap")


def case_tap_queues(bench):
    """Two queues of a tap device, a shard on each, against two of a packet socket behind its interface."""
    needs_driver(bench, "tap")
    if not os.path.exists("/dev/net/tun"):
        raise NotRun("no /dev/net/tun")
    with namespace(bench):
        bench.eal_extra = "--lcores=0@0,1@0"
        bench.server_first = True
        ends = {"server": "--vdev=net_tap0,iface=rttap", "client": "--vdev=net_af_packet0,iface=rttap,qpairs=2"}
        bench.vdev = lambda role, index=0: ends[role]
        flags = ["--size", "64B,5000B", "--for", "300ms", "--shards", "2", "--qps", "4", "--window", "4", "--cc", "off", "--address", "192.0.2.2"]
        (client,), _ = bench.run("stream", flags, ["--shards", "2", "--address", "192.0.2.1"])
        right_rows(client, [64, 5000])


def case_ring(bench):
    """A ring ends where it began: both sides would be the same station, and the server says so."""
    needs_driver(bench, "ring")
    server = bench.start(["stream", "--listen", bench.place, "--dpdk", f"{EAL} --vdev=net_ring0"])
    client = bench.start(["stream", "--connect", bench.place, "--dpdk", f"{EAL} --vdev=net_ring0"])
    try:
        _, err = client.communicate(timeout=PATIENCE_S)
        check(client.returncode == 3, f"exit {client.returncode}: {err}")
        check("is the address of two sides; give each its own (--address)" in err, err)
        server.communicate(timeout=PATIENCE_S)
        check(server.returncode == 2, f"server: exit {server.returncode}")
    finally:
        client.kill()
        server.kill()


if __name__ == "__main__":
    sys.exit(main(cases_of(globals())))
