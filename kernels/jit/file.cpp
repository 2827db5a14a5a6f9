// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "npu/base/shortened.hpp"

namespace npu::jit {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;

ErrorCode code_of(int error) {
  if (error == ENOENT || error == ENOTDIR) return ErrorCode::kNotFound;
  if (error == EACCES || error == EPERM || error == EROFS) return ErrorCode::kPermissionDenied;
  return ErrorCode::kIo;
}

}  // namespace

tl::unexpected<Error> fail_errno(const std::string& what) {
  const int error = errno;
  return fail(code_of(error), what + ": " + std::generic_category().message(error));
}

Result<std::vector<std::byte>> read_all(int descriptor, std::size_t most, const std::string& name) {
  std::vector<std::byte> bytes;
  for (std::size_t size = 0;;) {
    bytes.resize(size + kPiece);
    const ssize_t count = read(descriptor, bytes.data() + size, kPiece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(shortened(name, kShownPath));
    size += static_cast<std::size_t>(count);
    if (size > most) {
      return fail(ErrorCode::kIo, shortened(name, kShownPath) + " has more than " +
                                      std::to_string(most) + " bytes");
    }
    if (count == 0) {
      bytes.resize(size);
      return bytes;
    }
  }
}

Result<std::vector<std::byte>> read_file(const std::string& path, std::size_t most) {
  // Not waiting: somebody may have put a FIFO there.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return fail_errno(shortened(path, kShownPath));
  return read_all(file.get(), most, path);
}

}  // namespace npu::jit
