// SPDX-License-Identifier: Apache-2.0
#include "tests/system/accuracy/page.hpp"
#include "tests/support/folders.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace npu::accuracy {
namespace {

const std::string kPage = source_dir() + "/docs/accuracy.md";
constexpr const char* kEnd = "<!-- end -->";

std::string page() {
  return file_text(kPage);
}

struct Place {
  std::size_t begin = std::string::npos, length = 0;
};
Place find(const std::string& text, const std::string& name) {
  const std::string mark = "<!-- table " + name + " -->\n";
  const auto at = text.find(mark);
  if (at == std::string::npos) return {};
  const auto begin = at + mark.size(), end = text.find(kEnd, begin);
  if (end == std::string::npos) return {};
  return {begin, end - begin};
}

// Tests of other processes write their tables at the same time.
class PageLock {
 public:
  PageLock() : file_(open(kPage.c_str(), O_RDONLY | O_CLOEXEC)) { flock(file_, LOCK_EX); }
  ~PageLock() { close(file_); }
  PageLock(const PageLock&) = delete;
  PageLock& operator=(const PageLock&) = delete;

 private:
  int file_;
};

void write(const std::string& name, const std::string& text) {
  const PageLock lock;
  std::string all = page();
  const auto place = find(all, name);
  all.replace(place.begin, place.length, text);
  std::ofstream(kPage) << all;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t at = 2;  // behind "| "
  for (auto end = line.find(" |", at); end != std::string::npos; end = line.find(" |", at)) {
    cells.push_back(line.substr(at, end - at));
    at = end + 3;
    if (at > line.size()) break;
  }
  return cells;
}

}  // namespace

std::string on_page(const std::string& name) {
  const std::string all = page();
  const auto place = find(all, name);
  EXPECT_NE(place.begin, std::string::npos) << "docs/accuracy.md has no table " << name;
  return place.begin == std::string::npos ? "" : all.substr(place.begin, place.length);
}

void expect_on_page(const std::string& name, const std::string& text) {
  const auto shown = on_page(name);
  if (testing::Test::HasFailure()) return;
  if (std::getenv("NPU_UPDATE_ACCURACY")) return write(name, text);
  EXPECT_EQ(shown, text) << "docs/accuracy.md, table " << name
                         << ": the program says something else now; tests/system/accuracy/update "
                            "writes the page's tables anew";
}

std::vector<std::map<std::string, std::string>> rows_of(const std::string& text) {
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| ", 0) != 0) {
      if (!names.empty() && line.rfind("|---", 0) != 0) break;
      continue;
    }
    const auto cells = cells_of(line);
    if (names.empty()) {
      names = cells;
      continue;
    }
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(cells.size(), names.size()); ++i) row[names[i]] = cells[i];
  }
  return rows;
}

}  // namespace npu::accuracy
