// SPDX-License-Identifier: Apache-2.0
#include "driver/stream/stream_table.hpp"

#include <fmt/format.h>

#include "npu/abi/stream.hpp"

namespace npu::driver {
namespace {

constexpr Bytes kGlobalPage = 4096;  // requirements.md M4: what BAR0 keeps for card-wide registers

}  // namespace

StreamTable::StreamTable(CardLink& link, EventTable& events, VectorTable& vectors, Waiter& waiter)
    : link_(link),
      events_(events),
      vectors_(vectors),
      waiter_(waiter),
      streams_(link.card().stream_count) {}

// Windows in BAR0 would have to follow the global page. In a BAR0 of 32 KiB not even the first one
// fits behind it, let alone one per stream.
tl::unexpected<Error> StreamTable::refuse_bar0(unsigned stream) const {
  const Bytes bar0 = link_.card().register_bar().size;
  const Bytes end = kGlobalPage + window(stream + 1);
  if (end > bar0) {
    return fail(ErrorCode::kOutOfRange,
                fmt::format("stream {}: a window of {} bytes in BAR0 behind the {} bytes of global "
                            "registers would end at {}, but BAR0 has {} bytes; the windows are "
                            "in BAR2 at {:#x}",
                            stream, abi::kStreamWindowSize, kGlobalPage, end, bar0,
                            link_.card().stream_window_base));
  }
  return fail(
      ErrorCode::kUnsupported,
      fmt::format("stream {}: the card has its stream windows in BAR2 at {:#x}, not in BAR0",
                  stream, link_.card().stream_window_base));
}

Result<StreamId> StreamTable::create(const StreamOptions& options, unsigned vmid) {
  unsigned id = 0;
  while (id < streams_.size() && streams_[id].used.load(std::memory_order_relaxed)) ++id;
  if (options.placement == StreamPlacement::kBar0) return refuse_bar0(id);
  if (id == streams_.size()) {
    return fail(ErrorCode::kOutOfResources, fmt::format("all {} streams in use", id));
  }
  if (auto ok = map_windows(); !ok) return forward_error(ok);
  auto& stream = streams_[id];
  stream.vmid = vmid;
  stream.interrupt = options.interrupt;
  stream.vector = nullptr;
  if (options.interrupt) {
    const auto vector = vectors_.open(id % vectors_.size());
    if (!vector) return forward_error(vector);
    stream.vector = *vector;
  }
  const auto event = events_.create();
  if (!event) return forward_error(event);
  stream.event = *event;
  if (auto ok = enable(id, options.interrupt, vmid); !ok) {
    static_cast<void>(events_.destroy(*event));
    return forward_error(ok);
  }
  if (stream.predictor) {
    waiter_.forget(*stream.predictor);
  } else {
    stream.predictor = std::make_unique<LatencyPredictor>();
  }
  stream.submitted.store(0, std::memory_order_relaxed);
  stream.used.store(true, std::memory_order_release);
  return StreamId{static_cast<std::uint16_t>(id)};
}

Status StreamTable::map_windows() {
  if (windows_) return {};
  auto region =
      link_.platform().map_bar(link_.bdf(), abi::kMemoryBar, link_.card().stream_window_base,
                               window(link_.card().stream_count), platform::Caching::kUncached);
  if (!region) return forward_error(region);
  windows_ = std::move(*region);
  return {};
}

// The read back makes sure that the window exists and that the stream is enabled before any
// doorbell, which goes another way inside the card.
Status StreamTable::enable(unsigned stream, bool interrupt, unsigned vmid) {
  if (auto ok = link_.alive(); !ok) return ok;
  abi::StreamVector vector;
  vector.set<abi::StreamVector::Vector>(interrupt ? stream % link_.card().msix.vectors : 0);
  platform::write_register(*windows_, vector, window(stream));
  platform::write_register(*windows_, abi::StreamVmid::from_raw(vmid), window(stream));
  abi::StreamControl control;
  control.set<abi::StreamControl::Enable>(1);
  platform::write_register(*windows_, control, window(stream));
  const auto back = link_.read<abi::StreamControl>(*windows_, window(stream));
  if (!back) return forward_error(back);
  if (!back->get<abi::StreamControl::Enable>()) {
    return fail(
        ErrorCode::kBadDevice,
        fmt::format("stream {} does not enable: STREAM_CONTROL is {:#x}", stream, back->raw));
  }
  return {};
}

Status StreamTable::finish(StreamId id, Instant deadline) {
  auto& clock = link_.clock();
  for (;;) {
    const auto status = link_.read<abi::StreamStatus>(*windows_, window(id.value));
    if (!status) return forward_error(status);
    if (!status->get<abi::StreamStatus::Busy>()) break;
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout, fmt::format("stream {} is still busy", id.value));
    }
    clock.relax({}, deadline);
  }
  platform::write_register(*windows_, abi::StreamControl{}, window(id.value));
  return {};
}

}  // namespace npu::driver
