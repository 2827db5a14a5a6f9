// SPDX-License-Identifier: Apache-2.0
// Random use of managed memory that is larger than the card's, by a process and one that it forks
// into, against a copy on the host. Some of it is freed while the card is in the middle of a copy.
#include <cstdlib>
#include <random>
#include <set>

#include "tests/system/managed/managed_card.hpp"

namespace npu::test {
namespace {

constexpr Bytes kUnit = 4096;

// A process and one that it forks into; both are used like that.
class Storm {
 public:
  Storm(platform::Platform& host, const driver::ManagedOptions& options, unsigned cards,
        unsigned seed)
      : host_(host),
        options_(options),
        parent_(host, options, cards),
        child_(parent_, options),
        random_(seed),
        away_(std::size_t{2} * cards) {
    driver::QueueOptions in_order;
    in_order.in_order = true;
    for (auto* const side : {&parent_, &child_}) {
      for (auto& card : side->cards) card->queue = must(card->process->create_queue(in_order));
    }
    for (auto& card : parent_.cards) free_.push_back(card->device->memory_statistics().free);
    in_flight_.resize(std::size_t{2} * cards);
  }

  void run(std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    settle();
    while (!arrays_.empty()) drop(0);
    for (auto* const side : {&parent_, &child_}) {
      const auto end = side->managed->statistics();
      EXPECT_EQ(end.resident_bytes, 0U);
      EXPECT_EQ(end.migrated_to_card_bytes + end.created_on_card_bytes,
                end.migrated_to_host_bytes + end.dropped_bytes);
      EXPECT_EQ(end.fault_errors != 0, side == &parent_ ? parent_failed_ : child_failed_);
      EXPECT_THAT(side->managed->close(), IsOk());
    }
    for (unsigned i = 0; i < free_.size(); ++i) {
      EXPECT_EQ(parent_.cards[i]->device->memory_statistics().free, free_[i]);
    }
  }

 private:
  struct Array {
    ManagedCards* side;
    DeviceAddress at;
    std::vector<std::byte> bytes;
    Bytes size() const { return bytes.size(); }
    ManagedMemory& managed() const { return *side->managed; }
    std::pair<const ManagedCards*, std::uint64_t> key() const { return {side, at.value}; }
  };
  // A place in an array, in units.
  struct Place {
    Array* array;
    Bytes offset, size;
    DeviceAddress at() const { return array->at + offset; }
    std::byte* bytes() const { return array->bytes.data() + offset; }
  };
  struct InFlight {
    std::optional<driver::QueueTicket> last;
    std::set<std::pair<const ManagedCards*, std::uint64_t>> arrays;
  };

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  Array& any() { return arrays_[below(arrays_.size())]; }
  Place place(Bytes most) { return place(any(), most); }
  Place place(Array& array, Bytes most) {
    const Bytes units = array.size() / kUnit;
    const Bytes first = below(units);
    const Bytes size = kUnit * (1 + below(std::min<Bytes>(units - first, most / kUnit)));
    return {&array, first * kUnit, size};
  }

  void fill(std::byte* at, Bytes size) {
    for (Bytes i = 0; i < size; i += sizeof(std::uint64_t)) {
      const std::uint64_t word = random_();
      std::memcpy(at + i, &word, sizeof word);
    }
  }
  void step() {
    const auto what = below(100);
    if (arrays_.empty() || (what < 3 && arrays_.size() < 6)) return make();
    if (what < 5) return drop(below(arrays_.size()));
    if (what < 7) return drop_in_flight();
    if (what < 9) return fork();
    if (what < 25) return write();
    if (what < 40) return read();
    if (what < 75) return copy();
    if (what < 85) return prefetch();
    if (what < 95) return advise();
    if (what < 97) return settle();
    if (what < 98 && parent_.cards.size() > 1) return come_or_go();
    compact();
  }
  // A card of a process leaves its managed memory, or comes back.
  void come_or_go() {
    auto& side = below(2) == 0 ? parent_ : child_;
    const auto card = static_cast<unsigned>(below(side.cards.size()));
    const std::size_t here = cards_of(side).size();
    auto away = away_[&side == &child_ ? side.cards.size() + card : card];
    auto& on = *side.cards[card];
    if (away) {
      const ConstByteSpan pager = options_.pager;
      EXPECT_THAT(side.managed->join({on.device.get(), &on.process->space()}, pager), IsOk());
      away = false;
      return;
    }
    settle();
    const auto left = side.managed->leave(*on.device);
    if (here == 1) {
      EXPECT_THAT(left, FailsWith(ErrorCode::kInvalidArgument, "last card"));
      return;
    }
    EXPECT_THAT(left, IsOk());
    away = true;
  }
  // Those that have part in its memory now.
  std::vector<unsigned> cards_of(const ManagedCards& side) const {
    std::vector<unsigned> all;
    const std::size_t first = &side == &child_ ? side.cards.size() : 0;
    for (unsigned card = 0; card < side.cards.size(); ++card) {
      if (!away_[first + card]) all.push_back(card);
    }
    return all;
  }
  unsigned any_card_of(const ManagedCards& side) {
    const auto all = cards_of(side);
    return all[below(all.size())];
  }
  void make() {
    const Bytes size = (1 + below(5 * kPageSize / kUnit)) * kUnit;
    Array array;
    array.side = below(4) == 0 ? &child_ : &parent_;
    array.at = must(array.managed().allocate(size));
    array.bytes.resize(static_cast<std::size_t>(size));
    fill(array.bytes.data(), size);
    EXPECT_THAT(array.managed().write(array.at, {array.bytes.data(), array.bytes.size()}), IsOk());
    arrays_.push_back(std::move(array));
  }
  void drop(std::size_t i) {
    settle();
    auto& array = arrays_[i];
    std::vector<std::byte> found(array.bytes.size());
    EXPECT_THAT(array.managed().read(array.at, {found.data(), found.size()}), IsOk());
    EXPECT_EQ(std::memcmp(found.data(), array.bytes.data(), found.size()), 0)
        << "array of " << found.size() << " bytes";
    EXPECT_THAT(array.managed().free(array.at), IsOk());
    arrays_.erase(arrays_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  // The card is in the middle of a copy from an array or to it, perhaps waiting for a page of it.
  // The copy fails then, or was over before; nothing else is written.
  void drop_in_flight() {
    settle();
    Array &gone = any(), &kept = any();
    if (&gone == &kept || gone.side != kept.side) return;
    const bool read = below(2) == 0;
    const auto from = place(read ? gone : kept, 600 * kUnit);
    const auto to = place(read ? kept : gone, 600 * kUnit);
    const Bytes size = std::min(from.size, to.size);
    auto& side = *gone.side;
    auto& card = *side.cards[any_card_of(side)];
    driver::QueueEntryOptions continue_on_error;
    continue_on_error.continue_on_error = true;
    const auto deadline = host_.clock().now() + 1_s;
    const auto ticket = must(card.queue->submit(
        driver::entries::copy_on_device(from.at(), to.at(), size), deadline, continue_on_error));
    host_.clock().sleep_until(host_.clock().now() + (std::int64_t{1} << below(19)) * 1_ns);
    EXPECT_THAT(gone.managed().free(gone.at), IsOk());
    const bool done =
        card.queue->wait(ticket, driver::WaitPolicy::kInterrupt, deadline).has_value();
    expect_faults(card, gone, done ? 0 : 1);
    if (!done) (&side == &parent_ ? parent_failed_ : child_failed_) = true;
    if (read) expect_copied(from, to, size, done);
    arrays_.erase(arrays_.begin() + (&gone - arrays_.data()));
  }
  // So many, in the array.
  static void expect_faults(CardProcess& card, const Array& array, std::size_t count) {
    const auto faults = card.process->take_faults();
    EXPECT_EQ(faults.size(), count);
    for (const auto& fault : faults) {
      // What the access found when it began to wait.
      EXPECT_EQ(fault.code, fault.write && fault.code == abi::FaultCode::kDevicePermission
                                ? abi::FaultCode::kDevicePermission
                                : abi::FaultCode::kTranslation);
      EXPECT_TRUE(fault.continued);
      EXPECT_GE(fault.address, array.at.value);
      EXPECT_LT(fault.address, array.at.value + array.size());
    }
  }
  // All of it, or, of a copy that has failed, some.
  void expect_copied(const Place& from, const Place& to, Bytes size, bool all) {
    std::vector<std::byte> found(static_cast<std::size_t>(size));
    EXPECT_THAT(to.array->managed().read(to.at(), {found.data(), found.size()}), IsOk());
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] == from.bytes()[i] || (!all && found[i] == to.bytes()[i])) continue;
      ADD_FAILURE() << "byte " << i << " of a copy of " << size << (all ? "" : " that failed");
      break;
    }
    std::memcpy(to.bytes(), found.data(), found.size());
  }
  // Of what is in flight the fork would have a part.
  void fork() {
    if (arrays_.size() >= 8) return;
    Array& forked_from = any();
    settle(forked_from);
    Array copy = forked_from;
    if (copy.side != &parent_) return;
    const auto forked = parent_.managed->fork(copy.at, *child_.managed);
    if (!forked) {
      const bool same = cards_of(parent_) == cards_of(child_);
      EXPECT_THAT(forked,
                  FailsWith(same ? ErrorCode::kAlreadyExists : ErrorCode::kInvalidArgument));
      return;
    }
    copy.side = &child_;
    arrays_.push_back(std::move(copy));
  }
  void write() {
    const auto to = place(64 * kUnit);
    settle(*to.array);
    fill(to.bytes(), to.size);
    EXPECT_THAT(to.array->managed().write(to.at(), {to.bytes(), static_cast<std::size_t>(to.size)}),
                IsOk());
  }
  void read() {
    const auto from = place(64 * kUnit);
    settle(*from.array);
    std::vector<std::byte> found(static_cast<std::size_t>(from.size));
    EXPECT_THAT(from.array->managed().read(from.at(), {found.data(), found.size()}), IsOk());
    EXPECT_EQ(std::memcmp(found.data(), from.bytes(), found.size()), 0);
  }
  // Commands of a queue run one after another, and several may be in flight; those of two queues
  // use different arrays.
  void copy() {
    const auto from = place(600 * kUnit), to = place(600 * kUnit);
    const Bytes size = std::min(from.size, to.size);
    const bool overlap =
        from.array == to.array && from.offset < to.offset + size && to.offset < from.offset + size;
    if (overlap || from.array->side != to.array->side) return;
    auto& side = *from.array->side;
    const auto card = any_card_of(side);
    const auto on = card + (&side == &child_ ? side.cards.size() : 0);
    for (std::size_t other = 0; other < in_flight_.size(); ++other) {
      const auto& used = in_flight_[other].arrays;
      if (other != on && used.count(from.array->key()) + used.count(to.array->key()) != 0) {
        settle(other);
      }
    }
    std::memcpy(to.bytes(), from.bytes(), static_cast<std::size_t>(size));
    auto& mine = in_flight_[on];
    mine.last = must(side.cards[card]->queue->submit(
        driver::entries::copy_on_device(from.at(), to.at(), size), host_.clock().now() + 1_s));
    mine.arrays.insert({from.array->key(), to.array->key()});
    if (below(3) == 0) settle();
  }
  void settle(std::size_t queue) {
    auto& on = in_flight_[queue];
    if (!on.last) return;
    const auto count = parent_.cards.size();
    auto& side = queue < count ? parent_ : child_;
    EXPECT_THAT(side.cards[queue % count]->queue->wait(*on.last, driver::WaitPolicy::kInterrupt,
                                                       host_.clock().now() + 1_s),
                IsOk());
    on = {};
  }
  // What uses the array.
  void settle(const Array& array) {
    for (std::size_t queue = 0; queue < in_flight_.size(); ++queue) {
      if (in_flight_[queue].arrays.count(array.key()) != 0) settle(queue);
    }
  }
  void settle() {
    for (std::size_t queue = 0; queue < in_flight_.size(); ++queue) settle(queue);
  }
  MemoryLocation anywhere(const ManagedCards& side) {
    if (below(2) == 0) return MemoryLocation::host();
    return MemoryLocation::card(any_card_of(side));
  }
  void prefetch() {
    const auto range = place(arrays_.front().size());
    auto& managed = range.array->managed();
    const auto begun = managed.prefetch(range.at(), range.size, anywhere(*range.array->side));
    if (!begun) {
      EXPECT_THAT(begun, FailsWith(ErrorCode::kInvalidArgument)) << "read mostly";
      return;
    }
    if (below(2) == 0) {
      EXPECT_THAT(managed.wait(*begun, host_.clock().now() + 1_s), IsOk());
    }
  }
  void advise() {
    const auto range = place(4 * kPageSize);
    constexpr MemoryAdvice kAll[] = {MemoryAdvice::kReadMostly, MemoryAdvice::kPreferredLocation,
                                     MemoryAdvice::kAccessedBy};
    const auto advice = kAll[below(3)];
    const bool set = below(3) != 0;
    EXPECT_THAT(range.array->managed().advise(range.at(), range.size, advice, set,
                                              anywhere(*range.array->side)),
                IsOk());
  }
  void compact() {
    auto& card = *parent_.cards[below(parent_.cards.size())];
    static_cast<void>(card.device->compact(64 * kPageSize));
  }

  platform::Platform& host_;
  const driver::ManagedOptions options_;
  ManagedCards parent_, child_;
  std::mt19937_64 random_;
  std::vector<bool> away_;  // by card, the parent's and the child's
  std::vector<Array> arrays_;
  std::vector<InFlight> in_flight_;                    // by queue: the parent's cards, the child's
  std::vector<Bytes> free_;                            // by card, at first
  bool parent_failed_ = false, child_failed_ = false;  // a copy of what was freed
};

void storm(driver::FaultPolicy policy, unsigned cards, unsigned seed) {
  auto settings = managed_settings(policy);
  // Who keeps which bytes does not depend on the HBM's grain, where most of the time goes.
  settings.insert(settings.end(), {"hbm.timings.burst_bytes=256", "hbm.interleave_bytes=4096",
                                   "hbm.interleave_groups=4"});
  Machine machine(settings, cards == 1 ? "910b.yaml" : "system-2x910b2.yaml");
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

INSTANTIATE_TEST_SUITE_P(Seeds, ManagedStorm,
                         testing::Combine(testing::Values(driver::FaultPolicy::kMessage,
                                                          driver::FaultPolicy::kBatch,
                                                          driver::FaultPolicy::kAts),
                                          testing::Range(0U, 10U)),
                         [](const auto& instance) {
                           return name_of(std::get<0>(instance.param)) + "_" +
                                  std::to_string(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace npu::test
