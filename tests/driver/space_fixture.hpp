// SPDX-License-Identifier: Apache-2.0
// A device whose memory is looked at through host memory, by the streams of any address space.
#pragma once

#include "npu/driver/address_space.hpp"
#include "tests/driver/device_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {

class SpaceTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    auto allocated = must(device->allocate_host(4096));
    host = std::move(allocated);
  }
  void TearDown() override { host.reset(); }

  AddressSpace& space() { return device->address_space(); }
  StreamId stream_of(const AddressSpace& of) {
    StreamOptions options;
    options.space = &of;
    return *device->create_stream(options);
  }
  Status write_word(StreamId via, DeviceAddress at, std::uint64_t value) {
    host->store(0, value);
    return device->copy(via, DmaCommand::host_to_device(host->bus(), at, 8), WaitPolicy::kPolling,
                        in(1_s));
  }
  // The word at `at`, or the fault code as a negative number.
  std::int64_t read_word(StreamId via, DeviceAddress at) {
    host->store<std::uint64_t>(8, 0xBAD);
    const auto ok = device->copy(via, DmaCommand::device_to_host(at, host->bus() + 8, 8),
                                 WaitPolicy::kPolling, in(1_s));
    if (ok) return static_cast<std::int64_t>(host->load<std::uint64_t>(8));
    const auto fault = device->take_fault();
    return fault && *fault ? -static_cast<std::int64_t>((*fault)->code) : INT64_MIN;
  }
  // A fresh stream for one access, because a fault stays with a stream's event.
  std::int64_t peek(const AddressSpace& of, DeviceAddress at) {
    const auto via = stream_of(of);
    const auto value = read_word(via, at);
    EXPECT_THAT(device->destroy_stream(via, in(1_s)), IsOk());
    return value;
  }
  std::int64_t poke(const AddressSpace& of, DeviceAddress at, std::uint64_t value) {
    const auto via = stream_of(of);
    const auto ok = write_word(via, at, value);
    EXPECT_THAT(device->destroy_stream(via, in(1_s)), IsOk());
    if (ok) return 0;
    const auto fault = device->take_fault();
    return fault && *fault ? -static_cast<std::int64_t>((*fault)->code) : INT64_MIN;
  }
  static std::int64_t code(abi::FaultCode fault) { return -static_cast<std::int64_t>(fault); }

  std::unique_ptr<platform::DmaMemory> host;
};

}  // namespace npu::driver
