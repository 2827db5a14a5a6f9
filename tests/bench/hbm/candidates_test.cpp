// SPDX-License-Identifier: Apache-2.0
// The search over all candidates against the loop that defines it.
#include "model/hbm/candidates.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <tuple>
#include <vector>

namespace npu::model::hbm {
namespace {

struct Offer {
  unsigned kind;
  int age;
  Clock limit;
};

// The same offers in the arrays and, one a lane, in a list.
struct Both {
  Both(int lanes, std::mt19937& random, unsigned spread, unsigned offers_of_eight)
      : candidates(lanes), offers(static_cast<std::size_t>(lanes)) {
    candidates.set_group_size(4);
    const int first_age = static_cast<int>(random() % 300);
    for (int lane = 0; lane < lanes; ++lane) {
      if (random() % 8 >= offers_of_eight) continue;
      const int age = first_age + (lane * 37 + 11) % lanes;
      offer(lane,
            {static_cast<unsigned>(random() % 2), age, static_cast<Clock>(random() % spread)});
    }
  }
  void offer(int lane, const Offer& offer) {
    offers[static_cast<std::size_t>(lane)] = offer;
    candidates.offer(lane, offer.kind, offer.age, offer.limit);
  }
  void withdraw(int lane) {
    offers[static_cast<std::size_t>(lane)].reset();
    candidates.withdraw(lane);
  }
  void raise_block(int first, unsigned kind, Clock limit) {
    candidates.raise(first, Candidates::kBlock, kind, limit);
    raise_each(first, Candidates::kBlock, kind, limit);
  }
  void raise_each(int first, int lanes, unsigned kind, Clock limit) {
    for (int lane = first; lane < first + lanes; ++lane) {
      auto& offer = offers[static_cast<std::size_t>(lane)];
      if (offer && offer->kind == kind) offer->limit = std::max(offer->limit, limit);
    }
  }
  void becomes_one(int lane, Clock limit) {
    auto& offer = offers[static_cast<std::size_t>(lane)];
    if (!offer) return;
    *offer = {1, offer->age, limit};
    candidates.becomes_one(lane, limit);
  }
  // (clock, age) of the first one; none of a kind in a lane before `from(lane, kind)`.
  template <class From>
  std::tuple<Clock, int> first(const From& from) const {
    std::tuple<Clock, int> best{kNever, -1};
    for (int lane = 0; lane < static_cast<int>(offers.size()); ++lane) {
      const auto& offer = offers[static_cast<std::size_t>(lane)];
      if (!offer) continue;
      const Clock time = std::max<Clock>(offer->limit, from(lane, offer->kind));
      best = std::min(best, std::tuple{time, offer->age});
    }
    return best;
  }

  Candidates candidates;
  std::vector<std::optional<Offer>> offers;
};

void expect_first(const Candidates::Found& found, const std::tuple<Clock, int>& expected) {
  ASSERT_EQ(found.age, std::get<1>(expected));
  ASSERT_EQ(found.age < 0 ? kNever : found.time, std::get<0>(expected));
}

constexpr std::array<unsigned, 3> kSpreads = {3, 60, 9000};

TEST(HbmCandidates, TheFirstRowCommandIsTheEarliestAndOldest) {
  std::mt19937 random(9);
  for (const int lanes : {16, 32, 64, 128}) {
    for (unsigned round = 0; round < 5'000; ++round) {
      const unsigned spread = kSpreads[round % 3];
      Both both(lanes, random, spread, round % 9);
      const int handicap = round % 2 == 0 ? 0 : static_cast<int>(random() % 4);
      const auto floor = static_cast<Clock>(random() % spread);

      expect_first(both.candidates.first_row(floor, handicap), both.first([&](int, unsigned kind) {
        return kind == 0 ? floor : floor + handicap;
      }));
    }
  }
}

TEST(HbmCandidates, WhenAllAreWithdrawnNoneIsFoundUntilOneIsOnOfferAgain) {
  Candidates candidates(64);
  for (int lane = 0; lane < 64; ++lane) candidates.offer(lane, 0, lane, 5);

  candidates.withdraw_all();

  EXPECT_LT(candidates.first_row(10, 0).age, 0);
  candidates.offer(40, 0, 300, 20);
  EXPECT_EQ(candidates.first_row(10, 0).time, 20);
  EXPECT_EQ(candidates.first_row(10, 0).age, 300);
}

TEST(HbmCandidates, ChangesAndANewBaseKeepWhatIsOnOffer) {
  std::mt19937 random(11);
  Both both(64, random, 60, 6);
  Clock now = 0;
  for (unsigned round = 0; round < 50'000; ++round) {
    now += static_cast<Clock>(random() % 7);
    if (!both.candidates.follows(now)) both.candidates.rebase(now);
    const int lane = static_cast<int>(random() % 64);
    const Clock limit = now + static_cast<Clock>(random() % 500);
    const unsigned kind = random() % 2;
    if (random() % 8 == 0) {
      both.raise_block(lane / 16 * 16, kind, limit);
    } else if (random() % 8 == 0) {
      both.becomes_one(lane, limit);
    } else if (random() % 4 == 0) {
      both.withdraw(lane);
    } else {
      both.offer(lane, {kind, static_cast<int>(random() % 8 * 64) + lane, limit});
    }

    expect_first(both.candidates.first_row(now, 0),
                 both.first([now](int, unsigned) { return now; }));
  }
}

}  // namespace
}  // namespace npu::model::hbm
