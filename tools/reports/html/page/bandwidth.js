// SPDX-License-Identifier: Apache-2.0
// Bandwidth over size, of metrics such as dma.h2d.4KiB.depth1.bandwidth_gb_per_s, under the peak of
// what limits it.

// {prefix: "dma.h2d", variant: "depth1", size, metric} of a metric with a size in its name.
function sized(metric, ending) {
  const parts = metric.name.split('.');
  if (parts[parts.length - 1] !== ending) return null;
  const at = parts.findIndex((part) => size_of(part) !== null);
  if (at < 0) return null;
  const variant = parts.slice(at + 1, -1).join(' ');
  return { prefix: parts.slice(0, at).join('.'), variant, size: size_of(parts[at]), metric };
}

// What 100 % of a metric X_peak_percent is, in GB/s: from the largest size, whose digits say most.
function peak_of(prefix, points, metrics) {
  const best = points.filter((each) => each.variant === '').sort((a, b) => b.size - a.size);
  for (const each of best) {
    const stem = each.metric.name.slice(0, -'bandwidth_gb_per_s'.length);
    const percent = metrics.find((other) => other.name.startsWith(stem) && other.name.endsWith('_peak_percent'));
    if (percent && Number(percent.value) > 0) {
      const of = percent.name.slice(stem.length, -'_peak_percent'.length);
      return { name: of, value: (100 * Number(each.metric.value)) / Number(percent.value) };
    }
  }
  return null;
}

function bandwidth_groups(metrics) {
  const groups = new Map();
  for (const metric of metrics) {
    const found = sized(metric, 'bandwidth_gb_per_s');
    if (found === null) continue;
    if (!groups.has(found.prefix)) groups.set(found.prefix, []);
    groups.get(found.prefix).push(found);
  }
  return groups;
}

function bandwidth_lines(points) {
  const variants = [...new Set(points.map((each) => each.variant))];
  variants.sort((a, b) => (a === '') - (b === ''));
  const best = variants.length > 1 ? 'best' : 'bandwidth';
  const [shown] = split_top(variants.reverse(), kPoints.length);
  return shown.map((variant, index) => ({
    label: variant === '' ? best : variant,
    data: points.filter((each) => each.variant === variant).sort((a, b) => a.size - b.size)
      .map((each) => ({ x: each.size, y: Number(each.metric.value), text: each.metric.value })),
    borderColor: series_colour(index),
    backgroundColor: series_colour(index),
    pointStyle: kPoints[index],
    borderDash: kDashes[index],
    borderWidth: variant === '' ? 3 : 1.5,
    radius: variant === '' ? 5 : 4,
  }));
}

function peak_line(peak, sizes) {
  return {
    label: `peak of the ${peak.name}: ${short_number(peak.value)} GB/s`,
    data: [Math.min(...sizes), Math.max(...sizes)].map((x) => ({ x, y: peak.value, text: short_number(peak.value) })),
    borderColor: theme().muted, backgroundColor: theme().muted, borderDash: [8, 4], borderWidth: 2,
    pointStyle: 'line', radius: 0,
  };
}

function bandwidth_plot(points, peak) {
  const sizes = [...new Set(points.map((each) => each.size))].sort((a, b) => a - b);
  const datasets = bandwidth_lines(points);
  if (peak !== null) datasets.push(peak_line(peak, sizes));
  return {
    type: 'line',
    data: { datasets },
    height: 290,
    options: {
      scales: {
        x: axis('size', {
          type: 'logarithmic',
          min: sizes[0],
          max: sizes[sizes.length - 1] > sizes[0] ? sizes[sizes.length - 1] : sizes[0] * 2,
          afterBuildTicks: (scale) => { scale.ticks = sizes.map((value) => ({ value })); },
          ticks: { callback: (value) => short_bytes(value), maxRotation: 60 },
        }),
        y: axis('GB/s', { beginAtZero: true }),
      },
      plugins: {
        legend: legend(),
        tooltip: tooltip((item) => short_bytes(item.raw.x), (item) => `${item.dataset.label}: ${item.raw.text} GB/s`),
      },
    },
  };
}

function add_bandwidth(report) {
  const section = add_section('bandwidth', 'Bandwidth over size');
  const groups = bandwidth_groups(report.metrics || []);
  if (groups.size === 0) {
    add_absent(section, 'This workload measures no bandwidth by size; dma_bandwidth and p2p_bandwidth do.');
    return;
  }
  const grid = make('div', { class: 'grid' });
  section.append(grid);
  for (const [prefix, points] of groups) {
    const peak = peak_of(prefix, points, report.metrics);
    add_plot(grid, {
      title: prefix,
      label: `Bandwidth of ${prefix} over size in GB/s`,
      build: () => bandwidth_plot(points, peak),
      table: {
        caption: `bandwidth of ${prefix}`,
        columns: ['metric', 'value', 'unit'],
        rows: points.map((each) => [each.metric.name, each.metric.value, each.metric.unit]),
      },
    });
  }
}
