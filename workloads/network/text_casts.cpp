// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/text_casts.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <limits>

#include "npu/base/shortened.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::network {
namespace {

template <class T>
T element_of(const Tensor& x, std::size_t i) {
  T value;
  std::memcpy(&value, x.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

// As Python writes reals.
std::string with_point(std::string text) {
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string text_of_half(platform::DataType type, double value) {
  constexpr int kEnough = 9;  // digits for any type of 16 bits
  for (int digits = 1; digits < kEnough; ++digits) {
    const double near = std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
    if (workloads::rounded_to(type, near) == value) return fmt::format("{}", near);
  }
  return fmt::format("{}", value);  // not finite
}

std::string text_of_element(const Tensor& x, std::size_t i) {
  switch (x.type) {
    case ElementType::kFloat:
      return with_point(fmt::format("{}", element_of<float>(x, i)));
    case ElementType::kDouble:
      return with_point(fmt::format("{}", element_of<double>(x, i)));
    case ElementType::kFloat16:
    case ElementType::kBfloat16: {
      const auto type = *row_of(x.type).card;
      return with_point(text_of_half(type, workloads::load_element(type, x.bytes.data(), i)));
    }
    case ElementType::kInt8:
      return std::to_string(element_of<std::int8_t>(x, i));
    case ElementType::kInt16:
      return std::to_string(element_of<std::int16_t>(x, i));
    case ElementType::kInt32:
      return std::to_string(element_of<std::int32_t>(x, i));
    case ElementType::kInt64:
      return std::to_string(element_of<std::int64_t>(x, i));
    case ElementType::kUint8:
      return std::to_string(element_of<std::uint8_t>(x, i));
    case ElementType::kUint16:
      return std::to_string(element_of<std::uint16_t>(x, i));
    case ElementType::kUint32:
      return std::to_string(element_of<std::uint32_t>(x, i));
    case ElementType::kUint64:
      return std::to_string(element_of<std::uint64_t>(x, i));
    case ElementType::kBool:
      return element_of<std::uint8_t>(x, i) != 0 ? "True" : "False";
    case ElementType::kString:
      break;
  }
  return x.strings[i];
}

// strtod() and its like skip what stands before a number.
bool begins_well(const std::string& text) {
  return !text.empty() && std::isspace(static_cast<unsigned char>(text[0])) == 0;
}

bool parse_real(const std::string& text, ElementType type, std::byte* array, std::size_t i) {
  char* end = nullptr;
  if (type == ElementType::kFloat) {
    const float value = std::strtof(text.c_str(), &end);
    std::memcpy(array + i * sizeof(value), &value, sizeof(value));
  } else {
    const double value = std::strtod(text.c_str(), &end);
    if (type == ElementType::kDouble) {
      std::memcpy(array + i * sizeof(value), &value, sizeof(value));
    } else {
      workloads::store_element(*row_of(type).card, array, i, value);
    }
  }
  return begins_well(text) && end == text.c_str() + text.size();
}

bool is_signed(ElementType type) {
  return type == ElementType::kInt8 || type == ElementType::kInt16 || type == ElementType::kInt32 ||
         type == ElementType::kInt64;
}

// The first byte is the lowest.
bool parse_integer(const std::string& text, ElementType type, std::byte* array, std::size_t i) {
  const Bytes size = row_of(type).bytes;
  const unsigned bits = static_cast<unsigned>(size) * 8;
  char* end = nullptr;
  errno = 0;
  std::uint64_t value = 0;
  bool fits = true;
  if (is_signed(type)) {
    const std::int64_t number = std::strtoll(text.c_str(), &end, 10);
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
    fits = number >= -most - 1 && number <= most;
    value = static_cast<std::uint64_t>(number);
  } else {
    value = std::strtoull(text.c_str(), &end, 10);
    fits = text.find('-') == std::string::npos &&
           value <= std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
  }
  std::memcpy(array + i * size, &value, size);
  return fits && errno == 0 && begins_well(text) && end == text.c_str() + text.size();
}

}  // namespace

Tensor to_text(const Tensor& numbers) {
  Tensor made{ElementType::kString, numbers.sides, {}, {}};
  made.strings.reserve(numbers.elements());
  for (std::size_t i = 0; i < numbers.elements(); ++i) {
    made.strings.push_back(text_of_element(numbers, i));
  }
  return made;
}

Result<Tensor> from_text(const Tensor& texts, ElementType type) {
  if (type == ElementType::kBool) {
    return fail(ErrorCode::kInvalidArgument, "a cast of string into bool: ONNX has none");
  }
  Tensor made{type, texts.sides, {}, {}};
  made.bytes.resize(texts.elements() * row_of(type).bytes);
  const auto parse = is_integer(type) ? parse_integer : parse_real;
  for (std::size_t i = 0; i < texts.elements(); ++i) {
    if (parse(texts.strings[i], type, made.bytes.data(), i)) continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a cast of string into {}: element {} is '{}'", row_of(type).name, i,
                            shortened(texts.strings[i], 32)));
  }
  return made;
}

}  // namespace npu::network
