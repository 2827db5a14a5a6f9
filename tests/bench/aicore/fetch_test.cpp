// SPDX-License-Identifier: Apache-2.0
// Code is read as it is executed: by lines, once, whatever the object around it weighs.
#include <gmock/gmock.h>

#include <random>
#include <utility>

#include "npu/abi/kernel_image.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"
#include "tests/bench/core/program_file.hpp"

namespace npu::test {
namespace {

using testing::ElementsAre;

constexpr Bytes kCodeLine = 64;
constexpr Bytes kCodeBytes = 16;
constexpr SimTime kApart = 100'000 * kClock;  // launches

// So many calls, each from a place of its own.
template <unsigned kCalls>
void calls(AicorePort& port) {
  port.scalar(0);
  if constexpr (kCalls > 1) calls<kCalls - 1>(port);
}
// The calls and the end are twelve instructions, three lines behind the header's.
int twelve(AicorePort& port) {
  calls<11>(port);
  return 0;
}

model::ChipConfig small_lines(unsigned ahead = 1, Bytes cache = 4096) {
  auto config = aicore_config();
  config.core.instruction_cache = cache;
  config.core.instruction_line = kCodeLine;
  config.core.instruction_fetch_lines = ahead;
  config.core.instruction_bytes = kCodeBytes;
  return config;
}

class FetchBench : public AicoreBench {
 public:
  using AicoreBench::AicoreBench;
  // One launch after the other.
  void next(unsigned core, Body body, std::uint64_t image = kImage) {
    const auto kept = keep(std::move(body));
    at(when_, [this, core, kept, image] { launch_image(core, image, kept); });
    when_ += kApart;
    at(when_ - 1, [this, core] { ends.push_back(ended(core).when); });
  }
  // The test's program, its object padded by so many bytes.
  void put(std::uint64_t address, Bytes padding) {
    auto object = file_text(binary_dir() + "/programs/aicore_test_program.npu");
    object.resize(object.size() + padding);
    const auto image = with_header(object, abi::ImageKind::kAiCore);
    memory.write(model::Writer::kDma, 0, address, image.data(), image.size());
  }
  void put_next(std::uint64_t address, Bytes padding) {
    at(when_ - 1, [this, address, padding] { put(address, padding); });
  }
  // Lines read in the time of launch `which`, from the image on.
  std::vector<std::uint64_t> lines(std::size_t which, std::uint64_t image = kImage) const {
    std::vector<std::uint64_t> found;
    for (const auto& each : requests) {
      if (each.when / kApart != which || each.address >= kData) continue;
      for (Bytes at = 0; at < each.length; at += kCodeLine) {
        found.push_back((each.address + at - image) / kCodeLine);
      }
    }
    return found;
  }

  std::vector<SimTime> ends;

 private:
  SimTime when_ = 0;
};

TEST(AicoreFetch, ReadsALineWhenItsCodeIsFirstExecuted) {
  FetchBench bench(small_lines());
  bench.next(0, twelve);
  bench.run();
  EXPECT_THAT(bench.lines(0), ElementsAre(0, 1, 2, 3));
}

TEST(AicoreFetch, WaitsForEachLineThatIsNotThere) {
  FetchBench bench(small_lines());
  std::vector<std::uint64_t> gaps;
  bench.next(0, [&](AicorePort& port) {
    auto before = clocks(port);
    calls<8>(port);
    auto after = clocks(port);
    gaps.push_back(after - before - kRegister);
    return 0;
  });
  bench.run();
  // The first look is the first instruction of line 1, the second one the tenth.
  EXPECT_THAT(gaps, ElementsAre(2 * 100U));
}

TEST(AicoreFetch, ReadsNothingOfALoopAfterItsSecondRound) {
  FetchBench bench(small_lines());
  std::vector<std::uint64_t> rounds;
  bench.next(0, [&](AicorePort& port) {
    for (unsigned i = 0; i < 5; ++i) {
      const auto before = clocks(port);
      calls<20>(port);
      rounds.push_back(clocks(port) - before - kRegister);
    }
    return 0;
  });
  bench.run();
  EXPECT_GT(rounds[0], 0U);
  EXPECT_EQ(rounds[2], 0U);
  EXPECT_EQ(rounds[4], 0U);
}

TEST(AicoreFetch, ReadsAheadOfTheLineThatIsMissed) {
  FetchBench bench(small_lines(2));
  bench.next(0, twelve);
  bench.run();
  EXPECT_THAT(bench.lines(0), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(bench.requests.size(), 2U);
}

TEST(AicoreFetch, ProgramGoesOnWhileLinesBehindAreRead) {
  auto config = small_lines();
  config.core.instruction_ahead_lines = 1;
  FetchBench bench(config);
  std::uint64_t gap = 0;
  bench.next(0, [&](AicorePort& port) {
    const auto before = clocks(port);
    calls<3>(port);
    port.scalar(150);  // longer than the read of a line
    calls<3>(port);
    port.scalar(150);
    calls<3>(port);
    gap = clocks(port) - before - kRegister;
    return 0;
  });
  bench.run();
  // Of the three lines behind the first one the program waits for none but the one that it comes to
  // at once.
  EXPECT_LE(gap, 2 * 150U + 100U);
  EXPECT_GE(gap, 2 * 150U);
}

TEST(AicoreFetch, ReadsNoLineTwiceThatItHasAskedFor) {
  auto config = small_lines();
  config.core.instruction_ahead_lines = 1;
  FetchBench bench(config);
  bench.next(0, twelve);
  bench.run();
  EXPECT_THAT(bench.lines(0), ElementsAre(0, 1, 2, 3, 4));
}

TEST(AicoreFetch, DoesNotReadAheadWhereNothingIs) {
  FetchBench bench(small_lines(64));
  const std::uint64_t last = bench.memory.end / 4096 * 4096 - 4096;
  bench.next(0, twelve, last);
  bench.run();
  EXPECT_EQ(bench.ended(0).fault, FaultCode::kInvalidImage);
}

TEST(AicoreFetch, ReadsTheHeaderAloneOfAProgramThatIsHeld) {
  FetchBench bench(small_lines());
  bench.next(0, twelve);
  bench.next(0, twelve);
  bench.run();
  EXPECT_THAT(bench.lines(1), ElementsAre(0));
}

TEST(AicoreFetch, EachCoreHasACacheOfItsOwn) {
  FetchBench bench(small_lines());
  bench.next(0, twelve);
  bench.next(1, twelve);
  bench.next(0, twelve);
  bench.run();
  EXPECT_THAT(bench.lines(1), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(bench.lines(2), ElementsAre(0));
}

TEST(AicoreFetch, ReadsAgainWhatACacheTooSmallHasLost) {
  FetchBench bench(small_lines(1, 2 * kCodeLine));
  bench.next(0, twelve);
  bench.next(0, twelve);
  bench.run();
  EXPECT_THAT(bench.lines(1), ElementsAre(0, 1, 2, 3));
}

TEST(AicoreFetch, ReadsAnewWhenAnotherProgramLiesThere) {
  FetchBench bench(small_lines());
  bench.next(0, twelve);
  bench.put_next(kImage, 8);
  bench.next(0, twelve);
  bench.next(0, twelve);
  bench.run();
  EXPECT_THAT(bench.lines(1), ElementsAre(0, 1, 2, 3)) << "its header says that it is another one";
  EXPECT_THAT(bench.lines(2), ElementsAre(0));
}

TEST(AicoreFetch, CountsLinesAndMissesForThePmu) {
  FetchBench bench(small_lines());
  bench.next(0, twelve);
  bench.next(0, twelve);
  bench.run();
  EXPECT_EQ(bench.cores.statistics(0).code_lines, 2 * 12U);
  EXPECT_EQ(bench.cores.statistics(0).code_misses, 3U);
}

// Launches of three programs in a random order on one core, and each at once on the other core from
// places with much more in the objects; now and then programs are replaced.
class RandomLaunches {
 public:
  static constexpr std::uint64_t kOthers = 0x18'0000;

  explicit RandomLaunches(unsigned seed)
      : random_(seed), bench(small_lines(1 + any(9), (1 + any(12)) * kCodeLine)) {
    for (unsigned i = 0; i < 3; ++i) {
      images_[i] = kImage + i * 0x8'0000 + abi::kImageAlignment * any(64);
      bench.put(images_[i], i);
      bench.put(images_[i] + kOthers, 100'000 + i);
    }
    for (unsigned i = 0; i < 25; ++i) one(i);
    bench.run();
  }

 private:
  unsigned any(unsigned most) { return static_cast<unsigned>(random_() % most); }
  void one(unsigned i) {
    const auto image = images_[any(3)];
    if (any(5) == 0) {
      bench.put_next(image, 3 + i);
      bench.put_next(image + kOthers, 100'003 + i);
    }
    const unsigned kind = any(3);
    const auto body = [kind](AicorePort& port) {
      if (kind != 1) calls<40>(port);
      if (kind != 2) calls<25>(port);
      return 0;
    };
    bench.next(0, body, image);
    bench.next(1, body, image + kOthers);
  }

  std::mt19937 random_;
  std::uint64_t images_[3] = {};

 public:
  FetchBench bench;
};

// Ends of launches, and what they read, from their images on.
TEST(AicoreFetch, IsTheSameForAnObjectOfAnySize) {
  const RandomLaunches run(7);
  const auto& ends = run.bench.ends;
  ASSERT_EQ(ends.size(), 50U);
  for (std::size_t i = 0; i < ends.size(); i += 2) {
    EXPECT_EQ(ends[i + 1] - ends[i], kApart) << i;
    const auto lines = run.bench.lines(i, 0);
    const auto others = run.bench.lines(i + 1, RandomLaunches::kOthers);
    EXPECT_EQ(others, lines) << i;
  }
}

}  // namespace
}  // namespace npu::test
