// SPDX-License-Identifier: Apache-2.0
// The driver's shared library stands on nothing of the simulator; of the libraries that programs
// are linked to one alone hides functions of the C library.
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <set>
#include <sstream>
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

// C functions that it gives others.
std::set<std::string> functions_of(const std::string& library) {
  std::istringstream lines(
      output_of("nm -D --defined-only '" + binary_dir() + "/lib/lib" + library + ".so'"));
  std::set<std::string> names;
  std::string address, kind, name;
  while (lines >> address >> kind >> name) {
    if ((kind == "T" || kind == "W") && name.rfind("_Z", 0) != 0) names.insert(name);
  }
  return names;
}

TEST(ClientLibrary, AloneHidesFunctionsOfTheCLibrary) {
  const auto hidden = functions_of("npuclient");
  for (const auto* const name : {"sigaction", "read", "usleep"}) {
    EXPECT_EQ(hidden.count(name), 1U) << name;
  }
  for (const auto* const library :
       {"ascendcl", "acl_rt", "runtime", "ascend_hal", "hccl", "npudsmi"}) {
    const auto names = functions_of(library);
    EXPECT_GT(names.size(), 20U) << library;
    for (const auto& name : names) EXPECT_EQ(hidden.count(name), 0U) << library << ": " << name;
  }
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
