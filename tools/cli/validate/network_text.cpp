// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/validate/network_text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace npu::validate::network {
namespace {

constexpr std::size_t kMostDigits = 9;
constexpr Bytes kMostBytes = Bytes{8} << 30;

bool digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// Takes one thing after the other from a place in a text.
class WordReader {
 public:
  WordReader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  bool skip(std::string_view what) {
    if (text_.substr(at_, what.size()) != what) return false;
    at_ += what.size();
    return true;
  }
  void skip_spaces() {
    while (skip(" ")) {
    }
  }
  // Of at most nine digits; not a part of a longer one.
  std::optional<std::uint64_t> number() {
    std::size_t end = at_;
    while (end < text_.size() && digit(text_[end])) ++end;
    if (end == at_ || end - at_ > kMostDigits) return std::nullopt;
    std::uint64_t value = 0;
    std::from_chars(text_.data() + at_, text_.data() + end, value);
    at_ = end;
    return value;
  }
  // Digits behind a point: 0.75 of ".75".
  double fraction() {
    double value = 0, place = 0.1;
    if (!skip(".")) return 0;
    for (; at_ < text_.size() && digit(text_[at_]); ++at_, place /= 10) {
      value += place * (text_[at_] - '0');
    }
    return value;
  }
  // Numbers with an x between two of them.
  std::vector<std::uint64_t> sides() {
    std::vector<std::uint64_t> sides;
    for (auto side = number(); side; side = number()) {
      sides.push_back(*side);
      const auto end = at_;
      if (!skip("x") && !skip(" x ")) break;
      if (at_ < text_.size() && digit(text_[at_])) continue;
      at_ = end;
      break;
    }
    return sides;
  }
  bool in_word() const { return at_ < text_.size() && letter_or_digit(text_[at_]); }

 private:
  std::string_view text_;
  std::size_t at_;
};

// Places at which a number or a word begins.
template <class Found>
auto first_of_words(std::string_view text, Found found) -> decltype(found(std::size_t{0})) {
  for (std::size_t i = 0; i < std::min(text.size(), kLongestText); ++i) {
    if (i > 0 && letter_or_digit(text[i - 1])) continue;
    if (auto value = found(i); value) return value;
  }
  return {};
}

using Count = std::optional<std::uint64_t>;
using FoundSides = std::optional<std::vector<std::uint64_t>>;

Count behind(std::string_view text, std::string_view name, bool middle) {
  return first_of_words(text, [&](std::size_t i) -> Count {
    WordReader reader(text, i);
    if (!reader.skip(name)) return std::nullopt;
    reader.skip_spaces();
    if (reader.skip("=")) reader.skip_spaces();
    const auto first = reader.number();
    if (!first || !middle || !reader.skip("-")) return first;
    const auto last = reader.number();
    return last && *last >= *first ? Count((*first + *last) / 2) : first;
  });
}

}  // namespace

std::string lower(std::string_view text) {
  std::string small(text.substr(0, kLongestText));
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

bool says(std::string_view text, std::string_view words) {
  const auto all = lower(text), wanted = lower(words);
  return first_of_words(all,
                        [&](std::size_t i) -> Count {
                          WordReader reader(all, i);
                          return reader.skip(wanted) && !reader.in_word() ? Count(1) : std::nullopt;
                        })
      .has_value();
}

Count number_behind(std::string_view text, std::string_view name) {
  return behind(text, name, false);
}

Count middle_behind(std::string_view text, std::string_view name) {
  return behind(text, name, true);
}

Count number_before(std::string_view text, std::string_view word) {
  return first_of_words(text, [&](std::size_t i) -> Count {
    WordReader reader(text, i);
    const auto number = reader.number();
    if (!number) return std::nullopt;
    reader.skip_spaces();
    return reader.skip(word) && !reader.in_word() ? number : std::nullopt;
  });
}

std::vector<std::uint64_t> product_in(std::string_view text) {
  const auto found = first_of_words(text, [&](std::size_t i) -> FoundSides {
    WordReader reader(text, i);
    auto sides = reader.sides();
    reader.skip_spaces();
    if (!reader.skip("->")) return std::nullopt;
    reader.skip_spaces();
    const auto last = reader.number();
    if (!last) return std::nullopt;
    sides.push_back(*last);
    return sides;
  });
  return found.value_or(std::vector<std::uint64_t>{});
}

std::vector<std::uint64_t> tensor_in(std::string_view text) {
  const auto found = first_of_words(text, [&](std::size_t i) -> FoundSides {
    auto sides = WordReader(text, i).sides();
    return sides.size() >= 2 ? FoundSides(std::move(sides)) : std::nullopt;
  });
  return found.value_or(std::vector<std::uint64_t>{});
}

std::optional<Bytes> bytes_in(std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr Unit kUnits[] = {{"KB", 1024},
                             {"KiB", 1024},
                             {"MB", 1048576},
                             {"MiB", 1048576},
                             {"B", 1},
                             {"GB", 1024.0 * 1048576},
                             {"GiB", 1024.0 * 1048576}};
  return first_of_words(text, [&](std::size_t i) -> std::optional<Bytes> {
    WordReader reader(text, i);
    const auto whole = reader.number();
    if (!whole) return std::nullopt;
    const double value = static_cast<double>(*whole) + reader.fraction();
    reader.skip_spaces();
    for (const auto& unit : kUnits) {
      WordReader after = reader;
      if (!after.skip(unit.name) || after.in_word() || after.skip("/")) continue;
      const double bytes = std::round(value * unit.bytes);
      if (bytes > static_cast<double>(kMostBytes)) return std::nullopt;
      return static_cast<Bytes>(bytes);
    }
    return std::nullopt;
  });
}

std::string type_in(std::initializer_list<std::string_view> texts) {
  struct Word {
    std::string_view published;
    const char* here;
  };
  constexpr Word kWords[] = {{"BF16", "bfloat16"}, {"FP16", "float16"}, {"F16", "float16"},
                             {"FP32", "float32"},  {"INT8", "int8"},    {"W8A8", "int8"}};
  for (const auto text : texts) {
    for (const auto& word : kWords) {
      if (says(text, word.published)) return word.here;
    }
  }
  return {};
}

}  // namespace npu::validate::network
