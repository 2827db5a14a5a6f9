// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "npu/base/byte_span.hpp"

struct evp_md_ctx_st;  // of OpenSSL

namespace npu::jit {

using Digest = std::array<unsigned char, 32>;

// Fed piece by piece. A piece with its length in front, so that pieces cannot run together.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);
  void add_field(std::string_view bytes);
  Digest finish();

 private:
  evp_md_ctx_st* context_;
};

std::string hex(const Digest& digest);
std::string sha256_hex(std::string_view text);

inline std::string_view view_of(ConstByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data), bytes.size};
}

// 64 lower-case hexadecimal digits.
bool is_hex_digest(std::string_view text);

}  // namespace npu::jit
