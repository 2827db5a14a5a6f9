// SPDX-License-Identifier: Apache-2.0
// Accesses that nothing orders are found, and only those.
#include <algorithm>
#include <random>

#include "model/aicore/hazards/hazard_text.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using model::HazardKind;
using model::Space;
using platform::CrossScope;

model::ChipConfig watched(model::ProgramCoreKind kind = model::ProgramCoreKind::kCoupled) {
  auto config = aicore_config(kind);
  config.core.hazards = model::HazardMode::kReport;
  return config;
}

constexpr std::uint32_t kPiece = 1024;

CopyIn copy_in(std::uint32_t to, std::uint64_t from = kData) {
  CopyIn copy;
  copy.to = {LocalBuffer::kUb, to};
  copy.from = from;
  copy.row_bytes = copy.to_pitch = kPiece;
  return copy;
}

CopyOut copy_out(std::uint32_t from, std::uint64_t to) {
  CopyOut copy;
  copy.from = {LocalBuffer::kUb, from};
  copy.to = to;
  copy.row_bytes = copy.from_pitch = kPiece;
  return copy;
}

Vector scaled(std::uint32_t from, std::uint32_t to) {
  Vector vector;
  vector.op = VectorOp::kMuls;
  vector.a = from;
  vector.to = to;
  vector.count = kPiece / 4;
  return vector;
}

void order(AicorePort& port, Pipe from, Pipe to, unsigned id = 0) {
  port.set_flag(from, to, id);
  port.wait_flag(from, to, id);
}

struct Seen {
  HazardKind kind;
  Space space;
  Pipe earlier, later;
};

// What was found, in the order in which it was.
std::vector<Seen> seen(const AicoreBench& bench) {
  std::vector<Seen> all;
  const auto& hazards = bench.cores.hazards();
  for (const auto& hazard : hazards.all()) {
    all.push_back({hazard.kind, hazard.space, hazards.place(hazard.earlier).pipe,
                   hazards.place(hazard.later).pipe});
  }
  return all;
}

std::string lines(const AicoreBench& bench) {
  std::string text;
  model::HazardText words(bench.cores.hazards(), bench.cores.loader());
  for (const auto& hazard : bench.cores.hazards().all()) text += words.of(hazard) + "\n";
  return text;
}

// Two pieces in turn through UB: in, scaled in place, out. `left_out`: an order that is not there.
enum class Order { kInToVector, kVectorToOut, kOutToIn, kLast, kNone };

void pipeline(AicorePort& port, Order left_out) {
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t piece = i % 2 * kPiece;
    if (i >= 2 && left_out != Order::kOutToIn) port.wait_flag(Pipe::kMte3, Pipe::kMte2, i % 2);
    port.issue(copy_in(piece, kData + i * kPiece));
    if (left_out != Order::kInToVector) order(port, Pipe::kMte2, Pipe::kVector, i % 2);
    port.issue(scaled(piece, piece));
    if (left_out != Order::kVectorToOut) order(port, Pipe::kVector, Pipe::kMte3, i % 2);
    port.issue(copy_out(piece, kData + (16 + i) * kPiece));
    if (i < 2 && left_out != Order::kOutToIn) port.set_flag(Pipe::kMte3, Pipe::kMte2, i % 2);
  }
  if (left_out != Order::kLast) port.pipe_barrier(Pipe::kAll);
}

TEST(AicoreHazards, AreNoneWhereEverythingIsOrdered) {
  AicoreBench bench(watched());
  bench.run_one([&](AicorePort& port) { return pipeline(port, Order::kNone), 0; });
  EXPECT_EQ(lines(bench), "");
}

struct Sabotage {
  const char* name;
  Order left_out;
  Seen first;
};

class AicoreHazardsOf : public testing::TestWithParam<Sabotage> {};

TEST_P(AicoreHazardsOf, AnOrderThatIsLeftOutNameBothInstructions) {
  AicoreBench bench(watched());
  bench.run_one([&](AicorePort& port) { return pipeline(port, GetParam().left_out), 0; });
  const auto found = seen(bench);
  const auto same = [](const Seen& each) {
    const Seen& first = GetParam().first;
    return each.kind == first.kind && each.space == first.space && each.earlier == first.earlier &&
           each.later == first.later;
  };
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), same)) << lines(bench);
}

INSTANTIATE_TEST_SUITE_P(
    All, AicoreHazardsOf,
    testing::Values(Sabotage{"InToVector",
                             Order::kInToVector,
                             {HazardKind::kReadAfterWrite, Space::kUb, Pipe::kMte2, Pipe::kVector}},
                    Sabotage{"VectorToOut",
                             Order::kVectorToOut,
                             {HazardKind::kReadAfterWrite, Space::kUb, Pipe::kVector, Pipe::kMte3}},
                    Sabotage{"OutToIn",
                             Order::kOutToIn,
                             {HazardKind::kWriteAfterRead, Space::kUb, Pipe::kMte3, Pipe::kMte2}},
                    Sabotage{"Last",
                             Order::kLast,
                             {HazardKind::kNotAwaited, Space::kGlobal, Pipe::kMte3, Pipe::kMte3}}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(AicoreHazards, AreNotOrderedByTheTimeThatSomethingTakes) {
  AicoreBench bench(watched());
  bench.run_one([&](AicorePort& port) {
    port.issue(copy_in(0));
    port.scalar(100'000);  // long over, but nothing says so
    port.issue(scaled(0, kPiece));
    port.pipe_barrier(Pipe::kAll);
    return 0;
  });
  ASSERT_EQ(seen(bench).size(), 1U) << lines(bench);
  EXPECT_EQ(seen(bench)[0].kind, HazardKind::kReadAfterWrite);
}

TEST(AicoreHazards, AreNoneBehindAWaitOfTheScalarUnit) {
  AicoreBench bench(watched());
  bench.run_one([&](AicorePort& port) {
    port.issue(copy_in(0));
    order(port, Pipe::kMte2, Pipe::kScalar);
    port.store_ub(0, 7);
    port.issue(scaled(0, kPiece));  // issued behind the wait
    order(port, Pipe::kVector, Pipe::kScalar);
    static_cast<void>(port.load_ub(kPiece));
    port.pipe_barrier(Pipe::kAll);
    return 0;
  });
  EXPECT_EQ(lines(bench), "");
}

TEST(AicoreHazards, AreWordsOfTheScalarUnitToo) {
  AicoreBench bench(watched());
  bench.run_one([&](AicorePort& port) {
    port.issue(scaled(0, kPiece));
    static_cast<void>(port.load_ub(kPiece));
    port.pipe_barrier(Pipe::kAll);
    return 0;
  });
  ASSERT_EQ(seen(bench).size(), 1U) << lines(bench);
  EXPECT_EQ(seen(bench)[0].later, Pipe::kScalar);
}

TEST(AicoreHazards, AreFlagsThatAreLeftOrSetTwice) {
  AicoreBench bench(watched());
  bench.run_one([&](AicorePort& port) {
    port.set_flag(Pipe::kMte2, Pipe::kVector, 1);
    port.set_flag(Pipe::kMte2, Pipe::kVector, 1);
    port.wait_flag(Pipe::kMte2, Pipe::kVector, 1);
    port.pipe_barrier(Pipe::kAll);
    return 0;
  });
  const auto found = seen(bench);
  ASSERT_EQ(found.size(), 2U) << lines(bench);
  EXPECT_EQ(found[0].kind, HazardKind::kFlagRaisedTwice);
  EXPECT_EQ(found[1].kind, HazardKind::kFlagLeft);
}

TEST(AicoreHazards, AreWaitsThatNothingEnds) {
  AicoreBench bench(watched());
  const auto ended = bench.run_one([&](AicorePort& port) {
    port.set_flag(Pipe::kMte2, Pipe::kVector, 2);
    port.wait_flag(Pipe::kMte2, Pipe::kVector, 2);
    port.wait_flag(Pipe::kMte3, Pipe::kVector, 5);
    port.issue(scaled(0, kPiece));
    port.wait_flag(Pipe::kVector, Pipe::kScalar, 1);
    return 0;
  });
  EXPECT_EQ(ended.fault, FaultCode::kFlagDeadlock);
  const auto text = lines(bench);
  EXPECT_NE(text.find("is stopped while it waits for flag MTE3 to V number 5 "), std::string::npos)
      << text;
  EXPECT_NE(text.find("is stopped while it waits for flag V to S number 1 "), std::string::npos)
      << text;
  EXPECT_EQ(seen(bench).size(), 2U) << text;
}

TEST(AicoreHazards, AreWaitsForOtherCoresThatAResetEnds) {
  AicoreBench bench(watched());
  const auto body = [](AicorePort& port) {
    port.wait_cross_flag(Pipe::kMte2, CrossScope::kSameType, 7);
    port.pipe_barrier(Pipe::kAll);
    return 0;
  };
  bench.at(0, [&] { bench.launch(0, body, 1, 0, 2); });
  bench.at(1'000'000 * kClock, [&bench] { bench.cores.function_reset(0); });
  bench.run();
  const auto text = lines(bench);
  EXPECT_NE(text.find("is stopped while it waits for flag between cores to MTE2 number 7 "),
            std::string::npos)
      << text;
}

TEST(AicoreHazards, EndWithTheBlock) {
  AicoreBench bench(watched());
  for (int i = 0; i < 2; ++i) {
    bench.run_one([&](AicorePort& port) {
      port.issue(copy_in(0));
      port.pipe_barrier(Pipe::kAll);
      return 0;
    });
  }
  EXPECT_EQ(lines(bench), "");
}

// Each core writes a piece and reads its neighbour's.
void exchange(AicoreBench& bench, bool barrier) {
  constexpr unsigned kCores = 2;
  bench.upload("aicore_test_program", kImage);
  const auto body = bench.keep([=](AicorePort& port) {
    const unsigned core = port.call().block;
    port.issue(copy_out(0, kData + core * kPiece));
    if (barrier) {
      port.set_cross_flag(Pipe::kMte3, CrossScope::kSameType, 2);
      port.wait_cross_flag(Pipe::kMte2, CrossScope::kSameType, 2);
    }
    port.issue(copy_in(kPiece, kData + (core + 1) % kCores * kPiece));
    port.pipe_barrier(Pipe::kAll);
    return 0;
  });
  bench.at(0, [&bench, body] {
    for (unsigned core = 0; core < kCores; ++core) {
      bench.launch_image(core, kImage, body, 1, core, kCores);
    }
  });
  bench.run();
}

TEST(AicoreHazards, BetweenCoresAreFoundInGlobalMemory) {
  AicoreBench bench(watched());
  exchange(bench, false);
  const auto found = seen(bench);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].space, Space::kGlobal);
  // Each side has the core that makes it, though both may be at one place of the program.
  for (const auto& hazard : bench.cores.hazards().all()) {
    EXPECT_NE(hazard.earlier_core, hazard.later_core);
  }
  const auto text = lines(bench);
  EXPECT_NE(text.find("core 0"), std::string::npos) << text;
  EXPECT_NE(text.find("core 1"), std::string::npos) << text;
}

TEST(AicoreHazards, BetweenCoresAreNoneBehindTheirFlags) {
  AicoreBench bench(watched());
  exchange(bench, true);
  EXPECT_EQ(lines(bench), "");
}

// A random program, and what orders its instructions: the same pipe, flags, issue.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {}

  void run(AicorePort& port) {
    for (int step = 0; step < 8; ++step) {
      const Pipe pipe = kPipes[random_() % 3];
      if (random_() % 3 == 0) {
        const Pipe to = kPipes[random_() % 3];
        if (to == pipe) continue;
        order(port, pipe, to);
        merge(known_[to_index(to)], known_[to_index(pipe)]);
      } else {
        issue(port, pipe);
      }
    }
    port.pipe_barrier(Pipe::kAll);
  }
  bool hazard() const { return hazard_; }

 private:
  static constexpr Pipe kPipes[] = {Pipe::kVector, Pipe::kMte2, Pipe::kMte3};
  static std::size_t to_index(Pipe pipe) { return static_cast<std::size_t>(pipe); }
  using Set = std::vector<bool>;

  static void merge(Set& to, const Set& from) {
    if (to.size() < from.size()) to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = to[i] || from[i];
  }

  void issue(AicorePort& port, Pipe pipe) {
    const auto piece = static_cast<std::uint32_t>(random_() % 4) * kPiece;
    const auto other = static_cast<std::uint32_t>(random_() % 4) * kPiece;
    if (pipe == Pipe::kMte2) {
      port.issue(copy_in(piece));
      access(pipe, {}, {piece});
    } else if (pipe == Pipe::kMte3) {
      port.issue(copy_out(piece, kData + 1_MiB));
      access(pipe, {piece}, {});
    } else {
      port.issue(scaled(piece, other));
      access(pipe, {piece}, {other});
    }
  }

  struct Done {
    std::size_t number;
    bool write;
  };
  // Of all earlier accesses to the piece, one that is not known to be over.
  void access(Pipe pipe, const std::vector<std::uint32_t>& reads,
              const std::vector<std::uint32_t>& writes) {
    const std::size_t number = next_++;
    auto& known = known_[to_index(pipe)];
    const auto look = [&](std::uint32_t piece, bool write) {
      for (const auto& done : done_[piece]) {
        const bool over = done.number < known.size() && known[done.number];
        if ((write || done.write) && !over) hazard_ = true;
      }
    };
    for (const auto piece : reads) look(piece, false);
    for (const auto piece : writes) look(piece, true);
    for (const auto piece : reads) done_[piece].push_back({number, false});
    for (const auto piece : writes) done_[piece].push_back({number, true});
    known.resize(std::max(known.size(), number + 1));
    known[number] = true;
  }

  std::mt19937_64 random_;
  std::size_t next_ = 0;
  std::map<std::size_t, Set> known_;
  std::map<std::uint32_t, std::vector<Done>> done_;
  bool hazard_ = false;
};

// How often accesses were found that nothing orders.
std::uint64_t accesses(const AicoreBench& bench) {
  std::uint64_t times = 0;
  for (const auto& hazard : bench.cores.hazards().all()) {
    if (hazard.kind <= HazardKind::kWriteAfterWrite) times += hazard.times;
  }
  return times;
}

TEST(AicoreHazards, AreThoseOfAllPairsInRandomPrograms) {
  AicoreBench bench(watched());
  unsigned with = 0;
  constexpr unsigned kPrograms = 200;
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    RandomProgram program(seed);
    const auto before = accesses(bench);
    bench.run_one([&](AicorePort& port) { return program.run(port), 0; });
    EXPECT_EQ(program.hazard(), accesses(bench) != before) << "seed " << seed << "\n"
                                                           << lines(bench);
    with += program.hazard() ? 1 : 0;
  }
  // Neither all nor none.
  EXPECT_GT(with, kPrograms / 10);
  EXPECT_LT(with, kPrograms);
}

}  // namespace
}  // namespace npu::test
