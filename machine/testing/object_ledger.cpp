// SPDX-License-Identifier: Apache-2.0
#include "machine/testing/object_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/reports/number.hpp"

namespace npu::testkit {
namespace {

constexpr std::size_t kSizesTold = 4;

Leak& of_kind(std::vector<Leak>& leaks, const std::string& kind) {
  const auto known =
      std::find_if(leaks.begin(), leaks.end(), [&](const Leak& each) { return each.kind == kind; });
  if (known != leaks.end()) return *known;
  leaks.push_back({kind, 0, 0, {}});
  return leaks.back();
}

std::string sizes_of(const Leak& leak) {
  if (leak.size == 0) return {};
  if (leak.sizes.size() != leak.count || leak.count > kSizesTold) {
    return fmt::format(" ({} in all)", reports::size_name(leak.size));
  }
  std::string text;
  for (const Bytes size : leak.sizes) {
    text += (text.empty() ? "" : ", ") + reports::size_name(size);
  }
  return " (" + text + ")";
}

}  // namespace

std::uint64_t ObjectLedger::add(std::string_view kind, Bytes size) {
  objects_[++numbers_] = {std::string(kind), size};
  return numbers_;
}

void ObjectLedger::note(std::string_view kind, std::uint64_t count, Bytes size) {
  if (count == 0) return;
  auto& leak = of_kind(told_, std::string(kind));
  leak.count += count;
  leak.size += size;
  if (count == 1 && size != 0) leak.sizes.push_back(size);
}

std::vector<Leak> ObjectLedger::left() const {
  std::vector<Leak> leaks;
  for (const auto& [number, object] : objects_) {
    auto& leak = of_kind(leaks, object.kind);
    ++leak.count;
    leak.size += object.size;
    if (object.size != 0) leak.sizes.push_back(object.size);
  }
  for (const auto& each : told_) {
    auto& leak = of_kind(leaks, each.kind);
    leak.count += each.count;
    leak.size += each.size;
    leak.sizes.insert(leak.sizes.end(), each.sizes.begin(), each.sizes.end());
  }
  return leaks;
}

std::string describe(const std::vector<Leak>& leaks) {
  std::string text;
  for (const auto& leak : leaks) {
    text += fmt::format("{}{} {}{}{}", text.empty() ? "" : ", ", leak.count, leak.kind,
                        leak.count == 1 ? "" : "s", sizes_of(leak));
  }
  return text.empty() ? text : text + " never freed";
}

}  // namespace npu::testkit
