// SPDX-License-Identifier: Apache-2.0
// How long page faults, launches of kernels and waiting entries of compute queues took over a run,
// and the percentiles of each, by nearest rank: of the events themselves, no histogram.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "npu/platform/trace.hpp"
#include "workloads/framework/figures.hpp"

namespace npu::workloads {

// The sample that at least `percent` % of all are not longer than; there is one. 1 .. 100.
MeasuredSpan percentile(std::vector<MeasuredSpan>& samples, unsigned percent);

class Latencies : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override;

  // From the card's access that did not find its page until the MMU had the answer.
  std::vector<MeasuredSpan>& faults() { return faults_; }
  // From the call that submits the launch until its first block begins.
  std::vector<MeasuredSpan>& launches() { return launches_; }
  // From the end of the call that submits an entry until an engine or core has it; of those that
  // need neither until all they wait for is done.
  std::vector<MeasuredSpan>& queueing() { return queueing_; }

  // PREFIX.fault_latency_p50_us, _p95_us and _p99_us, launch_latency, queueing_delay, and a table;
  // what did not happen is left out.
  void report(Context& context, const std::string& prefix);

 private:
  struct Entry {
    Instant called, submitted, taken;
    bool launched = false;
  };
  void report(Context& context, Table*& table, const std::string& name, const char* what,
              std::vector<MeasuredSpan>& samples);

  std::map<std::uint64_t, Entry> entries_;  // by cause, until they are complete
  std::vector<MeasuredSpan> faults_, launches_, queueing_;
};

}  // namespace npu::workloads
