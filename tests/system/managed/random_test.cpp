// SPDX-License-Identifier: Apache-2.0
// Random use of managed memory that is larger than the card's, against a copy on the host.
#include <cstdlib>
#include <random>
#include <set>

#include "tests/system/managed/managed_card.hpp"

namespace npu::test {
namespace {

using driver::MemoryAdvice;
using driver::MemoryLocation;

constexpr Bytes kUnit = 4096;

class Storm {
 public:
  Storm(platform::Platform& host, const driver::ManagedOptions& options, unsigned cards,
        unsigned seed)
      : host_(host), all_(host, options, cards), random_(seed), under_way_(cards) {
    driver::QueueOptions in_order;
    in_order.in_order = true;
    for (auto& card : all_.cards) {
      card->queue = must(card->process->create_queue(in_order));
      free_.push_back(card->device->memory_statistics().free);
    }
  }

  void run(std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    settle();
    while (!arrays_.empty()) drop(0);
    const auto end = all_.managed->statistics();
    EXPECT_EQ(end.resident_bytes, 0U);
    EXPECT_EQ(end.migrated_to_card_bytes + end.created_on_card_bytes,
              end.migrated_to_host_bytes + end.dropped_bytes);
    EXPECT_EQ(end.fault_errors, 0U);
    EXPECT_THAT(all_.managed->close(), IsOk());
    for (unsigned i = 0; i < all_.cards.size(); ++i) {
      EXPECT_EQ(all_.cards[i]->device->memory_statistics().free, free_[i]);
    }
  }

 private:
  struct Array {
    DeviceAddress at;
    std::vector<std::byte> bytes;
    Bytes size() const { return bytes.size(); }
  };

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  Array& any() { return arrays_[below(arrays_.size())]; }
  // A place of at most `most` bytes in an array, in units.
  struct Place {
    Array* array;
    Bytes offset, size;
    DeviceAddress at() const { return array->at + offset; }
    std::uint64_t at_array() const { return array->at.value; }
    std::byte* bytes() const { return array->bytes.data() + offset; }
  };
  Place place(Bytes most) {
    Array& array = any();
    const Bytes units = array.size() / kUnit;
    const Bytes first = below(units);
    const Bytes size = kUnit * (1 + below(std::min<Bytes>(units - first, most / kUnit)));
    return {&array, first * kUnit, size};
  }

  void step() {
    const auto what = below(100);
    if (arrays_.empty() || (what < 3 && arrays_.size() < 6)) return make();
    if (what < 6) return drop(below(arrays_.size()));
    if (what < 25) return write();
    if (what < 40) return read();
    if (what < 75) return copy();
    if (what < 85) return prefetch();
    if (what < 95) return advise();
    if (what < 97) return settle();
    compact();
  }
  void make() {
    const Bytes size = (1 + below(5 * kPageSize / kUnit)) * kUnit;
    Array array;
    array.at = must(all_.managed->allocate(size));
    array.bytes.resize(static_cast<std::size_t>(size));
    for (auto& byte : array.bytes) byte = static_cast<std::byte>(random_());
    EXPECT_THAT(all_.managed->write(array.at, {array.bytes.data(), array.bytes.size()}), IsOk());
    arrays_.push_back(std::move(array));
  }
  void drop(std::size_t i) {
    settle();
    std::vector<std::byte> found(arrays_[i].bytes.size());
    EXPECT_THAT(all_.managed->read(arrays_[i].at, {found.data(), found.size()}), IsOk());
    EXPECT_TRUE(found == arrays_[i].bytes) << "array of " << found.size() << " bytes";
    EXPECT_THAT(all_.managed->free(arrays_[i].at), IsOk());
    arrays_.erase(arrays_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void write() {
    settle();
    const auto to = place(64 * kUnit);
    for (Bytes i = 0; i < to.size; ++i) to.bytes()[i] = static_cast<std::byte>(random_());
    EXPECT_THAT(all_.managed->write(to.at(), {to.bytes(), static_cast<std::size_t>(to.size)}),
                IsOk());
  }
  void read() {
    settle();
    const auto from = place(64 * kUnit);
    std::vector<std::byte> found(static_cast<std::size_t>(from.size));
    EXPECT_THAT(all_.managed->read(from.at(), {found.data(), found.size()}), IsOk());
    EXPECT_EQ(std::memcmp(found.data(), from.bytes(), found.size()), 0);
  }
  // Commands of a queue run one after another, and several may be under way; those of two cards
  // use different arrays.
  void copy() {
    const auto from = place(600 * kUnit), to = place(600 * kUnit);
    const Bytes size = std::min(from.size, to.size);
    const bool overlap =
        from.array == to.array && from.offset < to.offset + size && to.offset < from.offset + size;
    if (overlap) return;
    const auto on = static_cast<unsigned>(below(all_.cards.size()));
    for (unsigned card = 0; card < all_.cards.size(); ++card) {
      const auto& used = under_way_[card].arrays;
      if (card == on) continue;
      if (used.count(from.at_array()) + used.count(to.at_array()) != 0) settle(card);
    }
    std::memcpy(to.bytes(), from.bytes(), static_cast<std::size_t>(size));
    auto& mine = under_way_[on];
    mine.last = must(all_.cards[on]->queue->submit(
        driver::entries::copy_on_device(from.at(), to.at(), size), host_.clock().now() + 1_s));
    mine.arrays.insert({from.at_array(), to.at_array()});
    if (below(3) == 0) settle();
  }
  void settle(unsigned card) {
    auto& on = under_way_[card];
    if (!on.last) return;
    EXPECT_THAT(all_.cards[card]->queue->wait(*on.last, driver::WaitPolicy::kInterrupt,
                                              host_.clock().now() + 1_s),
                IsOk());
    on = {};
  }
  void settle() {
    for (unsigned card = 0; card < under_way_.size(); ++card) settle(card);
  }
  MemoryLocation anywhere() {
    const auto where = below(2 * all_.cards.size());
    if (where % 2 == 0) return MemoryLocation::host();
    return MemoryLocation::card(static_cast<std::uint32_t>(where / 2));
  }
  void prefetch() {
    const auto range = place(arrays_.front().size());
    const auto to = anywhere();
    const auto begun = all_.managed->prefetch(range.at(), range.size, to);
    if (!begun) {
      EXPECT_THAT(begun, FailsWith(ErrorCode::kInvalidArgument)) << "read mostly";
      return;
    }
    if (below(2) == 0) {
      EXPECT_THAT(all_.managed->wait(*begun, host_.clock().now() + 1_s), IsOk());
    }
  }
  void advise() {
    const auto range = place(4 * kPageSize);
    constexpr MemoryAdvice kAll[] = {MemoryAdvice::kReadMostly, MemoryAdvice::kPreferredLocation,
                                     MemoryAdvice::kAccessedBy};
    const auto to = anywhere();
    EXPECT_THAT(all_.managed->advise(range.at(), range.size, kAll[below(3)], below(3) != 0, to),
                IsOk());
  }
  void compact() {
    auto& card = *all_.cards[below(all_.cards.size())];
    static_cast<void>(card.device->compact(64 * kPageSize));
  }

  platform::Platform& host_;
  ManagedCards all_;
  std::mt19937_64 random_;
  std::vector<Array> arrays_;
  struct UnderWay {
    std::optional<driver::QueueTicket> last;
    std::set<std::uint64_t> arrays;  // by address
  };
  std::vector<UnderWay> under_way_;  // by card
  std::vector<Bytes> free_;          // by card, at first
};

void storm(driver::FaultPolicy policy, unsigned cards, unsigned seed) {
  Machine machine({}, cards == 1 ? "910b.yaml" : "system-2x910b2.yaml");
  machine.run([=](platform::Platform& host) {
    auto options = managed_options(policy);
    options.card_limit = (6 + seed % 5) * kPageSize;
    options.low_pages = 1 + seed % 2;
    options.high_pages = 2 + seed % 3;
    const char* const steps = std::getenv("NPU_STORM_STEPS");  // more of them, by hand
    Storm(host, options, cards, seed).run(steps == nullptr ? 150 : std::stoul(steps));
  });
}

class ManagedStorm : public testing::TestWithParam<std::tuple<driver::FaultPolicy, unsigned>> {};

TEST_P(ManagedStorm, KeepsEveryByte) {
  const auto [policy, seed] = GetParam();
  storm(policy, 1, seed);
}

TEST_P(ManagedStorm, KeepsEveryByteOfTwoCards) {
  const auto [policy, seed] = GetParam();
  storm(policy, 2, seed);
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, ManagedStorm,
    testing::Combine(testing::Values(driver::FaultPolicy::kMessage, driver::FaultPolicy::kBatch),
                     testing::Range(0U, 10U)),
    [](const auto& instance) {
      const bool message = std::get<0>(instance.param) == driver::FaultPolicy::kMessage;
      return (message ? "message_" : "batch_") + std::to_string(std::get<1>(instance.param));
    });

}  // namespace
}  // namespace npu::test
