// SPDX-License-Identifier: Apache-2.0
// What bounds nodes of a network on the card, by operator of ONNX and by node: bytes by level,
// operations, what was achieved and what the card allows. Limits are those of `run operator`.
#pragma once

#include <array>
#include <map>
#include <string>

#include "tools/timeline/kernel_limits.hpp"
#include "tools/timeline/kernel_use.hpp"
#include "tools/timeline/path_events.hpp"
#include "workloads/framework/context.hpp"
#include "workloads/network/graph.hpp"
#include "workloads/network/node_times.hpp"

namespace npu::workloads {

// Of kernels that are counted together.
struct OfKernels {
  std::array<std::uint64_t, 6> operations{};  // by platform::DataType
  Bytes l2 = 0, hbm = 0;
  std::uint64_t attainable = 0;               // operations per ns, times 1000
  Picoseconds card{};                         // in which they ran
  std::map<std::string, Picoseconds> limits;  // by name

  std::uint64_t all() const;
  Number tflops() const { return rate(all()); }
  Number bandwidth() const { return rate(hbm * 1000); }
  Number allowed() const { return Number::quotient(attainable, 1000, 3); }
  // The largest limit and its share of the time in percent; empty: no path is known.
  std::string bound() const;

 private:
  // Per ps, in thousandths.
  Number rate(std::uint64_t count) const;
};

class NetworkLimits : public platform::TraceSink {
 public:
  // Before the run.
  explicit NetworkLimits(const Context& context);

  void on_event(const platform::TraceEvent& event) override {
    events_.on_event(event);
    traffic_.on_event(event);
    use_.on_event(event);
  }
  // Tables and metrics of the run. Once.
  void report(const network::Graph& graph, const network::RunTimes& run, bool by_node,
              Context& context);

 private:
  static constexpr std::size_t kMost = std::size_t{1}
                                       << 20;  // events; of a longer run its last part

  void add(OfKernels& to, const network::NodeTimes& node, Context& context) const;

  timeline::PathEvents events_{kMost};
  timeline::KernelTraffic traffic_;
  timeline::KernelUseCounter use_;
};

}  // namespace npu::workloads
