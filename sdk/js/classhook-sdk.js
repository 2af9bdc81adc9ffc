/**
 * The SDK for plugins in JavaScript: `plugin` makes the component's exports from a `configure` and a `transform`.
 *
 * The functions of the host are modules of the interface, such as `classhook:plugin/probes@0.1.0`, with the names of
 * `wit/plugin.wit` in camel case (`code-length` is `codeLength`). Numbers of 64 bits are `BigInt`s, lists of them
 * `BigUint64Array`s. Files, the clock, the network and the environment are not available.
 */

import { log } from 'classhook:plugin/host@0.1.0';

/** Levels of `print`. */
export const [ERROR, WARN, INFO, DEBUG, TRACE] = ['error', 'warn', 'info', 'debug', 'trace'];

/** Packs the parts of an insertion point. */
const point = (kind, method, bci = 0, target = 0) =>
  (BigInt(kind) << 48n) | (BigInt(target) << 32n) | (BigInt(bci) << 16n) | BigInt(method);

/** Insertion points: the points of a method, by its index and the bci of an instruction. */
export const points = {
  /** The method entry, reached once per invocation. */
  entry: (method) => point(0, method),
  /** Before an instruction, on every path to it. */
  before: (method, bci) => point(1, method, bci),
  /** Behind an instruction, when it completes normally and the next instruction follows. */
  fallThrough: (method, bci) => point(2, method, bci),
  /** On the jump of an instruction to a target. */
  jump: (method, bci, target) => point(3, method, bci, target),
  /** Where an exception leaves the method. */
  unwind: (method) => point(4, method),
  /** The instruction itself, for edits that change it. */
  instruction: (method, bci) => point(5, method, bci),
  /** Returns the parts of an insertion point. */
  parts: (packed) => ({
    kind: Number(packed >> 48n),
    method: Number(packed & 0xffffn),
    bci: Number((packed >> 16n) & 0xffffn),
    target: Number((packed >> 32n) & 0xffffn),
  }),
};

/** Returns the parts of an instruction of `instructions`. */
export function instruction(packed) {
  return {
    bci: Number(packed & 0xffffn),
    opcode: Number((packed >> 16n) & 0xffn),
    operand: Number(BigInt.asIntN(32, packed >> 32n)),
  };
}

/** Returns the parts of an entry of `lines`. */
export function line(packed) {
  return { bci: packed & 0xffff, number: packed >>> 16 };
}

/** Logs a line. */
export function print(text, level = INFO) {
  log(level, String(text));
}

/** The settings in the plugin's table `config`. */
class Settings {
  #values;
  #known = [];

  constructor(values) {
    this.#values = values;
  }

  /** Returns a list of texts; a single text becomes a list, a missing one is empty. */
  texts(name) {
    const value = this.#value(name, []);
    const texts = typeof value === 'string' ? [value] : value;
    return this.#expect(Array.isArray(texts) && texts.every((text) => typeof text === 'string'), texts, 'a text or a list of texts', name);
  }

  /** Returns a whole number. */
  number(name, otherwise) {
    const value = this.#value(name, otherwise);
    return this.#expect(Number.isInteger(value), value, 'a whole number', name);
  }

  /** Returns true or false. */
  flag(name, otherwise) {
    const value = this.#value(name, otherwise);
    return this.#expect(typeof value === 'boolean', value, 'true or false', name);
  }

  #value(name, otherwise) {
    this.#known.push(name);
    return this.#values[name] ?? otherwise;
  }

  #expect(holds, value, expected, name) {
    if (!holds) throw `expected ${expected} for \`${name}\``;
    return value;
  }

  /** Throws if the table has unknown settings. */
  check() {
    const unknown = Object.keys(this.#values).find((name) => !this.#known.includes(name));
    if (unknown) throw `there is no setting \`${unknown}\`; expected ${this.#known.join(', ') || 'none'}`;
  }
}

/** The component's `transformer`. The user sees the text of an exception, with its line. */
export function plugin({ configure = () => [], transform }) {
  return {
    configure: explained((config) => {
      const settings = new Settings(JSON.parse(config));
      const selectors = configure(settings);
      settings.check();
      return selectors;
    }),
    transform: explained(transform),
  };
}

function explained(call) {
  return (...values) => {
    try {
      return call(...values);
    } catch (thrown) {
      throw text(thrown);
    }
  };
}

function text(thrown) {
  const failure = thrown?.payload;
  if (failure?.code) return [`${failure.code}: ${failure.message}${place(thrown)}`, failure.help].filter(Boolean).join('; ');
  return `${failure ?? thrown}${place(thrown)}`;
}

/** Returns the plugin's line that threw the exception. */
function place(thrown) {
  const line = /plugin\.js:\d+/.exec(thrown?.stack ?? '');
  return line ? ` (${line[0]})` : '';
}
