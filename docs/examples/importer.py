"""An importer of a few lines, with a mistake that many make: it lists tool calls and looks up answers by id.

    mcp-concord run --exec 'python3 docs/examples/importer.py {file} {format}' --filter 'ids/*'
"""
import json, sys

messages = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8") if line.strip()]
answers = {message.get("id"): message for message in messages if "method" not in message}
calls = []
for message in messages:
    if message.get("method") == "tools/call":
        answer = answers.get(message.get("id"))
        outcome = answer and {kind: answer[kind] for kind in ("result", "error") if kind in answer}
        calls.append({"tool": message["params"]["name"], "arguments": message["params"].get("arguments"), "outcome": outcome})
print(json.dumps({"calls": calls}))
