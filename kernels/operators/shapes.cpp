// SPDX-License-Identifier: Apache-2.0
// Shapes of a description's tensors: products and quotients of sides, "rows, columns / 2".
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "kernels/operators/description.hpp"
#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"

namespace npu::operators {
namespace {

constexpr std::uint64_t kMostElementsOf = (std::uint64_t{1} << 44) - 1;

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = std::min(text.find(separator), text.size());
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

tl::unexpected<Error> refuse(const std::string& why) {
  return fail(ErrorCode::kInvalidArgument, why);
}

// Without sides only the numbers that stand in the text are looked at.
class Evaluation {
 public:
  Evaluation(const OperatorRow& row, const std::vector<std::uint64_t>* sides)
      : names_(names_of(row.sides)), sides_(sides) {}

  // "rows * 2", "columns / 2": from left to right. Empty: a side that is not known is in it.
  Result<std::optional<std::uint64_t>> number(std::string_view text) const {
    std::optional<std::uint64_t> value = 1;
    char operation = '*';
    for (;;) {
      const auto end = std::min(text.find_first_of("*/"), text.size());
      const auto next = factor(trimmed(text.substr(0, end)));
      if (!next) return next;
      if (operation == '/' && *next == 0) return refuse("a division by 0");
      if (value && *next) {
        if (auto ok = check(*value, operation, **next); !ok) return forward_error(ok);
        value = operation == '/' ? *value / **next : *value * **next;
      } else {
        value.reset();
      }
      if (end == text.size()) return value;
      operation = text[end];
      text.remove_prefix(end + 1);
    }
  }

 private:
  static Status check(std::uint64_t before, char operation, std::uint64_t next) {
    if (operation == '/' && before % next != 0) {
      return refuse(fmt::format("{} / {} leaves a remainder", before, next));
    }
    if (operation == '*' && next != 0 && before > kMostElementsOf / next) {
      return refuse(fmt::format("more than {} elements", kMostElementsOf));
    }
    return {};
  }

  Result<std::optional<std::uint64_t>> factor(std::string_view text) const {
    const auto found = std::find(names_.begin(), names_.end(), text);
    if (found != names_.end()) {
      if (sides_ == nullptr) return std::nullopt;
      const auto i = static_cast<std::size_t>(found - names_.begin());
      if (i < sides_->size()) return (*sides_)[i];
    }
    if (const auto number = read_number<std::uint64_t>(text)) return *number;
    std::string known;
    for (const auto& name : names_) known += (known.empty() ? "" : ", ") + name;
    return refuse(fmt::format("found '{}'; allowed: a number, {}", shortened(text), known));
  }

  const std::vector<std::string> names_;
  const std::vector<std::uint64_t>* const sides_;
};

using Shape = std::vector<std::uint64_t>;

std::string text_of(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// What one tensor says about the sides; `known` has those that others have said.
Status read_sides(const TensorRow& tensor, const Shape& shape,
                  std::map<std::string, std::uint64_t>& known,
                  const std::vector<std::string>& names) {
  const auto parts = parts_of(tensor.shape, ',');
  if (parts.size() != shape.size()) {
    return refuse(fmt::format("{}: {} dimensions; {} are wanted: {}", tensor.name, shape.size(),
                              parts.size(), tensor.shape));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (std::find(names.begin(), names.end(), parts[i]) == names.end()) continue;
    const auto [at, is_new] = known.emplace(parts[i], shape[i]);
    if (is_new || at->second == shape[i]) continue;
    return refuse(fmt::format("{}: {} is {} here, and {} before", tensor.name, parts[i], shape[i],
                              at->second));
  }
  return {};
}

}  // namespace

Result<std::vector<std::uint64_t>> sides_of(const OperatorRow& row,
                                            const std::vector<Shape>& inputs,
                                            const std::map<std::string, std::uint64_t>& given) {
  if (inputs.size() != row.inputs.size()) {
    return refuse(fmt::format("{} inputs; {} are wanted", inputs.size(), row.inputs.size()));
  }
  const auto names = names_of(row.sides);
  for (const auto& [name, side] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return refuse(fmt::format("{} is no side; sides are {}", shortened(name), row.sides));
  }
  auto known = given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (auto ok = read_sides(row.inputs[i], inputs[i], known, names); !ok) {
      return forward_error(ok);
    }
  }
  std::vector<std::uint64_t> sides;
  for (const auto& name : names) {
    const auto found = known.find(name);
    if (found == known.end()) return refuse(fmt::format("{}: no input has this side", name));
    sides.push_back(found->second);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto wanted = numbers_of(row.inputs[i].shape, row, sides);
    if (!wanted) return refuse(row.inputs[i].name + ": " + wanted.error().context);
    if (*wanted == inputs[i]) continue;
    return refuse(fmt::format("{}: found {}; allowed: {}", row.inputs[i].name, text_of(inputs[i]),
                              text_of(*wanted)));
  }
  return sides;
}

std::vector<std::string> names_of(std::string_view sides) {
  std::vector<std::string> names;
  for (const auto part : parts_of(sides, ',')) names.emplace_back(part);
  return names;
}

Result<std::vector<std::uint64_t>> numbers_of(std::string_view text, const OperatorRow& row,
                                              const std::vector<std::uint64_t>& sides) {
  const Evaluation evaluation(row, &sides);
  std::vector<std::uint64_t> numbers;
  std::uint64_t product = 1;
  for (const auto part : parts_of(text, ',')) {
    const auto read = evaluation.number(part);
    if (!read) return forward_error(read);
    const std::uint64_t number = read->value();  // all sides are known
    if (number != 0 && product > kMostElementsOf / number) {
      return refuse(fmt::format("more than {} elements", kMostElementsOf));
    }
    product *= number;
    numbers.push_back(number);
  }
  return numbers;
}

Result<std::size_t> check_numbers(std::string_view text, const OperatorRow& row) {
  const Evaluation evaluation(row, nullptr);
  const auto parts = parts_of(text, ',');
  for (const auto part : parts) {
    if (const auto number = evaluation.number(part); !number) return forward_error(number);
  }
  return parts.size();
}

}  // namespace npu::operators
