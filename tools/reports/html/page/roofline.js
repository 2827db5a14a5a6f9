// SPDX-License-Identifier: Apache-2.0
// Roofline: operations per second over operations per byte of HBM, under the chip's ceilings.

// Metrics X.tflops with X.hbm_bytes and X.duration_us, X.device_us or X.card_us beside them.
function roofline_points(metrics) {
  const value = (name) => {
    const found = metrics.find((each) => each.name === name);
    return found === undefined ? 0 : Number(found.value);
  };
  return metrics.filter((each) => each.unit === 'TFLOP/s' && each.name.endsWith('.tflops')).map((each) => {
    const stem = each.name.slice(0, each.name.lastIndexOf('.'));
    const time = ['duration_us', 'device_us', 'card_us'].map((name) => value(`${stem}.${name}`)).find((us) => us > 0);
    const operations = Number(each.value) * 1e6 * (time || 0);
    const bytes = value(`${stem}.hbm_bytes`);
    return { name: stem, achieved: each, operations, bytes, intensity: operations / bytes };
  }).filter((each) => each.bytes > 0 && each.operations > 0);
}

function ceilings_of(report, kind) {
  return (report.ceilings || []).filter((each) => each.kind === kind);
}

// Straight lines between places of which the roof consists: what memory allows, and above it what
// each unit computes at most.
function roof_lines(roofs, memory, range) {
  const rate = Number(memory.value) / 1000;
  const ridges = roofs.map((roof) => Number(roof.value) / rate);
  const line = (label, xs, height, index) => ({
    label,
    data: xs.map((x) => ({ x, y: height(x), text: label })),
    borderColor: series_colour(index), backgroundColor: series_colour(index), borderDash: kDashes[index],
    borderWidth: 2, radius: 0, hitRadius: 6, pointStyle: 'line', showLine: true,
  });
  return [
    line(`${memory.name}: ${memory.value} ${memory.unit}`, [range[0], Math.max(...ridges)], (x) => x * rate, 1),
    ...roofs.map((roof, index) => line(`${roof.name}: ${roof.value} ${roof.unit}`,
      [ridges[index], range[1]], () => Number(roof.value), index + 2)),
  ];
}

function roofline_plot(points, roofs, memory) {
  const xs = [...points.map((point) => point.intensity),
    ...roofs.map((roof) => (1000 * Number(roof.value)) / Number(memory.value))];
  const range = [Math.min(...xs) / 8, Math.max(...xs) * 8];
  const achieved = {
    label: `achieved: ${points.map((point) => point.name).join(', ')}`,
    data: points.map((point) => ({
      x: point.intensity, y: Number(point.achieved.value),
      text: `${point.name}: ${point.achieved.value} TFLOP/s at ${short_number(point.intensity)} operations per byte`,
    })),
    borderColor: series_colour(0), backgroundColor: series_colour(0), radius: 7, pointStyle: 'circle', showLine: false,
  };
  return {
    type: 'scatter',
    data: { datasets: [achieved, ...roof_lines(roofs, memory, range)] },
    height: 420,
    options: {
      scales: {
        x: axis('operations per byte of HBM', { type: 'logarithmic', min: range[0], max: range[1], ticks: { callback: log_tick } }),
        y: axis('TFLOP/s', { type: 'logarithmic', max: 2 * Math.max(...roofs.map((roof) => Number(roof.value))), ticks: { callback: log_tick } }),
      },
      plugins: { legend: legend(), tooltip: tooltip(() => '', (item) => item.raw.text) },
    },
  };
}

function add_roofline(report) {
  const section = add_section('roofline', 'Roofline');
  const points = roofline_points(report.metrics || []);
  const [memory] = ceilings_of(report, 'hbm');
  const roofs = ceilings_of(report, 'compute');
  if (points.length === 0 || memory === undefined || roofs.length === 0) {
    add_absent(section, 'No roofline: this workload does not report operations per second and bytes of HBM; matmul does.');
    return;
  }
  add_plot(section, {
    title: 'Achieved operations per second under the chip\u2019s ceilings',
    label: 'Roofline of the run in TFLOP/s over operations per byte of HBM',
    build: () => roofline_plot(points, roofs, memory),
    table: {
      caption: 'roofline',
      columns: ['of', 'TFLOP/s', 'bytes of HBM', 'operations per byte'],
      rows: [
        ...points.map((point) => [point.name, point.achieved.value,
          report.metrics.find((each) => each.name === `${point.name}.hbm_bytes`).value, point.intensity.toFixed(3)]),
        ...roofs.map((roof) => [`ceiling ${roof.name}`, roof.value, '', '']),
      ],
    },
  });
}
