// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/known_temporary.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace npu::reports {
namespace {

namespace fs = std::filesystem;

// A file of this process.
std::string made(const std::string& name) {
  const auto path =
      fs::path(testing::TempDir()) / ("known_" + std::to_string(::getpid()) + "_" + name);
  std::ofstream(path) << "x";
  return path.string();
}

TEST(KnownTemporary, IsGoneWithTheProgram) {
  const std::string one = made("one"), two = made("two"), other = made("other");
  const KnownTemporary first(one), second(two);
  unlink_temporaries();
  EXPECT_FALSE(fs::exists(one));
  EXPECT_FALSE(fs::exists(two));
  EXPECT_TRUE(fs::exists(other));
  fs::remove(other);
}

TEST(KnownTemporary, IsNoLongerOneThatIsComplete) {
  const std::string path = made("complete");
  { const KnownTemporary written(path); }
  unlink_temporaries();
  EXPECT_TRUE(fs::exists(path));
  fs::remove(path);
}

// What does not fit is left alone, and places are used again.
TEST(KnownTemporary, HasRoomForSixteen) {
  for (unsigned again = 0; again < 3; ++again) {
    std::deque<KnownTemporary> all;
    std::vector<std::string> paths;
    for (unsigned i = 0; i < 17; ++i) {
      paths.push_back(made(std::to_string(i)));
      all.emplace_back(paths.back());
    }
    unlink_temporaries();
    for (unsigned i = 0; i < 16; ++i) EXPECT_FALSE(fs::exists(paths[i])) << i;
    EXPECT_TRUE(fs::exists(paths[16]));
    fs::remove(paths[16]);
  }
}

}  // namespace
}  // namespace npu::reports
