// SPDX-License-Identifier: Apache-2.0
// Programs of the build folder as they lie in device memory: header and object.
#pragma once

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "npu/abi/kernel_image.hpp"
#include "tests/support/folders.hpp"

namespace npu::test {

inline std::vector<char> program_file(const std::string& name, abi::ImageKind kind) {
  std::ifstream file(binary_dir() + "/programs/" + name + ".npu", std::ios::binary);
  const std::vector<char> object((std::istreambuf_iterator<char>(file)), {});
  EXPECT_FALSE(object.empty()) << name;
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

}  // namespace npu::test
