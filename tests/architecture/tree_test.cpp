// SPDX-License-Identifier: Apache-2.0
// The checkout keeps the rules of the house.
#include "tests/architecture/tree.hpp"

#include <gtest/gtest.h>

#include "tests/architecture/citations.hpp"
#include "tests/support/folders.hpp"

namespace npu::architecture {
namespace {

const std::string kRoot = source_dir();

const Tree& tree() {
  static const Tree kTree = list_tree(kRoot);
  return kTree;
}

const std::vector<SourceFile>& sources() {
  static const std::vector<SourceFile> kSources = load(kRoot, tree(), {".cpp", ".hpp"});
  return kSources;
}

template <class Check>
std::string complaints(const std::vector<SourceFile>& files, Check check) {
  std::string text;
  for (const auto& file : files) {
    for (const auto& violation : check(file)) text += violation.message() + "\n";
  }
  return text;
}

TEST(Tree, HoldsTheSourcesThatTheOtherTestsLookAt) {
  EXPECT_GT(sources().size(), 30U);
  EXPECT_EQ(tree().count("include/npu/platform/platform.hpp"), 1U);
  EXPECT_EQ(tree().count("tests/architecture/tree_test.cpp"), 1U);
}

TEST(Tree, EveryIncludeFollowsTheDirections) {
  EXPECT_EQ(complaints(sources(), [](const auto& f) { return check_includes(f, tree()); }), "");
}

TEST(Tree, NoFolderOfTheDriverOrTheModelsClimbs) {
  EXPECT_EQ(complaints(sources(), check_storeys), "");
}

TEST(Tree, FoldersOfTheDriverHaveThePartsOfADeviceThatTheyUse) {
  EXPECT_EQ(complaints(sources(), check_parts), "");
}

TEST(Tree, SimulatedCodeKnowsNoWallClock) {
  EXPECT_EQ(complaints(sources(), check_wall_clock), "");
}

TEST(Tree, DriverAndFirmwareHaveNoCodeForTheSimulator) {
  EXPECT_EQ(complaints(sources(), check_simulator_conditionals), "");
}

TEST(Tree, WorkloadsReportNoDeviceFaultOfTheirOwn) {
  EXPECT_EQ(complaints(sources(), check_device_faults), "");
  EXPECT_EQ(complaints(sources(), check_functions), "");
  EXPECT_EQ(complaints(sources(), check_figures), "");
  EXPECT_EQ(complaints(sources(), check_composition), "");
}

TEST(Tree, NoClassIsDefinedTwice) {
  for (const auto& violation : check_one_definition(sources()))
    ADD_FAILURE() << violation.message();
}

TEST(Tree, FilesAreShortAndLicensed) {
  const auto files = load(
      kRoot, tree(),
      {".cpp", ".hpp", ".cmake", "CMakeLists.txt", ".sh", ".in", ".yaml", "npusim", "run-tests"});
  EXPECT_EQ(complaints(files, check_form), "");
}

// A build that looks at its globs again never has nothing to do, and ./npusim has to wait for it.
TEST(Tree, BuildFilesNeedNoLookBeforeEveryBuild) {
  for (const auto& file : load(kRoot, tree(), {".cmake", "CMakeLists.txt"})) {
    EXPECT_EQ(file.text.find("CONFIGURE_DEPENDS"), std::string::npos) << file.path;
  }
}

TEST(Tree, EveryFolderHasAShortReadme) {
  std::string text;
  for (const auto& violation : check_readmes(tree(), load(kRoot, tree(), {"README.md"}))) {
    text += violation.message() + "\n";
  }
  EXPECT_EQ(text, "");
}

TEST(Tree, EveryReadmeNamesWhatLiesBesideItAndNothingElse) {
  const auto readmes = load(kRoot, tree(), {"README.md"});
  EXPECT_EQ(complaints(readmes, [](const auto& f) { return check_named(f, tree()); }), "");
  EXPECT_EQ(complaints(readmes, [](const auto& f) { return check_names(f, tree()); }), "");
}

TEST(Tree, ContributorsAreSentToFilesThatAreThere) {
  auto page = load(kRoot, tree(), {"CONTRIBUTING.md"}).at(0);
  const auto begin = page.text.find("## Where to put things\n");
  const auto end = page.text.find("\n## ", begin);
  ASSERT_NE(end, std::string::npos);
  page.text = page.text.substr(begin, end - begin);
  EXPECT_EQ(complaints({page}, [](const auto& f) { return check_names(f, tree()); }), "");
}

TEST(Tree, EveryCitationOfADocumentResolves) {
  auto texts = tree();
  texts.erase("tests/architecture/citations_test.cpp");  // bad ones on purpose
  const auto files =
      load(kRoot, texts,
           {".cpp", ".hpp", ".h", ".c", ".md", ".yaml", ".yml", ".cmake", "CMakeLists.txt", ".sh",
            ".py", ".in", ".1", ".csv", ".js", ".css", "npusim", "run-tests"});
  const Documents documents = read_documents(load(kRoot, texts, {".md"}));
  EXPECT_EQ(complaints(files, check_anchors), "");
  for (const auto& violation : check_page_names(tree())) ADD_FAILURE() << violation.message();
  EXPECT_EQ(
      complaints(files, [&documents](
                            const auto& file) { return check_citations(file, documents, tree()); }),
      "");
}

}  // namespace
}  // namespace npu::architecture
