// SPDX-License-Identifier: Apache-2.0
// Bad citations and stale names are found.
#include "tests/architecture/citations.hpp"

#include <gmock/gmock.h>

namespace npu::architecture {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const SourceFile& sample_page() {
  static const SourceFile kPage{"docs/sources/hardware.md",
                                "# Cards\n## H1 Two families\n| id | fact |\n| H2 | 910A |\n"};
  return kPage;
}

// What is wrong with a text at `path`.
std::vector<std::string> cited_by(const std::string& path, const std::string& text) {
  static const Tree kTree{"docs/sources/hardware.md", "docs/sources/README.md", "docs/queues.md",
                          "configs/keys.md", "model/a.cpp"};
  static const Documents kDocuments =
      read_documents({sample_page(), {"docs/queues.md", "# Queues\n## Life of a queue\n"}});
  std::vector<std::string> rules;
  for (const auto& violation : check_citations({path, text}, kDocuments, kTree)) {
    rules.push_back(violation.rule);
  }
  return rules;
}

TEST(Citations, OfAnchorsAndHeadingsThatAreThereResolve) {
  for (const auto* text :
       {"// hardware.md H1", "// docs/sources/hardware.md, H2", "# hardware.md H1, H2: 910A",
        "(hardware.md H1 to H2)", "// hardware.md\n  // H2", "see docs/queues.md.", "queues.md",
        "(docs/queues.md, \"Life of a queue\")", "// docs/queues.md, \"Life of\n// a queue\"",
        "[keys](configs/keys.md)", "[cards](docs/sources/hardware.md)", "open(\"report.md\")",
        "${page}/page.md", "x.mdx"}) {
    EXPECT_THAT(cited_by("model/a.cpp", text), IsEmpty()) << text;
  }
}

TEST(Citations, OfAnchorsThatAreNotThereAreFound) {
  EXPECT_THAT(cited_by("model/a.cpp", "// hardware.md H3"),
              ElementsAre("hardware.md has no \"H3\""));
  EXPECT_THAT(cited_by("model/a.cpp", "// hardware.md H1, H7"),
              ElementsAre("hardware.md has no \"H7\""));
  EXPECT_THAT(cited_by("configs/a.yaml", "# hardware.md: 910A"),
              ElementsAre("hardware.md is cited without an anchor"));
  EXPECT_THAT(cited_by("model/a.cpp", "(docs/queues.md, \"Death\")"),
              ElementsAre("docs/queues.md has no \"Death\""));
}

TEST(Citations, OfDocumentsThatAreNotThereAreFound) {
  for (const auto* text : {"// docs/nothing.md", "// model/keys.md", "see tests/queues.md",
                           "// mission M3", "the mission's figures", "# fit, accuracy-notes"}) {
    EXPECT_THAT(cited_by("model/a.cpp", text), SizeIs(1)) << text;
  }
}

TEST(Citations, AnIndexNamesPagesAndAPageItsOrigins) {
  EXPECT_THAT(cited_by("docs/sources/README.md", "| `hardware.md` | H |"), IsEmpty());
  EXPECT_THAT(cited_by("docs/README.md", "| `hardware.md` | H |"), SizeIs(1));
  EXPECT_THAT(cited_by("docs/sources/hardware.md", "(docs/zh/limits.md)"), IsEmpty());
}

TEST(Citations, NameTheirLine) {
  const auto violations =
      check_citations({"model/a.cpp", "\n\n// hardware.md H9"}, read_documents({sample_page()}),
                      {"docs/sources/hardware.md"});
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].message(), "model/a.cpp:3: hardware.md has no \"H9\"");
}

TEST(Anchors, AreGivenOnce) {
  EXPECT_THAT(check_anchors(sample_page()), IsEmpty());
  EXPECT_THAT(check_anchors({"docs/sources/a.md", "## H1 x\n| H1 | y |\n"}), SizeIs(1));
}

TEST(Pages, ShareTheirNamesWithNoDocument) {
  EXPECT_THAT(check_page_names({"docs/sources/a.md", "docs/sources/README.md", "docs/README.md"}),
              IsEmpty());
  EXPECT_THAT(check_page_names({"docs/a.md", "docs/sources/a.md"}), SizeIs(1));
}

std::vector<std::string> names_in(Violations (*check)(const SourceFile&, const Tree&),
                                  const std::string& text) {
  const Tree tree{"model/README.md",   "model/CMakeLists.txt", "model/queue.cpp",
                  "model/queue.hpp",   "model/queue_slot.cpp", "model/dma/engine.hpp",
                  "include/npu/a.hpp", "driver/ring.cpp"};
  std::vector<std::string> rules;
  for (const auto& violation : check({"model/README.md", text}, tree)) {
    rules.push_back(violation.rule);
  }
  return rules;
}

TEST(ReadmeNames, OfAllThatLiesBesideAreWanted) {
  EXPECT_THAT(names_in(check_named, "| queue, queue_slot | x |\nand `dma/`"), IsEmpty());
  EXPECT_THAT(names_in(check_named, "queue.hpp, queue_*; dma."), IsEmpty());
  EXPECT_THAT(names_in(check_named, "queues, queue_slots, 2 * 3, *.cpp"),
              ElementsAre("does not name dma/", "does not name queue", "does not name queue_slot"));
}

TEST(ReadmeNames, AtTheRootAreThoseOfFoldersWithReadmes) {
  const Tree tree{"README.md", "report.json", "out/r.json", "model/README.md"};
  EXPECT_THAT(check_named({"README.md", ""}, tree), SizeIs(1));
  EXPECT_THAT(check_named({"README.md", "model"}, tree), IsEmpty());
}

TEST(ReadmeNames, OfWhatIsNotThereAreFound) {
  EXPECT_THAT(names_in(check_names, "| file | what |\n|---|---|\n| queue, dma/ | nothing |\n"),
              IsEmpty());
  EXPECT_THAT(names_in(check_names, "| file | what |\n|---|---|\n| ring, queu | nothing |\n"),
              ElementsAre("queu is not there", "ring is not there"));
  EXPECT_THAT(names_in(check_names, "`npu/a.hpp`, ../driver/ring.cpp, `NAME.cpp`, *.hpp, .ci.yml"),
              IsEmpty());
  EXPECT_THAT(names_in(check_names, "model/dma/, model/queue, model/queue_*, driver"), IsEmpty());
  EXPECT_THAT(names_in(check_names, "driver/vfio"), ElementsAre("driver/vfio is not in this tree"));
  EXPECT_THAT(names_in(check_names, "`npu/b.hpp`"),
              ElementsAre("npu/b.hpp is no file of this tree"));
}

}  // namespace
}  // namespace npu::architecture
