"""Prints two Markdown tables of where the official schemas and the SDKs differ about faults: differences.py FOLDER, with the
output of the differential test and of the peers."""

import json
import re
import sys
from collections import Counter
from pathlib import Path

SDKS = {"python": "Python", "typescript": "TypeScript"}
MOST = 12

counts, places = [], {sdk: {"takes": Counter(), "refuses": Counter()} for sdk in SDKS}
for file in sorted(Path(sys.argv[1]).glob("*.jsonl")):
    asked = [json.loads(line) for line in file.open()]
    for sdk in SDKS:
        answers = [json.loads(line) for line in Path(f"{file}.{sdk}").open()]
        # A message that the SDK refuses without any fault shows nothing about the faults in it.
        whole, row = None, Counter()
        for one, takes in zip(asked, answers, strict=True):
            if not one["fault"]:
                whole = takes
            if takes is None or not one["fault"]:
                row["unknown"] += takes is None and bool(one["fault"])
                continue
            if not whole:
                row["unusable"] += 1
                continue
            row["asked"] += 1
            if takes != one["accepted"]:
                kind = "takes" if takes else "refuses"
                row[kind] += 1
                place, what = re.match(r"(\S*) (.*)", one["fault"]).groups()
                parts = [part for part in place.split("/") if not re.fullmatch(r"\d+|key\d+", part)]
                places[sdk][kind][f"`{'/'.join(parts[-2:]) or one['part']}` {what}"] += 1
        counts.append((file.stem, SDKS[sdk], row))

print("| revision | SDK | faults asked | takes what the schema refuses | refuses what the schema takes | no such message | refused whole |")
print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
for revision, sdk, row in counts:
    cells = " | ".join(str(row[name]) for name in ("asked", "takes", "refuses", "unknown", "unusable"))
    print(f"| {revision} | {sdk} | {cells} |")
for kind, title in (("takes", "takes what the schema refuses"), ("refuses", "refuses what the schema takes")):
    print(f"\n| SDK | most often {title} | times |\n| --- | --- | ---: |")
    for sdk, name in SDKS.items():
        for place, count in sorted(places[sdk][kind].items(), key=lambda item: (-item[1], item[0]))[:MOST]:
            print(f"| {name} | {place} | {count} |")
