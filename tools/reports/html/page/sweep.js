// SPDX-License-Identifier: Apache-2.0
// The page of a sweep: a metric over each axis, and the points themselves.

function axis_value(sweep, point, index) {
  return sweep.axes[index].values[Number(point.axes[index])];
}

function axis_title(each) {
  return each.unit ? `${each.name} (${each.unit})` : each.name;
}

function varied_axes(sweep) {
  return sweep.axes.map((_, index) => index).filter((index) => sweep.axes[index].values.length > 1);
}

const kMostLines = 64;

// One line per combination of the other axes that vary: [{label, points}].
function sweep_lines(sweep, points, over) {
  const others = varied_axes(sweep).filter((index) => index !== over);
  const lines = new Map();
  for (const point of points) {
    const key = others.map((index) => point.axes[index]).join();
    if (!lines.has(key)) lines.set(key, []);
    lines.get(key).push(point);
  }
  const label = (point) => others.map((index) =>
    `${sweep.axes[index].name}=${axis_value(sweep, point, index).text}`).join(', ');
  return [...lines.values()].map((of) => ({ label: label(of[0]), points: of }));
}

// Numbers far apart and above zero are drawn by their ratios.
function axis_scale(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low > 0 && high / low >= 16 ? 'logarithmic' : 'linear';
}

// From zero, unless that would hide the differences.
function metric_axis(title, values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const type = axis_scale(values);
  const ticks = { maxRotation: 60 };
  if (type === 'logarithmic') {
    return axis(title, { type, min: low / 1.2, max: high * 1.2, ticks: { ...ticks, callback: log_tick } });
  }
  const from_zero = low >= 0 && low < high / 2;
  return axis(title, { type, beginAtZero: from_zero, grace: '2%', ticks: { ...ticks, callback: short_number } });
}

function sweep_x_axis(sweep, over, narrow) {
  const of = sweep.axes[over];
  const ticks = { maxRotation: 60, autoSkip: true };
  if (!of.numeric) return axis(of.name, { type: 'category', labels: of.values.map((each) => each.text), offset: true, ticks });
  const values = of.values.map((each) => Number(each.number));
  const texts = new Map(of.values.map((each) => [Number(each.number), each.text]));
  return axis(axis_title(of), {
    type: axis_scale(values),
    min: Math.min(...values),
    max: Math.max(...values),
    afterBuildTicks: (scale) => {
      const sorted = [...texts.keys()].sort((a, b) => a - b);
      const step = Math.ceil(sorted.length / (narrow ? 6 : 16));
      scale.ticks = sorted.filter((_, index) => index % step === 0).map((value) => ({ value }));
    },
    ticks: { ...ticks, callback: (value) => texts.get(value) || short_number(value) },
  });
}

function sweep_point(sweep, point, over, metric) {
  const value = axis_value(sweep, point, over);
  return {
    x: sweep.axes[over].numeric ? Number(value.number) : value.text,
    y: Number(point.values[metric]), text: point.values[metric], of: value.text, number: point.number,
  };
}

function sweep_plot(sweep, points, over, metric, narrow) {
  const lines = sweep_lines(sweep, points, over).slice(0, kMostLines);
  const unit = sweep.metrics[metric].unit;
  const numeric = sweep.axes[over].numeric;
  const datasets = lines.map((line, index) => ({
    label: line.label || sweep.metrics[metric].name,
    data: line.points.map((point) => sweep_point(sweep, point, over, metric))
      .sort((a, b) => (numeric ? a.x - b.x : 0)),
    borderColor: series_colour(index), backgroundColor: series_colour(index),
    pointStyle: kPoints[index % kPoints.length], borderDash: kDashes[index % kDashes.length],
    borderWidth: index < kPoints.length ? 2 : 1, radius: line.points.length > 200 ? 0 : 4, hitRadius: 6,
  }));
  return {
    type: 'line',
    data: { datasets },
    height: 290,
    options: {
      scales: {
        x: sweep_x_axis(sweep, over, narrow),
        y: metric_axis(unit || sweep.metrics[metric].name, points.map((point) => Number(point.values[metric]))),
      },
      plugins: {
        legend: legend({ display: datasets.length > 1, labels: {
          ...legend().labels, filter: (item) => item.datasetIndex < kPoints.length } }),
        tooltip: tooltip((item) => `${sweep.axes[over].name}=${item.raw.of}`,
          (item) => `${item.dataset.label}: ${item.raw.text} ${unit}, point ${item.raw.number}`),
      },
    },
  };
}

// What the menus leave: points that have the metric and the values chosen.
function chosen_points(sweep, view) {
  return sweep.points.filter((point) => cell_text(point.values[view.metric]) !== '' &&
    point.axes.every((value, index) => view.fixed[index] === null || Number(value) === view.fixed[index]));
}

function add_sweep_menus(section, sweep, view, update) {
  const menus = make('div', { class: 'menus' });
  section.append(menus);
  add_menu(menus, 'Metric', sweep.metrics.map((each) => (each.unit ? `${each.name} (${each.unit})` : each.name)), (index) => {
    view.metric = index;
    update();
  });
  for (const index of varied_axes(sweep)) {
    const texts = sweep.axes[index].values.map((each) => each.text);
    add_menu(menus, sweep.axes[index].name, ['all', ...texts], (chosen) => {
      view.fixed[index] = chosen === 0 ? null : chosen - 1;
      update();
    });
  }
}

function lines_note(sweep, points, axes) {
  const most = Math.max(...axes.map((over) => sweep_lines(sweep, points, over).length));
  if (most > kMostLines) return `Of up to ${most} lines ${kMostLines} are drawn; fix an axis to see others.`;
  return most > kPoints.length ? 'Lines in grey are not in the legend; fix an axis to tell them apart.' : '';
}

function add_sweep_plots(sweep) {
  const section = add_section('axes', 'A metric over each axis');
  const axes = varied_axes(sweep);
  if (sweep.metrics.length === 0 || axes.length === 0) {
    add_absent(section, sweep.metrics.length === 0 ? 'No point has a metric.' : 'No axis has more than one value.');
    return;
  }
  const view = { metric: 0, fixed: sweep.axes.map(() => null) };
  const drawn = [];
  const count = make('p', { class: 'note', role: 'status' });
  const update = () => {
    const points = chosen_points(sweep, view);
    count.textContent = `${points.length} of ${sweep.points.length} points have this metric. ${lines_note(sweep, points, axes)}`;
    drawn.forEach(draw);
  };
  add_sweep_menus(section, sweep, view, update);
  section.append(count);
  for (const over of axes) {
    drawn.push(add_plot(section, {
      title: `Over ${axis_title(sweep.axes[over])}`,
      label: `The chosen metric over ${sweep.axes[over].name}, a line per combination of the other axes`,
      build: (narrow) => sweep_plot(sweep, chosen_points(sweep, view), over, view.metric, narrow),
    }));
  }
  update();
}

function add_sweep_summary(sweep) {
  const section = add_section('summary', 'Summary');
  const count = (status) => sweep.points.filter((point) => point.status === status).length;
  add_facts(section, [
    ['Workload', sweep.workload], ['Points', String(sweep.points.length)], ['Done', String(count('done'))],
    ['Failed', String(count('failed'))], ['Missing', String(count('missing'))], ['npusim', sweep.npusim],
  ]);
  section.append(new RowTable('axes', ['axis', 'kind', 'unit', 'values'], sweep.axes.map((each) =>
    [each.name, each.kind, each.unit, each.values.map((value) => value.text).join(', ')])).element);
}

function sweep_page(sweep) {
  document.title = `Sweep ${sweep.name}: npusim`;
  document.getElementById('title').textContent = `Sweep ${sweep.name}`;
  document.getElementById('subtitle').textContent = `${sweep.workload}, ${sweep.points.length} points`;
  add_all(sweep, [add_sweep_summary, add_sweep_plots, add_pareto, add_points]);
}
