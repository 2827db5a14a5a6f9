// SPDX-License-Identifier: Apache-2.0
// Latencies: percentiles of what happened often, and the parts of each latency measured.

const kPercentiles = [['min_ps', 'min'], ['p50_ps', 'p50'], ['p90_ps', 'p90'], ['p99_ps', 'p99'], ['max_ps', 'max']];

function percentile_plot(durations, narrow) {
  const marks = kPercentiles.map(([key, label], index) => ({
    type: 'line', label, showLine: false, pointStyle: kPoints[index], radius: 5,
    data: durations.map((each) => (Number(each[key]) > 0 ? Number(each[key]) : null)),
    borderColor: series_colour(index), backgroundColor: series_colour(index), borderWidth: 2,
    texts: durations.map((each) => time_text(each[key])),
  }));
  return {
    type: 'line',
    data: { labels: durations.map((each) => bar_label([`${words(each.name)} (${each.count})`], narrow)), datasets: marks },
    height: 60 + durations.length * 27,
    options: {
      indexAxis: 'y',
      scales: {
        x: axis('', { type: 'logarithmic', ticks: { callback: log_time_tick, maxRotation: 60 } }),
        y: axis('', { offset: true, ticks: { autoSkip: false, font: { size: narrow ? 10 : 12 } } }),
      },
      plugins: {
        legend: legend(),
        tooltip: tooltip((item) => words(durations[item.dataIndex].name),
          (item) => `${item.dataset.label}: ${item.dataset.texts[item.dataIndex]}`),
      },
    },
  };
}

function add_durations(section, report) {
  const durations = (report.durations || []).filter((each) => Number(each.count) > 0);
  if (durations.length === 0) {
    add_text(section, 'No percentiles: npusim run with --profile or --html FILE makes them.', 'absent');
    return;
  }
  const columns = ['count', ...kPercentiles.map(([key]) => key), 'total_ps'];
  add_plot(section, {
    title: 'Percentiles of durations (and how often)',
    label: `Minimum, median, 90th and 99th percentile and maximum of ${durations.length} kinds of events`,
    build: (narrow) => percentile_plot(durations, narrow),
    table: {
      caption: 'percentiles of durations, in ps',
      columns: ['name', ...columns],
      rows: durations.map((each) => [each.name, ...columns.map((key) => each[key])]),
    },
  });
}

const kTablePowers = { ns: 3, us: 6, ms: 9 };

function ps_text(text, power) {
  const { value, places } = scaled(text);
  return places <= power ? String(value * 10n ** BigInt(power - places)) : null;
}

// Breakdowns that a report has as tables alone: a part and its time in each row.
function table_breakdowns(tables) {
  const is_breakdown = (table) => ['part', 'stage'].includes(table.columns[0]) && table.columns[1] in kTablePowers;
  return tables.filter(is_breakdown).map((table) => {
    const power = kTablePowers[table.columns[1]];
    const rows = table.rows.filter((row) => row[0] !== 'total' && is_number(row[1]) && ps_text(row[1], power) !== null)
      .map((row) => ({ name: row[0], ps: ps_text(row[1], power) }));
    const wait = rows.find((row) => row.name === 'wait');
    return { group: table.title, label: '', parts: rows.filter((row) => row !== wait), wait_ps: wait ? wait.ps : null };
  }).filter((each) => each.parts.length > 0);
}

// Breakdowns of one heading: rows with the same parts.
function breakdown_groups(breakdowns) {
  const groups = new Map();
  for (const each of breakdowns) {
    if (!groups.has(each.group)) groups.set(each.group, []);
    groups.get(each.group).push(each);
  }
  return groups;
}

function part_names(breakdowns) {
  return [...new Set(breakdowns.flatMap((each) => each.parts.map((part) => part.name)))];
}

function breakdown_total(each) {
  return sum_text(each.parts.map((part) => part.ps));
}

function has_wait(each) {
  return is_number(each.wait_ps);
}

function breakdown_plot(breakdowns, shares, narrow) {
  const highest = Math.max(...breakdowns.map((each) => Number(breakdown_total(each))));
  const [unit, power] = shares ? ['% of the latency', 0] : time_unit(highest);
  const rows = breakdowns.map((each) => {
    const total = breakdown_total(each);
    const value = (ps) => (shares ? (100 * Number(ps)) / (Number(total) || 1) : Number(ps) / 10 ** power);
    const parts = new Map(each.parts.map((part) =>
      [part.name, { value: value(part.ps), text: `${time_text(part.ps)}, ${percent_text(part.ps, total)} %` }]));
    if (!shares && has_wait(each)) {
      parts.set('wait', { value: value(each.wait_ps), text: `${time_text(each.wait_ps)}, until the caller saw it` });
    }
    return { label: [each.label || 'total', short_time(total)], parts };
  });
  const apart = !shares && breakdowns.some(has_wait) ? ['wait'] : [];
  return stacked_bars({ rows, names: part_names(breakdowns), title: unit, narrow, apart, max: shares ? 100 : undefined });
}

function breakdown_table(group, breakdowns) {
  const names = part_names(breakdowns);
  const of = (each, name) => (each.parts.find((part) => part.name === name) || { ps: '' }).ps;
  const rows = breakdowns.map((each) => [each.label || 'total', breakdown_total(each),
    ...names.map((name) => of(each, name)), cell_text(each.wait_ps)]);
  return { caption: `${group}, in ps`, columns: ['of', 'sum of the parts', ...names, 'wait'], rows };
}

function add_breakdowns(section, report) {
  const all = [...(report.breakdowns || []), ...table_breakdowns(report.tables || [])];
  if (all.length === 0) {
    add_text(section, 'No breakdowns: this workload measures no latency with parts.', 'absent');
    return;
  }
  for (const [group, breakdowns] of breakdown_groups(all)) {
    let shares = false;
    const menu = make('div');
    section.append(menu);
    const plot = add_plot(section, {
      title: group,
      label: `${group}: parts of ${breakdowns.length} latencies`,
      note: rows_note(Math.min(kMostRows, breakdowns.length), breakdowns.length),
      build: (narrow) => breakdown_plot(breakdowns.slice(0, kMostRows), shares, narrow),
      table: breakdown_table(group, breakdowns),
    });
    add_menu(menu, 'Show', ['time', 'share of each latency'], (chosen) => {
      shares = chosen === 1;
      draw(plot);
    });
    plot.figure.querySelector('figcaption').after(menu);
  }
}

function add_latency(report) {
  const section = add_section('latency', 'Latency');
  add_durations(section, report);
  add_breakdowns(section, report);
}
