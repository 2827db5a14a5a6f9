// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/html/escape.hpp"

#include <openssl/evp.h>

#include <array>

namespace npu::reports {

std::string script_safe(std::string_view json) {
  static constexpr std::string_view kLineEnd{"\xE2\x80", 2};  // U+2028 and U+2029 begin with it
  std::string safe;
  safe.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const char third = i + 2 < json.size() ? json[i + 2] : '\0';
    if (c == '<') {
      safe += "\\u003c";
    } else if (c == '>') {
      safe += "\\u003e";
    } else if (c == '&') {
      safe += "\\u0026";
    } else if ((third == '\xA8' || third == '\xA9') && json.substr(i, 2) == kLineEnd) {
      safe += third == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string policy_hash(std::string_view text) {
  std::array<unsigned char, 32> digest{};
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    return "'none'";
  }
  std::array<unsigned char, 45> base64{};  // 32 bytes as 44 characters, and a 0
  EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
  return "'sha256-" + std::string(reinterpret_cast<const char*>(base64.data())) + "'";
}

}  // namespace npu::reports
