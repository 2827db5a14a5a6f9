// SPDX-License-Identifier: Apache-2.0
// Utilisation over time per unit: a heat map with a row per unit, and bytes over time.

const kHeatLimits = [5, 20, 40, 60, 80, 100];
const kMostColumns = 400;

function heat_level(percent) {
  return kHeatLimits.findIndex((limit) => percent <= limit + 1e-9);
}

// [{from, to, mean}] in windows: as many as can be told apart.
function heat_columns(values) {
  const step = Math.ceil(values.length / kMostColumns);
  const columns = [];
  for (let from = 0; from < values.length; from += step) {
    const part = values.slice(from, from + step).map(Number);
    columns.push({ from, to: from + part.length, mean: part.reduce((sum, each) => sum + each, 0) / part.length });
  }
  return columns;
}

// Neighbours of one colour as one span.
function heat_spans(values, row, place) {
  const spans = [];
  let last = null;
  for (const column of heat_columns(values)) {
    const level = column.mean > 0 ? Math.max(0, heat_level(column.mean)) : -1;
    if (last !== null && last.level === level) {
      last.end = column.to;
      last.low = Math.min(last.low, column.mean);
      last.high = Math.max(last.high, column.mean);
    } else {
      last = { level, begin: column.from, end: column.to, low: column.mean, high: column.mean };
      spans.push(last);
    }
  }
  return spans.filter((span) => span.level >= 0).map((span) => ({
    row, level: span.level, from: place(span.begin), to: place(span.end), text: heat_text(span, place),
  }));
}

function heat_text(span, place) {
  const share = span.low === span.high ? trimmed(span.low.toFixed(3))
    : `${span.low.toFixed(1)} to ${span.high.toFixed(1)}`;
  return `${share} % busy, ${short_number(place(span.begin))} to ${short_number(place(span.end))}`;
}

function mean_values(units) {
  const length = Math.max(...units.map((unit) => unit.busy_percent.length));
  const values = new Array(length).fill(0);
  for (const unit of units) unit.busy_percent.forEach((each, index) => { values[index] += Number(each) / units.length; });
  return values;
}

// Rows of the overview: units of which there are few, means of the others.
function overview_rows(units) {
  return unit_kinds(units).flatMap((kind) => {
    const of = units.filter((unit) => unit.kind === kind);
    if (of.length <= 4) return of.map((unit) => ({ label: [unit.name], values: unit.busy_percent }));
    return [{ label: [`${words(kind)}, mean of ${of.length}`], values: mean_values(of) }];
  });
}

function unit_kinds(units) {
  return [...new Set(units.map((unit) => unit.kind))];
}

function heat_plot(data, rows, narrow) {
  const begin = Number(data.begin_ps);
  const width = Number(data.window_ps);
  const count = Math.max(...rows.map((row) => row.values.length));
  const [unit, power] = time_unit(begin + width * count);
  const place = (index) => (begin + width * index) / 10 ** power;
  const spans = rows.flatMap((row, index) => heat_spans(row.values, index, place));
  const sets = theme().heat.map((colour, level) => ({
    label: level === 0 ? `busy up to ${kHeatLimits[0]} %` : `up to ${kHeatLimits[level]} %`,
    spans: spans.filter((span) => span.level === level),
    colour,
  }));
  return span_bars({
    labels: rows.map((row) => row.label), sets, title: unit, narrow, min: place(0), max: place(count),
    row_height: rows.length > 24 ? 16 : 24,
  });
}

function window_rows(data, units) {
  const count = Math.max(...units.map((unit) => unit.busy_percent.length));
  return Array.from({ length: count }, (_, index) => [
    String(BigInt(data.begin_ps) + BigInt(data.window_ps) * BigInt(index)),
    ...units.map((unit) => unit.busy_percent[index]),
  ]);
}

function add_heat_map(section, data) {
  const kinds = unit_kinds(data.units);
  let chosen = 0;
  const units = () => (chosen === 0 ? data.units : data.units.filter((unit) => unit.kind === kinds[chosen - 1]));
  const rows = () => (chosen === 0 ? overview_rows(data.units)
    : units().map((unit) => ({ label: [unit.name], values: unit.busy_percent })));
  const holder = make('div');
  section.append(holder);
  const windows = Math.max(...data.units.map((unit) => unit.busy_percent.length));
  const step = Math.ceil(windows / kMostColumns);
  const plot = add_plot(section, {
    title: 'Busy, in percent of each window',
    label: `Utilisation of ${data.units.length} units in ${windows} windows of ${time_text(data.window_ps)}`,
    note: `Windows of ${time_text(data.window_ps)}${step > 1 ? `, drawn as means of ${step}` : ''}; no colour: idle.`,
    build: (narrow) => heat_plot(data, rows().slice(0, 4 * kMostRows), narrow),
  });
  plot.figure.querySelector('figcaption').after(holder);
  add_menu(holder, 'Units', ['overview', ...kinds.map(words)], (index) => {
    chosen = index;
    draw(plot);
  });
  const tables = make('details', { class: 'tables' }, make('summary', {}, 'Tables, one for each kind of unit'));
  plot.figure.append(tables);
  for (const kind of kinds) {
    const of = data.units.filter((unit) => unit.kind === kind);
    add_table(tables, {
      caption: `busy percent of ${words(kind)}, by begin of the window`,
      columns: ['begin_ps', ...of.map((unit) => unit.name)],
      count: Math.max(...of.map((unit) => unit.busy_percent.length)),
      rows: () => window_rows(data, of),
    });
  }
}

// What moves bytes: units of which there are few, sums of the others.
function moving_rows(units) {
  return unit_kinds(units).flatMap((kind) => {
    const of = units.filter((unit) => unit.kind === kind);
    if (of.length <= 4) return of.map((unit) => ({ name: unit.name, bytes: unit.bytes }));
    const length = Math.max(...of.map((unit) => unit.bytes.length));
    const bytes = Array.from({ length }, (_, index) => of.reduce((sum, unit) => sum + Number(unit.bytes[index] || 0), 0));
    return [{ name: `${words(kind)}, sum of ${of.length}`, bytes }];
  });
}

function total_bytes(unit) {
  return unit.bytes.reduce((sum, each) => sum + Number(each), 0);
}

// GB/s in each column of windows.
function rate_points(data, unit, power) {
  const width = Number(data.window_ps);
  const step = Math.ceil(unit.bytes.length / kMostColumns);
  const points = [];
  for (let from = 0; from < unit.bytes.length; from += step) {
    const part = unit.bytes.slice(from, from + step);
    const bytes = part.reduce((sum, each) => sum + Number(each), 0);
    const middle = Number(data.begin_ps) + width * (from + part.length / 2);
    points.push({ x: middle / 10 ** power, y: (1000 * bytes) / (width * part.length) });
  }
  return points;
}

function rate_plot(data, units) {
  const length = Math.max(...units.map((unit) => unit.bytes.length));
  const end = Number(data.begin_ps) + Number(data.window_ps) * length;
  const [unit, power] = time_unit(end);
  return {
    type: 'line',
    data: {
      datasets: units.map((each, index) => ({
        label: each.name, data: rate_points(data, each, power), borderColor: series_colour(index),
        backgroundColor: series_colour(index), borderDash: kDashes[index], pointStyle: 'line',
        radius: 0, hitRadius: 6, borderWidth: 1.5,
      })),
    },
    height: 290,
    options: {
      scales: {
        x: axis(unit, { type: 'linear', min: Number(data.begin_ps) / 10 ** power, max: end / 10 ** power }),
        y: axis('GB/s', { beginAtZero: true }),
      },
      plugins: {
        legend: legend(),
        tooltip: tooltip((item) => `${short_number(item.raw.x)} ${unit}`,
          (item) => `${item.dataset.label}: ${short_number(item.raw.y)} GB/s`),
      },
    },
  };
}

function add_rates(section, data) {
  const moving = data.units.filter((unit) => (unit.bytes || []).length > 0 && total_bytes(unit) > 0);
  if (moving.length === 0) return;
  const [shown, rest] = split_top(moving_rows(moving).sort((a, b) => total_bytes(b) - total_bytes(a)), 7);
  const length = Math.max(...moving.map((unit) => unit.bytes.length));
  add_plot(section, {
    title: 'Bytes moved over time, in GB/s',
    label: `Bandwidth of ${shown.length} units over time`,
    note: rest.length > 0 ? `The ${shown.length} that moved most; the table has all ${moving.length} units.` : undefined,
    build: () => rate_plot(data, shown),
    table: {
      caption: 'bytes in each window, by its begin',
      columns: ['begin_ps', ...moving.map((unit) => unit.name)],
      count: length,
      rows: () => Array.from({ length }, (_, index) => [
        String(BigInt(data.begin_ps) + BigInt(data.window_ps) * BigInt(index)),
        ...moving.map((unit) => unit.bytes[index]),
      ]),
    },
  });
}

function add_utilisation(report) {
  const section = add_section('utilisation', 'Utilisation over time');
  const data = report.utilisation;
  if (data === undefined || !(data.units || []).some((unit) => unit.busy_percent.length > 0)) {
    add_absent(section, 'No utilisation: npusim run with --profile or --html FILE makes one.');
    return;
  }
  add_heat_map(section, data);
  add_rates(section, data);
}
