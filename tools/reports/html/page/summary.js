// SPDX-License-Identifier: Apache-2.0
// What was run, on what, and how it ended; then every figure.

function value_text(value) {
  if (Array.isArray(value)) return value.map(value_text).join(', ');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

function add_summary(report) {
  const section = add_section('summary', 'Summary');
  const outcome = report.outcome || 'complete';
  if (outcome !== 'complete') add_text(section, `This run did not end as it should: ${outcome}.`, 'failure');
  add_facts(section, [
    ['Workload', report.workload],
    ['Configuration', report.config],
    ['Seed', report.seed],
    ['Simulated time', time_text(report.simulated_ps)],
    ['Outcome', outcome],
    ['npusim', report.npusim],
    ['SHA-256 of the configuration', make('code', {}, report.config_sha256)],
  ]);
  for (const note of report.notes || []) add_text(section, note);
  const parameters = Object.entries(report.parameters || {});
  if (parameters.length > 0) {
    add_table(section, {
      caption: 'parameters of the workload',
      columns: ['parameter', 'value'],
      rows: parameters.map(([name, value]) => [name, value_text(value)]),
    });
  }
  if ((report.overrides || []).length > 0) {
    add_table(section, {
      caption: 'keys of the configuration changed by --set',
      columns: ['given', 'key', 'value'],
      rows: report.overrides.map((each) => [each.given, each.key, value_text(each.value)]),
    });
  }
  if ((report.programs || []).length > 0) {
    add_table(section, {
      caption: 'programs that ran on the card, by SHA-256',
      columns: ['program', 'SHA-256'],
      rows: report.programs.map((each) => [each.name, each.sha256]),
    });
  }
}

function add_metrics(report) {
  const section = add_section('metrics', 'Metrics');
  const metrics = report.metrics || [];
  if (metrics.length === 0) {
    add_absent(section, 'This workload reports no metrics.');
    return;
  }
  const rows = metrics.map((each) => [each.name, each.value, each.unit]);
  add_filtered_table(section, 'Metrics', ['name', 'value', 'unit'], rows);
  for (const table of report.tables || []) {
    add_table(section, { caption: table.title, columns: table.columns, rows: table.rows });
  }
}
