// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/point_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "npu/base/shortened.hpp"
#include "tools/reports/digest.hpp"
#include "tools/reports/input_file.hpp"
#include "tools/reports/json_text.hpp"
#include "tools/reports/json_value.hpp"
#include "tools/reports/output_file.hpp"
#include "tools/reports/report_reader.hpp"
#include "workloads/framework/parameter_text.hpp"

namespace npu::sweep {
namespace {

namespace fs = std::filesystem;

Status write_whole(const std::string& path, const std::string& text) {
  auto file = reports::OutputFile::open("", path);
  if (!file) return forward_error(file);
  if (auto ok = file->append(text); !ok) return ok;
  return file->commit();
}

// What is no file (a pipe, say) would keep its reader waiting.
std::optional<std::string> read(const std::string& path) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) return std::nullopt;
  auto text = reports::read_file(path);
  if (!text) return std::nullopt;
  return std::move(*text);
}

// As `sha256sum --check` takes it.
std::string digest_line(const std::string& report) {
  return reports::sha256_text(report) + "  report.json\n";
}

}  // namespace

PointFolder::PointFolder(const std::string& results, RunIdentity identity)
    : identity_(std::move(identity)), path_(results + "/points/" + identity_.name()) {}

bool PointFolder::is_ours() const {
  const auto text = read(file("point.json"));
  return text && *text == identity_.text();
}

std::optional<reports::Report> PointFolder::report() const {
  if (!is_ours()) return std::nullopt;
  const auto text = read(file("report.json"));
  const auto digest = read(file("report.sha256"));
  if (!text || !digest || *digest != digest_line(*text)) return std::nullopt;
  auto report = reports::read_report(*text);
  if (!report || !is_report_of(*report, identity_)) return std::nullopt;
  return std::move(*report);
}

std::optional<RunFailure> PointFolder::failure() const {
  if (!is_ours()) return std::nullopt;
  const auto text = read(file("failure.json"));
  if (!text) return std::nullopt;
  const auto document = reports::parse_json(*text);
  if (!document) return std::nullopt;
  const auto* code = document->find("exit_code");
  const auto* line = document->find("line");
  if (code == nullptr || line == nullptr) return std::nullopt;
  const auto number = workloads::parse_integer(code->text);
  if (!number || *number > 255) return std::nullopt;
  return RunFailure{static_cast<int>(*number), line->text};
}

Status PointFolder::make() const {
  std::error_code code;
  fs::create_directories(path_, code);
  if (!code) return {};
  return fail(code_of_errno(code.value()),
              shortened(path_, kShownPath) + ": cannot be made: " + code.message());
}

Status PointFolder::begin() const {
  if (auto ok = make(); !ok) return ok;
  // The report goes first: point.json must never speak for what it does not describe.
  ::unlink(file("report.json").c_str());
  ::unlink(file("report.sha256").c_str());
  abandon();
  ::unlink(file("failure.json").c_str());
  return write_whole(file("point.json"), identity_.text());
}

Status PointFolder::accept() const {
  const std::string text = read(running()).value_or("");
  const auto report = reports::read_report(text);
  if (!report || !is_report_of(*report, identity_)) {
    return fail(ErrorCode::kWrongData, "the run ended well and left no report of this point");
  }
  if (auto ok = write_whole(file("report.sha256"), digest_line(text)); !ok) return ok;
  if (::rename(running().c_str(), file("report.json").c_str()) == 0) return {};
  return fail(ErrorCode::kIo, shortened(path_, kShownPath) +
                                  "/report.json: cannot be written: " + errno_text(errno));
}

Result<RunFailure> PointFolder::reject(int exit_code, std::string line) const {
  abandon();
  if (line.empty()) line = last_words();
  constexpr std::size_t kLongest = 1000;
  const RunFailure failed{exit_code, shortened(line, kLongest)};
  const auto written = write_whole(
      file("failure.json"), "{\n  \"schema\": \"npusim.sweep_failure/1\",\n  \"exit_code\": " +
                                std::to_string(exit_code) +
                                ",\n  \"line\": " + reports::json_string(failed.line) + "\n}\n");
  if (!written) return forward_error(written);
  return failed;
}

void PointFolder::abandon() const {
  std::error_code code;
  ::unlink(running().c_str());
  for (fs::directory_iterator at(path_, code), end; !code && at != end; at.increment(code)) {
    // Half-written files of runs that were killed.
    const std::string name = at->path().filename().string();
    if (name.rfind(".npusim-", 0) == 0) ::unlink(at->path().c_str());
  }
}

std::string PointFolder::last_words() const {
  const auto text = reports::read_file(log());
  const std::size_t last = text ? text->find_last_not_of("\r\n") : std::string::npos;
  if (last == std::string::npos) return "nothing on standard error";
  const std::size_t begin = text->find_last_of("\r\n", last);
  return text->substr(begin == std::string::npos ? 0 : begin + 1, last - begin);
}

}  // namespace npu::sweep
