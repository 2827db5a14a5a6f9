// SPDX-License-Identifier: Apache-2.0
// What each node of a run cost: the host's time to submit it, kernels on the card, and gaps where
// no kernel ran. Kernels and gaps of all nodes, and the rest behind the last kernel, are the
// duration.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "kernels/operators/launcher/launch_times.hpp"
#include "workloads/network/card_runner.hpp"
#include "workloads/network/interpreter.hpp"

namespace npu::network {

using operators::Spans;

struct NodeTimes {
  std::size_t node = 0;  // its place in the graph
  std::uint64_t operators = 0;
  Spans host;    // from the node's begin to its end, without `waited`
  Spans waited;  // for the card
  Spans card;    // in which a kernel ran
  Spans gap;     // from the kernel before to the node's last one, in which none ran
  std::vector<operators::KernelSpan> kernels;
  std::array<std::uint64_t, 6> operations{};  // of products and attention, by platform::DataType
  std::uint64_t computed = 0;                 // instructions of the node on the host
  Bytes memory = 0;  // of weights and tensors, when the node has been submitted
};

// A tensor of a run: from the node that makes it to the last one that takes it.
struct TensorLife {
  std::string value;
  Bytes bytes = 0;
  std::size_t first = 0;  // a place in RunTimes::nodes; of inputs the first node
  std::size_t last = 0;
};

struct RunTimes {
  std::vector<NodeTimes> nodes;  // in the order in which they ran
  operators::KernelSpan whole;   // the duration: from the call to its results on the host
  Spans waited;                  // of it, by the host for the card
  Spans rest;                    // of it, behind the last kernel
  Bytes peak = 0;                // of weights and tensors
  std::vector<TensorLife> tensors;
};

// Listens to events, too, as long as something runs.
class NodeTimer final : public NetworkListener, public operators::LaunchTimes {
 public:
  // Both outlive it. `number`: the card's DEVICE_INDEX.
  NodeTimer(platform::Clock& clock, CardRunner& card, std::uint32_t number)
      : clock_(clock), card_(card), number_(number) {}

  // A run begins. What was before is forgotten.
  void start();
  // It has ended, and its results are on the host.
  RunTimes stop();

  void begin(std::size_t node) override;
  void end(std::size_t node, std::uint64_t operators) override;
  void made(const std::string& value, Bytes bytes) override;
  void gone(const std::string& value) override;

 private:
  struct Submitted {
    std::size_t first = 0, end = 0;  // of LaunchTimes
  };

  platform::Clock& clock_;
  CardRunner& card_;
  const std::uint32_t number_;
  RunTimes run_;
  std::vector<Submitted> submitted_;          // by node
  std::map<std::string, std::size_t> alive_;  // places in RunTimes::tensors
  Instant begin_, node_begin_;
  std::size_t waits_before_ = 0;  // of the card
  std::uint64_t computed_before_ = 0;
  std::array<std::uint64_t, 6> operations_before_{};
};

}  // namespace npu::network
