// SPDX-License-Identifier: Apache-2.0
// The client's end of a management socket.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "apps/dsmi/client/protocol.hpp"
#include "npu/base/file_descriptor.hpp"
#include "npu/base/result.hpp"

namespace npu::dsmi {

class SocketChannel {
 public:
  // kIo: nobody listens there; kInvalidArgument: the path is too long for a socket.
  static Result<std::shared_ptr<SocketChannel>> open(const std::string& path);
  SocketChannel(const SocketChannel&) = delete;
  SocketChannel& operator=(const SocketChannel&) = delete;

  // Nothing: refused, or the server is gone. One request at a time, by any thread.
  std::optional<std::uint64_t> ask(Request request, std::uint32_t card = 0,
                                   std::uint64_t offset = 0, std::uint64_t value = 0);

 private:
  explicit SocketChannel(FileDescriptor file) : file_(std::move(file)) {}

  std::mutex mutex_;
  FileDescriptor file_;
};

}  // namespace npu::dsmi
