// SPDX-License-Identifier: Apache-2.0
// Folders that cannot be used cost the cache, and nothing else.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tests/unit/jit/workshop.hpp"

namespace npu::jit {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What must be true wherever a kernel cannot be kept.
bool works_without_folder(const Toolchain& toolchain, const CacheOptions& options) {
  KernelCache cache(toolchain, options);
  const auto loaded = cache.get(answering(42));
  if (!loaded || answer_of(*loaded) != 42) return false;
  const auto counters = cache.counters();
  return loaded->origin == Origin::kCompiled && loaded->warnings.size() == 1 &&
         loaded->warnings[0].find("not kept in the cache: ") == 0 && counters.not_stored == 1 &&
         counters.rejected == 0 && cache.get(answering(42))->origin == Origin::kMemory;
}

TEST(UnusableFolder, NoneIsNoWarning) {
  const Workshop workshop;
  KernelCache cache(workshop.toolchain(workshop.quick_compiler()), {""});
  const auto loaded = cache.get(answering(42)).value();
  EXPECT_EQ(answer_of(loaded), 42);
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(cache.counters().not_stored, 0U);
}

TEST(UnusableFolder, MissingOnesAreMadeForTheUserAlone) {
  const Workshop workshop;
  const CacheOptions options{workshop.path("cache/below/that")};
  KernelCache cache(workshop.toolchain(workshop.quick_compiler()), options);
  EXPECT_THAT(cache.get(answering(42)).value().warnings, IsEmpty());
  struct stat about {};
  ASSERT_EQ(stat(options.folder.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0700U);
}

TEST(UnusableFolder, ThatCannotBeMade) {
  const Workshop workshop;
  const auto toolchain = workshop.toolchain(workshop.quick_compiler());
  workshop.write("file", "no folder");
  EXPECT_TRUE(works_without_folder(toolchain, {workshop.path("file")}));
  EXPECT_TRUE(works_without_folder(toolchain, {workshop.path("file/below")}));
  EXPECT_TRUE(works_without_folder(toolchain, {"/proc/npujit"}));
}

TEST(UnusableFolder, Unreadable) {
  const Workshop workshop;
  const auto toolchain = workshop.toolchain(workshop.quick_compiler());
  fs::create_directory(workshop.path("cache"));
  EXPECT_TRUE(as_ordinary_user(workshop, [&] {
    return chmod(workshop.path("cache").c_str(), 0) == 0 &&
           works_without_folder(toolchain, workshop.options());
  }));
}

TEST(UnusableFolder, ReadOnlyStillServesWhatIsInIt) {
  const Workshop workshop;
  const auto toolchain = workshop.toolchain(workshop.quick_compiler());
  EXPECT_TRUE(as_ordinary_user(workshop, [&] {
    KernelCache first(toolchain, workshop.options());
    if (!first.get(answering(42))) return false;
    for (const auto& entry : fs::recursive_directory_iterator(workshop.path("cache"))) {
      if (entry.is_directory()) chmod(entry.path().c_str(), 0500);
    }
    chmod(workshop.path("cache").c_str(), 0500);
    KernelCache second(toolchain, workshop.options());
    const auto found = second.get(answering(42));
    const auto made = second.get(answering(43));
    return found && found->origin == Origin::kDisk && found->warnings.empty() && made &&
           made->origin == Origin::kCompiled && second.counters().not_stored == 1;
  }));
}

TEST(UnusableFolder, ThatOthersMayWrite) {
  const Workshop workshop;
  const auto toolchain = workshop.toolchain(workshop.quick_compiler());
  KernelCache first(toolchain, workshop.options());
  ASSERT_TRUE(first.get(answering(42)));
  const std::string folder = fs::path(workshop.stored()[0]).parent_path();
  for (const auto& path : {folder, workshop.path("cache")}) {
    for (const mode_t mode : {0770U, 0703U}) {
      ASSERT_EQ(chmod(path.c_str(), mode), 0);
      EXPECT_TRUE(works_without_folder(toolchain, workshop.options())) << path << " " << mode;
    }
    ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  }
  KernelCache last(toolchain, workshop.options());
  EXPECT_EQ(last.get(answering(42)).value().origin, Origin::kDisk);
}

TEST(UnusableFolder, OfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  const Workshop workshop;
  const auto toolchain = workshop.toolchain(workshop.quick_compiler());
  fs::create_directory(workshop.path("cache"));
  ASSERT_EQ(chown(workshop.path("cache").c_str(), 65534, 65534), 0);
  EXPECT_TRUE(works_without_folder(toolchain, workshop.options()));
}

TEST(UnusableFolder, BehindALinkInTheCache) {
  const Workshop workshop;
  const auto toolchain = workshop.toolchain(workshop.quick_compiler());
  KernelCache first(toolchain, workshop.options());
  ASSERT_TRUE(first.get(answering(42)));
  const fs::path folder = fs::path(workshop.stored()[0]).parent_path();
  fs::rename(folder, workshop.path("elsewhere"));
  fs::create_directory_symlink(workshop.path("elsewhere"), folder);
  EXPECT_TRUE(works_without_folder(toolchain, workshop.options()));
}

// A disk that is full in the middle of an object: files of this process may not become as long as
// object and digest together.
TEST(FullDisk, LeavesNothingBehindAndTheKernelWorks) {
  const Workshop workshop;
  const auto toolchain = workshop.toolchain(workshop.quick_compiler());
  const auto size = fs::file_size(workshop.path("object"));
  for (const rlim_t room : {rlim_t{size + 1}, rlim_t{size + 20}, rlim_t{size + 39}}) {
    EXPECT_TRUE(in_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{room, room};
      return setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
             works_without_folder(toolchain, workshop.options());
    })) << room;
    EXPECT_THAT(workshop.stored(), IsEmpty());
    EXPECT_THAT(workshop.stored(".part"), IsEmpty());
  }
  KernelCache cache(toolchain, workshop.options());
  EXPECT_THAT(cache.get(answering(42)).value().warnings, IsEmpty());
}

TEST(FullDisk, ForTheCompilerIsItsErrorInOneLine) {
  const Workshop workshop;
  KernelCache cache(workshop.toolchain(workshop.compiler(
                        "echo 'as: error: writing to out.o: No space left on device' >&2; exit 1")),
                    workshop.options());
  const auto loaded = cache.get(answering(42));
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().context, HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace npu::jit
