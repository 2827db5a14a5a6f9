// SPDX-License-Identifier: Apache-2.0
// Every point of a sweep as a table, on the page and as CSV, which is that of sweep.csv.

function yes_or_no(pareto) {
  if (pareto === null) return '';
  return pareto ? 'yes' : 'no';
}

function point_row(sweep, point) {
  return [point.number, ...sweep.axes.map((_, index) => axis_value(sweep, point, index).text), point.status,
    yes_or_no(point.pareto), ...point.values];
}

function sweep_csv(sweep) {
  const front = (sweep.objectives || []).length > 0;
  const names = (list) => list.map((each) => each.name);
  const columns = [...names(sweep.axes), 'status', ...(front ? ['pareto'] : []), ...names(sweep.metrics)];
  const value = (each) => (each.number === undefined ? each.text : each.number);
  return csv_text(columns, sweep.points.map((point) => [
    ...sweep.axes.map((_, index) => value(axis_value(sweep, point, index))), point.status,
    ...(front ? [yes_or_no(point.pareto)] : []), ...point.values]));
}

function add_failed_points(section, sweep) {
  const failed = sweep.points.filter((point) => point.failure !== undefined);
  if (failed.length === 0) return;
  section.append(new RowTable('points that failed', ['point', 'exit code', 'what it said'],
    failed.map((point) => [point.number, point.exit_code, point.failure])).element);
}

function add_points(sweep) {
  const section = add_section('points', 'Points');
  const columns = ['point', ...sweep.axes.map((each) => each.name), 'status', 'pareto', ...sweep.metrics.map((each) => each.name)];
  const rows = sweep.points.map((point) => point_row(sweep, point));
  add_filtered_table(section, 'Points', columns, rows, (row) => row[1 + sweep.axes.length] !== 'done');
  add_failed_points(section, sweep);
  const button = make('button', { type: 'button' }, 'Download as CSV');
  button.addEventListener('click', () => download(`${sweep.name || 'sweep'}.csv`, 'text/csv', sweep_csv(sweep)));
  const shown = make('details', { id: 'csv' }, make('summary', {}, 'Show as CSV'));
  shown.fill = () => {
    if (shown.querySelector('pre') === null) shown.append(make('pre', { tabindex: '0' }, sweep_csv(sweep)));
  };
  shown.addEventListener('toggle', () => shown.open && shown.fill());
  section.append(button, shown);
}
