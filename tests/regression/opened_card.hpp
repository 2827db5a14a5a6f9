// SPDX-License-Identifier: Apache-2.0
// A card opened by the driver on a simulated machine, with a stream and memory at both ends.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "npu/driver/device.hpp"
#include "npu/testing/machine_test.hpp"

namespace npu::regression {

using driver::DmaCommand;
using driver::WaitPolicy;
using testkit::AccessKind;
using testkit::FailsWith;
using testkit::Succeeds;

inline void fill(const platform::DmaMemory& memory, unsigned value) {
  std::fill_n(memory.cpu().data, memory.size(), std::byte(value));
}
inline bool all_equal(ConstByteSpan bytes, unsigned value) {
  return std::all_of(bytes.data, bytes.data + bytes.size,
                     [value](std::byte b) { return b == std::byte(value); });
}

class OpenedCard : public testkit::MachineTest {
 protected:
  static constexpr Bytes kSize = 4_MiB;

  using MachineTest::MachineTest;
  void SetUp() override { open(); }
  void TearDown() override { close(); }

  void open() {
    auto opened = driver::Device::open_index(platform(), 0);
    ASSERT_THAT(opened, testkit::Succeeds());
    device_ = std::move(*opened);
    const auto stream = device_->create_stream();
    ASSERT_THAT(stream, testkit::Succeeds());
    stream_ = *stream;
    const auto memory = device_->allocate(kSize);
    ASSERT_THAT(memory, testkit::Succeeds());
    memory_ = memory->address;
    auto host = device_->allocate_host(kSize);
    ASSERT_THAT(host, testkit::Succeeds());
    host_ = std::move(*host);
  }
  void close() {
    host_.reset();
    device_.reset();
  }

  DmaCommand to_card(Bytes size) const {
    return DmaCommand::host_to_device(host_->bus(), memory_, size);
  }
  DmaCommand to_host(Bytes size) const {
    return DmaCommand::device_to_host(memory_, host_->bus(), size);
  }
  driver::Ticket submit(const DmaCommand& command) {
    const auto ticket = device_->submit(stream_, command);
    EXPECT_THAT(ticket, testkit::Succeeds());
    return ticket.value_or(driver::Ticket{});
  }
  Status copy(const DmaCommand& command, WaitPolicy policy = WaitPolicy::kAdaptive) {
    return device_->copy(stream_, command, policy, deadline());
  }
  // A stream of its own: an event that has seen a fault reports it for good.
  void expect_works() {
    const auto fresh = device_->create_stream();
    ASSERT_THAT(fresh, testkit::Succeeds());
    stream_ = *fresh;
    fill(*host_, 0xA7);
    EXPECT_THAT(copy(to_card(64_KiB)), testkit::Succeeds());
    fill(*host_, 0);
    EXPECT_THAT(copy(to_host(64_KiB)), testkit::Succeeds());
    EXPECT_TRUE(all_equal(host_->cpu().subspan(0, 64_KiB), 0xA7));
  }

  std::unique_ptr<driver::Device> device_;
  driver::StreamId stream_;
  driver::DeviceAddress memory_;  // kSize bytes
  std::unique_ptr<platform::DmaMemory> host_;
};

}  // namespace npu::regression
