#!/usr/bin/env python3
"""Checks that the tree is what tests/structure/layers.toml says: layers, foreign headers, file sizes, names.

usage: check_structure.py [ROOT]      prints every violation, then `N passed, N failed`; exit 1 if any failed
"""
import fnmatch
import pathlib
import re
import subprocess
import sys
import tomllib

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCE_SUFFIXES = {".h", ".cc", ".c"}
CODE_ROOTS = ("congestion", "dataplane", "agent", "tools", "tests")
# The kernel module of the VM lab is kernel code, with the kernel's own includes, names and customs.
KERNEL_CODE = "tests/vm/module/"


class Layers:
    def __init__(self, text):
        data = tomllib.loads(text)
        self.direct = {row["name"]: row["may_include"] for row in data["folder"]}
        for name, uses in self.direct.items():
            for use in uses:
                if use not in self.direct:
                    raise ValueError(f"layers.toml: {name} may include {use}, which has no row")
        self.foreign = [(re.compile(row["header"] + r"\Z"), row["only_in"]) for row in data["foreign"]]
        self.max_lines = data["files"]["max_lines"]
        self.longer = data["files"]["longer"]
        self.forbidden_names = set(data["files"]["forbidden_names"])
        self.forbidden_text = [re.compile(pattern) for pattern in data["files"]["forbidden_text"]]

    def folder_of(self, path):
        """The row a file belongs to: the longest one that is a prefix of its path, or None."""
        rows = [name for name in self.direct if path.startswith(name + "/")]
        return max(rows, key=len, default=None)

    def allowed(self, folder):
        """Everything a folder may include, itself first."""
        seen, stack = {folder}, [folder]
        while stack:
            for use in self.direct[stack.pop()]:
                if use not in seen:
                    seen.add(use)
                    stack.append(use)
        return seen


def check_cycles(layers):
    for folder in layers.direct:
        for use in layers.direct[folder]:
            if folder in layers.allowed(use):
                yield f"layers.toml: {folder} and {use} include each other"


def is_within(path, places):
    return any(fnmatch.fnmatchcase(path, place) if "*" in place else path == place or path.startswith(place + "/")
               for place in places)


def check_includes(layers, path, text):
    folder = layers.folder_of(path)
    if folder is None and not path.startswith(("tools/", "tests/")):
        yield f"{path}: belongs to no folder of layers.toml"
    as_if = path.removeprefix("tests/")
    for match in INCLUDE.finditer(text):
        header = match.group(2)
        line = text.count("\n", 0, match.start(2)) + 1
        if match.group(1) == '"':
            if not header.startswith(CODE_ROOTS):
                yield f"{path}:{line}: include \"{header}\" is not written from the repository's root"
                continue
            target = layers.folder_of(header)
            if folder is not None and (target is None or target not in layers.allowed(folder)):
                yield (f"{path}:{line}: {folder} may not include {header}; "
                       f"allowed: {', '.join(sorted(layers.allowed(folder)))}")
        for pattern, only_in in layers.foreign:
            if pattern.match(header) and not is_within(path, only_in) and not is_within(as_if, only_in):
                yield f"{path}:{line}: <{header}> only in {', '.join(only_in)}"


def list_in_meson(text, variable):
    match = re.search(rf"^{variable}\s*\+?=\s*\[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"'([^']+)'", re.sub(r"#.*", "", match.group(1))) if match else []


def check_meson(layers, path, text, sources):
    """A folder's `uses` is allowed by its row, and covers what its files include."""
    folder = path.removesuffix("/meson.build")
    if folder not in layers.direct:
        return
    uses = list_in_meson(text, "uses")
    for use in uses:
        if layers.folder_of(use + "/") not in layers.allowed(folder):
            yield f"{path}: uses {use}, which layers.toml does not allow"
    reachable = {folder}
    for use in uses:
        if layers.folder_of(use + "/") is not None:
            reachable |= layers.allowed(layers.folder_of(use + "/"))
    for source, source_text in sources.items():
        if layers.folder_of(source) != folder:
            continue
        for match in INCLUDE.finditer(source_text):
            target = layers.folder_of(match.group(2)) if match.group(1) == '"' else None
            if target is not None and target not in reachable:
                yield f"{source}: includes {match.group(2)}, but {path} does not list {target} in `uses`"


def check_file(layers, path, text):
    lines = text.count("\n")
    if lines > layers.max_lines and path not in layers.longer and is_code(path):
        yield f"{path}: {lines} lines, more than {layers.max_lines}, and not listed with a reason"
    if path in layers.longer and lines <= layers.max_lines:
        yield f"{path}: is listed as longer than {layers.max_lines} lines and has {lines}"
    if layers.forbidden_names & set(re.split(r"[/._-]", path)):
        yield f"{path}: the name says nothing about what is inside"
    if not path.startswith("tests/structure/"):
        for number, line in enumerate(text.splitlines(), 1):
            for pattern in layers.forbidden_text:
                if found := pattern.search(line):
                    yield f"{path}:{number}: says {found.group(0)}"


def check_fuzzing(files):
    """Every fuzz target is built, and has inputs kept for it."""
    listed = set(re.findall(r"^  '([a-z_0-9]+)': \[", files.get("tests/fuzz/meson.build", ""), re.MULTILINE))
    for path in files:
        match = re.fullmatch(r"tests/fuzz/(\w+)_fuzz\.cc", path)
        if match and match.group(1) not in listed:
            yield f"{path}: is not listed in tests/fuzz/meson.build"
        if match and not any(other.startswith(f"tests/fuzz/corpus/{match.group(1)}/") for other in files):
            yield f"{path}: has no inputs in tests/fuzz/corpus/{match.group(1)}/"


def check_unit_tests(files):
    """Every unit test is built."""
    listed = files.get("tests/meson.build", "")
    for path in files:
        if re.fullmatch(r"tests/(congestion|dataplane|agent|tools)/.*_test\.cc", path):
            if f"'{path.rsplit('/', 1)[1]}'" not in listed:
                yield f"{path}: is not listed in tests/meson.build"


def is_code(path):
    return not path.startswith(KERNEL_CODE) and (pathlib.PurePath(path).suffix in SOURCE_SUFFIXES | {".py"} or path in ("run-tests", "quickstart"))


def check_tree(layers, files):
    """files: path -> text. Yields (path, violations) for every file, and for the table itself."""
    yield "tests/structure/layers.toml", list(check_cycles(layers))
    yield "tests/meson.build", list(check_unit_tests(files)) + list(check_fuzzing(files))
    sources = {path: text for path, text in files.items()
               if pathlib.PurePath(path).suffix in SOURCE_SUFFIXES and path.startswith(CODE_ROOTS)
               and not path.startswith(KERNEL_CODE)}
    for path, text in files.items():
        violations = list(check_file(layers, path, text))
        if path in sources:
            violations += check_includes(layers, path, text)
        if path.endswith("/meson.build"):
            violations += check_meson(layers, path, text, sources)
        yield path, violations
    for path in layers.longer:
        if path not in files:
            yield path, [f"{path}: is listed in layers.toml and does not exist"]


def tracked_files(root):
    listing = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                             capture_output=True)
    if listing.returncode == 0:
        names = listing.stdout.decode().split("\0")
    else:  # a copy without its history
        names = [str(p.relative_to(root)) for p in pathlib.Path(root).rglob("*")
                 if not any(part.startswith((".", "build")) for part in p.relative_to(root).parts)]
    files = {}
    for name in filter(None, names):
        path = pathlib.Path(root, name)
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            files[name] = "" if b"\0" in data else data.decode("utf-8", "replace")
    return files


def main():
    here = pathlib.Path(__file__).resolve().parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[1]
    layers = Layers((here / "layers.toml").read_text())
    passed = failed = 0
    for _, violations in check_tree(layers, tracked_files(root)):
        passed, failed = (passed, failed + 1) if violations else (passed + 1, failed)
        for violation in violations:
            print(violation)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
