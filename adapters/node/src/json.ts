/**
 * JSON as it stands in the file.
 *
 * Knows: every digit of a number, every member of an object in its place, every half of a surrogate pair. Refuses to
 * know: what any of it means. `JSON.parse` is no help here: it rounds numbers, keeps the last of two equal names, and
 * an object of JavaScript has names of its own, such as `__proto__`. Nothing here recurses, so that depth costs memory
 * and no stack.
 */

export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;

/** A number is its text; whoever needs its value asks for the decimal. */
export class JsonNumber {
  constructor(readonly text: string) {}

  /** `digits × 10^exponent`, with neither leading nor trailing zeros in `digits`; equal numbers have equal decimals. */
  decimal(): Decimal {
    const [mantissa = '', exponent = '0'] = this.text.toLowerCase().split('e');
    const negative = mantissa.startsWith('-');
    const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
    const digits = (whole + fraction).replace(/^0+/, '');
    const kept = withoutTrailingZeros(digits);
    if (kept === '') return { negative: false, digits: '', exponent: 0n };
    return { negative, digits: kept, exponent: BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - kept.length) };
  }

  equals(other: JsonNumber): boolean {
    if (this.text === other.text) return true;
    const [a, b] = [this.decimal(), other.decimal()];
    return a.negative === b.negative && a.digits === b.digits && a.exponent === b.exponent;
  }
}

export interface Decimal {
  negative: boolean;
  digits: string;
  exponent: bigint;
}

/** An object keeps its members in their order, also those whose name was there before. */
export class JsonObject {
  readonly names: string[] = [];
  readonly values: Json[] = [];

  static of(members: Iterable<readonly [string, Json]>): JsonObject {
    const object = new JsonObject();
    for (const [name, value] of members) object.add(name, value);
    return object;
  }

  add(name: string, value: Json): void {
    this.names.push(name);
    this.values.push(value);
  }

  has(name: string): boolean {
    return this.names.includes(name);
  }

  /** The first member of this name; `undefined` where there is none, which is not the same as `null`. */
  get(name: string): Json | undefined {
    const at = this.names.indexOf(name);
    return at < 0 ? undefined : this.values[at];
  }

  isTwice(name: string): boolean {
    return this.names.indexOf(name) !== this.names.lastIndexOf(name);
  }
}

/** Text that is no JSON. `cut` tells text that merely ends too early. */
export class NotJson extends Error {
  constructor(
    message: string,
    readonly at: number,
    readonly cut: boolean,
  ) {
    super(message);
  }
}

/** The one value that `text` consists of. */
export function parse(text: string): Json {
  const scanner = new Scanner(text);
  const open: (Json[] | JsonObject)[] = [];
  for (;;) {
    let value: Json;
    const first = scanner.next();
    if (first === BRACE) {
      scanner.at += 1;
      value = new JsonObject();
      if (scanner.next() !== END_BRACE) {
        open.push(value);
        scanner.name(value);
        continue;
      }
      scanner.at += 1;
    } else if (first === BRACKET) {
      scanner.at += 1;
      value = [];
      if (scanner.next() !== END_BRACKET) {
        open.push(value);
        continue;
      }
      scanner.at += 1;
    } else {
      value = scanner.scalar(first);
    }
    // The value is whole. It goes into what holds it, and may be the last one there, and that the last one of its holder.
    for (;;) {
      const holder = open.at(-1);
      if (holder === undefined) {
        scanner.end();
        return value;
      }
      const inArray = Array.isArray(holder);
      (inArray ? holder : holder.values).push(value);
      const after = scanner.next();
      if (after === COMMA) {
        scanner.at += 1;
        if (!inArray) scanner.name(holder);
        break;
      }
      if (after !== (inArray ? END_BRACKET : END_BRACE)) throw scanner.wrong(inArray ? 'a comma or ]' : 'a comma or }');
      scanner.at += 1;
      value = holder;
      open.pop();
    }
  }
}

/** JSON text without a line break in it. A lone surrogate becomes an escape, so that UTF-8 can carry it. */
export function write(value: Json): string {
  const out: string[] = [];
  // What is still to be written: values, and the text between them.
  const due: (Json | Text)[] = [value];
  for (let next = due.pop(); next !== undefined; next = due.pop()) {
    if (next instanceof Text) {
      out.push(next.text);
    } else if (next instanceof JsonNumber) {
      out.push(next.text);
    } else if (Array.isArray(next)) {
      due.push(END_OF_ARRAY);
      for (let at = next.length - 1; at >= 0; at -= 1) {
        due.push(next[at] as Json);
        if (at > 0) due.push(BETWEEN);
      }
      out.push('[');
    } else if (next instanceof JsonObject) {
      due.push(END_OF_OBJECT);
      for (let at = next.names.length - 1; at >= 0; at -= 1) {
        due.push(next.values[at] as Json, new Text(`${at > 0 ? ',' : ''}${JSON.stringify(next.names[at])}:`));
      }
      out.push('{');
    } else {
      out.push(JSON.stringify(next));
    }
  }
  return out.join('');
}

class Text {
  constructor(readonly text: string) {}
}
const [BETWEEN, END_OF_ARRAY, END_OF_OBJECT] = [new Text(','), new Text(']'), new Text('}')];

/** Without a regular expression: `/0+$/` looks at each zero of a long run again and again. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === ZERO) end -= 1;
  return digits.slice(0, end);
}

const [QUOTE, COMMA, MINUS, DOT, ZERO, NINE, COLON] = [0x22, 0x2c, 0x2d, 0x2e, 0x30, 0x39, 0x3a];
const [BRACKET, BACKSLASH, END_BRACKET, BRACE, END_BRACE] = [0x5b, 0x5c, 0x5d, 0x7b, 0x7d];
const ESCAPES: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

class Scanner {
  at = 0;

  constructor(private readonly text: string) {}

  /** The code of the next character that is no white space; NaN at the end. */
  next(): number {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
      this.at += 1;
    }
  }

  end(): void {
    if (!Number.isNaN(this.next())) throw this.wrong('nothing more');
  }

  name(object: JsonObject): void {
    if (this.next() !== QUOTE) throw this.wrong('a name in quotes');
    object.names.push(this.string());
    if (this.next() !== COLON) throw this.wrong('a colon');
    this.at += 1;
  }

  scalar(first: number): Json {
    if (first === QUOTE) return this.string();
    if (first === MINUS || isDigit(first)) return this.number();
    for (const [word, value] of [['true', true], ['false', false], ['null', null]] as const) {
      if (first !== word.charCodeAt(0)) continue;
      for (let at = 0; at < word.length; at += 1, this.at += 1) {
        if (this.text.charCodeAt(this.at) !== word.charCodeAt(at)) throw this.wrong(word);
      }
      return value;
    }
    throw this.wrong('a value');
  }

  string(): string {
    this.at += 1;
    let [start, read] = [this.at, ''];
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code === QUOTE) {
        read += this.text.slice(start, this.at);
        this.at += 1;
        return read;
      }
      if (code === BACKSLASH) {
        read += this.text.slice(start, this.at) + this.escape();
        start = this.at;
      } else if (code >= 0x20) {
        this.at += 1;
      } else {
        throw this.wrong('a character that may stand in a string');
      }
    }
  }

  private escape(): string {
    this.at += 1;
    const letter = this.text.charAt(this.at);
    if (letter !== 'u') {
      const plain = ESCAPES[letter];
      if (plain === undefined) throw this.wrong('an escape');
      this.at += 1;
      return plain;
    }
    this.at += 1;
    const start = this.at;
    for (; this.at < start + 4; this.at += 1) {
      if (!/[0-9a-fA-F]/.test(this.text.charAt(this.at))) throw this.wrong('four hexadecimal digits');
    }
    return String.fromCharCode(Number.parseInt(this.text.slice(start, this.at), 16));
  }

  private number(): JsonNumber {
    const start = this.at;
    if (this.text.charCodeAt(this.at) === MINUS) this.at += 1;
    if (this.text.charCodeAt(this.at) === ZERO) this.at += 1;
    else this.digits();
    if (this.text.charCodeAt(this.at) === DOT) {
      this.at += 1;
      this.digits();
    }
    if (/[eE]/.test(this.text.charAt(this.at))) {
      this.at += 1;
      if (/[+-]/.test(this.text.charAt(this.at))) this.at += 1;
      this.digits();
    }
    return new JsonNumber(this.text.slice(start, this.at));
  }

  private digits(): void {
    if (!isDigit(this.text.charCodeAt(this.at))) throw this.wrong('a digit');
    while (isDigit(this.text.charCodeAt(this.at))) this.at += 1;
  }

  wrong(wanted: string): NotJson {
    const cut = this.at >= this.text.length;
    const found = cut ? 'the text ends' : `there is ${JSON.stringify(this.text.charAt(this.at))}`;
    return new NotJson(`${found} where ${wanted} is due`, this.at, cut);
  }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
