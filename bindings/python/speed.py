"""How long a call takes on this machine: run with the Python that has mcp_concord.

    python bindings/python/speed.py [RECORDING]

The recording is docs/examples/null-id.jsonl unless another is named.
"""

import statistics
import sys
import time
from pathlib import Path

import mcp_concord

path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "docs/examples/null-id.jsonl"
data = path.read_bytes()
for function in (mcp_concord.check, mcp_concord.read, mcp_concord.identify, mcp_concord.summary):
    function(data)
    times = []
    for _ in range(1000):
        begun = time.perf_counter()
        function(data)
        times.append((time.perf_counter() - begun) * 1000)
    times.sort()
    print(f"{function.__name__:9} {statistics.median(times):.3f} ms, the fastest {times[0]:.3f} ms, 99 of 100 within {times[989]:.3f} ms")
