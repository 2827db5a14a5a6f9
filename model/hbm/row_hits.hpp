// SPDX-License-Identifier: Apache-2.0
// The row hits that banks offer the column bus, at most one a bank, the oldest first. Mostly there
// are a few, and one of the first is issued.
#pragma once

#include <array>
#include <cstdint>

#include "model/hbm/command.hpp"
#include "model/hbm/lanes.hpp"

namespace npu::model::hbm {

class RowHits {
 public:
  struct Hit {
    // `block` and `group`: of the lane.
    Clock from;  // allowed by its arrival and its bank
    std::int16_t age;
    std::uint8_t lane, block, group;
    bool write;
  };

  bool empty() const { return count_ == 0; }
  const Hit* begin() const { return hits_.data(); }
  const Hit* end() const { return hits_.data() + count_; }
  Hit* begin() { return hits_.data(); }
  Hit* end() { return hits_.data() + count_; }

  // Instead of what its bank offered. Ages differ.
  void offer(const Hit& hit) {
    Hit* place = end_place();
    if (lanes_.has(hit.lane)) {
      place = place_of(hit.lane);
      for (; place + 1 != end_place() && place[1].age < hit.age; ++place) *place = place[1];
    } else {
      lanes_.add(hit.lane);
      ++count_;
    }
    for (; place != hits_.data() && place[-1].age > hit.age; --place) *place = place[-1];
    *place = hit;
  }
  // Instead of one, a younger one of its bank.
  void replace(Hit& old, std::int16_t age, Clock from) {
    Hit hit = old;
    hit.age = age;
    hit.from = from;
    Hit* place = &old;
    for (; place + 1 != end_place() && place[1].age < age; ++place) *place = place[1];
    *place = hit;
  }
  void withdraw(int lane) {
    if (!lanes_.has(lane)) return;
    lanes_.remove(lane);
    --count_;
    for (Hit* place = place_of(lane); place != end_place(); ++place) *place = place[1];
  }
  void withdraw_all() {
    lanes_ = {};
    count_ = 0;
  }
  // All ages are less by this now.
  void lower_ages(int less) {
    for (Hit* hit = hits_.data(); hit != end_place(); ++hit) {
      hit->age = static_cast<std::int16_t>(hit->age - less);
    }
  }

 private:
  Hit* end_place() { return hits_.data() + count_; }
  Hit* place_of(int lane) {
    Hit* place = hits_.data();
    while (place->lane != lane) ++place;
    return place;
  }

  LaneSet lanes_;
  unsigned count_ = 0;
  std::array<Hit, LaneList::kEnd + 1> hits_;  // one is read behind the last one
};

}  // namespace npu::model::hbm
