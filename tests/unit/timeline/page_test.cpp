// SPDX-License-Identifier: Apache-2.0
// docs/timeline.md says what there is.
#include <gtest/gtest.h>

#include "npu/platform/activity.hpp"
#include "tests/support/folders.hpp"

namespace npu::timeline {
namespace {

std::string timeline_page() {
  return file_text(source_dir() + "/docs/timeline.md");
}

std::string table_row(const platform::ActivityRow& row) {
  constexpr const char* kArrows[] = {"", "begins", "passes", "ends"};
  std::string arguments;
  for (const auto& field : row.fields) {
    if (field.bits == 0) break;
    arguments += (arguments.empty() ? "" : ", ") + std::string(field.name);
  }
  return "| `" + std::string(row.name) + "` | " + std::string(to_string(row.category)) + " | " +
         kArrows[static_cast<std::size_t>(row.flow)] + " | " + arguments + " | " +
         std::string(row.meaning) + " |\n";
}

TEST(TimelinePage, HasEveryActivity) {
  std::string table;
  for (const auto& row : platform::kActivityTable) table += table_row(row);
  EXPECT_NE(timeline_page().find("|---|---|---|---|---|\n" + table + "\n"), std::string::npos)
      << "docs/timeline.md should have:\n"
      << table;
}

TEST(TimelinePage, HasEveryStatistic) {
  const std::string page = timeline_page();
  for (const auto name : platform::kStatisticNames) {
    EXPECT_NE(page.find(std::string(name)), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace npu::timeline
