// SPDX-License-Identifier: Apache-2.0
#include "npu/jit/key.hpp"

#include <algorithm>

#include "kernels/jit/sha256.hpp"
#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"

namespace npu::jit {
namespace {

constexpr const char* kArchitecture = "__ARCH__";
constexpr const char* kKernelType = "__KT__";

bool is_value(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '&' || byte < 0x20 || byte == 0x7F;
  });
}

Status check(const std::string& name, const std::string& value) {
  if (!is_identifier(name)) {
    return fail(ErrorCode::kInvalidArgument, "\"" + shortened(name) + "\" is no name of a macro");
  }
  if (name == kArchitecture || name == kKernelType) {
    return fail(ErrorCode::kInvalidArgument, name + " is no macro but part of every key");
  }
  if (!is_value(value)) {
    return fail(ErrorCode::kInvalidArgument,
                "macro " + name + " may hold neither '&' nor control characters: \"" +
                    shortened(value) + "\"");
  }
  return {};
}

}  // namespace

Result<std::string> key_text(const Macros& macros, std::uint32_t architecture, KernelType type) {
  Macros all = macros;
  for (const auto& [name, value] : macros) {
    if (const auto good = check(name, value); !good) return forward_error(good);
  }
  all[kArchitecture] = std::to_string(architecture);
  all[kKernelType] = std::to_string(static_cast<unsigned>(type));
  std::string text;
  for (const auto& [name, value] : all) {
    if (!text.empty()) text += '&';
    text.append(name).append("=").append(value);
  }
  return text;
}

Result<std::string> kernel_key(const Macros& macros, std::uint32_t architecture, KernelType type) {
  const auto text = key_text(macros, architecture, type);
  if (!text) return forward_error(text);
  return sha256_hex(*text);
}

}  // namespace npu::jit
