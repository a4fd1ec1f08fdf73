"""What the lab needs and does not keep in git: Debian's kernel, its headers, the built test NIC, the boot image.

Everything lies under one directory shared by all checkouts of a user:

  kernel/<abi>/        vmlinuz, lib/modules and usr/src of one pinned Debian kernel, unpacked, never installed
  vmlinux/<abi>/       the same kernel, uncompressed
  module/<abi>-<hash>/ mlx5_testnic.ko built from the sources with that hash
  initramfs/<hash>.cpio

Each entry appears by one rename, so a reader sees it whole or not at all; a lock makes one of several
simultaneous runs do the work.
"""

import contextlib
import fcntl
import hashlib
import lzma
import os
import pathlib
import shutil
import subprocess
import tempfile

from . import LabError, VM_DIR

# One version for image and headers, so that the module always fits the kernel. Debian keeps a superseded
# version on offer for a while only; raise this number, or set ROCETUNE_VMLAB_KERNEL, when it is gone.
PINNED_ABI = "6.1.0-57"
KBUILD = "linux-kbuild-6.1"

HOST_PACKAGES = [
    "qemu-system-x86", "busybox-static", "cpio", "kmod", "e2fsprogs", "make", "gcc-12", "libelf1", "libssl3",
    "iproute2", "ethtool", "rdma-core", "ibverbs-providers", "ibverbs-utils", "perftest", "python3", "systemd",
    "prometheus-node-exporter",  # beside which a suite measures the cost of sampling
]

# In load order of need; dependencies are resolved by modprobe. crc32_generic comes before rdma_rxe, which
# asks for the "crc32" hash by name only when a link is added and fails with ENOENT without it.
BOOT_MODULES = ["virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay"]
LAB_MODULES = ["crc32_generic", "configfs", "ib_core", "ib_uverbs", "rdma_rxe", "rdma_cm", "rdma_ucm"]


def kernel_abi():
  return os.environ.get("ROCETUNE_VMLAB_KERNEL", PINNED_ABI)


def root():
  explicit = os.environ.get("ROCETUNE_VMLAB_CACHE")
  if explicit:
    path = pathlib.Path(explicit)
  else:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = pathlib.Path(base) / "rocetune" / "vmlab"
  path.mkdir(parents=True, exist_ok=True)
  return path.resolve()


@contextlib.contextmanager
def _locked():
  with open(root() / "lock", "w", encoding="ascii") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    yield


@contextlib.contextmanager
def _built(path):
  """Yields a scratch directory that becomes `path` by rename when the block ends without an exception."""
  path.parent.mkdir(parents=True, exist_ok=True)
  scratch = pathlib.Path(tempfile.mkdtemp(prefix=".making-", dir=path.parent))
  try:
    yield scratch
    scratch.rename(path)
  finally:
    shutil.rmtree(scratch, ignore_errors=True)


def _run(argv, what, **options):
  done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
  if done.returncode != 0:
    raise LabError(f"{what} failed ({' '.join(map(str, argv))}):\n{done.stdout.strip()}")
  return done.stdout


def _packages(abi):
  return [f"linux-image-{abi}-amd64", f"linux-headers-{abi}-amd64", f"linux-headers-{abi}-common", KBUILD]


def _newest_on_offer():
  out = subprocess.run(["apt-cache", "search", "--names-only", r"^linux-image-6\.1\.0-[0-9]+-amd64$"],
                       stdout=subprocess.PIPE, text=True, check=False).stdout
  numbers = [int(line.split("-")[3]) for line in out.splitlines() if line.count("-") >= 4]
  return f"6.1.0-{max(numbers)}" if numbers else None


def kernel():
  """The unpacked kernel's directory; downloads it with apt on first use."""
  abi = kernel_abi()
  path = root() / "kernel" / abi
  if path.is_dir():
    return path
  with _locked():
    if path.is_dir():
      return path
    with _built(path) as scratch:
      debs = scratch / "debs"
      debs.mkdir()
      try:
        _run(["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", *_packages(abi)],
             "downloading the lab's kernel", cwd=debs)
      except LabError as error:
        newest = _newest_on_offer()
        hint = (f"apt offers {newest}: try ROCETUNE_VMLAB_KERNEL={newest}" if newest and newest != abi
                else "run 'apt-get update' (or 'tools/vmlab install') and try again")
        raise LabError(f"{error}\n{hint}") from None
      for deb in sorted(debs.iterdir()):
        _run(["dpkg", "-x", str(deb), str(scratch)], f"unpacking {deb.name}")
      shutil.rmtree(debs)
      _relocate(scratch, abi)
      _run(["depmod", "-b", str(scratch), f"{abi}-amd64"], "depmod")
  return path


def _relocate(scratch, abi):
  """Makes the unpacked headers usable where they lie: Debian's point to /usr/src and /usr/lib."""
  src = scratch / "usr" / "src"
  headers = src / f"linux-headers-{abi}-amd64"
  (headers / "Makefile").write_text(
      f"include $(dir $(lastword $(MAKEFILE_LIST)))../linux-headers-{abi}-common/Makefile\n", encoding="ascii")
  modules = scratch / "lib" / "modules" / f"{abi}-amd64"
  for name, target in (("build", headers), ("source", src / f"linux-headers-{abi}-common")):
    link = modules / name
    if link.is_symlink():
      link.unlink()
    link.symlink_to(os.path.relpath(target, modules))


def boot_kernel():
  """The kernel as QEMU is to load it: uncompressed, by its PVH entry, or Debian's vmlinuz when that is not to be had.

  Inflating vmlinuz (xz) costs an emulated CPU as much as all the rest of the boot.
  """
  packed = kernel() / "boot" / f"vmlinuz-{kernel_version()}"
  path = root() / "vmlinux" / kernel_abi()
  if path.is_dir():
    return path / "vmlinux"
  data = packed.read_bytes()
  start = data.find(b"\xfd7zXZ\0")
  try:
    image = lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(data[start:]) if start >= 0 else b""
  except lzma.LZMAError:
    image = b""
  if not image.startswith(b"\x7fELF"):
    return packed
  with _locked():
    if not path.is_dir():
      with _built(path) as scratch:
        (scratch / "vmlinux").write_bytes(image)
  return path / "vmlinux"


def kernel_version():
  return f"{kernel_abi()}-amd64"


def _digest(paths, *extra):
  digest = hashlib.sha256()
  for text in extra:
    digest.update(text.encode() + b"\0")
  for path in paths:
    digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
  return digest.hexdigest()[:16]


def module():
  """mlx5_testnic.ko for the pinned kernel, built when its sources have changed."""
  source = VM_DIR / "module"
  files = sorted(p for p in source.iterdir() if p.suffix in (".c", ".h") or p.name in ("Kbuild", "Makefile"))
  path = root() / "module" / f"{kernel_abi()}-{_digest(files)}"
  if path.is_dir():
    return path / "mlx5_testnic.ko"
  tree = kernel()
  with _locked():
    if not path.is_dir():
      with _built(path) as scratch:
        for file in files:
          shutil.copy(file, scratch)
        headers = tree / "usr" / "src" / f"linux-headers-{kernel_abi()}-amd64"
        try:
          _run(["make", "-s", "-C", str(headers), f"M={scratch}", "W=1", "KCFLAGS=-Werror",
                f"-j{os.cpu_count() or 1}", "modules"], "building mlx5_testnic")
        except LabError as error:
          raise LabError(str(error).replace(f"{scratch}/", f"{source}/")) from None
  return path / "mlx5_testnic.ko"


def _module_files(names):
  """The files of the named modules and of everything they depend on, in load order, each once."""
  tree = kernel()
  files = []
  for name in names:
    out = _run(["modprobe", "-d", str(tree), "-S", kernel_version(), "--show-depends", name], f"resolving {name}")
    for line in out.splitlines():
      word = line.split()
      if word and word[0] == "insmod" and word[1] not in files:
        files.append(word[1])
  return [pathlib.Path(f) for f in files]


def initramfs():
  """The boot image: busybox, the modules in load order, and the first-stage init."""
  testnic = module()
  boot_key = _digest([testnic, VM_DIR / "guest" / "init", pathlib.Path("/bin/busybox")], kernel_version(),
                     *BOOT_MODULES, *LAB_MODULES)
  path = root() / "initramfs" / boot_key
  if path.is_dir():
    return path / "image.cpio"
  files = _module_files(BOOT_MODULES + LAB_MODULES) + [testnic]
  with _locked():
    if not path.is_dir():
      with _built(path) as scratch:
        tree = scratch / "tree"
        for name in ("bin", "dev", "proc", "sys", "host", "overlay", "root", "modules"):
          (tree / name).mkdir(parents=True)
        shutil.copy("/bin/busybox", tree / "bin" / "busybox")
        shutil.copy(VM_DIR / "guest" / "init", tree / "init")
        (tree / "init").chmod(0o755)
        for i, file in enumerate(files):
          shutil.copy(file, tree / "modules" / f"{i:02d}-{file.name}")
        image = scratch / "image.cpio"
        with open(image, "wb") as out:
          names = "\n".join(str(p.relative_to(tree)) for p in sorted(tree.rglob("*")))
          # Not compressed: QEMU copies it faster than an emulated CPU inflates it.
          subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], input=names.encode(), stdout=out, cwd=tree,
                         check=True)
        shutil.rmtree(tree)
  return path / "image.cpio"


def missing_tools():
  tools = ("qemu-system-x86_64", "busybox", "cpio", "modprobe", "depmod", "make", "gcc-12")
  path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
  return [t for t in tools if shutil.which(t, path=path) is None]
