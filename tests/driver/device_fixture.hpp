// SPDX-License-Identifier: Apache-2.0
// An opened device on the fake platform.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "npu/driver/device.hpp"
#include "tests/support/fake/fake_platform.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {

using test::FailsWith;
using test::IsOk;
using test::must;

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override { open({}); }

  void open(const DeviceOptions& options) {
    device.reset();
    auto opened = must(Device::open(fake, card.config().bdf, options));
    device = std::move(opened);
    const auto created = must(device->create_stream());
    stream = created;
    const auto allocated = must(device->allocate(64_MiB));
    memory = allocated.address;
  }
  Instant in(Picoseconds time) { return fake.scheduler.now() + time; }
  Result<Ticket> submit(Bytes size = 4096, const SubmitOptions& options = {}) {
    return device->submit(stream, DmaCommand::device_to_device(memory, memory + 1_MiB, size),
                          options);
  }

  test::FakePlatform fake;
  test::FakeCard& card = fake.add_card();
  std::unique_ptr<Device> device;
  StreamId stream;
  DeviceAddress memory;  // 64 MiB of the default space
};

}  // namespace npu::driver
