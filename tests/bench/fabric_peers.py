"""Other simulators on the workloads of fabric.py, where PEERS names a directory that holds builds of them, at any depth:

  csg-htsim (github.com/Broadcom/csg-htsim): make in sim and sim/datacenter; found by its htsim_roce. RoCE without DCQCN.
  HPCC's ns-3 (github.com/alibaba-edu/High-Precision-Congestion-Control): found by simulation/build/scratch/third.

Their packet-hops are those of the workload: each flow's packets of 1000 bytes and an acknowledgement of each, six links.
"""

import os
import pathlib
import subprocess
import tempfile

MEGABYTE = 1_000_000
PAYLOAD = 1000
LINKS = 6  # between hosts of different pods; none of these flows stays in one
DEEPEST = 6  # folders below PEERS
# Hosts, how much further each one's receiver is, switch ports (0: HPCC's own topology of 320 hosts).
WORKLOADS = {"perm128": (128, 37, 8), "perm320": (320, 97, 0), "perm1024": (1024, 321, 16)}
HPCC_CONFIG = """ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE {payload}
TOPOLOGY_FILE {topology}
FLOW_FILE {folder}/flows
TRACE_FILE {folder}/traced
TRACE_OUTPUT_FILE {folder}/trace
FCT_OUTPUT_FILE {folder}/fct
PFC_OUTPUT_FILE {folder}/pfc
SIMULATOR_STOP_TIME 4.0
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 20Mb/s
RATE_HAI 200Mb/s
MIN_RATE 1000Mb/s
DCTCP_RATE_AI 1000Mb/s
ERROR_RATE_PER_LINK 0.0000
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
HAS_WIN 0
GLOBAL_T 1
VAR_WIN 0
FAST_REACT 0
U_TARGET 0.95
MI_THRESH 0
INT_MULTI 1
MULTI_RATE 0
SAMPLE_FEEDBACK 0
PINT_LOG_BASE 1.01
PINT_PROB 1.0
RATE_BOUND 1
ACK_HIGH_PRIO 1
LINK_DOWN 0 0 0
ENABLE_TRACE 0
KMAX_MAP 2 100000000000 1600 400000000000 6400
KMIN_MAP 2 100000000000 400 400000000000 1600
PMAX_MAP 2 100000000000 0.2 400000000000 0.2
BUFFER_SIZE 32
QLEN_MON_FILE {folder}/queues
QLEN_MON_START 2000000000
QLEN_MON_END 2000000001
"""


def find(directory, *ending):
    """The first executable below the directory whose path ends so."""
    directory = os.path.abspath(directory)
    for folder, folders, files in os.walk(directory, followlinks=True):
        depth = len(pathlib.Path(folder).relative_to(directory).parts)
        folders[:] = sorted(folders) if depth < DEEPEST else []
        path = os.path.join(folder, ending[-1])
        if ending[-1] in files and pathlib.Path(path).parts[-len(ending):] == ending and os.access(path, os.X_OK):
            return path
    return None


def fat_tree(ports):
    """Links of a fat tree as HPCC counts nodes: hosts, edge, aggregation, core."""
    half, hosts = ports // 2, ports**3 // 4
    edge, aggregation, core = hosts, hosts + ports * half, hosts + 2 * ports * half
    links = [(host, edge + host // half) for host in range(hosts)]
    for pod in range(0, ports * half, half):
        links += [(edge + pod + e, aggregation + pod + a) for e in range(half) for a in range(half)]
    for pod in range(0, ports * half, half):
        links += [(aggregation + pod + a, core + a * half + c) for a in range(half) for c in range(half)]
    switches = range(hosts, core + half * half)
    return (f"{switches.stop} {len(switches)} {len(links)}\n{' '.join(map(str, switches))}\n"
            + "".join(f"{a} {b} 100Gbps 1000ns 0\n" for a, b in links))


def htsim_command(binary, case, folder):
    hosts, shift, ports = WORKLOADS[case]
    if ports == 0:
        return None
    (folder / "matrix.cm").write_text(f"Nodes {hosts}\nConnections {hosts}\n" + "".join(
        f"{i}->{(i + shift) % hosts} id {i + 1} start 0 size {MEGABYTE}\n" for i in range(hosts)))
    return [binary, "-nodes", str(hosts), "-tiers", "3", "-strat", "ecmp_host", "-paths", "128", "-queue_type",
            "lossless_input", "-q", "1000", "-linkspeed", "100000", "-mtu", str(PAYLOAD), "-hop_latency", "1",
            "-switch_latency", "0", "-tm", str(folder / "matrix.cm"), "-end", "3000", "-seed", "1", "-o", str(folder / "log")]


def hpcc_command(binary, case, folder):
    hosts, shift, ports = WORKLOADS[case]
    topology = pathlib.Path(binary).parents[2] / "mix/fat.txt"
    if ports > 0:
        topology = folder / "topology"
        topology.write_text(fat_tree(ports))
    (folder / "flows").write_text(f"{hosts}\n" + "".join(
        f"{i} {(i + shift) % hosts} 3 100 {MEGABYTE} 2.000000000\n" for i in range(hosts)))
    (folder / "traced").write_text("0\n")
    (folder / "config").write_text(HPCC_CONFIG.format(payload=PAYLOAD, topology=topology, folder=folder))
    return [binary, str(folder / "config")]


class Peer:
    def __init__(self, name, binary, command_of):
        self.name, self.binary, self.command_of = name, binary, command_of

    def run(self, case):
        """Packet-hops, processor seconds and peak memory as rocetune's own runs have them; none: it has no such case."""
        hosts = WORKLOADS[case][0]
        with tempfile.TemporaryDirectory() as name:
            command = self.command_of(self.binary, case, pathlib.Path(name))
            if command is None:
                return None
            # HPCC's finds its libraries two folders above itself.
            libraries = str(pathlib.Path(self.binary).parents[1])
            with subprocess.Popen(command, cwd=name, env=os.environ | {"LD_LIBRARY_PATH": libraries},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit {process.returncode}")
        return {"packet_hops": hosts * (MEGABYTE // PAYLOAD) * 2 * LINKS,
                "cpu_seconds": usage.ru_utime + usage.ru_stime, "peak_rss_bytes": usage.ru_maxrss * 1024}


def peers_in(directory):
    """By name; None where there is no build of it."""
    kinds = {"csg-htsim": (("htsim_roce",), htsim_command),
             "HPCC's ns-3": (("build", "scratch", "third"), hpcc_command)}
    found = {name: find(directory, *ending) for name, (ending, _) in kinds.items()}
    return {name: Peer(name, binary, kinds[name][1]) if binary else None for name, binary in found.items()}
