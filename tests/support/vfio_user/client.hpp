// SPDX-License-Identifier: Apache-2.0
// A vfio-user client for tests: well-formed messages by name, any bytes by hand.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/vfio_user/wire.hpp"

namespace npu::test::vfio_user {

class Client {
 public:
  // Called while the client waits for a server in the same thread: pump = [&] { server.serve(0); }.
  // Without one the client waits for a server elsewhere.
  using Pump = std::function<void()>;

  explicit Client(int connected_socket, Pump pump = {});
  ~Client();
  Client(Client&& other) noexcept;
  Client& operator=(Client&&) = delete;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // A client of the server at `path`; nothing if that cannot be reached.
  static std::optional<Client> connect(const std::string& path, Pump pump = {});

  // Sends bytes as they are, `fds` along with the first. False if the server has closed, or takes
  // nothing (with a pump: whatever was pumped; without: in 10 s).
  bool send_raw(const Blob& bytes, const std::vector<int>& fds = {});
  // A whole command; returns its id.
  std::uint16_t send(std::uint16_t command, const Blob& payload = {},
                     const std::vector<int>& fds = {}, std::uint32_t flags = 0);
  // The next reply; nothing if the server closes or none comes (with a pump: by 100 rounds;
  // without: in 30 s).
  std::optional<Reply> receive();
  // send() and receive(); a reply with error UINT32_MAX if none comes or it belongs to another.
  Reply call(std::uint16_t command, const Blob& payload = {}, const std::vector<int>& fds = {});

  // What QEMU sends first. False unless the server agrees.
  bool negotiate();
  Reply version(std::uint16_t major, std::uint16_t minor, std::string_view json);
  Reply map(std::uint64_t iova, std::uint64_t size, int fd, std::uint64_t offset = 0,
            std::uint32_t flags = kRead | kWrite);  // fd -1: none
  Reply unmap(std::uint64_t iova, std::uint64_t size, std::uint32_t flags = 0);
  Reply region_info(std::uint32_t index);
  Reply irq_info(std::uint32_t index);
  Reply set_irqs(std::uint32_t flags, std::uint32_t index, std::uint32_t start, std::uint32_t count,
                 const std::vector<int>& fds = {}, const Blob& bools = {});
  Reply read(std::uint32_t region, std::uint64_t offset, std::uint32_t count);
  Reply write(std::uint32_t region, std::uint64_t offset, const Blob& data);
  Reply reset() { return call(kReset); }

  // Accesses of 4 and 8 bytes; all ones if the read fails.
  std::uint32_t read32(std::uint32_t region, std::uint64_t offset);
  std::uint64_t read64(std::uint32_t region, std::uint64_t offset);
  bool write32(std::uint32_t region, std::uint64_t offset, std::uint32_t value);
  bool write64(std::uint32_t region, std::uint64_t offset, std::uint64_t value);

  // The server has closed the connection and nothing is left to read.
  bool is_closed();
  void close();
  int socket() const { return socket_; }

 private:
  bool wait(short events, int rounds);
  bool fill(std::byte* to, std::size_t size);

  int socket_;
  Pump pump_;
  std::uint16_t next_id_ = 1;
};

// Memory that can be given to a server: a memfd of `size` bytes, mapped here.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t size, unsigned memfd_flags = 0);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int fd() const { return fd_; }
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  int fd_;
  std::size_t size_;
  std::byte* data_;
};

class EventFd {
 public:
  explicit EventFd(std::uint64_t initial = 0);
  ~EventFd();
  EventFd(EventFd&& other) noexcept;
  EventFd& operator=(EventFd&&) = delete;
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;

  int fd() const { return fd_; }
  std::uint64_t take();                         // the count since the last take()
  std::uint64_t take_within(int milliseconds);  // waits for the first; 0: none came

 private:
  int fd_;
};

// Descriptors that this process has open.
std::size_t open_descriptors();

}  // namespace npu::test::vfio_user
