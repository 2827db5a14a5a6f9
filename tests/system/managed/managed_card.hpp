// SPDX-License-Identifier: Apache-2.0
// Processes with managed memory on simulated cards, and queues whose copies touch it.
#pragma once

#include <gmock/gmock.h>

#include <cstring>
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
using driver::MemoryAdvice;
using driver::MemoryLocation;

inline driver::ManagedOptions managed_options(driver::FaultPolicy policy) {
  driver::ManagedOptions options;
  options.policy = policy;
  if (policy == driver::FaultPolicy::kMessage) {
    options.pager = must(workloads::program_image("pager"));
  }
  return options;
}

// What a machine needs for it.
inline std::vector<std::string> managed_settings(driver::FaultPolicy policy) {
  if (policy == driver::FaultPolicy::kAts) return {"mmu.fault_policy=ats"};
  return {};
}

// Of tests that hold whoever serves the faults.
class ManagedTest : public testing::TestWithParam<driver::FaultPolicy> {
 protected:
  static driver::ManagedOptions options() { return managed_options(GetParam()); }
  static std::vector<std::string> settings() { return managed_settings(GetParam()); }
  static bool by_pager() { return GetParam() == driver::FaultPolicy::kMessage; }
  // What a touch of a few bytes brings of a page that the host has.
  static Bytes touched_bytes() { return by_pager() ? kPageSize : 64_KiB; }
};
inline std::string name_of(driver::FaultPolicy policy) {
  if (policy == driver::FaultPolicy::kAts) return "ats";
  return policy == driver::FaultPolicy::kMessage ? "message" : "batch";
}
inline std::string policy_name(const testing::TestParamInfo<driver::FaultPolicy>& info) {
  return name_of(info.param);
}
#define NPU_BOTH_POLICIES(suite) \
  INSTANTIATE_TEST_SUITE_P(      \
      Policies, suite,           \
      testing::Values(driver::FaultPolicy::kMessage, driver::FaultPolicy::kBatch), policy_name)
#define NPU_ALL_POLICIES(suite)                                                   \
  INSTANTIATE_TEST_SUITE_P(                                                       \
      Policies, suite,                                                            \
      testing::Values(driver::FaultPolicy::kMessage, driver::FaultPolicy::kBatch, \
                      driver::FaultPolicy::kAts),                                 \
      policy_name)

// A process on a card, with a queue and a page of memory that is not managed.
struct CardProcess {
  CardProcess(platform::Platform& platform, std::uint32_t index)
      : CardProcess(platform, must(driver::Device::open_index(platform, index))) {}
  CardProcess(platform::Platform& platform, std::shared_ptr<driver::Device> opened)
      : host(platform),
        device(std::move(opened)),
        process(must(driver::ProcessContext::open(*device))),
        queue(must(process->create_queue())),
        plain(must(process->space().allocate(kPageSize)).address) {}

  // The card copies; of what the copy ended with.
  Status copy(DeviceAddress from, DeviceAddress to, Bytes size) {
    const auto deadline = host.clock().now() + 1_s;
    auto ticket = queue->submit(driver::entries::copy_on_device(from, to, size), deadline);
    if (!ticket) return forward_error(ticket);
    return queue->wait(*ticket, driver::WaitPolicy::kInterrupt, deadline);
  }

  platform::Platform& host;
  std::shared_ptr<driver::Device> device;
  std::unique_ptr<driver::ProcessContext> process;
  std::unique_ptr<driver::Queue> queue;
  DeviceAddress plain;
};

// `words` of a pattern.
inline std::vector<std::uint32_t> words(Bytes size, std::uint32_t pattern) {
  std::vector<std::uint32_t> all(static_cast<std::size_t>(size / 4));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = pattern * 2654435761U + static_cast<std::uint32_t>(i);
  }
  return all;
}
// By the host.
inline void write(ManagedMemory& managed, DeviceAddress at, Bytes size, std::uint32_t pattern) {
  const auto bytes = words(size, pattern);
  EXPECT_THAT(managed.write(at, {reinterpret_cast<const std::byte*>(bytes.data()),
                                 static_cast<std::size_t>(size)}),
              IsOk());
}
inline void expect(ManagedMemory& managed, DeviceAddress at, Bytes size, std::uint32_t pattern) {
  std::vector<std::uint32_t> found(static_cast<std::size_t>(size / 4));
  EXPECT_THAT(managed.read(
                  at, {reinterpret_cast<std::byte*>(found.data()), static_cast<std::size_t>(size)}),
              IsOk());
  EXPECT_EQ(found, words(size, pattern));
}

struct ManagedCard : CardProcess {
  ManagedCard(platform::Platform& platform, const driver::ManagedOptions& options)
      : CardProcess(platform, 0),
        managed(must(ManagedMemory::open(*device, process->space(), options))) {}
  ~ManagedCard() { queue.reset(); }

  void write(DeviceAddress at, Bytes size, std::uint32_t pattern) {
    test::write(*managed, at, size, pattern);
  }
  void expect(DeviceAddress at, Bytes size, std::uint32_t pattern) {
    test::expect(*managed, at, size, pattern);
  }

  std::unique_ptr<ManagedMemory> managed;
};

// A process on each of several cards, which have managed memory in common.
struct ManagedCards {
  ManagedCards(platform::Platform& platform, const driver::ManagedOptions& options,
               unsigned count = 2)
      : host(platform) {
    for (unsigned i = 0; i < count; ++i) cards.push_back(std::make_unique<CardProcess>(host, i));
    open(options);
  }
  // Other processes on the same cards.
  ManagedCards(const ManagedCards& others, const driver::ManagedOptions& options)
      : host(others.host) {
    for (const auto& card : others.cards) {
      cards.push_back(std::make_unique<CardProcess>(host, card->device));
    }
    open(options);
  }
  ~ManagedCards() {
    for (auto& card : cards) card->queue.reset();
  }
  void open(const driver::ManagedOptions& options) {
    std::vector<driver::ManagedCard> all;
    for (const auto& card : cards) {
      all.push_back({card->device.get(), &card->process->space()});
    }
    managed = must(ManagedMemory::open(all, options));
  }
  // The card reads the managed bytes; whether they are `pattern`'s.
  bool sees(unsigned card, DeviceAddress at, Bytes size, std::uint32_t pattern) {
    auto& on = *cards[card];
    EXPECT_THAT(on.copy(at, on.plain, size), IsOk());
    const auto bytes = must(on.process->allocate_host(size));
    const auto deadline = host.clock().now() + 1_s;
    const auto ticket = must(
        on.queue->submit(driver::entries::copy_to_host(on.plain, bytes->bus(), size), deadline));
    EXPECT_THAT(on.queue->wait(ticket, driver::WaitPolicy::kInterrupt, deadline), IsOk());
    return std::memcmp(bytes->cpu().data, words(size, pattern).data(),
                       static_cast<std::size_t>(size)) == 0;
  }
  // It writes them.
  void write(unsigned card, DeviceAddress at, Bytes size, std::uint32_t pattern) {
    auto& on = *cards[card];
    const auto bytes = must(on.process->allocate_host(size));
    const auto all = words(size, pattern);
    std::memcpy(bytes->cpu().data, all.data(), static_cast<std::size_t>(size));
    const auto deadline = host.clock().now() + 1_s;
    const auto ticket =
        must(on.queue->submit(driver::entries::copy_to_device(bytes->bus(), at, size), deadline));
    EXPECT_THAT(on.queue->wait(ticket, driver::WaitPolicy::kInterrupt, deadline), IsOk());
  }

  platform::Platform& host;
  std::vector<std::unique_ptr<CardProcess>> cards;
  std::unique_ptr<ManagedMemory> managed;
};

}  // namespace npu::test
