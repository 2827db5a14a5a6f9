// SPDX-License-Identifier: Apache-2.0
// Random work on several streams: each runs its own in the order of submission, whatever cores it
// is for, and nothing is lost.
#include <random>

#include "tests/driver/streams/stream_fixture.hpp"

namespace npu::driver {
namespace {

class StreamRandomTest : public StreamTest, public testing::WithParamInterface<unsigned> {
 protected:
  void TearDown() override {
    streams.clear();
    StreamTest::TearDown();
  }

  static constexpr std::uint32_t kOfStream = 1000;  // numbers of a stream's work

  void submit(std::size_t at) {
    auto& stream = *streams[at];
    const auto number = static_cast<std::uint32_t>(at * kOfStream + ++submitted[at]);
    if (chance(3)) {
      mark_by_fill(stream, number);
      return;
    }
    auto launch = kernel(chance(2) ? LaunchCores::kCube : LaunchCores::kVector, 1);
    launch.blocks = number;
    ASSERT_THAT(stream.launch(launch), IsOk());
  }
  // A record that another stream waits for.
  void join(std::size_t from, std::size_t to) {
    const auto made = record(*streams[from]);
    ASSERT_THAT(made, IsOk());
    ASSERT_THAT(streams[to]->wait_for(*made), IsOk());
  }
  bool chance(unsigned of) { return random_() % of == 0; }
  std::size_t any() { return random_() % streams.size(); }

  std::vector<std::unique_ptr<ExecutionStream>> streams;
  std::map<std::size_t, std::uint32_t> submitted;

 private:
  std::mt19937 random_{GetParam()};
};

TEST_P(StreamRandomTest, WorkRunsOnceAndInItsOrder) {
  for (unsigned left = 1 + GetParam() % 3; left > 0; --left) streams.push_back(open());
  for (unsigned step = 0; step < 120; ++step) {
    if (chance(8) && streams.size() > 1) {
      join(any(), any());
    } else if (chance(20)) {
      ASSERT_THAT(streams[any()]->synchronize(in(1_s)), IsOk());
    } else {
      submit(any());
    }
  }
  for (const auto& stream : streams) {
    const auto ended = stream->synchronize(in(1_s));
    ASSERT_THAT(ended, IsOk());
    EXPECT_FALSE(*ended);
  }
  std::map<std::size_t, std::uint32_t> last;
  for (const auto number : numbers()) {
    EXPECT_EQ(number % kOfStream, ++last[number / kOfStream]) << "stream " << number / kOfStream;
  }
  EXPECT_EQ(last, submitted);
}

INSTANTIATE_TEST_SUITE_P(Seeds, StreamRandomTest, testing::Range(0U, 60U));

}  // namespace
}  // namespace npu::driver
