// Counts the calls of methods.

import { count } from 'classhook:plugin/probes@0.1.0';
import { row } from 'classhook:plugin/results@0.1.0';
import { plugin } from './classhook-sdk/classhook-sdk.js';

// The plugin's table for `classhook plugin run` and `classhook report`: a row for each method.
const TABLE = 'calls';
const COLUMNS = [
  { name: 'class', kind: 'class' },
  { name: 'method', kind: 'method' },
];

export const transformer = plugin({
  /** Selects classes by the setting `classes`, for example `com.acme.**`; all without it. */
  configure(settings) {
    return settings.texts('classes');
  },

  /** Counts the entries of each method. Each count is a row of the table. */
  transform(of, to) {
    const className = of.name().replaceAll('/', '.');
    for (const method of of.methods()) {
      if (method.codeLength > 0) {
        const tag = row(TABLE, COLUMNS, [className, method.name]);
        const entry = BigInt(method.index); // a place of kind 0
        count(to, of.sites(new BigUint64Array([entry])), tag);
      }
    }
  },
});
