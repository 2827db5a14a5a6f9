// SPDX-License-Identifier: Apache-2.0
// The file of --report.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/failure.hpp"

namespace npu::cli {

// Opened before the run, so that a report that cannot be written costs no simulation.
class ReportFile {
 public:
  static tl::expected<ReportFile, Failure> open(const std::string& path) {
    ReportFile file;
    if (path.empty()) return file;
    std::error_code code;
    file.path_ = path;
    file.is_new_ = !std::filesystem::exists(path, code);
    file.stream_.open(path, std::ios::binary | std::ios::app);
    if (!file.stream_) return bad_input("--report " + path + ": cannot be written");
    return file;
  }
  Outcome write(const std::string& text) {
    if (path_.empty()) return {};
    stream_.close();
    stream_.open(path_, std::ios::binary | std::ios::trunc);
    stream_ << text << std::flush;
    if (!stream_) return failure("--report " + path_ + ": cannot be written");
    return {};
  }
  // After a run that failed: leaves no empty file behind.
  void discard() {
    std::error_code code;
    if (is_new_) std::filesystem::remove(path_, code);
  }

 private:
  std::string path_;
  bool is_new_ = false;
  std::ofstream stream_;
};

}  // namespace npu::cli
