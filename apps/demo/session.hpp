// SPDX-License-Identifier: Apache-2.0
// A card that npudemo works on: opened when the first step asks for it, with one stream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "npu/driver/device.hpp"

namespace npu::demo {

struct SessionOptions {
  std::optional<platform::Bdf> bdf;  // none: the first card that a scan finds
  Bytes max_bytes = 64_MiB;          // of one copy
  // Of the platform's clock: what takes longer than this has failed.
  Picoseconds timeout = 30_s;
  driver::RingPlacement ring = driver::RingPlacement::kDeviceMemory;
};

class Session {
 public:
  Session(platform::Platform& platform, const SessionOptions& options)
      : platform_(platform), options_(options) {}
  ~Session() { close(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  platform::Platform& platform() { return platform_; }
  const SessionOptions& options() const { return options_; }
  Instant deadline() { return platform_.clock().now() + options_.timeout; }

  // The card the options name, without opening it.
  Result<platform::Bdf> choose();
  // Nothing if it is open.
  Status open();
  void close();
  driver::Device& device() { return *device_; }
  driver::StreamId stream() const { return stream_; }

  Status copy(const driver::DmaCommand& command,
              driver::WaitPolicy policy = driver::WaitPolicy::kAdaptive);
  // The same, and what the card's own clock says it took: reads of DEVICE_TIME before and after.
  Result<std::uint64_t> timed_copy(const driver::DmaCommand& command,
                                   driver::WaitPolicy policy = driver::WaitPolicy::kAdaptive);
  // DEVICE_TIME, ns since the card's reset. kDeviceLost.
  Result<std::uint64_t> device_time();
  // The count of an event as the card has it.
  std::uint32_t event_count(driver::EventId event);
  template <class R>
  R read() {
    return platform::read_register<R>(*registers_);
  }
  // A small amount of data to the card and back; whether the card still works.
  Status round_trip(std::uint64_t seed);

 private:
  platform::Platform& platform_;
  SessionOptions options_;
  std::unique_ptr<driver::Device> device_;
  std::unique_ptr<platform::MmioRegion> registers_;  // only looked at: the driver has its own
  driver::StreamId stream_;
};

}  // namespace npu::demo
