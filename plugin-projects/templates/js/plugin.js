// Counts the calls of methods.

import { count } from 'classhook:plugin/probes@0.1.0';
import { plugin, points } from './classhook-sdk/classhook-sdk.js';

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
        const row = { table: TABLE, columns: COLUMNS, cells: [className, method.name] };
        count(to, new BigUint64Array([points.entry(method.index)]), { tag: 'row', val: row });
      }
    }
  },
});
