/** A number that JavaScript's numbers do not hold, such as 12345678901234567890.10, as it is spelled in the recording. */
export class ExactNumber {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }

  /** In JSON it is a string with the number's spelling. */
  toJSON(): string {
    return this.text;
  }

  /** The nearest number that JavaScript holds. */
  valueOf(): number {
    return Number(this.text);
  }
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Parses JSON, with an `ExactNumber` for each number that JavaScript would change. */
export function parse(json: string): unknown {
  const pieces: string[] = [];
  const marker = unused(json);
  let kept = 0;
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (char === 0x22) {
      at = endOfString(json, at);
    } else if (char === 0x2d || (char >= 0x30 && char <= 0x39)) {
      NUMBER.lastIndex = at;
      const text = NUMBER.exec(json)?.[0] ?? "";
      if (!isHeld(text)) {
        pieces.push(json.slice(kept, at), `{"${marker}":"${text}"}`);
        kept = at + text.length;
      }
      at += text.length - 1;
    }
  }
  if (pieces.length === 0) return JSON.parse(json);
  pieces.push(json.slice(kept));
  return JSON.parse(pieces.join(""), (_, value: unknown) => {
    const text = value !== null && typeof value === "object" && marker in value ? (value as Record<string, unknown>)[marker] : null;
    return typeof text === "string" ? new ExactNumber(text) : value;
  });
}

/** A name that stands nowhere in the text. */
function unused(json: string): string {
  let marker = "exact";
  while (json.includes(`"${marker}"`)) marker += "!";
  return marker;
}

/** Where the string that begins at `start` has its closing quote. */
function endOfString(json: string, start: number): number {
  let end = start;
  for (;;) {
    end = json.indexOf('"', end + 1);
    let backslashes = 0;
    while (json.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}

/** Whether JavaScript's number of this spelling has the same value in decimal. */
function isHeld(text: string): boolean {
  // Up to fifteen digits are always held.
  if (text.length <= 15 && !/[.eE]/.test(text)) return true;
  const number = Number(text);
  return Number.isFinite(number) && decimal(text) === decimal(String(number));
}

/** A decimal number in one spelling: its digits without zeros around them, and the exponent of the last. */
function decimal(text: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  return short === "" ? "0" : `${sign}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}
