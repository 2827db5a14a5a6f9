// SPDX-License-Identifier: Apache-2.0
// What bounded this run: the limits that the models' counters name, and the critical path.

function add_limits(section, report) {
  const limits = report.limits || [];
  if (limits.length === 0) {
    add_text(section, 'No limits: this workload names none.', 'absent');
    return;
  }
  const subjects = [...new Set(limits.map((each) => each.subject))];
  const totals = new Map();
  for (const each of limits) totals.set(each.name, (totals.get(each.name) || 0) + Number(each.percent));
  const names = [...totals.keys()].sort((a, b) => totals.get(b) - totals.get(a));
  const rows = subjects.slice(0, kMostRows).map((subject) => ({
    label: [subject],
    parts: new Map(limits.filter((each) => each.subject === subject)
      .map((each) => [each.name, { value: Number(each.percent), text: `${each.percent} %` }])),
  }));
  add_plot(section, {
    title: 'Limits: where the time or the capacity went',
    label: `Limits of ${subjects.length} results in percent`,
    note: rows_note(rows.length, subjects.length),
    build: (narrow) => stacked_bars({ rows, names, title: '% of time or capacity', narrow, max: 100 }),
    table: {
      caption: 'limits',
      columns: ['subject', 'name', 'percent', 'text'],
      rows: limits.map((each) => [each.subject, each.name, each.percent, each.text]),
    },
  });
}

// Software that waits for nothing has no unit.
function path_unit(part) {
  return part.unit === 'none' ? '' : cell_text(part.unit);
}

function path_name(part) {
  return path_unit(part) === '' ? words(part.name) : `${words(part.name)}, ${path_unit(part)}`;
}

function path_bar(path, sorted, narrow) {
  const [unit, power] = time_unit(Number(path.total_ps));
  const parts = new Map(sorted.map((part) => [path_name(part),
    { value: Number(part.ps) / 10 ** power, text: `${time_text(part.ps)}, ${percent_text(part.ps, path.total_ps)} %` }]));
  const rows = [{ label: [short_time(path.total_ps)], parts }];
  return stacked_bars({ rows, names: [...parts.keys()], title: unit, narrow, max: Number(path.total_ps) / 10 ** power });
}

// Whether a unit is one of a part's, "card0.dma.engine*" in which stands for all engines.
function is_unit_of(unit, pattern) {
  const pieces = pattern.split('*').map((piece) => piece.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${pieces.join('.*')}$`).test(unit);
}

// For each segment the part that it counts to; null: none.
function parts_of_segments(path) {
  const known = new Map();
  return path.segments.map((each) => {
    const name = path_name(each);
    if (!known.has(name)) {
      const same = path.parts.filter((part) => part.name === each.name);
      known.set(name, same.find((part) => part.unit === each.unit) ||
        same.find((part) => is_unit_of(cell_text(each.unit), cell_text(part.unit))) || null);
    }
    return known.get(name);
  });
}

// Of what was measured; reports of older versions have the whole run.
function begin_of(path) {
  return Number(path.begin_ps || 0);
}

// When each part was on the path: a row for each of the longest of which there are segments.
function path_rows(path, sorted, narrow) {
  const [unit, power] = time_unit(Number(path.total_ps));
  const parts = parts_of_segments(path);
  const seen = new Set(parts);
  const [shown, rest] = split_top(sorted.filter((part) => seen.has(part)), narrow ? 10 : 16);
  const row_of = new Map(shown.map((part, index) => [part, index]));
  const labels = shown.map((part) => [words(part.name), ...(path_unit(part) === '' ? [] : [path_unit(part)]),
    `${short_time(part.ps)}, ${percent_text(part.ps, path.total_ps)} %`]);
  if (rest.length > 0) labels.push([`${rest.length} others`, short_time(sum_text(rest.map((part) => part.ps)))]);
  if (rest.length === 0 && seen.has(null)) labels.push(['others']);
  const spans = path.segments.map((each, index) => ({
    row: row_of.has(parts[index]) ? row_of.get(parts[index]) : shown.length,
    from: Number(each.begin_ps) / 10 ** power,
    to: Number(each.end_ps) / 10 ** power,
    text: `${path_name(each)}: ${time_text(each.begin_ps)} to ${time_text(each.end_ps)}`,
  }));
  return span_bars({
    labels, sets: [{ label: 'on the critical path', spans, colour: series_colour(0) }], title: unit, narrow,
    min: begin_of(path) / 10 ** power, max: (begin_of(path) + Number(path.total_ps)) / 10 ** power, legends: false, thickness: 0.5,
    row_height: 8 + 15 * Math.max(...labels.map((lines) => lines.length)),
  });
}

function add_path_segments(section, path, sorted) {
  if (!(path.segments || []).length) return;
  const left = Number(path.segments_left_out || 0);
  add_plot(section, {
    title: 'Critical path over time',
    label: 'When each part was on the critical path',
    note: left > 0 ? `The ${path.segments.length} longest segments; ${left} shorter ones are left out, and parts that have no others.` : undefined,
    build: (narrow) => path_rows(path, sorted, narrow),
    table: {
      caption: 'segments of the critical path, in ps',
      columns: ['begin_ps', 'end_ps', 'name', 'unit'],
      rows: path.segments.map((each) => [each.begin_ps, each.end_ps, each.name, each.unit]),
    },
  });
}

function add_critical_path(section, report) {
  const path = report.critical_path;
  if (path === undefined || !(path.parts || []).length) {
    add_text(section, 'No critical path: npusim run with --profile or --html FILE makes one.', 'absent');
    return;
  }
  const sorted = [...path.parts].sort((a, b) => Number(b.ps) - Number(a.ps));
  const sum = sum_text(sorted.map((part) => part.ps));
  const plot = add_plot(section, {
    title: 'Critical path: what the run waited for',
    label: `Parts of the critical path of ${time_text(path.total_ps)}`,
    note: sum === path.total_ps ? `The parts add up to ${time_text(sum)}, ${begin_of(path) > 0 ? 'the time of what was measured' : 'the run\'s time'}.`
      : `The parts add up to ${time_text(sum)} of ${time_text(path.total_ps)}.`,
    build: (narrow) => path_bar(path, sorted, narrow),
    table: {
      caption: 'parts of the critical path, in ps',
      columns: ['name', 'ps', 'count', 'unit', '% of the run'],
      rows: [...sorted.map((part) => [part.name, part.ps, part.count, part.unit, percent_text(part.ps, path.total_ps)]),
        ['total', path.total_ps, '', '', '']],
    },
  });
  plot.table.open = true;
  add_path_segments(section, path, sorted);
}

function add_bounds(report) {
  const section = add_section('bounds', 'What bounded this run');
  add_limits(section, report);
  add_critical_path(section, report);
}
