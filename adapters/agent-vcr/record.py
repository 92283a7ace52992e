"""agent-vcr's own recorder between a client and a server, by its library: what its command line reads of the standard input
comes in blocks of 4096 bytes, so that a client that waits for an answer waits for ever.

    python record.py FILE COMMAND [ARGUMENT…]

agent-vcr records until somebody stops it. This does so a second after the client has ended, when the last answers have passed.
"""

import asyncio
import os
import sys

from agent_vcr.recorder import MCPRecorder


def pump(target):
    """Hands the client's bytes on, and returns when it has ended."""
    while block := os.read(0, 65536):
        os.write(target, block)


async def main(out, command, *rest):
    source, target = os.pipe()
    recorder = MCPRecorder("stdio", server_command=command, server_args=list(rest), client_stdin_fd=source)
    await recorder.start()
    await asyncio.to_thread(pump, target)
    os.close(target)
    await asyncio.sleep(1)
    await recorder.stop(out)


asyncio.run(main(*sys.argv[1:]))
