// SPDX-License-Identifier: Apache-2.0
// The page of a report, from top to bottom.

function report_page(report) {
  if (report.workload === 'validate') {
    validation_page(report);
    return;
  }
  document.title = `${report.workload} on ${report.config}: npusim`;
  document.getElementById('title').textContent = `${report.workload} on ${report.config}`;
  document.getElementById('subtitle').textContent =
    `seed ${report.seed}, ${time_text(report.simulated_ps)} simulated`;
  add_all(report, [add_summary, add_steps, add_bounds, add_kernel_use, add_latency, add_bandwidth, add_roofline,
    add_utilisation, add_memory, add_counters, add_metrics, add_configuration]);
}
