"""The folders with cases, one per line: those that say what is expected."""
import pathlib

for path in sorted(pathlib.Path(__file__).parent.glob("*/expect.json")):
    print(path.parent)
