// SPDX-License-Identifier: Apache-2.0
// Horizontal bars, stacked: one row per label, one colour per part.

// What is said below a plot that has not all of its rows.
function rows_note(drawn, all) {
  return drawn < all ? `The first ${drawn} of ${all}; the table has all.` : undefined;
}

// rows: [{label: [lines], parts: Map name -> {value, text}}]; names in order. `title` of the axis,
// `most` colours, the rest is drawn as one.
function stacked_bars({ rows, names, title, narrow, max, apart = [] }) {
  const [shown, rest] = split_top(names, 8);
  const value = (row, name) => (row.parts.has(name) ? row.parts.get(name).value : 0);
  const datasets = shown.map((name, index) => ({
    label: words(name),
    names: [name],
    data: rows.map((row) => value(row, name)),
    backgroundColor: series_colour(index),
  }));
  if (rest.length > 0) {
    datasets.push({
      label: `${rest.length} others`,
      names: rest,
      data: rows.map((row) => rest.reduce((sum, name) => sum + value(row, name), 0)),
      backgroundColor: theme().others,
    });
  }
  for (const name of apart) {
    datasets.push({
      label: `${words(name)} (apart)`,
      names: [name],
      data: rows.map((row) => value(row, name)),
      backgroundColor: theme().back,
      borderColor: theme().muted,
      borderWidth: 1,
    });
  }
  for (const set of datasets) {
    set.borderColor = set.borderColor || theme().back;
    set.borderWidth = set.borderWidth || { right: 1 };
    set.maxBarThickness = 28;
  }
  return {
    type: 'bar',
    data: { labels: rows.map((row) => bar_label(row.label, narrow)), datasets },
    height: 60 + rows.length * (rows.some((row) => row.label.length > 1) ? 38 : 32),
    options: {
      indexAxis: 'y',
      scales: {
        x: axis(title, { stacked: true, beginAtZero: true, max }),
        y: axis('', { stacked: true, grid: { display: false }, ticks: { autoSkip: false, font: { size: narrow ? 10 : 12 } } }),
      },
      plugins: {
        legend: legend(),
        tooltip: tooltip((item) => rows[item.dataIndex].label.join(' '), (item) =>
          item.dataset.names.filter((name) => rows[item.dataIndex].parts.has(name)).slice(0, 12)
            .map((name) => `${words(name)}: ${rows[item.dataIndex].parts.get(name).text}`)),
      },
    },
  };
}

// Bars from a place to another in rows, many in each; sets: [{label, colour, spans: [{row, from, to,
// text}]}], the first on top. Categories are the rows' numbers, for Chart.js finds them by name.
function span_bars({ labels, sets, title, narrow, min, max, row_height = 26, legends = true }) {
  return {
    type: 'bar',
    data: {
      labels: labels.map((_, row) => String(row)),
      datasets: sets.map((set) => ({
        label: set.label,
        data: set.spans.map((span) => ({ x: [span.from, span.to], y: String(span.row), text: span.text })),
        backgroundColor: set.colour,
        grouped: false,
        borderWidth: 0,
        barPercentage: set.thickness || 0.86,
        categoryPercentage: 1,
        minBarLength: 1,
      })),
    },
    height: 60 + labels.length * row_height,
    options: {
      indexAxis: 'y',
      parsing: { xAxisKey: 'x', yAxisKey: 'y' },
      scales: {
        x: axis(title, { min, max, ticks: { callback: short_number, maxTicksLimit: narrow ? 5 : 10, maxRotation: 0 } }),
        y: axis('', {
          grid: { display: false },
          ticks: { autoSkip: false, font: { size: narrow ? 10 : 12 }, callback: (row) => bar_label(labels[row], narrow) },
        }),
      },
      plugins: {
        legend: legend({ display: legends, onClick: () => {} }),
        tooltip: tooltip((item) => labels[item.raw.y].join(' '), (item) => item.raw.text),
      },
    },
  };
}
