"""The host side of the VM lab: cache, boot image, machine, test runner. Debian's python3, standard library only."""

import pathlib

VM_DIR = pathlib.Path(__file__).resolve().parent.parent
REPO = VM_DIR.parent.parent


class LabError(Exception):
  """Something the person at the keyboard can fix; printed as one message, exit code 2."""
