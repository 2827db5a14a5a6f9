// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/input_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "npu/base/errno_text.hpp"
#include "npu/base/file_descriptor.hpp"
#include "npu/base/shortened.hpp"
#include "npu/base/units.hpp"

namespace npu::reports {
namespace {

constexpr Bytes kLargest = Bytes{64} << 20;

tl::unexpected<Error> refused(const std::string& path, const std::string& why) {
  return fail(ErrorCode::kInvalidArgument, shortened(path, kShownPath) + ": " + why);
}

// 0, or an errno.
int read_all(int file, std::string& text) {
  std::array<char, 65536> piece{};
  while (text.size() <= kLargest) {
    const ssize_t count = ::read(file, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return 0;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  if (path.empty()) return refused("''", "no file");
  const bool standard = path == "-";
  const FileDescriptor file(standard ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!standard && !file) return refused(path, "cannot be read: " + errno_text(errno));
  std::string text;
  const int error = read_all(standard ? STDIN_FILENO : file.get(), text);
  if (error != 0) return refused(path, "cannot be read: " + errno_text(error));
  if (text.size() > kLargest) return refused(path, "has more than 64 MiB, which no report has");
  return text;
}

}  // namespace npu::reports
