"""How long a call takes on this machine, and how many cores a batch uses: run with the Python that has mcp_concord.

    python bindings/python/speed.py [RECORDING]

The recording is docs/examples/null-id.jsonl unless another is named. The batch is 2,000 files of 3,000 messages.
"""

import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
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

with tempfile.TemporaryDirectory() as folder:
    files = [Path(folder) / f"{number}.jsonl" for number in range(2000)]
    for file in files:
        file.write_bytes(b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}\n' * 3000)

    def batch(threads: int) -> float:
        begun, worked = time.perf_counter(), time.process_time()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(mcp_concord.check, files))
        taken, busy = time.perf_counter() - begun, (time.process_time() - worked)
        print(f"2,000 files in {threads} threads: {taken:.1f} s, {busy / taken:.2f} cores busy")
        return taken

    cores = os.cpu_count() or 1
    single, together = batch(1), batch(cores)
    print(f"{single / together:.2f} times as fast on {cores} cores")
