// SPDX-License-Identifier: Apache-2.0
// The bytes to and from gdb: a TCP connection, or standard input and output.
#pragma once

#include <string>
#include <string_view>

#include "npu/base/file_descriptor.hpp"
#include "npu/base/result.hpp"

namespace npu::gdb {

class Connection {
 public:
  // Listens at "ADDRESS:PORT", an IPv4 address in digits or localhost; port 0: a free one. Errors:
  // kInvalidArgument: not of that form; kUnavailable: nobody can listen there.
  static Result<Connection> listen(const std::string& where);
  // The descriptors, which are closed at the end.
  Connection(FileDescriptor in, FileDescriptor out);

  // "127.0.0.1:2331"; empty: nobody listens.
  const std::string& address() const { return address_; }
  // `given_up` is asked after signals and now and then.
  // Until somebody has connected. False: given up, or the connection is broken.
  bool accept(bool (*given_up)());
  // What has come, at least a byte; empty: the connection is broken, or given up.
  std::string read(bool (*given_up)());
  // What has come by now; for handlers of signals, bytes are dropped beyond `room`. -1: it is
  // broken.
  long read_now(char* to, std::size_t room) const;
  // Whatever fails is seen by the next read.
  void write(std::string_view bytes) const;
  // SIGIO comes to this thread when something comes in.
  void announce() const;
  bool broken() const { return broken_; }
  void close();

 private:
  static constexpr int kLookAgainMs = 500;

  Connection(FileDescriptor listener, std::string address);
  // Until something comes. False: given up.
  static bool wait_for(int file, bool (*given_up)());

  FileDescriptor listener_, in_, out_;
  std::string address_;
  bool broken_ = false;
};

}  // namespace npu::gdb
