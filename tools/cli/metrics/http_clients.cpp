// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/metrics/http_clients.hpp"

#include "tools/cli/metrics/client_stream.hpp"

namespace npu::cli {
namespace {

constexpr const char* kText = "text/plain; charset=utf-8";
constexpr const char* kMetrics = "text/plain; version=0.0.4; charset=utf-8";

// cpp-httplib's server, without its sockets.
class Http : public httplib::Server {
 public:
  explicit Http(const std::function<std::string()>& ask) {
    set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
      if (request.method == "GET" || request.method == "HEAD") return HandlerResponse::Unhandled;
      response.status = 405;
      response.set_header("Allow", "GET, HEAD");
      return HandlerResponse::Handled;
    });
    Get("/(metrics)?", [ask](const httplib::Request&, httplib::Response& response) {
      const auto text = ask();
      if (text.empty()) {
        response.status = 503;
      } else {
        response.set_content(text, kMetrics);
      }
    });
    set_error_handler([](const httplib::Request&, httplib::Response& response) {
      response.set_content(std::to_string(response.status) + "\n", kText);
    });
  }

  void serve(httplib::Stream& client) {
    bool closed = false;
    process_request(client, true, closed, nullptr);
  }
};

class Clients : public HttpClients {
 public:
  explicit Clients(const std::function<std::string()>& ask) : http_(ask) {}
  void serve(FileDescriptor client, int stop) const override {
    ClientStream stream(std::move(client), stop);
    http_.serve(stream);
  }

 private:
  mutable Http http_;
};

}  // namespace
}  // namespace npu::cli

void npu_http_clients(const std::function<std::string()>& ask,
                      std::unique_ptr<npu::cli::HttpClients>& clients) {
  clients = std::make_unique<npu::cli::Clients>(ask);
}
