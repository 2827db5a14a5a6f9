// SPDX-License-Identifier: Apache-2.0
#include "npu/testing/report_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace npu::testkit {
namespace {

constexpr std::string_view kCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

}  // namespace

Status write_report_file(const std::string& folder, const std::string& name,
                         const std::string& report) {
  std::string file = name;
  for (auto& c : file) {
    if (kCharacters.find(c) == std::string_view::npos) c = '_';
  }
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const auto path = std::filesystem::path(folder) / (file + ".json");
  std::ofstream out(path, std::ios::binary);
  out << report;
  out.close();
  if (out) return {};
  return fail(ErrorCode::kIo, path.string() + ": cannot be written: " + std::strerror(errno));
}

}  // namespace npu::testkit
