// SPDX-License-Identifier: Apache-2.0
#include "model/core/counted_programs.hpp"

#include <openssl/evp.h>

namespace npu::model {

ProgramDigest program_digest(ConstByteSpan object) {
  ProgramDigest digest{};
  unsigned length = 0;
  if (EVP_Digest(object.data, object.size, digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    return {};
  }
  return digest;
}

}  // namespace npu::model
