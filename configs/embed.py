#!/usr/bin/env python3
"""Write the files under configs/ as one C++ source, so that the program works when merely copied.

Usage: embed.py OUTPUT DEPFILE CONFIG_DIR. Everything but Python sources and hidden files is taken. The depfile
names folders too: a file that is added makes the build run this again.
"""

import os
import sys


def escaped(data: bytes) -> str:
    out = []
    for byte in data:
        if byte == 0x0A:
            out.append("\\n")
        elif 0x20 <= byte < 0x7F and byte not in b'"\\?':
            out.append(chr(byte))
        else:
            out.append("\\%03o" % byte)
    return "".join(out)


def literal(data: bytes) -> str:
    """One string literal per line of the file."""
    lines = data.splitlines(keepends=True) or [b""]
    return "\n".join('       "%s"' % escaped(line) for line in lines)


def main() -> None:
    output, depfile, root = sys.argv[1:4]
    entries, depends = [], []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(n for n in subfolders if n != "__pycache__")
        depends.append(folder)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.startswith(".") or name.endswith(".py"):
                continue
            depends.append(path)
            with open(path, "rb") as file:
                data = file.read()
            entries.append((os.path.relpath(path, root), data))
    entries.sort()
    with open(output, "w", encoding="ascii") as out:
        out.write("// Generated from configs/ by configs/embed.py.\n")
        out.write('#include "dataplane/base/config_files.h"\n\n#include <array>\n\nnamespace rocetune::detail {\nnamespace {\n')
        out.write("constexpr std::array<EmbeddedFile, %d> kFiles{{\n" % len(entries))
        for path, data in entries:
            out.write('    {"%s",\n     std::string_view(\n%s,\n       %d)},\n' % (path, literal(data), len(data)))
        out.write("}};\n}  // namespace\n\n")
        out.write("std::span<const EmbeddedFile> embedded_files() { return kFiles; }\n\n}  // namespace rocetune::detail\n")
    with open(depfile, "w", encoding="utf-8") as deps:
        deps.write("%s: %s\n" % (output, " ".join(d.replace(" ", "\\ ") for d in depends)))


if __name__ == "__main__":
    main()
