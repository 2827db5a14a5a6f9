// SPDX-License-Identifier: Apache-2.0
// Random graphs of switches with buffers of one message, and everybody talking to everybody:
// nobody waits for ever, nothing is lost or comes to the wrong place.
#include <deque>
#include <random>
#include <set>

#include "tests/bench/link/switched_bench.hpp"

namespace npu::test {
namespace {

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  unsigned below(unsigned count) { return static_cast<unsigned>(random_() % count); }

 private:
  std::mt19937_64 random_;
};

std::string node(const std::string& name, unsigned index) {
  return name + std::to_string(index);
}

// Rings of switches with cards at each, chords, and cards with several links.
model::FabricConfig random_fabric(Dice& dice, unsigned switch_count) {
  model::FabricConfig fabric;
  fabric.routing = dice.below(2) == 0 ? model::FabricRouting::kTable : model::FabricRouting::kEcmp;
  fabric.parts.push_back(switches("s", switch_count, {}));
  auto links = fabric_part(model::FabricForm::kLinks);
  std::set<std::pair<std::string, std::string>> made;
  const auto link = [&](const std::string& a, const std::string& b) {
    if (a == b || !made.insert({std::min(a, b), std::max(a, b)}).second) return;
    links.nodes.push_back(a);
    links.to.push_back(b);
  };
  for (unsigned i = 0; switch_count > 2 && i < switch_count; ++i) {
    link(node("s", i), node("s", (i + 1) % switch_count));
  }
  if (switch_count == 2) link("s0", "s1");
  for (unsigned i = dice.below(3); i > 0; --i) {
    link(node("s", dice.below(switch_count)), node("s", dice.below(switch_count)));
  }
  if (!links.nodes.empty()) fabric.parts.push_back(links);
  for (auto& part : fabric.parts) {
    part.forwarding = static_cast<model::FabricForwarding>(dice.below(2));
    part.link.receive_buffer = 4_KiB << dice.below(2);
    part.link.rate >>= dice.below(3);
    part.link.packet_payload = 64U << dice.below(4);
  }
  return fabric;
}

class RandomWorld {
 public:
  RandomWorld(unsigned seed, model::Simulation& sim)
      : dice_(seed),
        switches_(1 + dice_.below(6)),
        count_(switches_ * (1 + dice_.below(3))),
        world_(node("w", seed) + "_", sim, std::max(2U, count_), link_chip_config(),
               random_fabric(dice_, count_ < 2 ? 1 : switches_)) {
    for (auto& card : world_.cards) card->memory.keep_record = false;
  }

  // Each to each, in a random order: a block of its own is written, and read from where others do
  // not write.
  void issue_all() {
    const auto cards = static_cast<unsigned>(world_.cards.size());
    for (unsigned i = 0; i < 40 * cards; ++i) {
      const unsigned from = dice_.below(cards), to = (from + 1 + dice_.below(cards - 1)) % cards;
      const unsigned length = 1 + dice_.below(4096);
      auto& block = blocks_.emplace_back(length, static_cast<unsigned char>(1 + dice_.below(255)));
      const bool write = dice_.below(2) == 0;
      const std::uint64_t address = (write ? 0 : 512_KiB) + (i % 128) * 4096;
      if (!write) expected_.push_back({&block, world_.cards[to]->memory.bytes[address]});
      world_.cards[from]->issue(write, to, address, block.data(), length, dice_.below(3));
      ++issued_;
    }
  }
  void break_a_link() {
    const auto links = static_cast<unsigned>(world_.net->plan().links.size());
    broken_ = dice_.below(links);
    world_.net->set_up(broken_, false);
  }
  void mend_it() { world_.net->set_up(broken_, true); }

  std::size_t answered(Completion completion) const {
    std::size_t count = 0;
    for (const auto& card : world_.cards) {
      for (const auto& answer : card->answers) count += answer.completion == completion ? 1U : 0U;
    }
    return count;
  }
  std::size_t issued() const { return issued_; }
  // What is read last is what is there, in every byte.
  bool reads_are_right() const {
    for (const auto& [block, byte] : expected_) {
      for (const auto each : *block) {
        if (each != byte) return false;
      }
    }
    return true;
  }
  // Nothing is held anywhere once all is answered.
  Bytes queued() const {
    Bytes sum = 0;
    for (std::size_t i = 0; i < world_.net->plan().links.size(); ++i) {
      for (const unsigned side : {0U, 1U}) sum += world_.net->wire(i, side).statistics().queued;
    }
    return sum;
  }
  void fill() {
    for (auto& card : world_.cards) {
      std::fill_n(card->memory.bytes.data() + 512_KiB, 512_KiB,
                  static_cast<unsigned char>(dice_.below(256)));
    }
  }

 private:
  Dice dice_;
  const unsigned switches_, count_;
  LinkWorld world_;
  std::deque<std::vector<unsigned char>> blocks_;
  std::vector<std::pair<const std::vector<unsigned char>*, unsigned char>> expected_;
  std::size_t issued_ = 0;
  unsigned broken_ = 0;
};

constexpr unsigned kSeeds = 60;

struct RandomBench {
  RandomBench() {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      worlds.push_back(std::make_unique<RandomWorld>(seed, sim));
      worlds.back()->fill();
    }
    run(0);
  }
  void run(SimTime time) { sc_core::sc_start(sc_core::sc_time::from_value(time)); }

  model::Simulation sim;
  std::vector<std::unique_ptr<RandomWorld>> worlds;
};

TEST(RandomFabric, EverybodyIsAnswered) {
  RandomBench bench;
  for (auto& world : bench.worlds) world->issue_all();
  bench.run(100'000 * kMicrosecond);
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const auto& world = *bench.worlds[seed];
    EXPECT_EQ(world.answered(Completion::kSuccess), world.issued()) << "seed " << seed;
    EXPECT_TRUE(world.reads_are_right()) << "seed " << seed;
    EXPECT_EQ(world.queued(), 0U) << "seed " << seed;
  }
}

// A link goes down in the middle and comes again: what it carried fails, and what is sent
// afterwards finds all buffers empty.
TEST(RandomFabric, ALinkThatGoesDownLeavesNothingBehind) {
  RandomBench bench;
  for (auto& world : bench.worlds) world->issue_all();
  bench.run(20 * kMicrosecond);
  for (auto& world : bench.worlds) world->break_a_link();
  bench.run(20 * kMicrosecond);
  for (auto& world : bench.worlds) world->mend_it();
  bench.run(100'000 * kMicrosecond);
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    auto& world = *bench.worlds[seed];
    const auto failed = world.answered(Completion::kPeerLinkDown);
    EXPECT_EQ(world.answered(Completion::kSuccess) + failed, world.issued()) << "seed " << seed;
    world.issue_all();
  }
  const auto failed = [&](unsigned seed) {
    return bench.worlds[seed]->answered(Completion::kPeerLinkDown);
  };
  std::vector<std::size_t> before;
  for (unsigned seed = 0; seed < kSeeds; ++seed) before.push_back(failed(seed));
  bench.run(100'000 * kMicrosecond);
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const auto& world = *bench.worlds[seed];
    EXPECT_EQ(failed(seed), before[seed]) << "seed " << seed;
    EXPECT_EQ(world.answered(Completion::kSuccess) + before[seed], world.issued())
        << "seed " << seed;
    EXPECT_EQ(world.queued(), 0U) << "seed " << seed;
  }
}

// Each card sends to the card two switches further on, all round a ring, with buffers of one
// message: each buffer of a switch fills with messages that want to go on.
TEST(RingOfSwitches, DoesNotLock) {
  model::FabricConfig fabric;
  fabric.parts.push_back(switches("s", 5, {}));
  auto ring = fabric_part(model::FabricForm::kLinks);
  for (unsigned i = 0; i < 5; ++i) {
    ring.nodes.push_back(node("s", i));
    ring.to.push_back(node("s", (i + 1) % 5));
  }
  fabric.parts.push_back(ring);
  for (auto& part : fabric.parts) part.link.receive_buffer = 4_KiB;
  LinkBench bench(5, link_chip_config(), fabric);
  for (unsigned i = 0; i < 5; ++i) bench.card(i).issue_many(true, (i + 2) % 5, 50);
  bench.run(10'000 * kMicrosecond);
  for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(bench.card(i).answers.size(), 50U) << i;
}

}  // namespace
}  // namespace npu::test
