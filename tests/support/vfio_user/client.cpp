// SPDX-License-Identifier: Apache-2.0
#include "tests/support/vfio_user/client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace npu::test::vfio_user {
namespace {

constexpr int kPumpRounds = 100;
constexpr int kWaitMilliseconds = 30'000;

constexpr std::string_view kProposal =
    R"({"capabilities": {"max_msg_fds": 8, "max_data_xfer_size": 1048576, "pgsizes": 4096, )"
    R"("max_dma_maps": 65535, "write_multiple": true}})";

void attach(msghdr& message, std::vector<std::byte>& control, const std::vector<int>& fds) {
  if (fds.empty()) return;
  const std::size_t size = fds.size() * sizeof(int);
  control.assign(CMSG_SPACE(size), std::byte{0});
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* item = CMSG_FIRSTHDR(&message);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(item), fds.data(), size);
}

}  // namespace

Client::Client(int connected_socket, Pump pump)
    : socket_(connected_socket), pump_(std::move(pump)) {}

Client::~Client() {
  close();
}

Client::Client(Client&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      pump_(std::move(other.pump_)),
      next_id_(other.next_id_) {}

std::optional<Client> Client::connect(const std::string& path, Pump pump) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  Client client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), std::move(pump));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(client.socket_, generic, sizeof address) != 0) return std::nullopt;
  return client;
}

// Lets the server work, or waits for it. False when it is time to give up.
bool Client::wait(short events, int rounds) {
  if (pump_) {
    if (rounds >= kPumpRounds) return false;
    pump_();
    return true;
  }
  pollfd state{socket_, events, 0};
  return ::poll(&state, 1, kWaitMilliseconds) > 0;
}

bool Client::send_raw(const Blob& bytes, const std::vector<int>& fds) {
  std::size_t sent = 0;
  for (int rounds = 0; sent < bytes.size();) {
    iovec span{const_cast<std::byte*>(bytes.data()) + sent, bytes.size() - sent};
    msghdr message{};
    message.msg_iov = &span;
    message.msg_iovlen = 1;
    std::vector<std::byte> control;
    if (sent == 0) attach(message, control, fds);
    const ssize_t done = ::sendmsg(socket_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done >= 0) {
      sent += static_cast<std::size_t>(done);
      rounds = 0;
    } else if ((errno != EAGAIN && errno != EINTR) || !wait(POLLOUT, rounds++)) {
      return false;
    }
  }
  return true;
}

std::uint16_t Client::send(std::uint16_t command, const Blob& payload, const std::vector<int>& fds,
                           std::uint32_t flags) {
  const std::uint16_t id = next_id_++;
  send_raw(header(id, command, kHeaderBytes + payload.size(), flags).blob(payload), fds);
  return id;
}

bool Client::fill(std::byte* to, std::size_t size) {
  for (int rounds = 0; size > 0;) {
    const ssize_t got = ::recv(socket_, to, size, MSG_DONTWAIT);
    if (got > 0) {
      to += got;
      size -= static_cast<std::size_t>(got);
      rounds = 0;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR) || !wait(POLLIN, rounds++)) {
      return false;
    }
  }
  return true;
}

std::optional<Reply> Client::receive() {
  std::byte head[kHeaderBytes];
  if (!fill(head, sizeof head)) return std::nullopt;
  Reply reply;
  std::uint32_t size = 0;
  std::memcpy(&reply.id, head, 2);
  std::memcpy(&reply.command, head + 2, 2);
  std::memcpy(&size, head + 4, 4);
  std::memcpy(&reply.flags, head + 8, 4);
  std::memcpy(&reply.error, head + 12, 4);
  if (size < kHeaderBytes) return std::nullopt;
  reply.payload.resize(size - kHeaderBytes);
  if (!fill(reply.payload.data(), reply.payload.size())) return std::nullopt;
  return reply;
}

Reply Client::call(std::uint16_t command, const Blob& payload, const std::vector<int>& fds) {
  const std::uint16_t id = send(command, payload, fds);
  const auto reply = receive();
  if (reply && reply->id == id && reply->command == command) return *reply;
  Reply none;
  none.error = UINT32_MAX;
  return none;
}

bool Client::negotiate() {
  return version(0, 0, kProposal).ok();
}

Reply Client::version(std::uint16_t major, std::uint16_t minor, std::string_view json) {
  return call(kVersion, version_payload(major, minor, json));
}

Reply Client::map(std::uint64_t iova, std::uint64_t size, int fd, std::uint64_t offset,
                  std::uint32_t flags) {
  const std::vector<int> fds(fd >= 0 ? 1 : 0, fd);
  return call(kDmaMap, map_payload(iova, size, offset, flags), fds);
}

Reply Client::unmap(std::uint64_t iova, std::uint64_t size, std::uint32_t flags) {
  return call(kDmaUnmap, unmap_payload(iova, size, flags));
}

Reply Client::region_info(std::uint32_t index) {
  return call(kGetRegionInfo, Fields().u32(32).u32(0).u32(index).u32(0).u64(0).u64(0));
}

Reply Client::irq_info(std::uint32_t index) {
  return call(kGetIrqInfo, Fields().u32(16).u32(0).u32(index).u32(0));
}

Reply Client::set_irqs(std::uint32_t flags, std::uint32_t index, std::uint32_t start,
                       std::uint32_t count, const std::vector<int>& fds, const Blob& bools) {
  return call(kSetIrqs, irqs_payload(flags, index, start, count, bools), fds);
}

Reply Client::read(std::uint32_t region, std::uint64_t offset, std::uint32_t count) {
  return call(kRegionRead, access_payload(region, offset, count));
}

Reply Client::write(std::uint32_t region, std::uint64_t offset, const Blob& data) {
  return call(kRegionWrite,
              access_payload(region, offset, static_cast<std::uint32_t>(data.size()), data));
}

std::uint32_t Client::read32(std::uint32_t region, std::uint64_t offset) {
  const Reply reply = read(region, offset, 4);
  return reply.ok() ? reply.u32(16) : UINT32_MAX;
}

std::uint64_t Client::read64(std::uint32_t region, std::uint64_t offset) {
  const Reply reply = read(region, offset, 8);
  return reply.ok() ? reply.u64(16) : UINT64_MAX;
}

bool Client::write32(std::uint32_t region, std::uint64_t offset, std::uint32_t value) {
  return write(region, offset, Fields().u32(value)).ok();
}

bool Client::write64(std::uint32_t region, std::uint64_t offset, std::uint64_t value) {
  return write(region, offset, Fields().u64(value)).ok();
}

bool Client::is_closed() {
  for (int rounds = 0;; ++rounds) {
    std::byte next{};
    const ssize_t got = ::recv(socket_, &next, 1, MSG_DONTWAIT | MSG_PEEK);
    if (got >= 0) return got == 0;
    if (errno != EAGAIN && errno != EINTR) return true;
    if (!wait(POLLIN, rounds)) return false;
  }
}

void Client::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

}  // namespace npu::test::vfio_user
