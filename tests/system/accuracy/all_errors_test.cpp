// SPDX-License-Identifier: Apache-2.0
// docs/accuracy/errors.csv as a whole; NPU_UPDATE_ACCURACY=1 writes it anew.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tests/support/folders.hpp"
#include "tests/system/accuracy/error_table.hpp"

namespace npu::accuracy {
namespace {

using AllErrors = ErrorTable;

TEST_F(AllErrors, AreThoseThatValidateFinds) {
  const std::string folder = source_dir() + "/docs/accuracy/";
  std::vector<std::string> lines;
  for (const auto& [id, line] :
       lines_of({folder + "measurements/910b2.csv", folder + "measurements/950pr.csv"})) {
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  std::string text = std::string(kErrorColumns) + "\n";
  for (const auto& line : lines) text += line + "\n";
  if (HasFailure()) return;
  if (std::getenv("NPU_UPDATE_ACCURACY") != nullptr) {
    std::ofstream(folder + "errors.csv") << text;
    return;
  }
  EXPECT_EQ(file_text(folder + "errors.csv"), text)
      << "docs/accuracy/errors.csv: validate says something else now; "
         "tests/system/accuracy/update writes it anew";
}

}  // namespace
}  // namespace npu::accuracy
