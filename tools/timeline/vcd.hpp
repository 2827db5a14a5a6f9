// SPDX-License-Identifier: Apache-2.0
// Value changes of chosen units as a VCD file (IEEE 1364, 18.2), for wave viewers. A unit has three
// wires: `busy` (something of it is in flight), `count` (how much) and `activity` (the number of
// the youngest, as its comment lists). Changes are kept until the end, because an event is told of
// when it is over: so many of them at most that memory is bounded, the earliest.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "npu/platform/trace.hpp"
#include "tools/timeline/byte_sink.hpp"
#include "tools/timeline/filter.hpp"

namespace npu::timeline {

class Vcd : public platform::TraceSink {
 public:
  using TrackName = std::function<std::string(std::uint32_t track)>;
  static constexpr std::size_t kMost = std::size_t{1} << 22;  // events: 96 MiB

  Vcd(ByteSink& out, Filter filter, TrackName track_name);

  void on_event(const platform::TraceEvent& event) override;
  // Once, behind the last event. `remark`: words for a comment; empty: none. The error of `out`, if
  // it has one.
  Status finish(const std::string& remark = {});
  // Events that found no room: what is missing lies behind the last change.
  bool is_empty() const { return spans_.empty(); }
  std::uint64_t left_out() const { return left_out_; }

 private:
  struct Span {
    std::int64_t begin, end;  // ps
    std::uint32_t signal;
    platform::Activity activity;
  };
  struct Signal {
    std::uint32_t track;
    std::uint32_t in_flight = 0;
  };

  std::uint32_t signal_of(std::uint32_t track);
  Status write_header(const std::string& remark);
  Status write_changes();

  ByteSink& out_;
  const Filter filter_;
  const TrackName track_name_;
  std::vector<Span> spans_;
  std::vector<Signal> signals_;
  std::vector<std::uint32_t> signal_by_track_;  // 1 + signal; 0: none yet
  std::uint64_t left_out_ = 0;
};

}  // namespace npu::timeline
