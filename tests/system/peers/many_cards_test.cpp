// SPDX-License-Identifier: Apache-2.0
// Copies between cards with bits in different words of HCCS_LINKS and HCCS_ACCESS.
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "npu/abi/registers.hpp"
#include "tests/system/support/super_node.hpp"

namespace npu::test {
namespace {

using driver::DmaCommand;
using driver::ImportedAddress;
using driver::WaitPolicy;

// Cards that are opened when they are first named; each has a page with a word for every other.
class Dies {
 public:
  static constexpr Bytes kSize = 2_MiB;
  struct Die {
    std::unique_ptr<driver::Device> device;
    driver::StreamId stream;
    driver::MemoryHandle memory;
    driver::DeviceAddress block;
    std::unique_ptr<platform::DmaMemory> word;
    std::map<unsigned, std::pair<driver::MemoryHandle, driver::DeviceAddress>> peers;
  };

  explicit Dies(platform::Platform& machine_host) : host(machine_host) {}

  Die& operator[](unsigned index) {
    auto& die = dies_[index];
    if (die.device != nullptr) return die;
    die.device = open_card(host, index);
    die.stream = must(die.device->create_stream());
    die.word = must(die.device->allocate_host(4_KiB));
    die.memory = must(space(die).create_memory(kSize));
    die.block = map(die, die.memory);
    return die;
  }
  Status borrow(unsigned card, unsigned owner) {
    auto& to = (*this)[card];
    const auto memory = space(to).import_memory(space((*this)[owner]), (*this)[owner].memory);
    if (!memory) return forward_error(memory);
    to.peers[owner] = {*memory, map(to, *memory)};
    return {};
  }
  void give_back(unsigned card, unsigned owner) {
    auto& die = (*this)[card];
    const auto [memory, at] = die.peers.at(owner);
    EXPECT_TRUE(space(die).unmap(at, kSize));
    EXPECT_TRUE(space(die).release_memory(memory));
  }
  // A word of `card` is written into its place in the peer's block by the card.
  Status write(unsigned card, unsigned peer, std::uint64_t value) {
    auto& die = (*this)[card];
    std::memcpy(die.word->cpu().data, &value, sizeof value);
    const auto own = die.block + kSize / 2;
    if (auto there = copy(die, DmaCommand::host_to_device(die.word->bus(), own, 8)); !there) {
      return there;
    }
    return copy(die, DmaCommand::device_to_peer(
                         own, ImportedAddress(die.peers.at(peer).second + 8 * card), 8));
  }
  // The word that `from` has written to the card.
  std::uint64_t read(unsigned card, unsigned from) {
    auto& die = (*this)[card];
    EXPECT_TRUE(copy(die, DmaCommand::device_to_host(die.block + 8 * from, die.word->bus(), 8)));
    std::uint64_t value = 0;
    std::memcpy(&value, die.word->cpu().data, sizeof value);
    return value;
  }
  Status copy(Die& die, const DmaCommand& command) {
    return die.device->copy(die.stream, command, WaitPolicy::kPolling, host.clock().now() + 1_s);
  }

  platform::Platform& host;

 private:
  static driver::AddressSpace& space(Die& die) { return die.device->address_space(); }
  static driver::DeviceAddress map(Die& die, driver::MemoryHandle memory) {
    const auto at = must(space(die).reserve(kSize));
    EXPECT_TRUE(space(die).map(at, kSize, memory));
    EXPECT_TRUE(space(die).set_access(at, kSize, driver::Access::kReadWrite));
    return at;
  }

  std::map<unsigned, Die> dies_;
};

std::uint64_t access_word(Dies& dies, unsigned card, unsigned of) {
  auto region = must(dies.host.map_bar(dies[card].device->info().bdf(), 0, 0, 4_KiB,
                                       platform::Caching::kUncached));
  return region->read64(abi::HccsAccess::kOffset + abi::HccsWord::offset_of(of));
}

TEST(ManyCards, CardsAtTheBordersOfWordsWriteToEachOther) {
  Machine machine(super_node(130));
  machine.on<Dies>([](Dies& dies) {
    const std::vector<unsigned> cards = {0, 31, 32, 63, 64, 127, 128, 129};
    for (const auto from : cards) {
      for (const auto to : cards) {
        if (from == to) continue;
        ASSERT_TRUE(dies.borrow(from, to)) << from << " of " << to;
        ASSERT_TRUE(dies.write(from, to, 1000 * from + to)) << from << " to " << to;
      }
    }
    for (const auto from : cards) {
      for (const auto to : cards) {
        if (from == to) continue;
        EXPECT_EQ(dies.read(to, from), 1000 * from + to) << from << " to " << to;
      }
    }
  });
}

TEST(ManyCards, EachOfThemIsLetInAndRefusedAlone) {
  Machine machine(super_node(130));
  machine.on<Dies>([](Dies& dies) {
    for (const unsigned card : {0U, 33U, 65U, 129U}) ASSERT_TRUE(dies.borrow(card, 64));
    EXPECT_EQ(access_word(dies, 64, 0), 1U);
    EXPECT_EQ(access_word(dies, 64, 33), 2U);
    EXPECT_EQ(access_word(dies, 64, 65), 2U);
    EXPECT_EQ(access_word(dies, 64, 96), 0U) << "nobody of this word has a lease";
    EXPECT_EQ(access_word(dies, 64, 129), 2U);
    dies.give_back(33, 64);
    EXPECT_EQ(access_word(dies, 64, 33), 0U);
    EXPECT_TRUE(dies.write(129, 64, 5)) << "what others have stays";
    ASSERT_TRUE(dies[64].device->shutdown());
    for (const unsigned card : {0U, 65U, 129U}) {
      EXPECT_FALSE(dies.write(card, 64, 6));
      const auto fault = must(dies[card].device->take_fault());
      ASSERT_TRUE(fault) << card;
      EXPECT_EQ(fault->code, abi::FaultCode::kPeerRefused) << card;
    }
  });
}

TEST(ManyCards, ACardBeyondTheLastHasNoLink) {
  Machine machine(super_node(66));
  machine.on<Dies>([](Dies& dies) {
    auto& device = *dies[65].device;
    for (const unsigned card : {0U, 31U, 32U, 63U, 64U}) EXPECT_TRUE(*device.has_link_to(card));
    for (const unsigned card : {65U, 66U, 95U, 383U, 384U, 1000U, ~0U}) {
      EXPECT_FALSE(*device.has_link_to(card)) << card;
    }
  });
}

// Any number of cards, pairs and links that are down: a pair copies if there is a way.
class AnyCards : public testing::TestWithParam<unsigned> {};

TEST_P(AnyCards, AnyTwoCopyWhereThereIsAWay) {
  std::mt19937 random(GetParam());
  const auto any = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  const unsigned cards = 60 + 2 * any(40);
  Machine machine(super_node(cards));
  std::set<unsigned> cut;  // cards without their link to the switch
  machine.on<Dies>([&](Dies& dies) {
    const auto& plan = machine.system.hccs().plan();
    const auto reaches = [&](unsigned from, unsigned to) {
      return from / 2 == to / 2 || (cut.count(from) == 0 && cut.count(to) == 0);
    };
    std::map<std::pair<unsigned, unsigned>, bool> lent;
    for (unsigned round = 0; round < 60; ++round) {
      const unsigned from = any(cards);
      const unsigned to = any(4) == 0 ? from ^ 1 : any(cards);
      if (from == to) continue;
      if (any(4) == 0) {
        const unsigned card = any(cards);
        const bool up = cut.erase(card) != 0;
        if (!up) cut.insert(card);
        const auto link = plan.link_named("fabric_card" + std::to_string(card) + "_l1sw0");
        ASSERT_TRUE(link);
        machine.system.hccs().set_up(*link, up);
      }
      const bool way = reaches(from, to);
      EXPECT_EQ(*dies[from].device->has_link_to(to), way) << from << " to " << to;
      if (!lent[{from, to}]) {
        const bool borrowed = dies.borrow(from, to).has_value();
        ASSERT_EQ(borrowed, way) << from << " of " << to;
        if (!borrowed) continue;
        lent[{from, to}] = true;
      }
      const std::uint64_t value = random();
      ASSERT_EQ(dies.write(from, to, value).has_value(), way) << from << " to " << to;
      if (!way) continue;
      EXPECT_EQ(dies.read(to, from), value) << from << " to " << to;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, AnyCards, testing::Range(1U, 4U));

}  // namespace
}  // namespace npu::test
