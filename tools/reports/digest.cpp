// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/digest.hpp"

// Its low-level functions: EVP_Digest() lists all algorithms first, which is a tenth of the
// instructions of a start.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>

namespace npu::reports {

std::string sha256_text(ConstByteSpan bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data, bytes.size);
  SHA256_Final(digest.data(), &context);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string sha256_text(std::string_view text) {
  return sha256_text(ConstByteSpan{reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

}  // namespace npu::reports
