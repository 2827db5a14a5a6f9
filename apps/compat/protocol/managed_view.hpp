// SPDX-License-Identifier: Apache-2.0
// Managed memory as a program has it: pages of a file that npusim has mapped, too, at the same
// addresses as on the cards. The program has no right to a page that is elsewhere. It asks for the
// page when it touches it (Call::kManagedTouch), and gives itself the rights of the answer. npusim
// takes rights away with the ring behind the pages, which a thread of the client library serves.
// Simulated time may pass between the driver's decision and the answer: so an answer says how many
// entries there were before it was made, and what later ones take away is not given.
//
// The program may write anything into the ring at any time: npusim looks at nothing but how far the
// thread says it has come, and at its number.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace npu::compat {

inline constexpr std::uint64_t kManagedBegin = 0x900'0000'0000;
inline constexpr std::uint64_t kManagedBytes = std::uint64_t{3} << 40;
inline constexpr std::uint64_t kManagedPage = std::uint64_t{2} << 20;

// What a program may do with a page.
enum class Rights : std::uint32_t { kNone, kRead, kReadWrite };

// npusim fills in the entry `posted` % kViewEntries, counts `posted` up and wakes the thread, which
// sleeps on it. The thread counts `done` up, which npusim may sleep on.
struct ViewRing {
  static constexpr std::uint32_t kEntries = 1024;
  struct Entry {
    std::uint64_t first = 0;  // page, by its number in the file
    std::uint32_t count = 0;
    Rights rights = Rights::kNone;
  };

  alignas(64) std::atomic<std::uint32_t> posted{0};
  alignas(64) std::atomic<std::uint32_t> done{0};
  std::atomic<std::int32_t> thread{0};  // as the program's kernel numbers it; 0: there is none
  alignas(64) Entry entries[kEntries];
};
inline constexpr std::size_t kViewRingBytes = 32768;
static_assert(sizeof(ViewRing) <= kViewRingBytes);
// The ring is in the file behind the pages.
inline constexpr std::uint64_t kViewBytes = kManagedBytes + kViewRingBytes;

}  // namespace npu::compat
