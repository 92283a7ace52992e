// Preloaded into a program that would listen on every address of the machine: it listens only on loopback.
// The port goes to the file that PORT_FILE names, if it names one.

import dns from "node:dns";
import { writeFileSync } from "node:fs";
import { Server } from "node:net";

const { listen } = Server.prototype;
const { lookup } = dns;

Server.prototype.listen = function (port, ...rest) {
  if (!/^\d+$/.test(port)) return listen.call(this, port, ...rest);
  const file = process.env.PORT_FILE;
  if (file) this.once("listening", () => writeFileSync(file, `${this.address().port}\n`));
  // A host is looked up, which takes a turn of the loop; a server without one has its port at once, and is asked for it.
  dns.lookup = (address, { all }, found) => found(null, ...(all ? [[{ address, family: 4 }]] : [address, 4]));
  try {
    return listen.call(this, { port: Number(port), host: "127.0.0.1" }, ...rest);
  } finally {
    dns.lookup = lookup;
  }
};
