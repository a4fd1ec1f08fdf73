"""DCB netlink without the `dcb` program, for what the program cannot say or does not tell. Re-exported by lab.

Debian 12's dcb (iproute2 6.1) loses the kernel's answer to "pfc|ets|buffer|maxrate set": the command reads the
attribute first and takes the acknowledgement of that request for the answer to its second one. It ends with exit
code 0 whatever the driver said; and since its sequence number is the time in seconds, with "Protocol error" and 1,
the write done, when a second begins between the two. Use the functions here where the answer matters.
"""

import errno
import os
import socket
import struct

from lab_base import DEFAULT_TIMEOUT_S, Failure

_RTM_GETDCB, _RTM_SETDCB = 78, 79
_CMD_IEEE_SET, _CMD_IEEE_GET, _CMD_GDCBX, _CMD_SDCBX, _CMD_IEEE_DEL = 20, 21, 22, 23, 27
_ATTR_IFNAME, _ATTR_IEEE, _ATTR_DCBX = 1, 13, 14
_IEEE_APP_TABLE, _IEEE_APP = 3, 1
_NLM_F_REQUEST, _NLMSG_ERROR = 1, 2
_NESTED, _TYPE_MASK = 0x8000, 0x3FFF

ETS, PFC, MAXRATE, BUFFER = 1, 2, 7, 10
SELECTOR_ETHERTYPE, SELECTOR_DSCP = 1, 5

_ETS_FORMAT = "BBB8B8B8B8B8B8B8B"
_PFC_FORMAT = "=BBBxH2x8Q8Q"
_MAXRATE_FORMAT = "=8Q"
_BUFFER_FORMAT = "=8B8II"


def _attribute(kind, payload):
  return struct.pack("=HH", 4 + len(payload), kind) + payload + b"\0" * (-len(payload) % 4)


def _runs(data):
  """The (type, payload) pairs of a run of attributes."""
  while len(data) >= 4:
    length, kind = struct.unpack_from("=HH", data)
    if length < 4:
      break
    yield kind & _TYPE_MASK, data[4:length]
    data = data[(length + 3) & ~3:]


def _attributes(data):
  """{type: payload} of a run of attributes; of equal types the last one."""
  return dict(_runs(data))


def _talk(message, command, netdev, payload=b""):
  """The attributes of the kernel's answer; OSError when it is an error message."""
  body = struct.pack("=BBH", 0, command, 0) + _attribute(_ATTR_IFNAME, netdev.encode() + b"\0") + payload
  with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as sock:
    sock.settimeout(DEFAULT_TIMEOUT_S)
    sock.send(struct.pack("=IHHII", 16 + len(body), message, _NLM_F_REQUEST, 1, 0) + body)
    answer = sock.recv(1 << 16)
  length, kind = struct.unpack_from("=IH", answer)
  if kind == _NLMSG_ERROR:
    code = -struct.unpack_from("=i", answer, 16)[0]
    raise OSError(code, os.strerror(code))
  return _attributes(answer[20:length])


def _check(answer, attribute):
  """The answer to a write is the driver's errno, negated, in eight bits."""
  code = struct.unpack("=b", answer[attribute][:1])[0]
  if code:
    raise OSError(-code, os.strerror(-code))


def ieee_get(netdev, attribute):
  """The raw structure of ETS, PFC, MAXRATE or BUFFER."""
  nested = _attributes(_talk(_RTM_GETDCB, _CMD_IEEE_GET, netdev)[_ATTR_IEEE])
  return nested[attribute]


def dump(netdev):
  """All that IEEE_GET and GDCBX tell but the pause counts, as {object: text}, in hexadecimal where it is long."""
  nested = _attributes(_talk(_RTM_GETDCB, _CMD_IEEE_GET, netdev)[_ATTR_IEEE])
  cap, mask, mbc, delay = struct.unpack(_PFC_FORMAT, nested[PFC])[:4]
  apps = sorted(struct.unpack("=BBH", payload[:4]) for _, payload in _runs(nested.get(_IEEE_APP_TABLE, b"")))
  buffers = struct.unpack(_BUFFER_FORMAT, nested[BUFFER])
  return {
      "pfc": f"cap {cap} mask {mask:#04x} mbc {mbc} delay {delay}",
      "ets": nested[ETS].hex(),
      "maxrate": " ".join(map(str, struct.unpack(_MAXRATE_FORMAT, nested[MAXRATE]))),
      "app": " ".join(f"{selector}/{protocol}:{priority}" for selector, priority, protocol in apps),
      "buffer": " ".join(map(str, buffers)),
      "dcbx": f"{_talk(_RTM_GETDCB, _CMD_GDCBX, netdev)[_ATTR_DCBX][0]:#04x}",
  }


def ieee_set(netdev, attribute, structure):
  """One IEEE_SET; OSError with the driver's errno when it refuses."""
  nested = _attribute(_ATTR_IEEE | _NESTED, _attribute(attribute, structure))
  _check(_talk(_RTM_SETDCB, _CMD_IEEE_SET, netdev, nested), _ATTR_IEEE)


def set_pfc(netdev, mask, delay_m=0):
  """PFC mask and cable length as they go to the driver; delay 0 leaves the length."""
  ieee_set(netdev, PFC, struct.pack(_PFC_FORMAT, 0, mask, 0, delay_m, *[0] * 16))


def set_ets(netdev, prio_tc, tc_tsa, tc_bw):
  """Lists of eight: traffic class of each priority; TSA (0 strict, 1 CBS, 2 ETS, 255 vendor), share of each class."""
  ieee_set(netdev, ETS, struct.pack(_ETS_FORMAT, 0, 0, 0, *tc_bw, *[0] * 8, *tc_tsa, *prio_tc, *[0] * 24))


def set_maxrate(netdev, kbps):
  """List of eight, kb/s, 0 for none."""
  ieee_set(netdev, MAXRATE, struct.pack(_MAXRATE_FORMAT, *kbps))


def maxrate(netdev):
  return list(struct.unpack(_MAXRATE_FORMAT, ieee_get(netdev, MAXRATE)))


def set_buffer(netdev, prio2buffer, sizes):
  """Lists of eight: buffer of each priority; bytes of each buffer."""
  ieee_set(netdev, BUFFER, struct.pack(_BUFFER_FORMAT, *prio2buffer, *sizes, 0))


def _app(netdev, command, selector, protocol, priority):
  entry = _attribute(_IEEE_APP, struct.pack("=BBH", selector, priority, protocol))
  nested = _attribute(_ATTR_IEEE | _NESTED, _attribute(_IEEE_APP_TABLE | _NESTED, entry))
  _check(_talk(_RTM_SETDCB, command, netdev, nested), _ATTR_IEEE)


def add_app(netdev, selector, protocol, priority):
  _app(netdev, _CMD_IEEE_SET, selector, protocol, priority)


def delete_app(netdev, selector, protocol, priority):
  _app(netdev, _CMD_IEEE_DEL, selector, protocol, priority)


def set_dcbx(netdev, mode):
  """SDCBX; `dcb` has no word for mode 0, which hands DCBX to the firmware."""
  answer = _talk(_RTM_SETDCB, _CMD_SDCBX, netdev, _attribute(_ATTR_DCBX, bytes([mode])))
  if answer[_ATTR_DCBX][0]:
    raise OSError(errno.EOPNOTSUPP, f"SDCBX({mode:#x}) refused")


def expect_errno(code, function, *arguments):
  """The call must be refused with exactly this errno."""
  try:
    function(*arguments)
  except OSError as error:
    if error.errno != code:
      raise Failure(f"{function.__name__}: {error}, should be {errno.errorcode[code]}") from None
    return
  raise Failure(f"{function.__name__}{arguments} was accepted, should be {errno.errorcode[code]}")
