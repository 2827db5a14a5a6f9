// SPDX-License-Identifier: Apache-2.0
// docs/accuracy/errors.csv: its short rows are what npusim validate says; the slow test looks at
// all of them.
#include <set>

#include "tests/support/folders.hpp"
#include "tests/system/accuracy/csv_file.hpp"
#include "tests/system/accuracy/error_table.hpp"

namespace npu::accuracy {
namespace {

using ShortErrors = ErrorTable;

constexpr double kShort = 5.5;  // us

// The lines of a file's rows that took so little on silicon.
std::string short_rows(const std::string& file) {
  std::string kept;
  std::istringstream lines(file_text(file));
  for (std::string line; std::getline(lines, line);) {
    const auto value = line.find(",task_duration,");
    const bool head = kept.empty();
    if (!head && (value == std::string::npos || std::stod(line.substr(value + 15)) > kShort)) {
      continue;
    }
    kept += line + "\n";
  }
  return kept;
}

TEST_F(ShortErrors, AreThoseThatValidateFinds) {
  std::set<std::string> listed;
  std::istringstream file(file_text(source_dir() + "/docs/accuracy/errors.csv"));
  for (std::string line; std::getline(file, line);) listed.insert(line);
  std::vector<std::string> files;
  for (const std::string part : {"910b2", "950pr"}) {
    write(part + ".csv", short_rows(source_dir() + "/docs/accuracy/measurements/" + part + ".csv"));
    files.push_back(part + ".csv");
  }
  const auto lines = lines_of(files);
  EXPECT_GT(lines.size(), 10U);
  for (const auto& [id, line] : lines) {
    EXPECT_EQ(listed.count(line), 1U) << line
                                      << "\ndocs/accuracy/errors.csv has another line for it; "
                                         "tests/system/accuracy/update writes it anew";
  }
}

TEST(Basis, IsThatOfTheConfigurations) {
  const auto command = source_dir() + "/tests/system/accuracy/basis.py";
  EXPECT_EQ(std::system(command.c_str()), 0)
      << "docs/accuracy/basis.csv: configs/ says something else now; tests/system/accuracy/update "
         "writes it anew";
}

class Networks : public ErrorTable {};

TEST_F(Networks, QuickRowsAndThePageAreThoseOfTheProgram) {
  const auto command =
      source_dir() + "/tests/system/accuracy/networks.py " + binary_dir() + "/bin/npusim";
  EXPECT_EQ(std::system(command.c_str()), 0) << "docs/accuracy/networks.md";
}

}  // namespace
}  // namespace npu::accuracy
