// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/digest.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

namespace npu::reports {

std::string sha256_text(ConstByteSpan bytes) {
  std::array<unsigned char, 32> digest{};
  if (EVP_Digest(bytes.data, bytes.size, digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    return {};
  }
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string sha256_text(std::string_view text) {
  return sha256_text(ConstByteSpan{reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

}  // namespace npu::reports
