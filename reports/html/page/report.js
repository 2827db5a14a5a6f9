// SPDX-License-Identifier: Apache-2.0
// The page of a report, from top to bottom.

function report_page(report) {
  document.title = `${report.workload} on ${report.config}: npusim`;
  document.getElementById('title').textContent = `${report.workload} on ${report.config}`;
  document.getElementById('subtitle').textContent =
    `seed ${report.seed}, ${time_text(report.simulated_ps)} simulated`;
  add_summary(report);
  add_bounds(report);
  add_latency(report);
  add_bandwidth(report);
  add_roofline(report);
  add_utilisation(report);
  add_memory(report);
  add_counters(report);
  add_metrics(report);
  add_configuration(report);
}
