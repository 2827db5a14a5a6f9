// SPDX-License-Identifier: Apache-2.0
// The driver's shared library stands on nothing of the simulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "tests/architecture/rules.hpp"
#include "tests/support/folders.hpp"

namespace npu::architecture {
namespace {

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) {
    text += buffer.data();
  }
  return pclose(pipe) == 0 ? text : std::string();
}

TEST(DriverLibrary, NeedsNoSymbolOfSystemCOrTheModel) {
  const std::string symbols =
      output_of("nm -D --undefined-only '" + binary_dir() + "/lib/libnpudrv.so'");
  EXPECT_THAT(symbols, testing::HasSubstr("memcpy")) << "nm shows the library's symbols";
  EXPECT_THAT(foreign_symbols(symbols), testing::IsEmpty());
}

TEST(DriverLibrary, IsLinkedToNoLibraryOfTheSimulator) {
  const std::string dynamic = output_of("readelf -d '" + binary_dir() + "/lib/libnpudrv.so'");
  EXPECT_THAT(dynamic, testing::HasSubstr("libstdc++"));
  EXPECT_THAT(dynamic, testing::Not(testing::HasSubstr("systemc")));
  EXPECT_THAT(dynamic, testing::Not(testing::HasSubstr("npusim")));
  EXPECT_THAT(dynamic, testing::HasSubstr("SONAME"));
}

}  // namespace
}  // namespace npu::architecture
