// SPDX-License-Identifier: Apache-2.0
// GoogleMock matchers for the accesses of a driver (access.hpp) and for its results.
//
//   EXPECT_THAT(accesses([&] { submit(); }), AllOf(MmioReads(0), WritesTo("DMA_DOORBELL", 1)));
//   EXPECT_THAT(accesses([&] { wait(); }), Polls(Lt(10)));
//   EXPECT_THAT(device->wait(ticket, policy, deadline()), FailsWith(ErrorCode::kDeviceLost));
//
// The argument is a number or a matcher of numbers. A mismatch lists the accesses.
#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/testing/access.hpp"
#include "npu/testing/races.hpp"

// Names follow GoogleTest.
// NOLINTBEGIN(readability-identifier-naming)
namespace npu {

// Output of a Result, a Status and a time in GoogleTest.
template <class T>
void PrintTo(const Result<T>& result, std::ostream* out) {
  *out << (result ? "a success" : result.error().message());
}
// "714651 ps".
inline void PrintTo(Picoseconds time, std::ostream* out) {
  *out << time.count() << " ps";
}
inline void PrintTo(Instant instant, std::ostream* out) {
  *out << instant.since_power_up().count() << " ps after power-up";
}

}  // namespace npu

namespace npu::testkit {

inline void PrintTo(const Race& race, std::ostream* out) {
  *out << describe(race);
}

namespace detail {

class CountMatcher {
 public:
  using is_gtest_matcher = void;
  using Count = ::testing::Matcher<std::uint64_t>;

  CountMatcher(std::string what, std::vector<AccessKind> kinds, std::string name, Count count)
      : what_(std::move(what)),
        kinds_(std::move(kinds)),
        name_(std::move(name)),
        count_(std::move(count)) {}

  bool MatchAndExplain(const Accesses& accesses, std::ostream* out) const {
    if (!name_.empty() && !is_access_name(name_)) {
      if (out != nullptr) *out << "and there is no register called " << name_;
      return false;
    }
    std::uint64_t found = 0;
    for (const auto kind : kinds_) {
      found += name_.empty() ? accesses.count(kind) : accesses.count(kind, name_);
    }
    if (count_.Matches(found)) return true;
    if (out != nullptr) {
      // The counted accesses; if there are none, all.
      const auto list = accesses.text(found > 0 ? kinds_ : all_access_kinds());
      *out << "with " << found << " " << what_ << (list.empty() ? "" : ":\n") << list;
    }
    return false;
  }
  void DescribeTo(std::ostream* out) const { describe(out, false); }
  void DescribeNegationTo(std::ostream* out) const { describe(out, true); }

 private:
  void describe(std::ostream* out, bool negation) const {
    *out << "has a number of " << what_ << " that ";
    negation ? count_.DescribeNegationTo(out) : count_.DescribeTo(out);
  }

  std::string what_;
  std::vector<AccessKind> kinds_;
  std::string name_;
  Count count_;
};

template <class N>
CountMatcher counts(std::string what, std::vector<AccessKind> kinds, const N& count,
                    std::string name = {}) {
  if (!name.empty()) what += " of " + name;
  return {std::move(what), std::move(kinds), std::move(name),
          ::testing::SafeMatcherCast<std::uint64_t>(count)};
}

}  // namespace detail

// The number of accesses of a kind, of all tasks.
template <class N>
auto MmioReads(const N& n) {
  return detail::counts("MMIO reads", {AccessKind::kMmioRead}, n);
}
template <class N>
auto MmioWrites(const N& n) {
  return detail::counts("MMIO writes", {AccessKind::kMmioWrite}, n);
}
template <class N>
auto CombiningStores(const N& n) {
  return detail::counts("write combining stores", {AccessKind::kCombiningStore}, n);
}
template <class N>
auto ConfigAccesses(const N& n) {
  return detail::counts("configuration accesses",
                        {AccessKind::kConfigRead, AccessKind::kConfigWrite}, n);
}
template <class N>
auto Barriers(const N& n) {
  return detail::counts("barriers", {AccessKind::kWriteBarrier, AccessKind::kReadBarrier}, n);
}
template <class N>
auto WriteBarriers(const N& n) {
  return detail::counts("write barriers", {AccessKind::kWriteBarrier}, n);
}
template <class N>
auto Polls(const N& n) {
  return detail::counts("polls", {AccessKind::kPoll}, n);
}
template <class N>
auto Interrupts(const N& n) {
  return detail::counts("interrupts", {AccessKind::kInterrupt}, n);
}
// MMIO and configuration accesses to one register (Access::name). An unknown name never matches.
template <class N>
auto ReadsOf(std::string name, const N& n) {
  return detail::counts("reads", {AccessKind::kMmioRead, AccessKind::kConfigRead}, n,
                        std::move(name));
}
template <class N>
auto WritesTo(std::string name, const N& n) {
  return detail::counts(
      "writes", {AccessKind::kMmioWrite, AccessKind::kCombiningStore, AccessKind::kConfigWrite}, n,
      std::move(name));
}

// EXPECT_THAT(races(), ElementsAre(IsRace(RaceKind::kHostRead)));
MATCHER_P(IsRace, kind, "is a race: " + std::string(to_string(kind))) {
  return arg.kind == kind;
}

// EXPECT_THAT(call(), Succeeds());
MATCHER(Succeeds, "is a success") {
  return arg.has_value();
}

// EXPECT_THAT(call(), FailsWith(ErrorCode::kTimeout));
MATCHER_P(FailsWith, code, "fails with " + std::string(to_string(code))) {
  return !arg.has_value() && arg.error().code == code;
}

}  // namespace npu::testkit
// NOLINTEND(readability-identifier-naming)
