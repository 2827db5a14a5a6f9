// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/value_range.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "npu/base/checked.hpp"
#include "npu/base/shortened.hpp"
#include "tools/reports/number.hpp"
#include "workloads/framework/parameter_text.hpp"

namespace npu::sweep {
namespace {

constexpr std::size_t kMostDecimals = 9;

std::size_t decimals_of(const std::string& text) {
  const std::size_t point = text.find('.');
  return point == std::string::npos ? 0 : text.size() - point - 1;
}

bool has_unit(const std::string& text) {
  return !text.empty() && text.back() == 'B';
}

// Numbers with a common number of decimals, as integers.
class Scale {
 public:
  explicit Scale(const ValueRange& range) {
    for (const auto& text : {range.from, range.to, range.step}) {
      decimals_ = std::max(decimals_, decimals_of(text));
      sizes_ = sizes_ || has_unit(text);
    }
  }
  bool usable() const { return decimals_ <= kMostDecimals && !(sizes_ && decimals_ > 0); }

  std::optional<std::uint64_t> read(std::string text) const {
    if (sizes_) return workloads::parse_size(text);
    const std::size_t point = text.find('.');
    if (point == 0 || point + 1 == text.size()) return std::nullopt;
    const std::size_t digits = decimals_of(text);
    if (point != std::string::npos) text.erase(point, 1);
    return workloads::parse_integer(text + std::string(decimals_ - digits, '0'));
  }
  std::string write(std::uint64_t value) const {
    if (sizes_) return reports::size_name(value);
    std::string text = std::to_string(value);
    if (decimals_ == 0) return text;
    if (text.size() <= decimals_) text.insert(0, decimals_ + 1 - text.size(), '0');
    return text.insert(text.size() - decimals_, ".");
  }

 private:
  std::size_t decimals_ = 0;
  bool sizes_ = false;
};

tl::unexpected<std::string> refuse(const std::string& key, const std::string& found,
                                   const std::string& allowed) {
  return tl::unexpected(key + ": found '" + shortened(found) + "'; allowed: " + allowed);
}

}  // namespace

tl::expected<std::vector<std::string>, std::string> values_of(const ValueRange& range) {
  constexpr const char* kNumber = "an integer, a size such as 4KiB, or a decimal such as 0.75";
  const Scale scale(range);
  if (!scale.usable())
    return refuse("from", range.from, "sizes or decimals, with 9 digits at most");
  const auto from = scale.read(range.from), to = scale.read(range.to);
  if (!from) return refuse("from", range.from, kNumber);
  if (!to) return refuse("to", range.to, kNumber);
  if (*to < *from) return refuse("to", range.to, "from " + range.from + " on");
  std::optional<std::uint64_t> step = 0, factor = 1;
  if (!range.step.empty()) {
    step = scale.read(range.step);
    if (!step || *step == 0) return refuse("step", range.step, "above 0");
  } else {
    factor = workloads::parse_integer(range.factor);
    if (!factor || *factor < 2) return refuse("factor", range.factor, "an integer from 2 on");
    if (*from == 0) return refuse("from", range.from, "above 0 with a factor");
  }
  std::vector<std::string> values;
  for (std::optional<std::uint64_t> value = from; value && *value <= *to;) {
    if (values.size() == kMostPoints) {
      return refuse("to", range.to, std::to_string(kMostPoints) + " values at most");
    }
    values.push_back(scale.write(*value));
    value = checked_mul(*value, *factor);
    if (value) value = checked_add(*value, *step);
  }
  return values;
}

}  // namespace npu::sweep
