// SPDX-License-Identifier: Apache-2.0
// What the models and the driver counted.

function counter_rows(counters) {
  if (!Array.isArray(counters)) return flattened(counters).map(([name, value]) => [name, value, '']);
  return counters.map((each) => [each.name, value_text(each.value), cell_text(each.unit)]);
}

function add_counters(report) {
  const section = add_section('counters', 'Counters');
  const rows = report.counters === undefined ? [] : counter_rows(report.counters);
  if (rows.length === 0) {
    add_absent(section, 'This report has no counters.');
    return;
  }
  add_filtered_table(section, 'Counters', ['name', 'value', 'unit'], rows);
}
