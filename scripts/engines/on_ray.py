"""Judges the recordings of a list on Ray Data: on_ray.py LIST OUT writes lines as `check --output ndjson` prints them.

    PYTHONPATH=scripts/engines python3 scripts/engines/on_ray.py paths.txt findings.ndjson
"""

import sys

import ray

from concord import judged


def batch(paths):
    return {"line": judged(list(paths["path"]))}


def main(paths, out):
    with open(paths) as names:
        named = ray.data.from_items([{"path": name.rstrip("\n")} for name in names])
    lines = named.repartition(16).map_batches(batch, batch_size=256)
    with open(out, "w") as file:
        for row in lines.iter_rows():
            file.write(row["line"] + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
