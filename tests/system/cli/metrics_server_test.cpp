// SPDX-License-Identifier: Apache-2.0
// serve --metrics: HTTP for Prometheus, and clients that misbehave.
#include <poll.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "tests/system/cli/prometheus_parser.hpp"
#include "tests/system/cli/served_socket.hpp"

namespace npu::cli {
namespace {

constexpr unsigned kClients = 16;  // MetricsServer::kClients

class MetricsSocket : public ServedSocket {
 protected:
  explicit MetricsSocket(const char* prefix = "npusim")
      : ServedSocket("--metrics", 20, {"--metrics-prefix", prefix}) {}
  // Everything until the server closes.
  std::string ask(const std::string& request) const {
    const int file = connect();
    static_cast<void>(::send(file, request.data(), request.size(), MSG_NOSIGNAL));
    std::string answer;
    char buffer[4096];
    for (;;) {
      const auto came = ::recv(file, buffer, sizeof buffer, 0);
      if (came <= 0) break;
      answer.append(buffer, static_cast<std::size_t>(came));
    }
    ::close(file);
    return answer;
  }
};

struct MetricsSocketOfOthersNames : MetricsSocket {
  MetricsSocketOfOthersNames() : MetricsSocket("xpushare_npu") {}
};

TEST_F(MetricsSocketOfOthersNames, BeginWithThePrefix) {
  const auto answer = ask("GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
  const test::PrometheusText text(answer.substr(answer.find("\r\n\r\n") + 4));
  EXPECT_EQ(text.error(), "");
  EXPECT_EQ(text.samples().at("xpushare_npu_device_utilization_ratio{device=\"0\"}"), 0);
  EXPECT_EQ(answer.find("npusim_"), std::string::npos);
}

TEST_F(MetricsSocket, AStrictReaderReadsThem) {
  const auto answer = ask("GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
  EXPECT_EQ(answer.rfind("HTTP/1.1 200 OK\r\n", 0), 0U);
  EXPECT_NE(answer.find("\r\nContent-Type: text/plain; version=0.0.4"), std::string::npos);
  const auto body = answer.substr(answer.find("\r\n\r\n") + 4);
  const test::PrometheusText text(body);
  EXPECT_EQ(text.error(), "");
  EXPECT_EQ(text.samples().at("npusim_device_utilization_ratio{device=\"0\"}"), 0);
  EXPECT_GT(text.samples().at("npusim_device_memory_total_bytes{device=\"0\"}"), 6e10);
  EXPECT_NE(answer.find("\r\nContent-Length: " + std::to_string(body.size()) + "\r\n"),
            std::string::npos);
}

TEST_F(MetricsSocket, WhatIsNoRequestForMetricsIsToldSo) {
  EXPECT_EQ(ask("GET /else HTTP/1.1\r\n\r\n").substr(9, 3), "404");
  EXPECT_EQ(ask("POST /metrics HTTP/1.1\r\n\r\n").substr(9, 3), "405");
  EXPECT_EQ(ask("nonsense\r\n\r\n").substr(9, 3), "400");
  EXPECT_EQ(ask("HEAD /metrics HTTP/1.0\r\n\r\n").substr(9, 3), "200");
  EXPECT_EQ(ask(std::string(20'000, 'x')), "");
}

TEST_F(MetricsSocket, RandomBytesDoNoHarm) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    std::string bytes(random() % 200, '\0');
    for (auto& each : bytes) each = static_cast<char>(random());
    bytes += "\r\n\r\n";
    ask(bytes);
  }
  EXPECT_EQ(ask("GET / HTTP/1.1\r\n\r\n").substr(9, 3), "200");
}

// One at a time would each wait for the silence of those before.
TEST_F(MetricsSocket, SilentClientsKeepNobodyWaiting) {
  std::vector<int> silent;
  for (unsigned i = 0; i + 1 < kClients; ++i) silent.push_back(connect());
  EXPECT_EQ(ask("GET /metrics HTTP/1.1\r\n\r\n").substr(9, 3), "200");
  for (const int file : silent) ::close(file);
}

TEST_F(MetricsSocket, ClientsAreAnsweredAtOnce) {
  std::vector<std::thread> clients;
  std::atomic<unsigned> right{0};
  for (unsigned i = 0; i < 2 * kClients; ++i) {
    clients.emplace_back([&] {
      if (ask("GET /metrics HTTP/1.1\r\n\r\n").substr(9, 3) == "200") ++right;
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(right.load(), 2 * kClients);
}

// A byte now and then is no request, either.
TEST_F(MetricsSocket, AClientThatNeverComesToAnEndIsCutOff) {
  const int file = connect();
  bool cut_off = false;
  for (int i = 0; i < 300 && !cut_off; ++i) {
    pollfd closed{file, POLLRDHUP, 0};
    cut_off = ::send(file, "G", 1, MSG_NOSIGNAL) < 0 || ::poll(&closed, 1, 100) > 0;
  }
  EXPECT_TRUE(cut_off);
  ::close(file);
}

class MetricsOptions : public Program {};

TEST_F(MetricsOptions, OtherHostsAndPortsAreRefused) {
  for (const auto* const place :
       {"0.0.0.0:80", "example.org:80", "127.0.0.1:70000", "localhost:"}) {
    expect_refused({"--config", "910b2", "serve", "--metrics", place},
                   std::string("--metrics ") + place +
                       ": expected a path with a slash, or 127.0.0.1:PORT or localhost:PORT");
  }
}

}  // namespace
}  // namespace npu::cli
