// SPDX-License-Identifier: Apache-2.0
// Programs of the build folder as they lie in device memory: header and object.
#pragma once

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <cstring>
#include <string>
#include <vector>

#include "npu/abi/kernel_image.hpp"
#include "tests/support/folders.hpp"

namespace npu::test {

inline std::vector<char> with_header(const std::string& object, abi::ImageKind kind) {
  abi::ImageHeader header;
  header.kind = static_cast<std::uint16_t>(kind);
  header.size = object.size();
  SHA256(reinterpret_cast<const unsigned char*>(object.data()), object.size(),
         header.digest.data());
  std::vector<char> image(sizeof header);
  std::memcpy(image.data(), &header, sizeof header);
  image.insert(image.end(), object.begin(), object.end());
  return image;
}
inline std::vector<char> image_of(const std::string& path, abi::ImageKind kind) {
  const std::string object = file_text(path);
  EXPECT_FALSE(object.empty()) << path;
  return with_header(object, kind);
}
inline std::vector<char> program_file(const std::string& name, abi::ImageKind kind) {
  return image_of(binary_dir() + "/programs/" + name + ".npu", kind);
}

}  // namespace npu::test
