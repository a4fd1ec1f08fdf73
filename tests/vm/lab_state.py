"""The state of the host that a transaction may touch, for comparison. Re-exported by lab.

Read by netlink and ioctl, not with programs: starting one costs 50 ms and more in an emulated guest, a capture
of two NICs would need sixteen.
"""

import ctypes
import fcntl
import pathlib
import socket
import struct

import lab_dcb
from lab_base import Failure
from lab_nic import nics

_SIOCETHTOOL = 0x8946
_ETHTOOL_GPAUSEPARAM, _ETHTOOL_GTUNABLE = 0x12, 0x48
_PFC_PREVENTION_TOUT, _TUNABLE_U16 = 3, 2


def _ethtool(netdev, request):
  """SIOCETHTOOL with a request that is also the answer."""
  data = ctypes.create_string_buffer(request, len(request))
  ifreq = struct.pack("16sQ16x", netdev.encode(), ctypes.addressof(data))
  with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    fcntl.ioctl(sock, _SIOCETHTOOL, ifreq)
  return data.raw


def pause(netdev):
  """(autoneg, rx, tx) of 802.3x, as `ethtool -a`."""
  return struct.unpack("=4I", _ethtool(netdev, struct.pack("=4I", _ETHTOOL_GPAUSEPARAM, 0, 0, 0)))[1:]


def pfc_prevention_tout(netdev):
  """Milliseconds, 0 for off, as `ethtool --get-tunable`."""
  request = struct.pack("=4IH", _ETHTOOL_GTUNABLE, _PFC_PREVENTION_TOUT, _TUNABLE_U16, 2, 0)
  return struct.unpack_from("=H", _ethtool(netdev, request), 16)[0]


def _cma(rdma):
  directory = pathlib.Path("/sys/kernel/config/rdma_cm") / rdma
  directory.mkdir(exist_ok=True)
  return directory / "ports" / "1" / "default_roce_tos"


def roce_tos(rdma):
  """rdma_cm's default_roce_tos."""
  return int(_cma(rdma).read_text())


def set_roce_tos(rdma, value):
  _cma(rdma).write_text(str(value))


def capture(which=None):
  """The full state of all NICs, or of those given, as {"eth0 pfc": text, ...}; two captures compare with ==.

  PFC, ETS, rate limits, APP table and trust, buffers with their thresholds and the sticky manual flag, DCBX
  ownership, 802.3x, pfc-prevention-tout, MTU, every cc_param, default_roce_tos. PFC's pause counts and all other
  counters are left out: they move by themselves.
  """
  state = {}
  for one in which or nics():
    dev = one.netdev
    for name, text in lab_dcb.dump(dev).items():
      state[f"{dev} {name}"] = text
    state[f"{dev} pause"] = "autoneg %d rx %d tx %d" % pause(dev)
    state[f"{dev} pfc-prevention-tout"] = str(pfc_prevention_tout(dev))
    state[f"{dev} mtu"] = str(one.mtu)
    state[f"{dev} trust"] = one.trust
    state[f"{dev} port buffers"] = one.get("buffers")
    for file in sorted(one.cc_dir.iterdir()):
      state[f"{dev} cc {file.name}"] = file.read_text().strip()
    state[f"{one.rdma} default_roce_tos"] = str(roce_tos(one.rdma))
  return state


def diff(before, after):
  """What two captures disagree on, as lines of text."""
  return [f"{key}: {before.get(key)!r} -> {after.get(key)!r}" for key in sorted(before.keys() | after.keys())
          if before.get(key) != after.get(key)]


def expect_same_state(before, after):
  """Two captures must be equal byte for byte; says the first differences."""
  different = diff(before, after)
  if different:
    raise Failure("state differs: " + "; ".join(different[:6]))
