// SPDX-License-Identifier: Apache-2.0
// A process with managed memory on a simulated card, and a queue whose copies touch it.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "npu/driver/managed.hpp"
#include "npu/driver/process.hpp"
#include "tests/support/matchers.hpp"
#include "tests/system/support/machine.hpp"
#include "workloads/framework/program_images.hpp"

namespace npu::test {

using driver::DeviceAddress;
using driver::kPageSize;
using driver::ManagedMemory;

inline driver::ManagedOptions managed_options(driver::FaultPolicy policy) {
  driver::ManagedOptions options;
  options.policy = policy;
  if (policy == driver::FaultPolicy::kMessage) {
    options.pager = must(workloads::program_image("pager"));
  }
  return options;
}

// Of tests that hold whoever serves the faults.
class ManagedTest : public testing::TestWithParam<driver::FaultPolicy> {
 protected:
  static driver::ManagedOptions options() { return managed_options(GetParam()); }
  static bool by_pager() { return GetParam() == driver::FaultPolicy::kMessage; }
  // What a touch of a few bytes brings of a page that the host has.
  static Bytes touched_bytes() { return by_pager() ? kPageSize : 64_KiB; }
};
inline std::string policy_name(const testing::TestParamInfo<driver::FaultPolicy>& info) {
  return info.param == driver::FaultPolicy::kMessage ? "message" : "batch";
}
#define NPU_BOTH_POLICIES(suite) \
  INSTANTIATE_TEST_SUITE_P(      \
      Policies, suite,           \
      testing::Values(driver::FaultPolicy::kMessage, driver::FaultPolicy::kBatch), policy_name)

class ManagedCard {
 public:
  ManagedCard(platform::Platform& platform, const driver::ManagedOptions& options)
      : host(platform),
        device(must(driver::Device::open_index(platform, 0))),
        process(must(driver::ProcessContext::open(*device))),
        managed(must(ManagedMemory::open(*device, process->space(), options))),
        queue(must(process->create_queue())),
        plain(must(process->space().allocate(kPageSize)).address) {}

  // The card copies; of what the copy ended with.
  Status copy(DeviceAddress from, DeviceAddress to, Bytes size) {
    const auto deadline = host.clock().now() + 1_s;
    auto ticket = queue->submit(driver::entries::copy_on_device(from, to, size), deadline);
    if (!ticket) return forward_error(ticket);
    return queue->wait(*ticket, driver::WaitPolicy::kInterrupt, deadline);
  }
  // By the host, `words` of a pattern.
  void write(DeviceAddress at, Bytes size, std::uint32_t pattern) {
    const auto bytes = words(size, pattern);
    EXPECT_THAT(managed->write(at, {reinterpret_cast<const std::byte*>(bytes.data()),
                                    static_cast<std::size_t>(size)}),
                IsOk());
  }
  void expect(DeviceAddress at, Bytes size, std::uint32_t pattern) {
    std::vector<std::uint32_t> found(static_cast<std::size_t>(size / 4));
    EXPECT_THAT(managed->read(at, {reinterpret_cast<std::byte*>(found.data()),
                                   static_cast<std::size_t>(size)}),
                IsOk());
    EXPECT_EQ(found, words(size, pattern));
  }
  static std::vector<std::uint32_t> words(Bytes size, std::uint32_t pattern) {
    std::vector<std::uint32_t> all(static_cast<std::size_t>(size / 4));
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = pattern * 2654435761U + static_cast<std::uint32_t>(i);
    }
    return all;
  }

  platform::Platform& host;
  std::unique_ptr<driver::Device> device;
  std::unique_ptr<driver::ProcessContext> process;
  std::unique_ptr<ManagedMemory> managed;
  std::unique_ptr<driver::Queue> queue;
  DeviceAddress plain;  // a page of the process that is not managed
};

}  // namespace npu::test
