// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"
#include "npu/base/write_all.hpp"
#include "tools/reports/known_temporary.hpp"

namespace npu::reports {

// What asks a program to end waits until there is no half of a file, which takes milliseconds.
class SignalPause {
 public:
  SignalPause() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int each : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, each);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalPause() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalPause(const SignalPause&) = delete;
  SignalPause& operator=(const SignalPause&) = delete;

 private:
  sigset_t before_{};
};

namespace {

namespace fs = std::filesystem;

bool is_link(const std::string& path) {
  std::error_code code;
  return fs::is_symlink(fs::symlink_status(path, code));
}

fs::path folder_of(const std::string& path) {
  const auto folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// Named through /proc/self/fd: what is open already.
bool is_descriptor(const std::string& path) {
  std::error_code code;
  const auto descriptors = fs::canonical("/proc/self/fd", code);
  return !code && fs::canonical(folder_of(path), code) == descriptors && !code;
}

// The file that a chain of links ends at, whether it exists or not; an open descriptor is no link.
std::string behind_links(std::string path) {
  constexpr unsigned kLongestChain = 40;
  for (unsigned i = 0; i < kLongestChain && is_link(path) && !is_descriptor(path); ++i) {
    std::error_code code;
    const auto to = fs::read_symlink(path, code);
    if (code) return path;
    path = (to.is_absolute() ? to : folder_of(path) / to).string();
  }
  return path;
}

// The number behind "/dev/stdout", "/dev/fd/3" and the like.
std::optional<int> open_descriptor(const std::string& path) {
  const std::string target = behind_links(path);
  if (!is_descriptor(target)) return std::nullopt;
  return read_number<int>(fs::path(target).filename().string());
}

}  // namespace

class OutputFile::Target {
 public:
  Target(std::string what, std::string path) : what_(std::move(what)), path_(std::move(path)) {}
  ~Target() {
    close_file();
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    known_.reset();
    pause_.reset();
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  Status look() {
    const int error = try_out();
    if (error == 0) return {};
    return fail(code_of_errno(error), message(error));
  }
  Status append(ConstByteSpan bytes) {
    int error = begin();
    if (error == 0) error = write_all(file_, bytes);
    return error == 0 ? Status() : fail(ErrorCode::kIo, message(error));
  }
  Status commit() {
    int error = begin();
    if (error == 0 && nameless_) error = name_it();
    if (error == 0 && ::close(std::exchange(file_, -1)) != 0) error = errno;
    if (error == 0 && !temporary_.empty()) {
      if (::rename(temporary_.c_str(), target_.c_str()) != 0) error = errno;
      if (error == 0) temporary_.clear();
    }
    known_.reset();
    pause_.reset();
    return error == 0 ? Status() : fail(ErrorCode::kIo, message(error));
  }

 private:
  static constexpr unsigned kAttempts = 100;

  std::string message(int error) const {
    return what_ + shortened(path_, kShownPath) + ": cannot be written: " + errno_text(error);
  }
  void close_file() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }

  // 0, or an errno.
  int try_out() {
    if (const auto descriptor = open_descriptor(path_)) {
      file_ = ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 3);
      return file_ < 0 ? errno : 0;
    }
    struct stat found {};
    target_ = behind_links(path_);
    const bool exists = ::stat(target_.c_str(), &found) == 0;
    if (!exists && errno != ENOENT) return errno;
    if (exists && S_ISDIR(found.st_mode)) return EISDIR;
    if (exists && !S_ISREG(found.st_mode)) return open_target();
    if (exists && ::access(target_.c_str(), W_OK) != 0) return errno;
    if (exists) mode_ = found.st_mode & 07777U;
    const int error = try_temporary();
    if (error == 0) return 0;
    // A file of ours in a folder that is not: only the file itself can be written.
    const bool in_place = exists && (error == EACCES || error == EPERM);
    return in_place ? open_target() : error;
  }
  int try_temporary() {
    const SignalPause pause;
    const int error = create_temporary();
    if (error != 0) return error;
    close_file();
    ::unlink(std::exchange(temporary_, {}).c_str());
    return 0;
  }
  int open_target() {
    file_ = ::open(target_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (file_ < 0) return errno;
    truncate_ = mode_.has_value();
    return 0;
  }
  // Of the first bytes; does nothing later.
  int begin() {
    if (std::exchange(truncate_, false) && ::ftruncate(file_, 0) != 0) return errno;
    if (file_ >= 0) return 0;
    if (create_nameless()) return 0;
    pause_.emplace();
    const int error = create_temporary();
    if (error == 0) known_.emplace(temporary_);
    return error;
  }
  // A file without a name goes with the program, whatever ends it: what is written for minutes
  // needs no pause of signals. Not every file system has them.
  bool create_nameless() {
    constexpr mode_t kMode = 0666;
    file_ = ::open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kMode);
    nameless_ = file_ >= 0 && (!mode_ || ::fchmod(file_, *mode_) == 0);
    if (!nameless_) close_file();
    return nameless_;
  }
  int name_it() {
    pause_.emplace();
    const std::string self = "/proc/self/fd/" + std::to_string(file_);
    for (unsigned attempt = 0;; ++attempt) {
      temporary_ = temporary_name(attempt);
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        break;
      }
      if (errno == EEXIST && attempt < kAttempts) continue;
      temporary_.clear();
      return errno;
    }
    nameless_ = false;
    return 0;
  }
  std::string temporary_name(unsigned attempt) const {
    return (folder_of(target_) /
            (".npusim-" + std::to_string(::getpid()) + "-" + std::to_string(attempt)))
        .string();
  }
  int create_temporary() {
    for (unsigned attempt = 0;; ++attempt) {
      temporary_ = temporary_name(attempt);
      constexpr mode_t kMode = 0666;
      file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
      if (file_ >= 0) break;
      if (errno == EEXIST && attempt < kAttempts) continue;
      temporary_.clear();
      return errno;
    }
    if (mode_ && ::fchmod(file_, *mode_) != 0) return errno;
    return 0;
  }

  std::string what_, path_;
  std::string target_;          // behind all links
  std::string temporary_;       // beside it; empty: there is none
  std::optional<mode_t> mode_;  // of the regular file that is replaced
  std::optional<SignalPause> pause_;
  std::optional<KnownTemporary> known_;  // temporary_, while it is written
  bool truncate_ = false;
  bool nameless_ = false;  // the file has no name yet
  int file_ = -1;
};

OutputFile::OutputFile(std::unique_ptr<Target> target) : target_(std::move(target)) {}
OutputFile::OutputFile(OutputFile&& other) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&& other) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::open(const std::string& what, const std::string& path) {
  auto target = std::make_unique<Target>(what, path);
  if (auto ok = target->look(); !ok) return forward_error(ok);
  return OutputFile(std::move(target));
}

Status OutputFile::append(ConstByteSpan bytes) {
  return target_->append(bytes);
}
Status OutputFile::append(const std::string& text) {
  return append({reinterpret_cast<const std::byte*>(text.data()), text.size()});
}
Status OutputFile::commit() {
  return target_->commit();
}

}  // namespace npu::reports
