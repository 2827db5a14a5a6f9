// SPDX-License-Identifier: Apache-2.0
// vfio-user over UNIX sockets, server side: lets a virtual machine monitor see functions of ours as
// PCI devices of its own. One socket per function, one client per socket at a time, one thread.
//
// Clients are not trusted: whatever they send is answered by the protocol or costs them their
// connection. A client cannot hold the others up, except by descriptors of files that it serves
// itself (FUSE). Descriptors that a message does not call for are closed.
#pragma once

#include <poll.h>

#include <memory>
#include <string>
#include <vector>

#include "model/host/vfio_user/connection.hpp"
#include "model/host/vfio_user/served_device.hpp"
#include "npu/base/result.hpp"

namespace npu::model::vfio_user {

class Server {
 public:
  Server();
  // Answers what clients have asked already, ends the sessions (ServedDevice::unmap ...
  // client_gone()) and removes the sockets it has made. Waits for nobody.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Listens on `path`; `device` must outlive the server. A socket nobody listens on is replaced.
  // kInvalidArgument (too long for a socket's name), kBusy (somebody listens there), kAlreadyExists
  // (a file of another kind), kIo.
  Status listen(const std::string& path, ServedDevice& device);

  // The function is gone: what its client has asked already is answered, the session ends and the
  // socket is removed. Nothing, if it has none. Not to be called from within a ServedDevice's call.
  void close(const ServedDevice& device);

  // Handles what is there, on all sockets, some messages of each; waits up to `timeout_ms` (-1: for
  // ever, 0: not at all) if nothing is. A signal ends the waiting. True if anything was done. Not
  // to be called from within a ServedDevice's call.
  bool serve(int timeout_ms);

  // `descriptor` readable ends a waiting serve(); it is not read from. Not owned.
  void wake_on(int descriptor);

  // A client has negotiated on one of the sockets and is still there.
  bool has_client() const;
  bool has_client(const ServedDevice& device) const;
  const Statistics& statistics() const { return statistics_; }

 private:
  struct Endpoint {
    std::string path;
    UniqueFd listener;
    ino_t inode;  // of the socket that was made: another one at the path is not ours
    ServedDevice* device;
    std::unique_ptr<Connection> connection;
  };

  static void end(Endpoint& endpoint);
  bool drop_failed();  // those who took memory away while nothing of theirs was served
  void collect_polls();
  bool accept(Endpoint& endpoint);
  UniqueFd accept_or_drop(int listener);

  std::vector<Endpoint> endpoints_;
  std::vector<int> wake_descriptors_;
  std::vector<pollfd> polls_;  // endpoints' connections, listeners, wake descriptors
  UniqueFd reserve_;           // given up for a moment when there are no descriptors left
  Statistics statistics_;
};

}  // namespace npu::model::vfio_user
