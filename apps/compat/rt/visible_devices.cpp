// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/rt/visible_devices.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "apps/compat/client/request.hpp"
#include "apps/compat/client/signals_held.hpp"

namespace npu::compat {
namespace {

constexpr char kVariable[] = "ASCEND_RT_VISIBLE_DEVICES";
constexpr int kNoDevice = 207004;
constexpr std::int64_t kOfNoDevice = -1;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Null: the program sees all. What the variable is when it is first looked at holds for the
// process.
const char* value() {
  static const char* const kValue = [] {
    const char* const set = std::getenv(kVariable);
    return set == nullptr ? nullptr : ::strdup(set);
  }();
  return kValue;
}

struct Visible {
  std::mutex lock;
  bool known = false;
  std::vector<std::uint32_t> machine;  // by the program's number
};

// By the program's number; empty also if npusim does not say how many there are.
std::vector<std::uint32_t> visible() {
  static Visible* const kVisible = new Visible;  // threads may still be in calls at the end
  const Locked held(kVisible->lock);
  if (!kVisible->known) {
    std::uint32_t count = 0;
    if (ask_for<Call::kGetDeviceCount>(&count) != 0) return {};
    kVisible->machine = parse_visible(value(), count);
    kVisible->known = true;
  }
  return kVisible->machine;
}

}  // namespace

std::vector<std::uint32_t> parse_visible(const char* value, std::uint32_t count) {
  std::vector<std::uint32_t> devices;
  for (const char* at = value; devices.size() < count && is_digit(*at); ++at) {
    std::uint64_t number = 0;
    for (; is_digit(*at); ++at) {
      number = std::min<std::uint64_t>(number * 10 + static_cast<unsigned>(*at - '0'), count);
    }
    if (number >= count) break;
    devices.push_back(static_cast<std::uint32_t>(number));
    if (*at != ',') break;
  }
  auto sorted = devices;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) devices.clear();
  return devices;
}

int count_visible(std::uint32_t* count) {
  const int status = ask_for<Call::kGetDeviceCount>(count);
  if (status != 0 || value() == nullptr) return status;
  *count = static_cast<std::uint32_t>(visible().size());
  return *count == 0 ? kNoDevice : 0;
}

std::int64_t machine_device(std::int64_t own) {
  if (value() == nullptr) return own;
  const auto seen = visible();
  if (own < 0 || own >= static_cast<std::int64_t>(seen.size())) return kOfNoDevice;
  return seen[static_cast<std::size_t>(own)];
}

std::uint32_t own_device(std::uint64_t machine) {
  const auto number = static_cast<std::uint32_t>(machine);
  if (value() == nullptr) return number;
  const auto seen = visible();
  const auto found = std::find(seen.begin(), seen.end(), number);
  return found == seen.end() ? number : static_cast<std::uint32_t>(found - seen.begin());
}

}  // namespace npu::compat
