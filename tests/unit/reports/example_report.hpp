// SPDX-License-Identifier: Apache-2.0
// A report with something in each of its sections.
#pragma once

#include "tools/reports/report.hpp"

namespace npu::reports {

// As workloads report a latency.
inline void add_latency(Report& report, const std::string& prefix, const Breakdown& breakdown) {
  const auto add = [&](const std::string& name, Picoseconds time) {
    report.add_metric(prefix + "." + name + "_ns", Number::nanoseconds(time), "ns");
  };
  add("latency", breakdown.total());
  for (const auto& part : breakdown.parts) add("breakdown." + part.name, part.time);
  if (breakdown.wait) {
    add("breakdown.wait", *breakdown.wait);
    add("call", breakdown.call());
  }
  report.add_breakdown(breakdown);
}

inline Report full_report() {
  Report report;
  report.version = "1.2.3";
  report.workload = "dma_latency";
  report.config = "910b.yaml";
  report.config_sha256 = std::string(64, 'a');
  report.seed = UINT64_MAX;
  report.simulated = Picoseconds(123'456'789);
  report.overrides = {{"lanes=8", {"link.lanes", {"8"}, false, false}}};
  report.parameters = {{"sizes", {"4096", "64"}, false, true},
                       {"none", {}, false, true},
                       {"policy", {"polling"}, true, false}};
  report.configuration = {{"cpu.call_ns", {"12.5"}, false, false},
                          {"cards.0.name", {"910b"}, true, false},
                          {"cards.0.core.functional", {"true"}, false, false}};
  report.add_program({"executor", std::string(64, 'b')});
  Breakdown breakdown{"h2d latency in ns", "4KiB", {}, Picoseconds(7)};
  breakdown.parts = {{"entry_store", Picoseconds(150'001)}, {"data", Picoseconds(1'000'990)}};
  add_latency(report, "dma.h2d.4KiB", breakdown);
  report.add_metric("dma.h2d.4KiB.bandwidth_gb_per_s", Number::scaled(25'000, 3), "GB/s");
  report.add_counter("host.submissions", Number::count(100));
  report.add_counter("host.mmio_reads", Number::count(12));
  report.add_counter("host.mmio_reads_per_submission", Number::scaled(120, 3));
  report.add_counter("host.mmio_reads_bar0", Number::count(12));
  report.add_counter("card0.hbm.bytes_read", Number::count(4096), "B");
  report.add_table("words, \"quoted\"", {"a", "b"}).rows = {{"1|2", "<x>"}, {}, {"\xC3\xA4", "-"}};
  report.add_limit({"dma.h2d.4KiB", "tlp_overhead", Number::scaled(7'200, 3), "7.200 % headers"});
  report.add_note("a note of\ntwo lines");
  report.add_section({"durations", "{\"odd\":  [1.50, \"}\\\"\", {}]}"});
  return report;
}

}  // namespace npu::reports
