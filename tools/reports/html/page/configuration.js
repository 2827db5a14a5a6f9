// SPDX-License-Identifier: Apache-2.0
// The effective configuration: every key with its value.

// [key, value] of every leaf, "host.cpu.cores"; elements of lists by their index, lists of plain
// values as one.
function flattened(value, prefix = '') {
  if (value === null || typeof value !== 'object') return [[prefix, cell_text(value)]];
  const plain = (each) => each === null || typeof each !== 'object';
  if (Array.isArray(value) && value.every(plain)) return [[prefix, value_text(value)]];
  return Object.entries(value).flatMap(([name, each]) =>
    flattened(each, prefix === '' ? name : `${prefix}.${name}`));
}

function add_configuration(report) {
  const section = add_section('configuration', 'Effective configuration');
  if (Object.keys(report.configuration || {}).length === 0) {
    add_absent(section, 'This report has no configuration in it; npusim run --config-out FILE writes it.');
    return;
  }
  const changed = new Set((report.overrides || []).map((each) => each.key));
  const is_changed = (key) => changed.has(key) || [...changed].some((each) => key.endsWith(`.${each}`));
  const rows = flattened(report.configuration || {}).map(([key, value]) =>
    [key, value, is_changed(key) ? 'changed by --set' : '']);
  rows.sort((a, b) => (b[2] !== '') - (a[2] !== ''));
  const count = rows.filter((row) => row[2] !== '').length;
  add_text(section, `${rows.length} keys, ${count} changed by --set; npusim config keys says what each means.`);
  add_filtered_table(section, 'Configuration', ['key', 'value', 'changed'], rows, (row) => row[2] !== '');
}
