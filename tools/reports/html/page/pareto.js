// SPDX-License-Identifier: Apache-2.0
// The Pareto front of a sweep: two objectives at a time, the points that no other beats.

const kMostPoints = 4000;

// The objective's decimal text at a point; null if it has none.
function objective_text(sweep, objective, point) {
  if (objective.kind === 'metric') {
    const at = sweep.metrics.findIndex((each) => each.name === objective.name);
    return at < 0 ? null : point.values[at];
  }
  const at = sweep.axes.findIndex((each) => each.name === objective.name);
  return at < 0 ? null : axis_value(sweep, point, at).number || null;
}

function objective_unit(sweep, objective) {
  const from = objective.kind === 'metric' ? sweep.metrics : sweep.axes;
  return (from.find((each) => each.name === objective.name) || { unit: '' }).unit;
}

function objective_title(sweep, objective) {
  const unit = objective_unit(sweep, objective);
  return `${objective.name}${unit ? ` in ${unit}` : ''} (${objective.goal === 'max' ? 'more' : 'less'} is better)`;
}

function point_name(sweep, point) {
  const texts = varied_axes(sweep).map((index) => `${sweep.axes[index].name}=${axis_value(sweep, point, index).text}`);
  return `point ${point.number}: ${texts.join(', ')}`;
}

function pareto_axis(sweep, objective, points, narrow) {
  const values = points.map((point) => Number(objective_text(sweep, objective, point)));
  const title = objective_title(sweep, objective);
  return metric_axis(narrow && title.length > 44 ? `\u2026${title.slice(-43)}` : title, values);
}

function pareto_plot(sweep, [first, second], points, narrow) {
  const place = (point) => {
    const [x, y] = [objective_text(sweep, first, point), objective_text(sweep, second, point)];
    return { x: Number(x), y: Number(y), text: `${x}, ${y}`, name: point_name(sweep, point) };
  };
  const front = points.filter((point) => point.pareto === true).map(place).sort((a, b) => a.x - b.x);
  const others = points.filter((point) => point.pareto !== true).slice(0, kMostPoints).map(place);
  return {
    type: 'scatter',
    data: {
      datasets: [
        { label: 'on the Pareto front', data: front, borderColor: series_colour(0), backgroundColor: series_colour(0),
          pointStyle: 'circle', radius: 6, showLine: sweep.objectives.length === 2, borderWidth: 2 },
        { label: 'another point is better', data: others, borderColor: theme().others,
          backgroundColor: theme().back, pointStyle: 'rect', radius: 4, borderWidth: 1.5 },
      ],
    },
    height: 420,
    options: {
      scales: { x: pareto_axis(sweep, first, points, narrow), y: pareto_axis(sweep, second, points, narrow) },
      plugins: {
        legend: legend(),
        tooltip: tooltip((item) => item.raw.name, (item) => item.raw.text),
      },
    },
  };
}

function front_table(sweep) {
  const front = sweep.points.filter((point) => point.pareto === true);
  return {
    caption: 'points on the Pareto front',
    columns: ['point', ...sweep.axes.map((each) => each.name), ...sweep.objectives.map((each) => each.name)],
    rows: front.map((point) => [point.number, ...sweep.axes.map((_, index) => axis_value(sweep, point, index).text),
      ...sweep.objectives.map((each) => objective_text(sweep, each, point))]),
  };
}

function add_pareto(sweep) {
  const section = add_section('pareto', 'Pareto front');
  const objectives = (sweep.objectives || []).filter((each) =>
    sweep.points.some((point) => cell_text(objective_text(sweep, each, point)) !== ''));
  if (objectives.length < 2) {
    add_absent(section, 'No Pareto front to draw: it wants two objectives in the sweep\u2019s file that are axes or in its table.');
    if (objectives.length > 0) add_table(section, front_table(sweep));
    return;
  }
  const points = sweep.points.filter((point) => point.status === 'done' &&
    objectives.every((each) => cell_text(objective_text(sweep, each, point)) !== ''));
  let pair = [objectives[0], objectives[1]];
  const menus = make('div', { class: 'menus' });
  section.append(menus);
  const plot = add_plot(section, {
    title: 'Objectives against each other',
    label: `Objectives of ${points.length} points, those on the Pareto front joined`,
    note: points.length > kMostPoints ? `Of the points that others beat, the first ${kMostPoints} are drawn.` : undefined,
    build: (narrow) => pareto_plot(sweep, pair, points, narrow),
    table: front_table(sweep),
  });
  if (objectives.length === 2) return;
  ['Across', 'Upwards'].forEach((label, at) => {
    const menu = add_menu(menus, label, objectives.map((each) => each.name), (chosen) => {
      pair = pair.map((each, index) => (index === at ? objectives[chosen] : each));
      draw(plot);
    });
    menu.value = String(at);
  });
}
