"""The test NICs: reading them, planting settings and faults. Re-exported by lab."""

import functools
import pathlib
import shlex
import socket
import struct

import lab_dcb
from lab_base import Failure, LinkEvents, run

DEBUGFS = pathlib.Path("/sys/kernel/debug")
CONTROL = DEBUGFS / "mlx5_testnic"
PRIORITIES = range(8)


class Nic:
  """One test NIC. Settings are made with Debian's own tools, faults through debugfs."""

  def __init__(self, bdf):
    self.bdf = bdf
    self.control = CONTROL / bdf
    self.cc_dir = DEBUGFS / "mlx5" / bdf / "cc_params"
    self.netdev, self.rdma = (self.control / "names").read_text().split()

  def __repr__(self):
    return f"Nic({self.netdev}, {self.bdf}, {self.rdma})"

  # reading

  @property
  def carrier(self):
    try:
      return pathlib.Path(f"/sys/class/net/{self.netdev}/carrier").read_text().strip() == "1"
    except OSError:  # the device is down
      return False

  @property
  def mtu(self):
    return int(pathlib.Path(f"/sys/class/net/{self.netdev}/mtu").read_text())

  @property
  def trust(self):
    """"dscp" or "pcp": what the port really does."""
    return self.get("trust")

  def get(self, file):
    """A control file's text."""
    return (self.control / file).read_text().strip()

  def counter(self, name):
    """The true value of any counter, whether or not ethtool shows it now."""
    return self.counters()[name]

  def counters(self):
    return {k: int(v) for k, v in (line.split() for line in self.get("counters").splitlines())}

  def ethtool_stats(self):
    """`ethtool -S` as a dictionary: only the rows that exist now."""
    lines = run(["ethtool", "-S", self.netdev]).stdout.splitlines()[1:]
    return {k.strip(): int(v) for k, v in (line.split(":") for line in lines)}

  def hw_counter(self, name):
    """From sysfs hw_counters; the kernel caches them for `lifespan` ms."""
    return int(pathlib.Path(f"/sys/class/infiniband/{self.rdma}/ports/1/hw_counters/{name}").read_text())

  def dcb(self, object_, *arguments, check=True):
    """`dcb -j OBJECT ...` on this netdev: ("pfc",) shows, ("app", "add", "dscp-prio", "26:3") sets.

    What Debian's dcb says of a write to pfc, ets, buffer or maxrate is not to be trusted (see lab_dcb): a refusal
    passes for success, and "Protocol error" only says that a second began meanwhile: what does no harm twice is
    written again. Read back, or use lab_dcb.
    """
    verb, *rest = arguments or ("show",)
    for _ in range(3):
      done = run(["dcb", "-j", object_, verb, "dev", self.netdev, *rest], check=False)
      if verb not in ("set", "replace", "flush") or "Protocol error" not in done.stderr:
        break
    if check and done.code != 0:
      raise Failure(f"exit code {done.code} from: {shlex.join(done.argv)}: {done.stderr.strip()}")
    return done

  def cc_param(self, name):
    return int((self.cc_dir / name).read_text())

  def gids(self):
    """[(index, gid, type, netdev)] of the entries in use."""
    port = pathlib.Path(f"/sys/class/infiniband/{self.rdma}/ports/1")
    found = []
    for index in range(32):
      try:
        kind = (port / f"gid_attrs/types/{index}").read_text().strip()
        ndev = (port / f"gid_attrs/ndevs/{index}").read_text().strip()
      except OSError:
        continue
      found.append((index, (port / f"gids/{index}").read_text().strip(), kind, ndev))
    return found

  # planting

  def put(self, file, value):
    """Writes a control file (docs/vm-lab.md lists them)."""
    (self.control / file).write_text(f"{value}\n")

  def set_counters(self, **values):
    """The counters' values now; they keep their rates."""
    self.put("counters", "\n".join(f"{k} {v}" for k, v in values.items()))

  def set_rates(self, **per_second):
    """Counters that run by themselves from now on; 0 stops one."""
    self.put("rates", "\n".join(f"{k} {v}" for k, v in per_second.items()))

  def inject(self, rule):
    """A rule for this NIC's next writes, e.g. "pfc 1 error 5"; see the table of rules in docs/vm-lab.md."""
    self.put("inject", rule)

  def writes(self):
    """How many writes each knob of this NIC has got since the last reset."""
    return {k: int(v) for k, v in (line.split() for line in self.get("writes").splitlines())}

  def set_cc_param(self, name, value):
    (self.cc_dir / name).write_text(f"{value}\n")

  def set_pfc(self, *priorities):
    """PFC on for exactly these; waits until the link is back."""
    with LinkEvents() as events:
      lab_dcb.set_pfc(self.netdev, sum(1 << p for p in priorities))
      events.wait(lambda: self.carrier, f"{self.netdev} up after its PFC change")

  def set_link(self, up):
    """Plugs the cable in or pulls it."""
    with LinkEvents() as events:
      self.put("link", int(up))
      events.wait(lambda: self.carrier == up, f"{self.netdev} carrier {'on' if up else 'off'}")

  def send(self, count=1, dscp=0, ecn=0, pcp=None, roce=False, size=128):
    """Puts IPv4 UDP frames on the wire through a packet socket; no address is needed."""
    frame = _udp_frame(self.netdev, dscp << 2 | ecn, pcp, 4791 if roce else 9, size)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
      sock.bind((self.netdev, 0))
      for _ in range(count):
        sock.send(frame)

  def dcbx_to_firmware(self):
    """SDCBX(0), which Debian's dcb has no word for."""
    lab_dcb.set_dcbx(self.netdev, 0)

  def reset(self):
    """Everything as after loading, injector and counters too; addresses and wiring stay."""
    self.put("reset", 1)


def _udp_frame(netdev, tos, pcp, port, size):
  source = bytes.fromhex(pathlib.Path(f"/sys/class/net/{netdev}/address").read_text().strip().replace(":", ""))
  payload = bytes(max(0, size - 42))
  udp = struct.pack("!HHHH", 0xC000, port, 8 + len(payload), 0) + payload
  address = socket.inet_aton("192.0.2.1") + socket.inet_aton("192.0.2.2")
  header = struct.pack("!BBHHHBBH", 0x45, tos, 20 + len(udp), 0, 0x4000, 64, 17, 0) + address
  total = sum(struct.unpack("!10H", header))
  total = (total & 0xFFFF) + (total >> 16)
  checksum = ~(total + (total >> 16)) & 0xFFFF
  tag = b"" if pcp is None else struct.pack("!HH", 0x8100, pcp << 13 | 1)
  return b"\xff" * 6 + source + tag + b"\x08\x00" + header[:10] + struct.pack("!H", checksum) + header[12:] + udp


@functools.lru_cache(maxsize=None)
def nics():
  """All test NICs, in the order of their PCI addresses."""
  return [Nic(p.name) for p in sorted(CONTROL.iterdir()) if p.is_dir() and not p.is_symlink()]


def nic(index):
  return nics()[index]


def inject(rule):
  """A rule for the writes of all NICs counted together, e.g. "any 3 kill_after"."""
  (CONTROL / "inject").write_text(f"{rule}\n")


def writes():
  """Writes of all NICs together since the last reset_all, per knob and as "any"."""
  return {k: int(v) for k, v in (line.split() for line in (CONTROL / "writes").read_text().splitlines())}
