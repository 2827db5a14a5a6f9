// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openssl/evp.h>

#include <cstring>

#include "npu/driver/program.hpp"

namespace npu::driver {

Result<std::vector<std::byte>> make_image(abi::ImageKind kind, ConstByteSpan object) {
  if (object.size == 0 || object.size > abi::kMaxImageSize) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a program of {} bytes; 1 .. {} are possible", object.size,
                            abi::kMaxImageSize));
  }
  abi::ImageHeader header;
  header.kind = static_cast<std::uint16_t>(kind);
  header.size = object.size;
  unsigned length = 0;
  if (EVP_Digest(object.data, object.size, header.digest.data(), &length, EVP_sha256(), nullptr) !=
      1) {
    return fail(ErrorCode::kIo, "SHA-256 of a program could not be computed");
  }
  std::vector<std::byte> image(sizeof header + object.size);
  std::memcpy(image.data(), &header, sizeof header);
  std::memcpy(image.data() + sizeof header, object.data, object.size);
  return image;
}

}  // namespace npu::driver
