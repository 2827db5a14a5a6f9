// SPDX-License-Identifier: Apache-2.0
// The card does not answer in time: of a virtual device that could not be made nothing remains.
#include <random>

#include "tests/system/virtual/divided_card.hpp"
#include "tests/system/virtual/silent_card.hpp"

namespace npu::test {
namespace {

using abi::PartitionOperation;

constexpr Picoseconds kTimeout = 2_ms;  // a GiB is scrubbed in 1.3 ms

// The physical function's side, on a card that may be silent.
struct SilentOwner {
  SilentOwner(platform::Platform& machine, model::System& system)
      : host(machine),
        card(machine),
        device(must(driver::Device::open(
            card, platform::Bdf::unpack(system.fabric().endpoint(0).requester())))),
        functions(must(driver::VirtualFunctions::open(*device, {kTimeout}))),
        free(must(functions->free_partition())),
        memory(device->memory_statistics().free) {
    EXPECT_TRUE(functions->set_count(4));
  }
  ErrorCode create() {
    driver::VirtualDeviceOptions options;
    options.partition = {6, 1, 1_GiB, 0, 0, 0, 0, 0};
    const auto made = functions->create(options);
    return made ? ErrorCode::kWrongData : made.error().code;
  }
  void expect_nothing_remains() {
    EXPECT_TRUE(must(functions->list()).empty());
    EXPECT_EQ(must(functions->free_partition()), free);
    EXPECT_EQ(device->memory_statistics().free, memory);
  }
  // All there is can be had again, and works.
  void expect_all_can_be_had() {
    for (int i = 0; i < 4; ++i) ASSERT_EQ(create(), ErrorCode::kWrongData);
    const auto all = must(functions->list());
    for (const auto& one : all) {
      Tenant tenant(host, *one.bdf);
      EXPECT_TRUE(tenant.fill(one.index) && tenant.holds(one.index));
    }
  }

  platform::Platform& host;
  SilentCard card;
  std::unique_ptr<driver::Device> device;
  std::unique_ptr<driver::VirtualFunctions> functions;
  const driver::CardPartition free;
  const Bytes memory;
};

template <class F>
void on_silent_card(F body) {
  DividedCard machine;
  bool ended = false;
  const Status status = machine.system.run([&](platform::Platform& host) {
    SilentOwner owner(host, machine.system);
    body(owner);
    ended = true;
  });
  EXPECT_TRUE(status && ended);
}

struct SilentCase {
  std::vector<Silence> silences;
  bool at_once;  // taken back before create() returns
};
class CreationInTime : public testing::TestWithParam<SilentCase> {};

TEST_P(CreationInTime, IsTakenBackWhenItIsOver) {
  on_silent_card([&](SilentOwner& owner) {
    const auto& wanted = GetParam();
    owner.card.silences.assign(wanted.silences.begin(), wanted.silences.end());
    EXPECT_EQ(owner.create(), ErrorCode::kTimeout);
    if (!wanted.at_once) {
      EXPECT_LT(owner.device->memory_statistics().free, owner.memory)
          << "the card may still make it: its memory is nobody's";
      const auto all = owner.functions->list();
      EXPECT_EQ(all ? ErrorCode::kWrongData : all.error().code, ErrorCode::kTimeout);
      owner.host.clock().sleep_until(owner.host.clock().now() + 20_ms);
    }
    owner.expect_nothing_remains();
    owner.expect_all_can_be_had();
  });
}

constexpr auto kCreate = PartitionOperation::kCreate;
constexpr auto kDestroy = PartitionOperation::kDestroy;
INSTANTIATE_TEST_SUITE_P(
    Silences, CreationInTime,
    testing::Values(SilentCase{{{kCreate, true, 3_ms}}, true},   // made, too late
                    SilentCase{{{kCreate, false, 3_ms}}, true},  // never heard of
                    SilentCase{{{kCreate, true, 10_ms}}, false},
                    SilentCase{{{kCreate, false, 10_ms}}, false},
                    // The end of what was made is late, too, or not heard, and so is the next.
                    SilentCase{{{kCreate, true, 3_ms}, {kDestroy, true, 10_ms}}, false},
                    SilentCase{{{kCreate, true, 3_ms}, {kDestroy, false, 10_ms}}, false}));

TEST(DestructionInTime, GivesTheMemoryBackWhenItIsOver) {
  on_silent_card([&](SilentOwner& owner) {
    ASSERT_EQ(owner.create(), ErrorCode::kWrongData);
    owner.card.silences = {{kDestroy, true, 10_ms}};
    EXPECT_EQ(owner.functions->destroy(0).error().code, ErrorCode::kTimeout);
    owner.host.clock().sleep_until(owner.host.clock().now() + 20_ms);
    owner.expect_nothing_remains();
    owner.expect_all_can_be_had();
  });
}

// Whatever is silent, and when: afterwards there is what was made, and the rest is free.
class RandomSilence : public testing::TestWithParam<unsigned> {};

TEST_P(RandomSilence, LosesNothing) {
  on_silent_card([&](SilentOwner& owner) {
    std::mt19937 random(GetParam());
    std::size_t there = 0;
    for (int step = 0; step < 30; ++step) {
      if (random() % 2 == 0) {
        const auto operation = random() % 3 == 0 ? kDestroy : kCreate;
        const bool heard = random() % 2 == 0;
        // What was not heard is not answered in time, either.
        const auto lasts = static_cast<std::int64_t>(random() % 80) * 100_us;
        owner.card.silences = {{operation, heard, heard ? lasts : lasts + kTimeout}};
      }
      if (there < 4 && random() % 3 != 0) {
        there += owner.create() == ErrorCode::kWrongData ? 1 : 0;
      } else {
        static_cast<void>(owner.functions->destroy_all());
      }
      owner.card.silences.clear();
      owner.host.clock().sleep_until(owner.host.clock().now() + 20_ms);
      there = must(owner.functions->list()).size();
    }
    // A device is ended when its memory is scrubbed.
    while (!owner.functions->destroy_all()) {
      owner.host.clock().sleep_until(owner.host.clock().now() + 20_ms);
    }
    owner.expect_nothing_remains();
  });
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomSilence, testing::Range(1U, 9U));

}  // namespace
}  // namespace npu::test
