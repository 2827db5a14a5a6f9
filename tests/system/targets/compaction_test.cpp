// SPDX-License-Identifier: Apache-2.0
// The case of false out-of-memory (requirements.md M2) on the card of 910b.yaml.
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

using driver::Device;
using driver::DmaCommand;

// 1 + 2 + 1 + 52 GiB, of which the first two were freed again: 1 GiB lies between two holes.
struct Fragmented {
  explicit Fragmented(Device& device) {
    const auto first = must(device.allocate(1_GiB));
    const auto second = must(device.allocate(2_GiB));
    between = must(device.allocate(1_GiB)).address;
    must(device.allocate(52_GiB));
    EXPECT_TRUE(device.free(first.address));
    EXPECT_TRUE(device.free(second.address));
  }
  driver::DeviceAddress between;
};

constexpr Bytes kStride = 61_MiB;
constexpr Bytes kSample = 64_KiB;

// Writes or compares samples of `at` .. `at` + 1 GiB.
void samples(Device& device, platform::Platform& host, driver::DeviceAddress at, bool write) {
  const auto stream = must(device.create_stream());
  const auto buffer = must(device.allocate_host(kSample));
  for (Bytes offset = 0; offset + kSample <= 1_GiB; offset += kStride) {
    const auto value = [&](Bytes i) { return (offset + i) * 0x9E3779B97F4A7C15U; };
    for (Bytes i = 0; write && i < kSample; i += 8) buffer->store<std::uint64_t>(i, value(i));
    const auto command = write ? DmaCommand::host_to_device(buffer->bus(), at + offset, kSample)
                               : DmaCommand::device_to_host(at + offset, buffer->bus(), kSample);
    ASSERT_TRUE(
        device.copy(stream, command, driver::WaitPolicy::kAdaptive, host.clock().now() + 1_s));
    for (Bytes i = 0; i < kSample; i += 8) {
      ASSERT_EQ(buffer->load<std::uint64_t>(i), value(i)) << offset + i;
    }
  }
  ASSERT_TRUE(device.destroy_stream(stream, host.clock().now() + 1_s));
}

TEST(Compaction, TheThreeGibRequestFailsWithoutIt) {
  Machine().run([](platform::Platform& host) {
    driver::DeviceOptions options;
    options.compact_on_demand = false;
    const auto device = must(Device::open_index(host, 0, options));
    const Fragmented state(*device);
    const auto refused = device->allocate(3_GiB);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kOutOfMemory);
    EXPECT_EQ(refused.error().context,
              "3221225472 bytes of device memory requested, 3221225472 free, largest free block "
              "2147483648");
  });
}

TEST(Compaction, WithItTheRequestSucceedsInMillisecondsAndTheContentsAreIntact) {
  Machine().run([](platform::Platform& host) {
    const auto device = must(Device::open_index(host, 0));
    const Fragmented state(*device);
    samples(*device, host, state.between, true);
    const auto begin = host.clock().now();
    ASSERT_TRUE(device->allocate(3_GiB));
    const auto took = host.clock().now() - begin;
    const auto report = device->compaction_statistics().last;
    EXPECT_EQ(report.moved, 1_GiB);
    // What the kernel's driver spends on the pages themselves comes behind it.
    constexpr std::int64_t kPages = 1536;
    EXPECT_LT(report.pause, 10_ms);
    EXPECT_LT(took - report.pause, 85_us * kPages);
    EXPECT_EQ(report.plan + report.quiesce + report.copy + report.remap + report.invalidate +
                  report.resume,
              report.pause);
    RecordProperty("pause_us", std::to_string(report.pause.us()));
    RecordProperty("copy_us", std::to_string(report.copy.us()));
    samples(*device, host, state.between, false);
  });
}

}  // namespace
}  // namespace npu::test
