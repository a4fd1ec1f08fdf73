"""The command line of tools/vmlab."""

import argparse
import os
import pathlib
import shlex
import signal
import subprocess
import sys

from . import REPO, LabError, cache, machine, suites

EXAMPLES = """\
examples:
  tools/vmlab install                              install what the lab needs (Debian, as root), warm the cache
  tools/vmlab run dcb pfc show dev eth0            one command on a fresh host with two NICs
  tools/vmlab run --nics 4 'rdma link; ethtool -i eth3'
  tools/vmlab run build/rocetune inspect --json    the freshly built program, from the checkout
  tools/vmlab run --state /tmp/s 'date >> /var/lib/rocetune/log'   state kept from boot to boot
  tools/vmlab shell                                look around; the shell's end is the machine's end
  tools/vmlab test                                 all suites of tests/vm/suites
  tools/vmlab test lab lockdown -k pfc             two suites, only tests with "pfc" in their name

The guest sees the host's files read-only below a layer that is thrown away, /run/vmlab/out ($VMLAB_OUT) is
shared for writing. `run` ends with the command's exit code; 124 after the time limit, 125 when the guest died.
docs/vm-lab.md says how it works.
"""


def _count(text):
  if not text.isdecimal() or int(text) == 0:
    raise argparse.ArgumentTypeError(f"{text!r}, expected a number from 1")
  return int(text)


def _parser():
  parser = argparse.ArgumentParser(prog="tools/vmlab", formatter_class=argparse.RawDescriptionHelpFormatter,
                                   description="A virtual machine with the real Linux RDMA and DCB stack and "
                                   "test NICs that behave as mlx5.", epilog=EXAMPLES)
  verbs = parser.add_subparsers(dest="verb", required=True, metavar="{install,run,shell,test}")
  common = argparse.ArgumentParser(add_help=False)
  common.add_argument("--memory", type=int, metavar="MIB", help="guest memory (default 1024)")
  common.add_argument("--timeout", type=float, metavar="SECONDS",
                      help="give up after this long, boot included (default 600; test: 1800 a boot)")
  common.add_argument("--kernel-log", action="store_true", help="print the guest's kernel log to stderr at the end")
  machine_options = argparse.ArgumentParser(add_help=False, parents=[common])
  machine_options.add_argument("--nics", type=int, default=2, help="number of test NICs (default 2)")
  machine_options.add_argument("--out", type=pathlib.Path, metavar="DIR", help="share DIR as $VMLAB_OUT")
  machine_options.add_argument("--state", type=pathlib.Path, metavar="DIR",
                               help="keep /var/lib/rocetune of the guest in DIR")
  machine_options.add_argument("--state-disk", action="store_true",
                               help="with --state: an ext4 disk instead of a shared directory")
  machine_options.add_argument("--lockdown", choices=("integrity", "confidentiality"), default="",
                               help="lock the kernel down once its modules are loaded")
  machine_options.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                               help="set an environment variable in the guest")
  run = verbs.add_parser("run", parents=[machine_options], help="boot, run one command, end with its exit code")
  run.add_argument("command", nargs=argparse.REMAINDER, metavar="CMD...",
                   help="one word is a line for bash, several are one quoted command")
  verbs.add_parser("shell", parents=[machine_options], help="boot into an interactive shell")
  test = verbs.add_parser("test", parents=[common], help="run suites of tests/vm/suites")
  test.add_argument("suites", nargs="*", metavar="SUITE", help="names of suites (default: all)")
  test.add_argument("-k", dest="match", default="", metavar="TEXT", help="only tests whose name has TEXT")
  test.add_argument("-j", dest="at_once", type=_count, metavar="N", default=min(os.cpu_count() or 1, 4),
                    help="machines at once (default: one a core, up to 4; here %(default)s)")
  test.add_argument("--brief", action="store_true", help="without the longest tests, as ./run-tests does without --long")
  test.add_argument("--list", action="store_true", help="list the tests, run none")
  verbs.add_parser("install", help="apt-get install what the lab needs and prepare the cache")
  return parser


def _config(options):
  environment = {}
  for item in options.env:
    name, sep, value = item.partition("=")
    if not sep or not name.isidentifier():
      raise LabError(f"--env {item}: expected NAME=VALUE")
    environment[name] = value
  return machine.Config(nics=options.nics, memory_mib=options.memory or 1024, timeout_s=options.timeout or 600,
                        out=options.out.resolve() if options.out else None,
                        state=options.state.resolve() if options.state else None, state_disk=options.state_disk,
                        lockdown=options.lockdown, environment=environment)


def _check_tools():
  missing = cache.missing_tools()
  if missing:
    raise LabError(f"not installed: {', '.join(missing)}; run 'tools/vmlab install'")


def _finish(result, options):
  if options.kernel_log:
    print(result.kernel_log, file=sys.stderr)
  elif result.timed_out:
    print(f"vmlab: no end within {options.timeout or 600:g} s", file=sys.stderr)
  elif result.died:
    machine.explain_death(result)
  return result.exit_code


def _run(options):
  words = options.command
  if words and words[0] == "--":
    words = words[1:]
  if not words:
    raise LabError("run: no command given")
  command = words[0] if len(words) == 1 else shlex.join(words)
  _check_tools()
  with machine.Machine(_config(options)) as vm:
    return _finish(vm.run(command, sys.stdin.fileno(), sys.stdout.fileno(), sys.stderr.fileno()), options)


def _shell(options):
  if not sys.stdin.isatty():
    raise LabError("shell: needs a terminal; use 'tools/vmlab run' in scripts")
  _check_tools()
  with machine.Machine(_config(options)) as vm:
    return _finish(vm.shell(), options)


def _test(options):
  if not options.list:
    _check_tools()
  return suites.main(options.suites, options.match, options.list, brief=options.brief, memory_mib=options.memory,
                     timeout_s=options.timeout, kernel_log=options.kernel_log, at_once=options.at_once)


def _install(_options):
  if os.geteuid() != 0:
    raise LabError("install: needs root (it runs apt-get install)")
  line = [REPO / "tools/install-packages", "vm"]
  if subprocess.run(line, check=False).returncode != 0:
    raise LabError("tools/install-packages vm failed")
  image = cache.initramfs()
  print(f"ready: kernel {cache.kernel_version()}, image {image}")
  return 0


def main(arguments):
  for number in (signal.SIGTERM, signal.SIGHUP):  # by exceptions, so that the machine and its directory go
    signal.signal(number, lambda signum, _: sys.exit(128 + signum))
  options = _parser().parse_args(arguments)
  verbs = {"run": _run, "shell": _shell, "test": _test, "install": _install}
  try:
    return verbs[options.verb](options)
  except LabError as error:
    print(f"vmlab: {error}", file=sys.stderr)
    return 2
  except KeyboardInterrupt:
    return 130
  except BrokenPipeError:
    return 141
