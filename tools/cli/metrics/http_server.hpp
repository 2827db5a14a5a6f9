// SPDX-License-Identifier: Apache-2.0
// A socket where Prometheus asks for metrics by HTTP: GET /metrics, one request a connection.
// Threads of its own talk to clients, several at a time; what they get is made by whoever answers,
// between two steps of the simulation.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "npu/base/file_descriptor.hpp"
#include "npu/base/result.hpp"
#include "tools/cli/metrics/http_clients.hpp"

namespace npu::cli {

class MetricsServer {
 public:
  // Who comes then waits until one of them has been served, or cut off: client_stream.hpp.
  static constexpr unsigned kClients = 16;

  // `place`: the path of a UNIX socket, or a port of the loopback interface, "127.0.0.1:9090" or
  // "localhost:9090"; port 0: one that is free. kInvalidArgument, and what sockets report.
  static Result<std::unique_ptr<MetricsServer>> listen(const std::string& place);
  // Clients that wait get none.
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // Where it is: "127.0.0.1:9090", or the path.
  const std::string& place() const { return place_; }
  // Set while somebody waits for an answer.
  const std::atomic<bool>& wanted() const { return wanted_; }
  // Sets that as well from now on; it lives as long as this.
  void tell(std::atomic<bool>& raised) { told_ = &raised; }
  // Readable then.
  int file() const { return wake_.get(); }
  // If somebody waits: what `make` returns goes to all who have asked before it was called.
  void answer(const std::function<std::string()>& make);

 private:
  MetricsServer();
  Status listen_on_path(const std::string& path);
  Status listen_on_port(const std::string& host, const std::string& port);
  void run();
  std::string ask();

  std::string place_, path_;
  ino_t inode_ = 0;
  FileDescriptor listener_, stop_, wake_;
  std::atomic<bool> wanted_{false};
  std::atomic<std::atomic<bool>*> told_{nullptr};
  std::mutex mutex_;
  std::condition_variable answered_;
  std::string text_;
  std::uint64_t asked_ = 0, text_is_of_ = 0;  // counted; `text_` is for all up to that
  bool ending_ = false;
  std::unique_ptr<HttpClients> http_;
  std::vector<std::thread> threads_;
};

}  // namespace npu::cli
