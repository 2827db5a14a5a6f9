// SPDX-License-Identifier: Apache-2.0
// vfio_user_fuzz ROUNDS SEED: clients that misbehave at random against the vfio-user server, in one
// process. A round is some hundred steps on several sockets and connections; round n of seed s is
// round 0 of seed s + n. ROUNDS 0: until SIGINT or SIGTERM. A finding ends the program by SIGABRT
// (SIGALRM: nothing came back for a minute), with the seed of its round on the standard error.
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "model/host/vfio_user/server.hpp"
#include "tests/fuzz/vfio_user_device.hpp"
#include "tests/fuzz/vfio_user_messages.hpp"

namespace npu::fuzz {
namespace {

using test::vfio_user::Client;

constexpr std::size_t kSockets = 3;
constexpr std::size_t kMaxClients = 6;
constexpr unsigned kTimeout = 60;  // seconds for one round

volatile sig_atomic_t stopped = 0;

// One connection of a client: what it still has to send, and what has come back.
class Talker {
 public:
  explicit Talker(Client client) : client_(std::move(client)) {}

  void say(const Draft& draft) {
    // What is left of an earlier message that the server did not take goes first.
    unsent_.insert(unsent_.end(), draft.bytes.begin(), draft.bytes.end());
    fds_ = draft.fds;
  }

  // Sends `limit` bytes at most, with the descriptors of the last message.
  void send(std::size_t limit) {
    const std::size_t size = std::min(limit, unsent_.size());
    if (size == 0) return;
    iovec span{unsent_.data(), size};
    msghdr message{};
    message.msg_iov = &span;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::byte control[CMSG_SPACE(250 * sizeof(int))];
    if (!fds_.empty()) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(fds_.size() * sizeof(int));
      cmsghdr* item = CMSG_FIRSTHDR(&message);
      *item = {CMSG_LEN(fds_.size() * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
      std::memcpy(CMSG_DATA(item), fds_.data(), fds_.size() * sizeof(int));
    }
    const ssize_t sent = ::sendmsg(client_.socket(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return;
    unsent_.erase(unsent_.begin(), unsent_.begin() + sent);
    fds_.clear();
  }

  // Takes what has come back and checks that it consists of replies.
  void listen() {
    std::byte piece[4096];
    ssize_t got = 0;
    while ((got = ::recv(client_.socket(), piece, sizeof piece, MSG_DONTWAIT)) > 0) {
      heard_.insert(heard_.end(), piece, piece + got);
    }
    std::size_t at = 0;
    while (heard_.size() - at >= 16) {
      std::uint32_t head[4];
      std::memcpy(head, heard_.data() + at, sizeof head);
      check_reply(head);
      if (heard_.size() - at < head[1]) break;
      at += head[1];
    }
    heard_.erase(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  std::size_t unsent() const { return unsent_.size(); }
  int socket() const { return client_.socket(); }

 private:
  static void check_reply(const std::uint32_t (&head)[4]) {
    const bool error = (head[2] & 0x20) != 0;
    if ((head[2] & ~0x20U) != 1) found("a reply that is none");
    if (head[1] < 16 || head[1] > (1 << 20) + 32) found("a reply of a size that cannot be");
    if (error && head[1] != 16) found("an error reply with a payload");
    if (error != (head[3] != 0)) found("an errno without an error, or none with one");
  }

  Client client_;
  Blob unsent_;
  Blob heard_;
  std::vector<int> fds_;
};

class Round {
 public:
  Round(const std::string& folder, DescriptorPool& pool, std::uint64_t seed)
      : folder_(folder), random_(seed), pool_(pool), maker_(random_, pool) {
    for (std::size_t i = 0; i < kSockets; ++i) devices_.emplace_back(random_);
    listen();
  }

  void run() {
    const std::size_t before = test::vfio_user::open_descriptors();
    for (auto steps = 50 + random_.below(400); steps > 0; --steps) step();
    if (random_.percent(30)) {  // the server goes first
      server_.reset();
      talkers_.clear();
      listen();
    }
    talkers_.clear();
    settle();
    pool_.restore_files();
    if (server_->has_client()) found("a client that does not go");
    if (test::vfio_user::open_descriptors() != before) found("descriptors that stay open");
    for (const auto& device : devices_) {
      if (!device.has_nothing()) found("mappings or triggers of nobody");
    }
    for (std::size_t i = 0; i < kSockets; ++i) serve_a_good_client(i);
    messages_ = server_->statistics().messages;
  }

  std::uint64_t messages() const { return messages_; }

 private:
  std::string path(std::size_t i) const { return folder_ + "/" + std::to_string(i); }

  void listen() {
    server_.emplace();
    for (std::size_t i = 0; i < kSockets; ++i) {
      if (!server_->listen(path(i), devices_[i])) found("a socket cannot be made");
    }
  }

  void settle() {
    int turns = 0;
    while (server_->serve(0)) {
      if (++turns > 1'000'000) found("a server that never comes to rest");
    }
  }

  void come() {
    if (talkers_.size() >= kMaxClients) return;
    auto client = Client::connect(path(random_.below(kSockets)));
    if (!client) return;
    talkers_.push_back(std::make_unique<Talker>(std::move(*client)));
    if (random_.percent(90)) talkers_.back()->say(maker_.version());
    talkers_.back()->send(SIZE_MAX);
  }

  void speak(Talker& talker) {
    if (talker.unsent() < (1 << 16)) {
      talker.say(random_.percent(55) ? maker_.well_formed() : maker_.mutated());
    }
    talker.send(random_.percent(85) ? SIZE_MAX : 1 + random_.below(60));
  }

  void step() {
    if (talkers_.empty() || random_.percent(3)) return come();
    const std::size_t who = random_.below(talkers_.size());
    Talker& talker = *talkers_[who];
    const auto what = random_.below(100);
    if (what < 60) return speak(talker);
    if (what < 80) return void(server_->serve(0));
    if (what < 90) return talker.listen();
    if (what < 92) return random_.in(devices_).act();
    if (what < 95) return pool_.resize_a_file(random_);
    if (what < 97) return void(talker.send(1 + random_.below(100)));
    if (what < 98) {
      ::shutdown(talker.socket(), random_.of({SHUT_RD, SHUT_WR, SHUT_RDWR}));
      return;
    }
    talkers_.erase(talkers_.begin() + static_cast<std::ptrdiff_t>(who));
  }

  void serve_a_good_client(std::size_t i) {
    auto client = Client::connect(path(i), [this] { server_->serve(0); });
    if (!client || !client->negotiate()) found("a good client that is not served");
    const auto reply = client->region_info(7);
    if (!reply.ok() || reply.u64(16) != 4096) found("a good client that is not answered");
    client->close();
    settle();
  }

  std::string folder_;
  Random random_;
  DescriptorPool& pool_;
  MessageMaker maker_;
  std::deque<FuzzDevice> devices_;
  std::optional<model::vfio_user::Server> server_;
  std::vector<std::unique_ptr<Talker>> talkers_;
  std::uint64_t messages_ = 0;
};

// Mappings of clients' files in this process.
std::size_t file_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:client") != std::string::npos) ++count;
  }
  return count;
}

int run(std::uint64_t rounds, std::uint64_t seed) {
  std::string folder = "/tmp/vfio_user_fuzz.XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  DescriptorPool pool;
  const std::size_t mappings = file_mappings();
  std::uint64_t messages = 0;
  std::uint64_t done = 0;
  for (; (rounds == 0 || done < rounds) && stopped == 0; ++done) {
    static std::string note;  // written by the handler of SIGABRT
    note = "vfio_user_fuzz: repeat by: vfio_user_fuzz 1 " + std::to_string(seed + done) + "\n";
    static const auto kTell = [](int) {
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, note.data(), note.size());
    };
    ::signal(SIGABRT, kTell);
    ::alarm(kTimeout);
    Round round(folder, pool, seed + done);
    round.run();
    messages += round.messages();
    if (done % 64 == 0 && file_mappings() > mappings) found("mappings that stay");
  }
  ::alarm(0);
  std::filesystem::remove_all(folder);
  std::printf("%llu rounds, %llu messages, no finding\n", static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(messages));
  return 0;
}

}  // namespace
}  // namespace npu::fuzz

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: vfio_user_fuzz ROUNDS SEED (ROUNDS 0: until SIGINT)\n");
    return 2;
  }
  for (const int number : {SIGINT, SIGTERM}) {
    ::signal(number, [](int) { npu::fuzz::stopped = 1; });
  }
  return npu::fuzz::run(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
}
