// SPDX-License-Identifier: Apache-2.0
// What kernels used: how long pipes were busy, what they and the memories moved of what they could.

function used_row(part, parts) {
  return { label: [part.name, ...(part.cores === undefined ? [] : [`${part.cores} cores`])], parts: new Map(parts) };
}

// Pipes by the time in which they worked; memories, and pipes that copy, by their bytes.
function used_rows(use) {
  const percent = (text) => ({ value: Number(text), text: `${text} %` });
  return [
    ...(use.pipes || []).map((each) => used_row(each, [['busy', percent(each.busy_percent)]])),
    ...(use.memories || []).filter((each) => each.percent !== undefined)
      .map((each) => used_row(each, [['of its peak', percent(each.percent)]])),
  ];
}

function add_kernel_use(report) {
  const use = report.kernel_use;
  if (use === undefined) return;
  const section = add_section('kernels', 'What the kernels used');
  const rows = used_rows(use);
  const attainable = use.attainable;
  add_plot(section, {
    title: 'Pipes and memories in the time of the kernels',
    label: `Shares of ${time_text(use.time_ps)} in percent`,
    note: attainable === undefined ? undefined
      : `${time_text(attainable.ps)} would do if ${attainable.by} alone took time: ${attainable.percent} % of ${time_text(use.time_ps)}.`,
    build: (narrow) => stacked_bars({ rows, names: ['busy', 'of its peak'], title: '% of the time, % of the peak', narrow, max: 100 }),
    table: {
      caption: `what ${use.subject} used`,
      columns: ['part', 'busy_ps', 'busy_percent', 'bytes', 'gb_per_s', 'most_gb_per_s', 'percent'],
      rows: [...(use.pipes || []), ...(use.memories || [])].map((each) =>
        [each.name, each.busy_ps, each.busy_percent, each.bytes, each.gb_per_s, each.most_gb_per_s, each.percent]),
    },
  });
}
