// SPDX-License-Identifier: Apache-2.0
// A socket where Prometheus asks for metrics by HTTP: GET /metrics, one request a connection. A
// thread of its own talks to clients; what they get is made by whoever answers, between two steps
// of the simulation.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "model/host/vfio_user/unique_fd.hpp"
#include "npu/base/result.hpp"

namespace npu::cli {

class MetricsServer {
 public:
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
  void answer(std::string text);

 private:
  MetricsServer() = default;
  Status listen_on_path(const std::string& path);
  Status listen_on_port(const std::string& host, const std::string& port);
  void run();
  void serve(int client);
  std::string response_to(const std::string& request);
  std::string ask();

  std::string place_, path_;
  ino_t inode_ = 0;
  model::vfio_user::UniqueFd listener_, stop_, wake_;
  std::atomic<bool> wanted_{false};
  std::atomic<std::atomic<bool>*> told_{nullptr};
  std::mutex mutex_;
  std::condition_variable answered_;
  std::string text_;
  bool has_text_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace npu::cli
