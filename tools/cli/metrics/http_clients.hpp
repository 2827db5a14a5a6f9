// SPDX-License-Identifier: Apache-2.0
// libnpuhttp: the part of npusim that is linked to cpp-httplib. It is loaded when metrics are asked
// for: its TLS library, which nothing here uses, would cost every start of npusim.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "npu/base/file_descriptor.hpp"

namespace npu::cli {

// Of several threads at once.
class HttpClients {
 public:
  virtual ~HttpClients() = default;
  // One request and its answer. Readable `stop`: nothing is read or written any more.
  virtual void serve(FileDescriptor client, int stop) const = 0;
};

}  // namespace npu::cli

// `ask` makes the text of an answer; empty: there is none any more.
extern "C" __attribute__((visibility("default"))) void npu_http_clients(
    const std::function<std::string()>& ask, std::unique_ptr<npu::cli::HttpClients>& clients);
