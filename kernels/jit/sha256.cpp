// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace npu::jit {

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  // Neither fails but for want of memory.
  if (context_ == nullptr || EVP_DigestInit_ex(context_, EVP_sha256(), nullptr) != 1) {
    EVP_MD_CTX_free(context_);
    throw std::bad_alloc();
  }
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(context_);
}

void Sha256::add(std::string_view bytes) {
  EVP_DigestUpdate(context_, bytes.data(), bytes.size());
}

void Sha256::add_field(std::string_view bytes) {
  std::array<char, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<char>((std::uint64_t{bytes.size()} >> (8 * i)) & 0xFFU);
  }
  add({length.data(), length.size()});
  add(bytes);
}

Digest Sha256::finish() {
  Digest digest{};
  EVP_DigestFinal_ex(context_, digest.data(), nullptr);
  return digest;
}

std::string hex(const Digest& digest) {
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string sha256_hex(std::string_view text) {
  Sha256 sha;
  sha.add(text);
  return hex(sha.finish());
}

bool is_hex_digest(std::string_view text) {
  return text.size() == 2 * Digest().size() && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace npu::jit
