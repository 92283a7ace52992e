// Preloaded into a server that would listen on every address of the machine: it listens only on loopback.
import { Server } from "node:net";

const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
  return /^\d+$/.test(port) ? listen.call(this, { port: Number(port), host: "127.0.0.1" }, ...rest) : listen.call(this, port, ...rest);
};
