// SPDX-License-Identifier: Apache-2.0
// The blocks of one launch on the AI Cores: from the first one's dispatch to the last one's report,
// and how busy the pipes were.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "npu/platform/aicore_port.hpp"
#include "npu/platform/trace.hpp"

namespace npu::workloads {

class BlockSpan : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override {
    if (event.activity == platform::Activity::kPipe && event.detail < busy_.size()) {
      busy_[event.detail] += event.end - event.begin;
    }
    if (event.activity != platform::Activity::kKernelBlock) return;
    begin_ = begin_ ? std::min(*begin_, event.begin) : event.begin;
    end_ = std::max(end_, event.end);
    blocks_ += 1;
  }
  Picoseconds duration() const { return begin_ ? end_ - *begin_ : Picoseconds{}; }
  unsigned blocks() const { return blocks_; }
  // Over all cores.
  Picoseconds busy(platform::Pipe pipe) const { return busy_[static_cast<std::size_t>(pipe)]; }

 private:
  std::optional<Picoseconds> begin_;
  Picoseconds end_;
  unsigned blocks_ = 0;
  std::array<Picoseconds, platform::kPipes> busy_{};
};

}  // namespace npu::workloads
