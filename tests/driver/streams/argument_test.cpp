// SPDX-License-Identifier: Apache-2.0
// Arguments of kernels: each launch has its own until it has ended, and only its stream waits.
#include <cstring>
#include <random>

#include "driver/runtime/argument_arena.hpp"
#include "tests/driver/streams/stream_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class StreamArgumentTest : public StreamTest {
 protected:
  // What the copies of arguments have brought to the card, by the order of launches of a stream.
  std::vector<std::uint64_t> arguments(const std::vector<DeviceAddress>& at) {
    std::vector<std::uint64_t> seen;
    for (const auto address : at) {
      std::uint64_t value = 0;
      const auto place = card.mmu().locate(process->vmid(), address.value);
      card.memory().read(*place, &value, sizeof value);
      seen.push_back(value);
    }
    return seen;
  }
};

TEST_F(StreamArgumentTest, AStreamThatIsHeldHoldsNoOther) {
  const auto held = open(), other = open();
  hold(*held);
  for (std::uint64_t i = 0; i < 40; ++i) {
    ASSERT_THAT(held->launch(kernel(LaunchCores::kVector, i)), IsOk());
  }
  const Instant begin = fake.scheduler.now();
  for (std::uint64_t i = 0; i < 3000; ++i) {
    ASSERT_THAT(other->launch(kernel(LaunchCores::kVector, i)), IsOk());
  }
  ASSERT_THAT(other->synchronize(in(1'000_ms)), IsOk());
  EXPECT_LE(fake.scheduler.now(), begin + 200_ms);
  release();
  EXPECT_THAT(held->synchronize(in(1'000_ms)), IsOk());
}

TEST_F(StreamArgumentTest, ALaunchSaysHowManyCoresItMayBeOn) {
  const auto stream = open();
  for (const std::uint32_t most : {7U, 0U, 1U}) {
    auto launch = kernel(LaunchCores::kVector, most);
    launch.most_cores = most;
    ASSERT_THAT(stream->launch(launch), IsOk());
  }
  ASSERT_THAT(stream->synchronize(in(1'000_ms)), IsOk());
  std::vector<std::uint32_t> cores;
  for (const auto& executed : cp.executed()) {
    if (executed.entry.opcode != static_cast<std::uint8_t>(abi::QueueOpcode::kLaunchAiCore))
      continue;
    cores.push_back(executed.entry.get<abi::LaunchPayload>().cores);
  }
  EXPECT_EQ(cores, (std::vector<std::uint32_t>{7, 0, 1}));
}

TEST_F(StreamArgumentTest, ALaunchSaysWhetherItsBlocksAreOnClusters) {
  const auto stream = open();
  for (const auto cores : {LaunchCores::kVector, LaunchCores::kMixed, LaunchCores::kCube,
                           LaunchCores::kMixed, LaunchCores::kVector}) {
    ASSERT_THAT(stream->launch(kernel(cores, 1)), IsOk());
  }
  ASSERT_THAT(stream->synchronize(in(1'000_ms)), IsOk());
  std::vector<std::uint32_t> mixed;
  for (const auto& executed : cp.executed()) {
    if (executed.entry.opcode != static_cast<std::uint8_t>(abi::QueueOpcode::kLaunchAiCore))
      continue;
    mixed.push_back(executed.entry.get<abi::LaunchPayload>().mixed);
  }
  EXPECT_EQ(mixed, (std::vector<std::uint32_t>{0, 1, 0, 1, 0})) << "in the order of the stream";
}

TEST_F(StreamArgumentTest, LaunchesInFlightDoNotShareAPlace) {
  const auto stream = open();
  hold(*stream);
  std::vector<DeviceAddress> places;
  std::vector<std::uint64_t> written;
  for (std::uint64_t i = 0; i < 60; ++i) {
    auto launch = kernel(LaunchCores::kVector, 100 + i);
    launch.bytes = i % 3 == 0 ? 700 : 8;
    launch.write = [&, i](ByteSpan host, DeviceAddress place) -> Status {
      const std::uint64_t value = 100 + i;
      std::memcpy(host.data, &value, sizeof value);
      places.push_back(place);
      written.push_back(value);
      return {};
    };
    ASSERT_THAT(stream->launch(launch), IsOk());
  }
  release();
  ASSERT_THAT(stream->synchronize(in(100_ms)), IsOk());
  EXPECT_EQ(arguments(places), written);
}

TEST_F(StreamArgumentTest, AnErrorOfTheArgumentsLaunchesNothing) {
  const auto stream = open();
  auto wrong = kernel(LaunchCores::kVector, 1);
  wrong.write = [](ByteSpan, DeviceAddress) { return Status(fail(ErrorCode::kOutOfRange, "no")); };
  EXPECT_THAT(stream->launch(wrong), FailsWith(ErrorCode::kOutOfRange));
  wrong.bytes = abi::kMaxArgumentBytes + 1;
  EXPECT_THAT(stream->launch(wrong), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(stream->launch(kernel(LaunchCores::kVector, 2)), IsOk());
  EXPECT_THAT(stream->synchronize(in(10_ms)), IsOk());
}

// What lies on the card already is not copied, and may be written until the kernel runs.
TEST_F(StreamArgumentTest, KernelsReadWhatIsPresentInItsPlace) {
  const auto stream = open();
  auto launch = kernel(LaunchCores::kVector, 1);
  launch.bytes = 0;
  launch.present = {DeviceAddress{0x1000'0040}, 24};
  launch.timeout = 3_us;
  ASSERT_THAT(stream->launch(launch), IsOk());
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  ASSERT_EQ(cp.executed().size(), 1U);
  const auto payload = cp.executed().front().entry.get<abi::LaunchPayload>();
  EXPECT_EQ(payload.arguments, 0x1000'0040U);
  EXPECT_EQ(payload.argument_bytes, 24U);
  EXPECT_EQ(payload.timeout_us, 3U);
}

TEST_F(StreamArgumentTest, PresentArgumentsAreAlignedAndTheOnlyOnes) {
  const auto stream = open();
  const DeviceAddress place{0x1000'0040};
  auto both = kernel(LaunchCores::kVector, 1);
  both.present = {place, 8};
  EXPECT_THAT(stream->launch(both), FailsWith(ErrorCode::kInvalidArgument));
  for (const PresentArguments& wrong :
       {PresentArguments{place + 8, 8}, PresentArguments{place, abi::kMaxArgumentBytes + 1}}) {
    auto launch = kernel(LaunchCores::kVector, 1);
    launch.bytes = 0;
    launch.present = wrong;
    EXPECT_THAT(stream->launch(launch), FailsWith(ErrorCode::kInvalidArgument));
  }
  EXPECT_TRUE(cp.executed().empty());
}

// Against a model: bytes that are taken, in the order in which they end.
TEST_F(StreamArgumentTest, TheRingGivesNoByteTwice) {
  std::mt19937 random(7);
  for (int run = 0; run < 20; ++run) {
    ArgumentArena arena(*pool);
    std::deque<std::pair<std::byte*, std::byte*>> taken;
    for (int step = 0; step < 2'000; ++step) {
      const Bytes size = 1 + random() % (random() % 4 == 0 ? abi::kMaxArgumentBytes : 200);
      const auto place = must(arena.take(size));
      if (!place) {
        ASSERT_FALSE(taken.empty()) << "an empty ring has room";
        arena.drop_oldest();
        taken.pop_front();
        continue;
      }
      auto* const begin = place->host.data;
      for (const auto& [from, to] : taken) ASSERT_TRUE(begin + size <= from || to <= begin);
      EXPECT_EQ(place->device.value % 64, 0U);
      if (random() % 8 == 0) {
        arena.give_back();
        continue;
      }
      arena.used({});
      taken.emplace_back(begin, begin + size);
    }
  }
}

}  // namespace
}  // namespace npu::driver
