// SPDX-License-Identifier: Apache-2.0
// The limit, and clearing.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/unit/jit/workshop.hpp"

namespace npu::jit {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::SizeIs;

class Eviction : public testing::Test {
 protected:
  void SetUp() override {
    toolchain_ = workshop_.toolchain(workshop_.quick_compiler());
    sealed_ = fs::file_size(workshop_.path("object")) + 40;
  }

  CacheOptions room_for(std::uint64_t objects) const {
    return {workshop_.path("cache"), objects * sealed_};
  }

  // The kernel's file, used last at this time.
  void used_at(int answer, time_t second) {
    const timespec times[] = {{second, 0}, {second, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, file_of(answer).c_str(), times, 0), 0);
  }
  std::string file_of(int answer) {
    const auto key = kernel_key(answering(answer).macros, 2201, KernelType::kVector).value();
    const auto stored = workshop_.stored(key + ".so");
    return stored.empty() ? std::string() : stored[0];
  }
  bool is_stored(int answer) { return !file_of(answer).empty(); }

  Workshop workshop_;
  Toolchain toolchain_;
  std::uint64_t sealed_ = 0;
};

TEST_F(Eviction, RemovesWhatWasUsedLongestAgo) {
  KernelCache cache(toolchain_, room_for(3));
  for (const int answer : {1, 2, 3}) ASSERT_TRUE(cache.get(answering(answer)));
  EXPECT_THAT(workshop_.stored(), SizeIs(3)) << "the limit itself is kept";
  used_at(1, 2000);
  used_at(2, 1000);
  used_at(3, 3000);
  ASSERT_TRUE(cache.get(answering(4)));
  EXPECT_TRUE(is_stored(1) && !is_stored(2) && is_stored(3) && is_stored(4));
  EXPECT_EQ(cache.counters().evicted, 1U);
  EXPECT_EQ(cache.get(answering(2)).value().origin, Origin::kMemory) << "memory keeps it";
}

TEST_F(Eviction, CountsAHitInTheFolderAsAUse) {
  KernelCache cache(toolchain_, room_for(2));
  for (const int answer : {1, 2}) ASSERT_TRUE(cache.get(answering(answer)));
  used_at(1, 1000);
  used_at(2, 2000);
  KernelCache other(toolchain_, room_for(2));
  ASSERT_EQ(other.get(answering(1)).value().origin, Origin::kDisk);
  ASSERT_TRUE(other.get(answering(3)));
  EXPECT_TRUE(is_stored(1) && !is_stored(2) && is_stored(3));
}

TEST_F(Eviction, NeverTakesWhatWasJustStored) {
  KernelCache cache(toolchain_, {workshop_.path("cache"), 1});
  for (const int answer : {1, 2, 3}) {
    ASSERT_TRUE(cache.get(answering(answer)));
    EXPECT_TRUE(is_stored(answer));
    EXPECT_THAT(workshop_.stored(), SizeIs(1));
  }
}

TEST_F(Eviction, TakesOldToolchainsObjectsToo) {
  KernelCache old(toolchain_, room_for(2));
  for (const int answer : {1, 2}) ASSERT_TRUE(old.get(answering(answer)));
  used_at(1, 1000);
  used_at(2, 2000);
  toolchain_.flags.emplace_back("-g");
  KernelCache cache(toolchain_, room_for(2));
  ASSERT_TRUE(cache.get(answering(3)));
  EXPECT_TRUE(!is_stored(1) && is_stored(2) && is_stored(3));
}

TEST_F(Eviction, LeavesNoEmptyFoldersOfOldToolchains) {
  KernelCache old(toolchain_, room_for(1));
  ASSERT_TRUE(old.get(answering(1)));
  const fs::path folder = fs::path(workshop_.stored()[0]).parent_path();
  toolchain_.flags.emplace_back("-g");
  KernelCache cache(toolchain_, room_for(1));
  ASSERT_TRUE(cache.get(answering(2)));
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_THAT(workshop_.stored(), SizeIs(1));
  ASSERT_TRUE(old.get(answering(3)));  // makes it anew
  EXPECT_TRUE(fs::exists(folder));
}

TEST_F(Eviction, LeavesAloneWhatSomebodyIsMaking) {
  KernelCache cache(toolchain_, room_for(1));
  ASSERT_TRUE(cache.get(answering(1)));
  used_at(1, 1000);
  const std::string lock = fs::path(file_of(1)).replace_extension(".lock");
  const int held = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  ASSERT_TRUE(cache.get(answering(2)));
  EXPECT_TRUE(is_stored(1) && is_stored(2));
  close(held);
  ASSERT_TRUE(cache.get(answering(3)));
  EXPECT_TRUE(!is_stored(1) && !is_stored(2) && is_stored(3));
}

TEST_F(Eviction, ClearsEveryObjectAndNothingElse) {
  KernelCache cache(toolchain_, workshop_.options());
  const auto held = cache.get(answering(1)).value();
  toolchain_.flags.emplace_back("-g");
  KernelCache other(toolchain_, workshop_.options());
  ASSERT_TRUE(other.get(answering(1)));
  const std::string folder = fs::path(workshop_.stored()[0]).parent_path();
  const std::string digits(64, 'a');
  const std::vector<std::string> others{workshop_.path("cache/note.so"), folder + "/note.so",
                                        folder + "/" + digits + ".so.txt"};
  for (const auto& path : others) {
    workshop_.write(fs::relative(path, workshop_.path("")).string(), "mine");
  }
  for (const char* end : {".part", ".lock"}) {
    workshop_.write(fs::relative(folder + "/" + digits + end, workshop_.path("")).string(), "");
  }
  ASSERT_TRUE(cache.clear());
  for (const auto& path : others) EXPECT_TRUE(fs::exists(path)) << path;
  EXPECT_THAT(workshop_.stored(), SizeIs(2));
  EXPECT_THAT(workshop_.stored(digits + ".part"), IsEmpty());
  EXPECT_THAT(workshop_.stored(".lock"), IsEmpty());
  EXPECT_EQ(answer_of(held), 42);
  EXPECT_EQ(cache.get(answering(1)).value().origin, Origin::kCompiled);
}

TEST_F(Eviction, ClearsWhatIsNotThere) {
  KernelCache cache(toolchain_, {workshop_.path("nowhere")});
  EXPECT_TRUE(cache.clear());
  KernelCache none(toolchain_, {""});
  EXPECT_TRUE(none.clear());
}

}  // namespace
}  // namespace npu::jit
