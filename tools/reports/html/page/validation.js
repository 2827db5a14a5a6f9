// SPDX-License-Identifier: Apache-2.0
// The page of npusim validate: predictions over measurements, errors by operator.

function validation_table(report, title) {
  return (report.tables || []).find((each) => each.title.startsWith(title));
}

// Rows of a table as objects, by its columns.
function table_objects(table) {
  return table.rows.map((row) => Object.fromEntries(table.columns.map((name, index) => [name, row[index]])));
}

function predicted_plot(rows) {
  const skus = [...new Set(rows.map((row) => row.sku))];
  const values = rows.flatMap((row) => [Number(row.measured), Number(row.predicted)]);
  const range = [Math.min(...values) / 1.5, Math.max(...values) * 1.5];
  const sets = skus.map((sku, index) => ({
    label: sku,
    data: rows.filter((row) => row.sku === sku).map((row) => ({
      x: Number(row.measured), y: Number(row.predicted),
      text: `${row.id} (${row.operator}): ${row.predicted} of ${row.measured} ${row.unit}, ${row['error %']} %`,
    })),
    borderColor: series_colour(index), backgroundColor: series_colour(index), radius: 4, pointStyle: 'circle', showLine: false,
  }));
  const line = {
    label: 'as measured', data: range.map((x) => ({ x, y: x, text: 'as measured' })), borderColor: theme().muted,
    backgroundColor: theme().muted, borderDash: [4, 4], borderWidth: 1, radius: 0, pointStyle: 'line', showLine: true,
  };
  return {
    type: 'scatter',
    data: { datasets: [...sets, line] },
    height: 440,
    options: {
      scales: {
        x: axis('measured', { type: 'logarithmic', min: range[0], max: range[1], ticks: { callback: log_tick } }),
        y: axis('predicted', { type: 'logarithmic', min: range[0], max: range[1], ticks: { callback: log_tick } }),
      },
      plugins: { legend: legend(), tooltip: tooltip(() => '', (item) => item.raw.text) },
    },
  };
}

function add_predictions(report) {
  const section = add_section('predictions', 'Predictions and measurements');
  const table = validation_table(report, 'rows, the farthest');
  if (table === undefined || table.rows.length === 0) {
    add_absent(section, 'No row was run.');
    return;
  }
  const rows = table_objects(table);
  for (const unit of [...new Set(rows.map((row) => row.unit))]) {
    const of = rows.filter((row) => row.unit === unit);
    add_plot(section, {
      title: `Predicted over measured, in ${unit}`,
      label: `${of.length} predictions over their measurements in ${unit}`,
      build: () => predicted_plot(of),
    });
  }
  add_filtered_table(section, table.title, table.columns, table.rows);
}

function add_operator_errors(report) {
  const table = validation_table(report, 'operators');
  if (table === undefined || table.rows.length === 0) return;
  const section = add_section('operators', 'Errors by operator');
  const rows = table_objects(table).map((each) => ({
    label: [`${each.operator}, ${each.sku}`, `${each.rows} rows`],
    parts: new Map([['mean error', { value: Number(each.MAPE), text: `${each.MAPE} %, bias ${each.bias} %` }]]),
  }));
  add_plot(section, {
    title: 'Mean absolute error by operator',
    label: `Mean absolute errors of ${rows.length} operators in percent`,
    build: (narrow) => stacked_bars({ rows, names: ['mean error'], title: '%', narrow }),
  });
  for (const each of [table, ...['rows in bands', 'not run'].map((title) => validation_table(report, title))]) {
    if (each !== undefined) section.append(new RowTable(each.title, each.columns, each.rows).element);
  }
}

function validation_page(report) {
  document.title = 'Predictions and measurements: npusim';
  document.getElementById('title').textContent = 'Predictions and measurements';
  const value = (name) => (report.metrics.find((each) => each.name === `validate.${name}`) || { value: '0' }).value;
  document.getElementById('subtitle').textContent =
    `${value('rows_run')} rows run, ${value('rows_skipped')} not; mean error ${value('mape_percent')} %, ` +
    `median ${value('median_percent')} %, bias ${value('bias_percent')} %`;
  add_all(report, [add_predictions, add_operator_errors, add_summary, add_metrics]);
}
