// SPDX-License-Identifier: Apache-2.0
// The driver, as it is, on each function of a card that is divided between two.
#include <vector>

#include "npu/driver/device.hpp"
#include "npu/driver/process.hpp"
#include "tests/bench/functions/two_functions.hpp"

namespace npu::test {
namespace {

namespace entries = driver::entries;

constexpr Bytes kBytes = 256_KiB;

// A process of one function.
struct Owner {
  Owner(platform::Platform& machine, platform::Bdf bdf)
      : host(machine),
        device(must_have(driver::Device::open(machine, bdf))),
        process(must_have(driver::ProcessContext::open(*device))),
        queue(must_have(process->create_queue())),
        memory(must_have(process->space().allocate(kBytes)).address),
        buffer(must_have(process->allocate_host(kBytes))) {}

  driver::QueueTicket submit(const abi::QueueEntry& entry) {
    return must_have(queue->submit(entry, host.clock().now() + 1_s));
  }
  Status wait(const driver::QueueTicket& ticket) {
    return queue->wait(ticket, driver::WaitPolicy::kInterrupt, host.clock().now() + 1_s);
  }
  // The words of its memory.
  std::vector<std::uint32_t> read() {
    EXPECT_TRUE(wait(submit(entries::copy_to_host(memory, buffer->bus(), kBytes))));
    std::vector<std::uint32_t> words(static_cast<std::size_t>(kBytes / 4));
    std::memcpy(words.data(), buffer->cpu().data, static_cast<std::size_t>(kBytes));
    return words;
  }

  platform::Platform& host;
  std::unique_ptr<driver::Device> device;
  std::unique_ptr<driver::ProcessContext> process;
  std::unique_ptr<driver::Queue> queue;
  driver::DeviceAddress memory;
  std::unique_ptr<platform::DmaMemory> buffer;
};

TEST(DividedCard, TheDriverTakesEachFunctionForACard) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    Owner first(host, card.bdf(0)), second(host, card.bdf(1));
    EXPECT_EQ(first.device->info().hbm_size, card.chip().partition(0).usable);
    EXPECT_EQ(second.device->info().hbm_size, card.chip().partition(1).usable);
    EXPECT_EQ(first.memory.value, second.memory.value) << "nobody need know of the other";
    const auto a = first.submit(entries::fill(first.memory, kBytes, 0x1111));
    const auto b = second.submit(entries::fill(second.memory, kBytes, 0x2222));
    ASSERT_TRUE(first.wait(a) && second.wait(b));
    EXPECT_EQ(first.read(), std::vector<std::uint32_t>(kBytes / 4, 0x1111));
    EXPECT_EQ(second.read(), std::vector<std::uint32_t>(kBytes / 4, 0x2222));
  });
}

TEST(DividedCard, AFunctionThatGoesLeavesTheDriverOfTheOther) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    Owner second(host, card.bdf(1));
    const auto filled = second.submit(entries::fill(second.memory, kBytes, 0x2222));
    for (int i = 0; i < 3; ++i) {
      const Owner first(host, card.bdf(0));
      ASSERT_TRUE(host.reset_function(card.bdf(0)));
    }
    ASSERT_TRUE(second.wait(filled));
    EXPECT_EQ(second.read(), std::vector<std::uint32_t>(kBytes / 4, 0x2222));
  });
}

}  // namespace
}  // namespace npu::test
