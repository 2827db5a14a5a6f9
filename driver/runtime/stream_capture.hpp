// SPDX-License-Identifier: Apache-2.0
// The graph that a stream captures now, if it does. Launches add to it, or replace its launches one
// after the other.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "driver/runtime/stream_graph_impl.hpp"

namespace npu::driver {

class StreamCapture {
 public:
  // `first`: the launch that the next one replaces. No other stream captures the graph.
  void begin(std::shared_ptr<StreamGraph::Impl> graph, std::optional<std::size_t> first = {}) {
    graph_ = std::move(graph);
    graph_->is_captured = true;
    next_ = first;
  }
  // kInvalidArgument: nothing is captured.
  Status end() {
    if (graph_ == nullptr) {
      return fail(ErrorCode::kInvalidArgument, "the stream captures nothing");
    }
    graph_->is_captured = false;
    graph_.reset();
    return {};
  }
  bool is_on() const { return graph_ != nullptr; }

  // kUnsupported: launches are replaced.
  Status add(const abi::QueueEntry* entries, std::size_t count, StreamGraph::Impl::Kept keep) {
    if (next_) return fail(ErrorCode::kUnsupported, "an update replaces launches only");
    graph_->add(entries, count, std::move(keep));
    return {};
  }
  // kOutOfRange: no launch is left to replace. Also the errors of StreamGraph::Impl::add().
  Status add(const KernelLaunch& launch) {
    if (!next_) return graph_->add(launch);
    if (auto there = graph_->has(*next_); !there) return there;
    const auto replaced = graph_->replace((*next_)++, launch, true);
    return replaced ? Status() : Status(forward_error(replaced));
  }

 private:
  std::shared_ptr<StreamGraph::Impl> graph_;
  std::optional<std::size_t> next_;
};

}  // namespace npu::driver
