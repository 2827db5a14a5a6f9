// SPDX-License-Identifier: Apache-2.0
// What lies in the folder under a kernel's name and is not that kernel is never loaded, and made
// anew.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/unit/jit/workshop.hpp"

namespace npu::jit {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

// A folder with one kernel whose answer is 42, in which a test puts something else.
class ForeignObject : public testing::Test {
 protected:
  void SetUp() override {
    toolchain_ = workshop_.toolchain(workshop_.quick_compiler());
    KernelCache cache(toolchain_, workshop_.options());
    ASSERT_TRUE(cache.get(answering(42)));
    ASSERT_THAT(workshop_.stored(), SizeIs(1));
    path_ = workshop_.stored()[0];
    name_ = fs::relative(path_, workshop_.path("")).string();
    good_ = workshop_.read(name_);
    ASSERT_GT(good_.size(), 4096U);
  }

  void expect_made_anew(const std::string& what) {
    const int before = workshop_.starts();
    KernelCache cache(toolchain_, workshop_.options());
    const auto loaded = cache.get(answering(42));
    ASSERT_TRUE(loaded) << what << ": " << loaded.error().message();
    EXPECT_EQ(answer_of(*loaded), 42) << what;
    EXPECT_EQ(loaded->origin, Origin::kCompiled) << what;
    EXPECT_THAT(loaded->warnings, testing::ElementsAre(HasSubstr("not loaded from the cache")))
        << what;
    EXPECT_EQ(cache.counters().rejected, 1U) << what;
    EXPECT_EQ(workshop_.starts(), before + 1) << what;
    EXPECT_EQ(workshop_.read(name_), good_) << what << ": not whole again";
  }

  void expect_made_anew_after(const std::string& bytes, const std::string& what) {
    workshop_.write(name_, bytes);
    expect_made_anew(what);
  }

  Workshop workshop_;
  Toolchain toolchain_;
  std::string path_, name_, good_;
};

TEST_F(ForeignObject, WithAnyByteChangedIsMadeAnew) {
  const std::size_t trailer = good_.size() - 40;
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{17}, std::size_t{64}, good_.size() / 3, good_.size() / 2,
        trailer - 1, trailer, trailer + 7, trailer + 8, good_.size() - 1}) {
    std::string changed = good_;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    expect_made_anew_after(changed, "byte " + std::to_string(at));
  }
}

TEST_F(ForeignObject, CutOffAnywhereIsMadeAnew) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{39}, std::size_t{40},
                                 std::size_t{41}, good_.size() / 2, good_.size() - 41,
                                 good_.size() - 40, good_.size() - 8, good_.size() - 1}) {
    expect_made_anew_after(good_.substr(0, size), std::to_string(size) + " bytes");
  }
}

TEST_F(ForeignObject, WithMoreOrOtherContentIsMadeAnew) {
  expect_made_anew_after(good_ + "x", "a byte more");
  expect_made_anew_after(good_ + good_, "twice");
  expect_made_anew_after(std::string(good_.size(), '\0'), "zeros");
  expect_made_anew_after(workshop_.read("object"), "an object without a digest");
  expect_made_anew_after("#!/bin/sh\n", "a script");
}

TEST_F(ForeignObject, OfAnotherKeyIsMadeAnew) {
  KernelCache cache(toolchain_, workshop_.options());
  ASSERT_TRUE(cache.get(answering(43)));
  for (const auto& other : workshop_.stored()) {
    if (other == path_) continue;
    fs::copy_file(other, path_, fs::copy_options::overwrite_existing);
  }
  expect_made_anew("another kernel's object");
}

TEST_F(ForeignObject, OfAnotherToolchainIsMadeAnew) {
  auto other = toolchain_;
  other.flags.emplace_back("-g");
  KernelCache cache(other, workshop_.options());
  ASSERT_TRUE(cache.get(answering(42)));
  for (const auto& path : workshop_.stored()) {
    if (path == path_) continue;
    fs::copy_file(path, path_, fs::copy_options::overwrite_existing);
  }
  expect_made_anew("the same key's object of another toolchain");
}

TEST_F(ForeignObject, ThatOthersMayWriteIsMadeAnew) {
  for (const mode_t mode : {0620U, 0602U, 0666U}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    expect_made_anew("mode " + std::to_string(mode));
    struct stat about {};
    ASSERT_EQ(stat(path_.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U);
  }
}

TEST_F(ForeignObject, OfAnotherUserIsMadeAnew) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  expect_made_anew("nobody's object");
}

TEST_F(ForeignObject, ThatIsALinkOrAPipeIsMadeAnew) {
  fs::rename(path_, path_ + ".elsewhere");
  fs::create_symlink(path_ + ".elsewhere", path_);
  expect_made_anew("a link to a good object");
  EXPECT_FALSE(fs::is_symlink(path_));
  fs::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  expect_made_anew("a FIFO");
}

TEST_F(ForeignObject, ThatIsAFolderIsLeftAloneAndTheKernelMade) {
  fs::remove(path_);
  fs::create_directory(path_);
  KernelCache cache(toolchain_, workshop_.options());
  const auto loaded = cache.get(answering(42)).value();
  EXPECT_EQ(answer_of(loaded), 42);
  EXPECT_EQ(cache.counters().rejected, 1U);
  EXPECT_EQ(cache.counters().not_stored, 1U);
  EXPECT_TRUE(fs::is_directory(path_));
}

TEST_F(ForeignObject, LeftHalfWrittenByAKilledProcessIsInNobodysWay) {
  fs::remove(path_);
  const std::string part = path_.substr(0, path_.size() - 3) + ".part";
  const std::string lock = path_.substr(0, path_.size() - 3) + ".lock";
  workshop_.write(fs::relative(part, workshop_.path("")).string(), good_.substr(0, 100));
  workshop_.write(fs::relative(lock, workshop_.path("")).string(), "");
  KernelCache cache(toolchain_, workshop_.options());
  EXPECT_EQ(answer_of(cache.get(answering(42)).value()), 42);
  EXPECT_EQ(workshop_.read(name_), good_);
  EXPECT_FALSE(fs::exists(part));
  EXPECT_FALSE(fs::exists(lock));
}

}  // namespace
}  // namespace npu::jit
