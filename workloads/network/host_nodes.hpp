// SPDX-License-Identifier: Apache-2.0
// Nodes that the host computes, where no operator of the card does: a row for each operator of
// ONNX.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "npu/base/result.hpp"
#include "workloads/network/graph.hpp"

namespace npu::network {

// A node with its tensors; a row of the table fills `outputs` and counts its work.
struct HostNode {
  const Node& node;
  std::int64_t opset;
  std::vector<Tensor> inputs;  // empty ones: not given
  std::vector<bool> given;
  std::vector<Tensor> outputs;
  std::uint64_t visits = 0;  // of elements, in all loops
  Status status = {};

  bool has(std::size_t input) const { return input < given.size() && given[input]; }
  // kUnsupported, unless something has failed before.
  void refuse(std::string why) {
    if (status) status = fail(ErrorCode::kUnsupported, std::move(why));
  }
  // The axis of `axes`; refused: none of them.
  std::size_t axis(std::int64_t axis, std::size_t axes);
};

// Instructions of the host for each element that a loop visits: load, compute, store, step and
// branch (assumed, as of compiled loops).
inline constexpr std::uint64_t kInstructionsPerVisit = 5;

struct HostRow {
  std::string_view op;
  void (*compute)(HostNode&);
  std::size_t needs = 1;  // inputs that are always given
};
extern const std::vector<HostRow> kHostPlaces, kHostSums;

// Null: not on the host either.
const HostRow* find_on_host(const Node& node);
// Whether no operator of the card does what the node wants.
bool is_unmapped(const Node& node);
// Marks nodes that the host will compute; how many.
std::size_t place_on_host(Graph& graph);

}  // namespace npu::network
