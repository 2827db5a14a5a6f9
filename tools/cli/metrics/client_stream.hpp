// SPDX-License-Identifier: Apache-2.0
// A client's connection as cpp-httplib reads and writes it. Neither a client that says nothing, nor
// one that says a byte now and then, nor one that takes nothing keeps it for longer than its
// timeout; a request is no longer than its room.
#pragma once

#include <httplib.h>

#include <chrono>
#include <string>

#include "npu/base/file_descriptor.hpp"

namespace npu::cli {

class ClientStream : public httplib::Stream {
 public:
  // Readable `stop`: nothing is read or written any more. It outlives the stream.
  ClientStream(FileDescriptor client, int stop);

  bool is_readable() const override;
  bool is_writable() const override;
  // -1: too late, too much, or the client has gone.
  ssize_t read(char* to, size_t size) override;
  ssize_t write(const char* from, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return client_.get(); }

 private:
  using Clock = std::chrono::steady_clock;
  bool wait_for(short events, Clock::time_point deadline) const;

  const FileDescriptor client_;
  const int stop_;
  Clock::time_point read_deadline_, write_deadline_;
  std::string ahead_;  // has come, and was not asked for yet
  std::size_t taken_ = 0, come_ = 0;
};

}  // namespace npu::cli
