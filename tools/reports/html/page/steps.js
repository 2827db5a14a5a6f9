// SPDX-License-Identifier: Apache-2.0
// Where the time of a network or of a transformer's steps goes: kernels, communication, gaps.

const kMostSteps = 40;
const kStepFacts = [
  ['transformer.ttft_us', 'Time to the first token'],
  ['transformer.tpot_us', 'Time per token'],
  ['transformer.tokens_per_s', 'Tokens'],
  ['network.duration_us', 'Duration'],
  ['network.host_us', 'The host works'],
  ['network.wait_us', 'The host waits'],
];
// Columns that are parts of one time; the first of these that a table has.
const kStepParts = [['busy us', 'exposed us', 'gap us'], ['card us', 'gap us'], ['card us'], ['us']];
const kPartWords = {
  'busy us': 'kernels', 'card us': 'kernels', 'exposed us': 'communication without a kernel', 'gap us': 'no kernel', us: 'time',
};

function step_parts(table) {
  return kStepParts.find((parts) => parts.every((name) => table.columns.includes(name)));
}

function step_label(table, row) {
  if (table.columns[0] === 'node') return [`${row[0]}: ${row[1]}`, row[2]];
  if (table.columns[0] === 'nodes') return [table.title];
  return [is_number(row[0]) ? `${table.columns[0]} ${row[0]}` : row[0]];
}

function add_step_plot(section, table) {
  const parts = step_parts(table);
  const rows = table.rows.slice(0, kMostSteps).map((row) => ({
    label: step_label(table, row),
    parts: new Map(parts.map((name) => {
      const text = row[table.columns.indexOf(name)];
      return [kPartWords[name], { value: Number(text), text: `${text} us` }];
    })),
  }));
  add_plot(section, {
    title: table.title,
    label: `Times of ${table.title} in microseconds`,
    note: rows_note(rows.length, table.rows.length),
    build: (narrow) => stacked_bars({ rows, names: parts.map((name) => kPartWords[name]), title: 'us', narrow }),
    table: { caption: table.title, columns: table.columns, rows: table.rows },
  });
}

function add_steps(report) {
  if (report.workload !== 'network' && report.workload !== 'transformer') return;
  const section = add_section('steps', 'Where the time of a step goes');
  const metrics = new Map((report.metrics || []).map((each) => [each.name, `${each.value} ${each.unit}`]));
  add_facts(section, kStepFacts.filter(([name]) => metrics.has(name)).map(([name, text]) => [text, metrics.get(name)]));
  for (const table of report.tables || []) {
    if (table.rows.length > 0 && step_parts(table) !== undefined) add_step_plot(section, table);
  }
}
