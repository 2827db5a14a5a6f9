// SPDX-License-Identifier: Apache-2.0
// Source files of users: what a kernel is made of is what its source includes, and nothing else
// that lies beside it; objects that nobody calls.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/unit/jit/workshop.hpp"

namespace npu::jit {
namespace {

using testing::HasSubstr;

class Preprocessed : public testing::Test {
 protected:
  Preprocessed() {
    workshop.write("templates/own.cpp",
                   "#include \"below/own.inc.txt\"\nint own() { return N; }\n");
    std::filesystem::create_directory(workshop.path("templates/below"));
    workshop.write("templates/below/own.inc.txt", "// nothing\n");
  }
  // By a process of its own, so to speak.
  Result<Loaded> get(const std::string& file = "own.cpp", const std::string& n = "1") {
    KernelCache cache(workshop.toolchain(workshop.compiler()), workshop.options());
    return cache.get({file, {{"N", n}}, KernelType::kVector, false, workshop.path("templates")});
  }
  Workshop workshop;
};

TEST_F(Preprocessed, AnObjectThatIsNotLoadedNeedsNoEntry) {
  const auto made = get().value();
  EXPECT_EQ(made.origin, Origin::kCompiled);
  EXPECT_EQ(made.kernel->run(), nullptr);
  EXPECT_GT(made.kernel->image().size, 1000U);
  EXPECT_EQ(get()->origin, Origin::kDisk);
}

TEST_F(Preprocessed, AChangeOfWhatIsIncludedMakesAnother) {
  ASSERT_EQ(get()->origin, Origin::kCompiled);
  workshop.write("templates/below/own.inc.txt", "inline int more() { return 7; }\n");
  EXPECT_EQ(get()->origin, Origin::kCompiled);
  EXPECT_EQ(get("own.cpp", "2")->origin, Origin::kCompiled) << "so does a macro";
}

TEST_F(Preprocessed, WhatLiesBesideItMakesNone) {
  ASSERT_EQ(get()->origin, Origin::kCompiled);
  workshop.write("templates/other.hpp", "int other;\n");
  std::filesystem::create_directory(workshop.path("templates/closed"));
  chmod(workshop.path("templates/closed").c_str(), 0);
  EXPECT_EQ(get()->origin, Origin::kDisk);
}

TEST_F(Preprocessed, WhatCannotBeIncludedIsNamedWithItsLine) {
  workshop.write("templates/own.cpp", "\n#include \"absent.hpp\"\n");
  const auto refused = get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().context, HasSubstr("own.cpp:2: error: absent.hpp: No such file"));
  EXPECT_FALSE(get("absent.cpp"));
}

}  // namespace
}  // namespace npu::jit
