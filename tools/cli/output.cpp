// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <utility>

#include "npu/base/shortened.hpp"
#include "npu/base/write_all.hpp"

namespace npu::cli {
namespace {

// Where a path leads, also through links to what is yet to be made; empty: nowhere.
std::filesystem::path place_of(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr unsigned kLongestChain = 40;
  std::error_code code;
  fs::path at = fs::absolute(path, code);
  for (unsigned i = 0; i < kLongestChain && fs::is_symlink(at, code); ++i) {
    at = at.parent_path() / fs::read_symlink(at, code);  // an absolute one as it is
  }
  at = fs::weakly_canonical(at, code);
  return code ? fs::path() : at;
}

}  // namespace

void hold_standard_descriptors() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest free descriptor is the one that is missing; writing to it gives EBADF.
    if (::fcntl(standard, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) < 0) return;
  }
  // A file that may not grow any more is an error of writing, not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
}

Outcome print(const std::string& text) {
  const int error =
      write_all(STDOUT_FILENO, {reinterpret_cast<const std::byte*>(text.data()), text.size()});
  if (error == 0) return {};
  return failure("standard output: cannot be written: " + errno_text(error));
}

Outcome write_output(const std::string& path, const std::string& text) {
  if (path.empty()) return print(text);
  auto file = OptionFile::open("--output", path);
  if (!file) return tl::unexpected(file.error());
  return file->write(text);
}

bool is_same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  if (a == b) return true;
  std::error_code code;
  if (fs::is_regular_file(a, code) && fs::is_regular_file(b, code)) {
    return fs::equivalent(a, b, code) && !code;  // by a hard link, too
  }
  // A file that is yet to be made: the same name in the same folder.
  if (fs::exists(a, code) || fs::exists(b, code)) return false;
  const fs::path place = place_of(a);
  return !place.empty() && place == place_of(b);
}

Outcome check_not_read(const std::string& option, const std::string& path,
                       const std::vector<std::string>& read) {
  std::error_code code;
  for (const auto& each : read) {
    if (path.empty() || !std::filesystem::is_regular_file(each, code)) continue;
    if (!is_same_file(path, each)) continue;
    return bad_input(option + " " + shortened(path, kShownPath) + ": that is a report to be read");
  }
  return {};
}

Outcome expect_at_most(std::size_t most, const std::string& command,
                       const std::vector<std::string>& arguments) {
  if (arguments.size() <= most) return {};
  return bad_input(command + ": unexpected '" + shortened(arguments[most]) + "'");
}

Failure to_failure(const Error& error, const std::string& text) {
  const bool bad = error.code == ErrorCode::kInvalidArgument;
  return {bad ? kExitBadInput : kExitFailure, text};
}

tl::expected<OptionFile, Failure> OptionFile::open(const std::string& option,
                                                   const std::string& path) {
  OptionFile opened;
  if (path.empty()) return opened;
  auto file = reports::OutputFile::open(option + " ", path);
  if (!file) return tl::unexpected(to_failure(file.error(), file.error().context));
  opened.file_ = std::move(*file);
  return opened;
}

Outcome OptionFile::write(const std::string& text) {
  if (!file_) return {};
  Status done = file_->append(text);
  if (done) done = file_->commit();
  file_.reset();
  if (!done) return failure(done.error().context);
  return {};
}

}  // namespace npu::cli
