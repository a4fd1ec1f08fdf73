"""One boot of the lab's virtual machine: build QEMU's command line, relay the streams, bring the exit code back."""

import dataclasses
import os
import pathlib
import secrets
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from . import LabError, VM_DIR, cache

EXIT_TIMEOUT = 124  # as timeout(1)
EXIT_DIED = 125  # the guest went away without an exit code: panic, reset, power-off

STATE_DISK_BYTES = 64 << 20


@dataclasses.dataclass
class Config:
  """What a boot is made of. Directories are absolute paths on the host."""
  nics: int = 2
  memory_mib: int = 1024
  cpus: int = 2
  timeout_s: float = 600
  out: pathlib.Path | None = None  # $VMLAB_OUT in the guest, writable; a temporary one when None
  state: pathlib.Path | None = None  # /var/lib/rocetune in the guest, kept between boots; tmpfs when None
  state_disk: bool = False  # an ext4 disk in `state` instead of a shared directory: unsynced data dies with power
  lockdown: str = ""  # "integrity" or "confidentiality", entered after the modules are loaded
  environment: dict = dataclasses.field(default_factory=dict)
  kernel_args: str = ""


@dataclasses.dataclass
class Result:
  exit_code: int
  died: bool = False  # the guest went away before it told an exit code
  timed_out: bool = False
  kernel_log: str = ""


# Set by a program in front of the command, not by a preexec_fn: that runs Python between fork and exec, where a thread
# that copies a stream may have held a lock which nobody will ever release.
DIES_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL", "--"]


def _kvm_works():
  """KVM may exist and yet refuse the guest's CPU, so a vCPU is made to be sure; the answer is kept per host boot."""
  if not os.access("/dev/kvm", os.R_OK | os.W_OK):
    return False
  boot_id = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
  answer = cache.root() / f"kvm-{boot_id}"
  if not answer.exists():
    probe = subprocess.run(["qemu-system-x86_64", "-M", "q35", "-accel", "kvm", "-cpu", "host", "-m", "32", "-nic",
                            "none", "-display", "none", "-S", "-monitor", "stdio"], input="quit\n", text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20, check=False)
    for old in cache.root().glob("kvm-*"):
      old.unlink(missing_ok=True)
    answer.write_text("yes" if probe.returncode == 0 else "no", encoding="ascii")
  return answer.read_text(encoding="ascii") == "yes"


def _accelerator():
  if os.environ.get("ROCETUNE_VMLAB_ACCEL", "kvm" if _kvm_works() else "tcg") == "kvm":
    return ["-accel", "kvm", "-cpu", "max,-avx,-avx2"]
  # The baseline that is built for, x86-64-v2: emulating newer vector instructions costs a seventh more.
  return ["-accel", "tcg,thread=multi", "-cpu", "Nehalem"]


def _state_arguments(config):
  if config.state is None:
    return "", []
  config.state.mkdir(parents=True, exist_ok=True)
  if not config.state_disk:
    return "shared", ["-fsdev", f"local,id=state,path={config.state},security_model=none",
                      "-device", "virtio-9p-pci,fsdev=state,mount_tag=state"]
  image = config.state / "state.ext4"
  if not image.exists():
    with open(image, "wb") as file:
      file.truncate(STATE_DISK_BYTES)
    subprocess.run(["/sbin/mkfs.ext4", "-q", "-F", str(image)], check=True)
  return "disk", ["-drive", f"file={image},format=raw,if=none,id=state,cache=writeback",
                  "-device", "virtio-blk-pci,drive=state"]


class Machine:
  """Boots once. Use as a context manager; its directory and its QEMU are gone afterwards."""

  def __init__(self, config):
    self.config = config
    self.directory = pathlib.Path(tempfile.mkdtemp(prefix="vmlab-"))
    self.qemu = None

  def __enter__(self):
    return self

  def __exit__(self, *exc):
    if self.qemu and self.qemu.poll() is None:
      self.qemu.kill()
      self.qemu.wait()
    shutil.rmtree(self.directory, ignore_errors=True)

  def _command_line(self, state, channels):
    config = self.config
    # `nowatchdog`: an emulated CPU may be stopped for long by a busy host.
    append = ("console=ttyS0 panic=-1 quiet mitigations=off nowatchdog rcupdate.rcu_cpu_stall_suppress=1 "
              f"sysrq_always_enabled random.trust_cpu=on {config.kernel_args}")
    line = ["qemu-system-x86_64", "-M", "q35", *_accelerator(), "-smp", str(config.cpus), "-m",
            str(config.memory_mib), "-nodefaults", "-no-user-config", "-nic", "none", "-display", "none",
            "-no-reboot", "-kernel", str(cache.boot_kernel()),
            "-initrd", str(cache.initramfs()), "-append", append,
            "-serial", f"file:{self.directory / 'console.log'}",
            "-device", "virtio-rng-pci",
            "-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap",
            "-device", "virtio-9p-pci,fsdev=host,mount_tag=host",
            "-fsdev", f"local,id=vmlab,path={self.directory / 'share'},security_model=none",
            "-device", "virtio-9p-pci,fsdev=vmlab,mount_tag=vmlab",
            *state, "-device", "virtio-serial-pci", *channels]
    for i in range(config.nics):
      line += ["-device", f"pcie-root-port,id=rp{i},bus=pcie.0,chassis={i + 1},slot={i + 1},x-speed=16,x-width=16",
               "-device", f"e1000e,bus=rp{i},mac=b8:ce:f6:00:00:{i + 1:02x}"]
    return line

  def _prepare(self, mode, command, mark, terminal=None):
    config = self.config
    share = self.directory / "share"
    share.mkdir(exist_ok=True)
    shutil.copy(VM_DIR / "guest" / "agent", share / "agent")
    out = config.out
    if out is None:
      out = share / "out"
    out.mkdir(parents=True, exist_ok=True)
    state, state_arguments = _state_arguments(config)
    if config.out is not None:
      state_arguments += ["-fsdev", f"local,id=out,path={out},security_model=none",
                          "-device", "virtio-9p-pci,fsdev=out,mount_tag=out"]
    values = {"MODE": mode, "MARK": mark, "STATE": state, "LOCKDOWN": config.lockdown, "CWD": os.getcwd(),
              "KERNEL": str(cache.kernel()), "SHARED_OUT": "1" if config.out is not None else ""}
    if terminal:
      values.update(COLUMNS=str(terminal.columns), ROWS=str(terminal.lines), TERM=os.environ.get("TERM", "linux"))
    lines = [f"VMLAB_{k}={shlex.quote(v)}" for k, v in values.items()]
    environment = {"VMLAB": "1", "VMLAB_OUT": "/run/vmlab/out", "VMLAB_NICS": str(config.nics),
                   **{k: os.environ[k] for k in ("ROCETUNE_BUILD_DIR", "ROCETUNE_LONG") if k in os.environ},
                   **config.environment}
    lines += [f"export {k}={shlex.quote(v)}" for k, v in environment.items()]
    (share / "config").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (share / "command").write_text(command + "\n", encoding="utf-8")
    return state_arguments

  def _start(self, line, **options):
    if shutil.which(line[0]) is None:
      raise LabError(f"{line[0]} is not installed: run 'tools/vmlab install'")
    with open(self.directory / "qemu.log", "wb") as log:
      self.qemu = subprocess.Popen(DIES_WITH_PARENT + line, stderr=log, start_new_session=True, **options)

  def _result(self, **fields):
    share = self.directory / "share"
    code = fields.pop("exit_code", None)
    if code is None:
      try:
        code = int((share / "exit").read_text(encoding="ascii"))
      except (OSError, ValueError):
        code = EXIT_DIED
        fields["died"] = True
    log = self.directory / "console.log"
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    qemu_log = (self.directory / "qemu.log").read_text(encoding="utf-8", errors="replace")
    if self.qemu.returncode not in (0, None, -signal.SIGKILL) and qemu_log:
      text += f"\nqemu: {qemu_log}"
    return Result(exit_code=code, kernel_log=text, **fields)

  def run(self, command, stdin=None, stdout=None, stderr=None):
    """Boots, runs one shell command, relays its streams (file descriptors; None drops) until it ends."""
    mark = secrets.token_hex(16)
    pairs = {name: socket.socketpair() for name in ("stdin", "stdout", "stderr")}
    channels = []
    for name, (_, theirs) in pairs.items():
      channels += ["-chardev", f"socket,id={name},fd={theirs.fileno()}",
                   "-device", f"virtserialport,chardev={name},name={name}"]
    state = self._prepare("run", command, mark)
    started = time.monotonic()
    self._start(self._command_line(state, channels), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno() for _, theirs in pairs.values()])
    for _, theirs in pairs.values():
      theirs.close()
    ours = {name: pair[0] for name, pair in pairs.items()}
    try:
      timed_out = not _relay(ours, mark.encode(), {"stdin": stdin, "stdout": stdout, "stderr": stderr},
                             started + self.config.timeout_s)
    finally:
      for sock in ours.values():
        sock.close()
    if timed_out:
      return self._result(exit_code=EXIT_TIMEOUT, timed_out=True)
    return self._result()

  def shell(self):
    """Boots into an interactive shell on the calling terminal."""
    terminal = shutil.get_terminal_size()
    state = self._prepare("shell", "", "", terminal)
    channels = ["-chardev", "stdio,id=tty,signal=off", "-device", "virtconsole,chardev=tty"]
    self._start(self._command_line(state, channels))
    self.qemu.wait()
    return self._result()


class _Stream:
  """Copies a guest stream to a descriptor and stops at the end mark, which it never shows."""

  def __init__(self, mark, descriptor):
    self.mark = mark
    self.descriptor = descriptor
    self.held = b""
    self.ended = False

  def feed(self, data):
    data = self.held + data
    at = data.find(self.mark)
    if at >= 0:
      self.ended = True
      self._write(data[:at])
      self.held = b""
      return
    keep = 0
    for n in range(min(len(self.mark) - 1, len(data)), 0, -1):
      if data.endswith(self.mark[:n]):
        keep = n
        break
    self._write(data[:len(data) - keep])
    self.held = data[len(data) - keep:]

  def close(self):
    self._write(self.held)
    self.held = b""
    self.ended = True

  def _write(self, data):
    if self.descriptor is None:
      return
    view = memoryview(data)
    while view:
      view = view[os.write(self.descriptor, view):]


def _relay(sockets, mark, descriptors, deadline):
  """Until both output streams have ended or their peer is gone; False when the deadline came first."""
  streams = {name: _Stream(mark, descriptors[name]) for name in ("stdout", "stderr")}
  with selectors.DefaultSelector() as selector:
    for name in streams:
      selector.register(sockets[name], selectors.EVENT_READ, name)
    stdin = descriptors["stdin"]
    if stdin is None:
      sockets["stdin"].shutdown(socket.SHUT_WR)
    else:
      try:
        selector.register(stdin, selectors.EVENT_READ, "stdin")
      except PermissionError:  # a regular file or /dev/null: always readable, and epoll refuses it
        _feed_file(stdin, sockets["stdin"])
    while not all(s.ended for s in streams.values()):
      left = deadline - time.monotonic()
      if left <= 0:
        return False
      for key, _ in selector.select(left):
        if key.data == "stdin":
          if not _feed_stdin(stdin, sockets["stdin"]):
            selector.unregister(stdin)
          continue
        stream = streams[key.data]
        try:
          data = sockets[key.data].recv(1 << 16)
        except ConnectionResetError:
          data = b""
        if data:
          stream.feed(data)
        else:
          stream.close()
        if stream.ended:
          selector.unregister(sockets[key.data])
  return True


def _feed_stdin(descriptor, sock):
  data = os.read(descriptor, 1 << 16)
  try:
    if data:
      sock.sendall(data)
      return True
    sock.shutdown(socket.SHUT_WR)
  except OSError:  # the guest is gone; its output streams will say so
    pass
  return False


def _feed_file(descriptor, sock):
  import threading  # a file larger than the socket's buffer would block the relay

  def copy():
    while _feed_stdin(descriptor, sock):
      pass

  threading.Thread(target=copy, daemon=True).start()


def explain_death(result, stream=sys.stderr):
  """Says why a guest died, from the end of its kernel log."""
  tail = result.kernel_log.strip().splitlines()[-25:]
  print("vmlab: the guest went away without an exit code; the end of its kernel log:", file=stream)
  for line in tail:
    print(f"  {line}", file=stream)
