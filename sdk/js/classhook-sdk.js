/**
 * The SDK for plugins in JavaScript: `plugin` makes the component's exports from a `configure` and a `transform`.
 *
 * The functions of the host are modules of the interface, such as `classhook:plugin/probes@0.1.0`, with the names of
 * `wit/plugin.wit` in camel case (`code-length` is `codeLength`). Numbers of 64 bits are `BigInt`s, lists of them
 * `BigUint64Array`s. Files, the clock, the network and the environment are not available.
 */

import { log } from 'classhook:plugin/host@0.1.0';

/** Levels of `print`. */
export const [ERROR, WARN, INFO, DEBUG, TRACE] = [0, 1, 2, 3, 4];

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
