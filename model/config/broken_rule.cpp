// SPDX-License-Identifier: Apache-2.0
#include "model/config/broken_rule.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>

#include "model/config/value_text.hpp"

namespace npu::model {
namespace {

// A number of a configuration, and what it is part of.
struct Place {
  const Key* key;
  void* object;
};

std::optional<Place> find_in(const Table& table, void* object, std::string_view path) {
  const auto dot = path.find('.');
  const Key* const key = table.find(std::string(path.substr(0, dot)));
  if (key == nullptr) {
    // The keys of a host file are the system's own.
    const Key* const host = table.find("host");
    if (host == nullptr || host->table == &table || host->table == nullptr) return std::nullopt;
    return find_in(*host->table, host->member(object), path);
  }
  if (dot == std::string_view::npos) {
    if (key->type != KeyType::kNumber) return std::nullopt;
    return Place{key, object};
  }
  if (key->table == nullptr) return std::nullopt;
  return find_in(*key->table, key->member(object), path.substr(dot + 1));
}

std::optional<Place> find(SystemConfig& system, std::string_view path) {
  constexpr std::string_view kCards = "cards.";
  if (path.substr(0, kCards.size()) != kCards) return find_in(system_table(), &system, path);
  path.remove_prefix(kCards.size());
  const auto dot = std::min(path.find('.'), path.size() - 1);
  std::size_t card = 0;
  const auto read = std::from_chars(path.data(), path.data() + dot, card);
  if (read.ec != std::errc() || card >= system.cards.size()) return std::nullopt;
  return find_in(chip_table(), &system.cards[card], path.substr(dot + 1));
}

bool fits(const Key& key, std::uint64_t value) {
  if (!key.numbers.empty()) {
    return std::find(key.numbers.begin(), key.numbers.end(), value) != key.numbers.end();
  }
  const bool one_bit = (value & (value - 1)) == 0;
  return value >= key.minimum && value <= key.maximum && (!key.power_of_two || one_bit);
}

// What is worth a try: values near the one that is there, and round ones.
std::set<std::uint64_t> candidates(const Key& key, std::uint64_t there) {
  constexpr std::uint64_t kSteps = 1024;
  const std::uint64_t unit = unit_of(key.name).factor;
  std::set<std::uint64_t> all(key.numbers.begin(), key.numbers.end());
  all.insert(key.minimum);
  all.insert(key.maximum);
  const std::uint64_t rounded = there / unit;
  for (std::uint64_t i = 0; i <= kSteps; ++i) {
    if (rounded >= i) all.insert((rounded - i) * unit);
    if (rounded + i <= key.maximum / unit) all.insert((rounded + i) * unit);
  }
  for (std::uint64_t round = unit; round <= key.maximum / 2; round *= 2) {
    all.insert({round, round * 3 / 2 / unit * unit, round * 2});
  }
  for (auto each = all.begin(); each != all.end();) {
    each = fits(key, *each) && *each != there ? std::next(each) : all.erase(each);
  }
  return all;
}

// "192 MiB or 384 MiB", "438 clocks or more"; empty: none was found.
std::string values_that_do(SystemConfig system, const std::string& path) {
  const auto place = find(system, path);
  if (!place) return {};
  const Key& key = *place->key;
  const std::uint64_t there = key.load(place->object).number;
  const auto all = candidates(key, there);
  const auto does = [&](std::uint64_t value) {
    key.store(place->object, {value, {}});
    return !check_system(system);
  };
  const auto text = [&](std::uint64_t value) {
    const auto& unit = unit_of(key.name).text;
    return number_text(key, value) + (unit.empty() ? "" : " " + unit);
  };
  const auto above = all.upper_bound(there);
  const auto more = std::find_if(above, all.end(), does);
  const auto below = std::make_reverse_iterator(above);
  const auto less = std::find_if(below, all.rend(), does);
  std::string found;
  if (less != all.rend()) {
    const auto next = std::next(less);
    found = text(*less);
    if (next != all.rend() && does(*next) && does(key.minimum)) found += " or less";
  }
  if (more != all.end()) {
    const auto next = std::next(more);
    found += (found.empty() ? "" : ", ") + text(*more);
    if (next != all.end() && does(*next) && does(key.maximum)) found += " or more";
  }
  return found;
}

// 0: nearest to the user.
int distance(const SourcePlace& place, const std::string& file,
             const std::vector<std::string>& shipped) {
  namespace fs = std::filesystem;
  if (place.line == 0) return 0;
  if (place.file == file) return 1;
  const auto folder = fs::path(place.file).lexically_normal().generic_string();
  const bool comes_with_npusim =
      std::any_of(shipped.begin(), shipped.end(), [&](const std::string& each) {
        const auto begin = (fs::path(each) / "").lexically_normal().generic_string();
        return folder.compare(0, begin.size(), begin) == 0;
      });
  return comes_with_npusim ? 3 : 2;
}

// The key as its file spells it: "cards.2.link.lanes" stands there as "link.lanes".
std::string local_key(const std::string& key) {
  const std::string prefix = "cards.";
  if (key.compare(0, prefix.size(), prefix) != 0) return key;
  return key.substr(key.find('.', prefix.size()) + 1);
}

}  // namespace

ConfigError explain(const BrokenRule& rule, const SystemConfig& system, const SourceMap& sources,
                    const std::string& file, const std::vector<std::string>& shipped) {
  std::string key = rule.key;
  SourcePlace place{file, 0, 0};
  int nearest = 4;
  std::vector<std::string> keys{rule.key};
  keys.insert(keys.end(), rule.others.begin(), rule.others.end());
  for (const auto& each : keys) {
    const auto source = sources.find(each);
    if (source == sources.end()) continue;
    const int far = distance(source->second, file, shipped);
    if (far >= nearest) continue;
    nearest = far;
    key = each;
    place = source->second;
  }
  const std::string values = values_that_do(system, key);
  return error_at(place, local_key(key),
                  rule.text + (values.empty() ? "" : "; would do: " + values));
}

}  // namespace npu::model
