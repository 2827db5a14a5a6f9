// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: memory comes from other addresses, and in another order of addresses, for every
// number that SCATTER holds. What depends on addresses then shows: it is the same on many a run,
// and another one on the run that matters.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

std::uint64_t seed() {
  const char* const given = std::getenv("SCATTER");
  const std::uint64_t number = given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
  return number * 0x9E37'79B9'7F4A'7C15 | 1;
}

std::uint64_t next() {
  static thread_local std::uint64_t state = seed();
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

// malloc() itself, by a name that is not ours.
void* take(std::size_t size) {
  return ::aligned_alloc(alignof(std::max_align_t), size);
}

}  // namespace

extern "C" void* malloc(std::size_t size) {
  static thread_local std::array<void*, 64> kept{};
  const std::uint64_t dice = next();
  auto& place = kept[dice % kept.size()];
  if (dice / 256 % 3 == 0) {
    std::free(place);
    place = place == nullptr ? take(size) : nullptr;
  }
  return take(size + dice / 4096 % 4 * 16);
}
