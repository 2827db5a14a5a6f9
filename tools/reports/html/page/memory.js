// SPDX-License-Identifier: Apache-2.0
// Maps of device memory: what is allocated, pinned, moved and free, before and after.

const kStates = ['allocated', 'pinned', 'moved', 'reserved'];

function moment_name(moment) {
  return [words(moment.label), time_text(moment.when_ps)];
}

// Bytes of the memory, or as far as anything was seen in it where the report does not know.
function extent_of(memory) {
  const ends = memory.moments.flatMap((moment) => moment.ranges.map((range) => BigInt(range.end)));
  const bytes = BigInt(memory.bytes);
  return bytes > 0n ? bytes : ends.reduce((most, each) => (each > most ? each : most), 1n);
}

function memory_plot(memory, narrow) {
  const extent = Number(extent_of(memory));
  const [unit, power] = byte_unit(extent);
  const at = (bytes) => Number(bytes) / 2 ** power;
  const labels = memory.moments.map(moment_name);
  const spans_of = (state) => memory.moments.flatMap((moment, row) =>
    moment.ranges.filter((range) => range.state === state).map((range) => ({
      row, from: at(range.begin), to: at(range.end),
      text: `${state}: ${range.begin} to ${range.end}, ${short_bytes(Number(range.end) - Number(range.begin))}`,
    })));
  const states = [...kStates, ...new Set(memory.moments.flatMap((moment) =>
    moment.ranges.map((range) => range.state)).filter((state) => !kStates.includes(state)))];
  const free = memory.moments.map((_, row) => ({ row, from: 0, to: at(extent), text: 'free' }));
  const sets = states.map((state, index) => ({
    label: state, spans: spans_of(state), colour: theme().memory[state] || series_colour(index),
  })).filter((set) => set.spans.length > 0);
  sets.push({ label: 'free', spans: free, colour: theme().memory.free });
  return span_bars({ labels, sets, title: `address in ${unit}`, narrow, min: 0, max: at(extent), row_height: 52, thickness: 0.6 });
}

function range_rows(memory) {
  return memory.moments.flatMap((moment) => moment.ranges.map((range) =>
    [moment.label, moment.when_ps, range.begin, range.end, range.state]));
}

// Bytes in each state, and the largest free block, which fragmentation makes smaller than the sum.
function state_rows(memory) {
  return memory.moments.map((moment) => {
    const bytes = (state) => String(moment.ranges.filter((range) => range.state === state)
      .reduce((sum, range) => sum + BigInt(range.end) - BigInt(range.begin), 0n));
    const free = free_blocks(memory, moment);
    const largest = free.reduce((most, each) => (each > most ? each : most), 0n);
    return [moment.label, moment.when_ps, ...kStates.map(bytes), String(free.reduce((a, b) => a + b, 0n)), String(largest)];
  });
}

function free_blocks(memory, moment) {
  const sorted = [...moment.ranges].sort((a, b) => (BigInt(a.begin) < BigInt(b.begin) ? -1 : 1));
  const blocks = [];
  let end = 0n;
  for (const range of sorted) {
    if (BigInt(range.begin) > end) blocks.push(BigInt(range.begin) - end);
    if (BigInt(range.end) > end) end = BigInt(range.end);
  }
  if (extent_of(memory) > end) blocks.push(extent_of(memory) - end);
  return blocks;
}

function add_memory(report) {
  const section = add_section('memory', 'Device memory');
  const memories = (report.memory_map || []).filter((memory) => memory.moments.length > 0);
  if (memories.length === 0) {
    add_absent(section, 'No memory map: npusim run with --profile or --html FILE makes one.');
    return;
  }
  for (const memory of memories) {
    const plot = add_plot(section, {
      title: `${memory.name}, ${short_bytes(Number(extent_of(memory)))}`,
      label: `Map of ${memory.name} at ${memory.moments.length} moments`,
      build: (narrow) => memory_plot(memory, narrow),
      table: {
        caption: `ranges of ${memory.name}, in bytes; the rest is free`,
        columns: ['moment', 'when_ps', 'begin', 'end', 'state'],
        rows: range_rows(memory),
      },
    });
    add_table(plot.figure, {
      caption: `bytes of ${memory.name} by state`,
      columns: ['moment', 'when_ps', ...kStates, 'free', 'largest free block'],
      rows: state_rows(memory),
    });
  }
}
