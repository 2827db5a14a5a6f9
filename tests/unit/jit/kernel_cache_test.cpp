// SPDX-License-Identifier: Apache-2.0
// Memory, folder, compiler: who answers, what is counted, what users are told.
#include "npu/jit/kernel_cache.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <set>

#include "tests/unit/jit/workshop.hpp"

namespace npu::jit {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(KernelCache, CompilesThenFindsInMemoryAndANewOneInTheFolder) {
  const Workshop workshop;
  const auto toolchain = workshop.toolchain(workshop.compiler());
  KernelCache cache(toolchain, workshop.options());
  const auto compiled = cache.get(answering(7));
  ASSERT_TRUE(compiled) << compiled.error().message();
  const auto again = cache.get(answering(7)).value();
  KernelCache other(toolchain, workshop.options());
  const auto found = other.get(answering(7)).value();

  EXPECT_EQ(compiled->origin, Origin::kCompiled);
  EXPECT_GT(compiled->compile_time.count(), 0);
  EXPECT_EQ(again.origin, Origin::kMemory);
  EXPECT_EQ(again.kernel, compiled->kernel);
  EXPECT_EQ(found.origin, Origin::kDisk);
  EXPECT_EQ(found.compile_time.count(), 0);
  EXPECT_THAT(found.warnings, IsEmpty());
  for (const auto& kernel : {*compiled, again, found}) EXPECT_EQ(answer_of(kernel), 7);
  EXPECT_EQ(workshop.starts(), 1);
  EXPECT_THAT(workshop.stored(), SizeIs(1));
  EXPECT_THAT(workshop.stored(".lock"), IsEmpty());
  const Counters first = cache.counters();
  EXPECT_EQ(first.compiled, 1U);
  EXPECT_EQ(first.starts, 1U);
  EXPECT_EQ(first.memory_hits, 1U);
  EXPECT_EQ(first.disk_hits, 0U);
  EXPECT_GE(first.compile_time, compiled->compile_time / 2);
  EXPECT_EQ(other.counters().disk_hits, 1U);
  EXPECT_EQ(other.counters().starts, 0U);
}

TEST(KernelCache, NamesTheFileByTheKey) {
  const Workshop workshop;
  KernelCache cache(workshop.toolchain(workshop.compiler()), workshop.options());
  const auto loaded = cache.get(answering(7)).value();
  const auto key = kernel_key(answering(7).macros, 2201, KernelType::kVector).value();
  EXPECT_EQ(loaded.kernel->key(), key);
  ASSERT_THAT(workshop.stored(), SizeIs(1));
  EXPECT_THAT(workshop.stored()[0], testing::EndsWith("/" + key + ".so"));
}

TEST(KernelCache, KeepsKernelsWithDifferentMacrosApart) {
  const Workshop workshop;
  KernelCache cache(workshop.toolchain(workshop.compiler()), {});
  std::vector<Loaded> kernels;
  kernels.reserve(5);
  for (int i = 0; i < 5; ++i) kernels.push_back(cache.get(answering(i)).value());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(answer_of(kernels[static_cast<std::size_t>(i)]), i);
  EXPECT_EQ(cache.counters().compiled, 5U);
}

// The dynamic linker gives who asks for a path that it knows the library that it found there then.
TEST(KernelCache, LoadsFromPathsThatNobodyElseUses) {
  const Workshop workshop;
  KernelCache cache(workshop.toolchain(workshop.compiler()), {});
  std::vector<std::string> paths;
  for (int i = 0; i < 3; ++i) {
    const auto loaded = cache.get(answering(i)).value();
    Dl_info about{};
    ASSERT_NE(dladdr(reinterpret_cast<const void*>(loaded.kernel->run()), &about), 0);
    paths.emplace_back(about.dli_fname);
    EXPECT_THAT(paths.back(), testing::Not(testing::StartsWith("/proc/self/")));
  }
  EXPECT_THAT(std::set<std::string>(paths.begin(), paths.end()), SizeIs(3));
}

TEST(KernelCache, ForgetsWithoutUnloadingWhatIsHeld) {
  const Workshop workshop;
  KernelCache cache(workshop.toolchain(workshop.quick_compiler()), workshop.options());
  const auto held = cache.get(answering(42)).value();
  cache.forget();
  EXPECT_EQ(cache.get(answering(42)).value().origin, Origin::kDisk);
  EXPECT_EQ(answer_of(held), 42);
}

TEST(KernelCache, MakesKernelsAnewWhenASourceOrTheCompilerOrAFlagHasChanged) {
  const Workshop workshop;
  auto toolchain = workshop.toolchain(workshop.quick_compiler());
  const int before = workshop.starts();
  const auto starts_for = [&] {
    KernelCache cache(toolchain, workshop.options());
    const auto loaded = cache.get(answering(42));
    return loaded ? workshop.starts() - before : -1;
  };
  EXPECT_EQ(starts_for(), 1);
  EXPECT_EQ(starts_for(), 1);
  workshop.write("templates/other.hpp", "// a header\n");
  EXPECT_EQ(starts_for(), 2);
  workshop.write("templates/other.hpp", "// a changed header\n");
  EXPECT_EQ(starts_for(), 3);
  toolchain.flags.emplace_back("-g");
  EXPECT_EQ(starts_for(), 4);
  workshop.write("templates/notes.txt", "no source");
  EXPECT_EQ(starts_for(), 4);
  std::string script = workshop.read("compiler");
  script.replace(script.find("of tests"), 8, "of more tests");
  workshop.write("compiler", script);
  EXPECT_EQ(starts_for(), 5);
}

TEST(KernelCache, DoesNotStoreWhatWasMadeWhileItsSourcesChanged) {
  const Workshop workshop;
  const auto compiler =
      workshop.compiler("echo '// more' >> " + workshop.path("templates/answer.cpp"));
  KernelCache cache(workshop.toolchain(compiler), workshop.options());
  const auto loaded = cache.get(answering(3)).value();
  EXPECT_EQ(answer_of(loaded), 3);
  EXPECT_THAT(loaded.warnings, testing::ElementsAre(HasSubstr("sources have changed")));
  EXPECT_THAT(workshop.stored(), IsEmpty());
  EXPECT_EQ(cache.counters().not_stored, 1U);
}

TEST(KernelCache, TellsTheTemplatesLineAndTheCompilersFirstLines) {
  const Workshop workshop;
  workshop.write("templates/broken.cpp",
                 "// one\nstatic_assert(NPU_JIT_TILE % 16 == 0, \"tiles are whole fractals\");\n");
  KernelCache cache(workshop.toolchain(workshop.compiler()), workshop.options());
  const auto broken = cache.get({"broken.cpp", {{"NPU_JIT_TILE", "17"}}, KernelType::kCube});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(broken.error().context,
              AllOf(testing::StartsWith(workshop.path("templates/broken.cpp") + ":2: error: "),
                    HasSubstr("tiles are whole fractals"), HasSubstr("; compiler: ")));
  EXPECT_THAT(broken.error().context, testing::Not(HasSubstr("\n")));
  EXPECT_THAT(workshop.stored(), IsEmpty());
  EXPECT_FALSE(cache.get({"broken.cpp", {{"NPU_JIT_TILE", "17"}}, KernelType::kCube}));
  EXPECT_EQ(cache.counters().starts, 2U) << "an error is not kept";
}

TEST(KernelCache, TellsWhereTheTemplateUsesAMacroThatIsWrong) {
  const Workshop workshop;
  KernelCache cache(workshop.toolchain(workshop.compiler()), {});
  const auto broken = cache.get({"answer.cpp", {{"NPU_JIT_ANSWER", "nothing"}}, KernelType::kCube});
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().context,
              AllOf(testing::StartsWith(workshop.path("templates/answer.cpp") + ":3: error: "),
                    HasSubstr("nothing")));
}

TEST(KernelCache, RefusesWhatIsNotThere) {
  const Workshop workshop;
  const auto code_of = [&](Toolchain toolchain, const KernelRequest& request) {
    KernelCache cache(std::move(toolchain), workshop.options());
    const auto loaded = cache.get(request);
    return loaded ? "loaded" : std::string(to_string(loaded.error().code));
  };
  const auto good = workshop.toolchain(workshop.quick_compiler());
  auto no_compiler = good;
  no_compiler.compiler = workshop.path("no_compiler");
  auto no_templates = good;
  no_templates.templates = workshop.path("nowhere");
  EXPECT_EQ(code_of(no_compiler, answering(1)), "not found");
  EXPECT_EQ(code_of(no_templates, answering(1)), "not found");
  EXPECT_EQ(code_of(good, {"none.cpp", {}, KernelType::kCube}), "not found");
  EXPECT_EQ(code_of(good, {"../answer.cpp", {}, KernelType::kCube}), "invalid argument");
  EXPECT_EQ(code_of(good, {"answer.cpp", {{"A B", "1"}}, KernelType::kCube}), "invalid argument");
}

TEST(KernelCache, RefusesObjectsThatCannotBeLoaded) {
  const Workshop workshop;
  workshop.write("templates/empty.cpp", "int nothing;\n");
  KernelCache cache(workshop.toolchain(workshop.compiler()), workshop.options());
  const auto empty = cache.get({"empty.cpp", {}, KernelType::kCube});
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().context, HasSubstr(": NPU_OPERATOR is missing"));
  KernelCache garbage(workshop.toolchain(workshop.compiler("echo garbage > \"$out\"; exit 0")),
                      workshop.options());
  EXPECT_FALSE(garbage.get(answering(1)));
  KernelCache silent(workshop.toolchain(workshop.compiler("exit 0")), workshop.options());
  EXPECT_FALSE(silent.get(answering(1)));
  EXPECT_THAT(workshop.stored(), IsEmpty());
}

TEST(CacheFolder, IsWhereTheEnvironmentSays) {
  EXPECT_TRUE(in_child([] {
    setenv("HOME", "/home/me", 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("NPUSIM_JIT_CACHE_DIR");
    const bool home = default_cache_folder() == "/home/me/.cache/npusim/jit";
    setenv("XDG_CACHE_HOME", "/cache", 1);
    const bool cache = default_cache_folder() == "/cache/npusim/jit";
    setenv("NPUSIM_JIT_CACHE_DIR", "/mine", 1);
    const bool mine = default_cache_folder() == "/mine";
    for (const char* name : {"HOME", "XDG_CACHE_HOME", "NPUSIM_JIT_CACHE_DIR"}) unsetenv(name);
    return home && cache && mine && default_cache_folder().empty();
  }));
}

}  // namespace
}  // namespace npu::jit
