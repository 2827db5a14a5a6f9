// SPDX-License-Identifier: Apache-2.0
// What the columns of a row of whole networks say: free text with numbers behind or before names.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::validate::network {

// Texts that are longer say nothing: 4096 characters.
inline constexpr std::size_t kLongestText = 4096;

std::string lower(std::string_view text);
// Whether the words are there, in small or capital letters, with no letter or digit beside them.
bool says(std::string_view text, std::string_view words);

// The first number of at most nine digits behind a name: "B16", "T=24624", "ctx 4096", "TP8"; the
// name in small or capital letters as given. Nothing: none is there.
std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view name);
// The same before a word: "16 ranks", "24 AIC".
std::optional<std::uint64_t> number_before(std::string_view text, std::string_view word);
// The middle of "ctx 4096-5632", or the number of "ctx 4608".
std::optional<std::uint64_t> middle_behind(std::string_view text, std::string_view name);

// Sides of the first product, "16x5120->768" or "4x16x512->128": those before the arrow, then the
// one behind it. "->3200" has the last one alone. Empty: none is there.
std::vector<std::uint64_t> product_in(std::string_view text);
// Sides of the first tensor of two sides or more, "16x4x128". Empty: none is there.
std::vector<std::uint64_t> tensor_in(std::string_view text);
// "1.3 MB", "160 KB", "16KiB", as multiples of 1024. Nothing: none is there, or beyond 8 GiB.
std::optional<Bytes> bytes_in(std::string_view text);

// Of the operators, "bfloat16" and so on, from words such as BF16 and W8A8 in the first text that
// has one. Empty: none has.
std::string type_in(std::initializer_list<std::string_view> texts);

}  // namespace npu::validate::network
