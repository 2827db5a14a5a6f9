// SPDX-License-Identifier: Apache-2.0
// A plot: Chart.js in a figure of its own with the table of its numbers behind it. Plots are drawn
// anew when the colour scheme changes and for paper.

const kFont = 'system-ui, sans-serif';
const kFontSize = 12;
const kLegendPadding = 12;
const kMarker = 8; // px
const plots = [];

function is_narrow(plot) {
  return plot.box.clientWidth < 560;
}

function draw(plot) {
  const config = plot.build(is_narrow(plot));
  config.options = { ...base_options(), ...config.options };
  plot.box.style.height = `${plot_height(config, plot)}px`;
  if (plot.chart) plot.chart.destroy();
  plot.narrow = is_narrow(plot);
  plot.chart = new Chart(plot.canvas, config);
}

// What Chart.js needs for the legend, so that a long one takes nothing from the plot.
function legend_height(datasets, plot) {
  const pen = plot.canvas.getContext('2d');
  pen.font = `${kFontSize}px ${kFont}`;
  let [lines, used] = [1, 0];
  for (const set of datasets.slice(0, kMostLegends)) {
    const width = kLegendPadding + 1.5 * kFontSize + pen.measureText(set.label).width;
    if (used > 0 && used + width + 2 * kLegendPadding > plot.box.clientWidth) {
      lines += 1;
      used = 0;
    }
    used += width;
  }
  return kLegendPadding + (kFontSize + kLegendPadding) * lines;
}

// Chart.js gives a legend no more than half of all.
function plot_height(config, plot) {
  if (config.options.plugins.legend.display === false) return config.height;
  const below = legend_height(config.data.datasets, plot);
  return Math.max(config.height + below, 2 * below + 16);
}

function base_options() {
  return {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    clip: kMarker, // a marker at the edge is whole
    color: theme().text,
    borderColor: theme().grid,
  };
}

// {title, label, build, table, note}: `label` says to those who do not see it what is drawn;
// build(narrow) gives Chart.js' configuration and a height in pixels without the legend.
function add_plot(parent, { title, label, build, table, note }) {
  const canvas = make('canvas', { role: 'img', 'aria-label': label || title });
  const box = make('div', { class: 'canvas' }, canvas);
  const figure = make('figure', {}, make('figcaption', {}, title), box);
  if (note) add_text(figure, note);
  parent.append(figure);
  const plot = { box, canvas, build, figure };
  if (table) plot.table = add_table(figure, table);
  plots.push(plot);
  draw(plot);
  return plot;
}

function draw_all() {
  for (const plot of plots) draw(plot);
}

// An axis with its title; `more` is Chart.js' own.
function axis(title, more = {}) {
  const { ticks = {}, grid = {}, ...others } = more;
  return {
    title: { display: title !== '', text: title, color: theme().muted },
    ticks: { color: theme().text, ...ticks },
    grid: { color: theme().grid, borderColor: theme().muted, ...grid },
    ...others,
  };
}

// Of a logarithmic axis 1, 10, 100..., and 2 and 5 of each if there are few; called on the scale.
function log_tick(value) {
  const leading = trimmed(value.toExponential(6).split('e')[0]);
  const wanted = this.max / this.min > 200 ? ['1'] : ['1', '2', '5'];
  return wanted.includes(leading) ? short_number(value) : '';
}

// The same of picoseconds: 1 ns, 10 ns...
function log_time_tick(value) {
  return log_tick.call(this, value) === '' ? '' : short_time(value);
}

function legend(more = {}) {
  return {
    position: 'bottom',
    labels: { color: theme().text, usePointStyle: true, boxWidth: 10, padding: kLegendPadding },
    ...more,
  };
}

// The tooltip's lines from the element itself: exact texts, not what Chart.js rounds.
function tooltip(title, line) {
  return {
    callbacks: {
      title: (items) => (items.length ? title(items[0]) : ''),
      label: (item) => line(item),
    },
  };
}

// Names beside bars: in two lines, cut from the front where it is narrow.
function bar_label(lines, narrow) {
  const most = narrow ? 24 : 44;
  return lines.map((text) => (text.length > most ? `\u2026${text.slice(1 - most)}` : text));
}

kDark.addEventListener('change', () => draw_all());

window.addEventListener('resize', () => {
  for (const plot of plots) if (plot.narrow !== is_narrow(plot)) draw(plot);
});

// Paper: light colours, tables open but for those that are too large, and no wider than it is.
function before_print() {
  printing = true;
  for (const holder of document.querySelectorAll('details.table, details.tables')) {
    holder.was_open = holder.open;
    holder.open = !holder.classList.contains('large');
    if (holder.open && holder.fill) holder.fill();
  }
  draw_all();
  for (const plot of plots) plot.chart.resize(Math.min(680, plot.box.clientWidth), plot.box.clientHeight);
}

function after_print() {
  printing = false;
  for (const holder of document.querySelectorAll('details.table, details.tables')) holder.open = holder.was_open;
  draw_all();
}

window.addEventListener('beforeprint', before_print);
window.addEventListener('afterprint', after_print);
