// SPDX-License-Identifier: Apache-2.0
// One client's socket.
#pragma once

#include <cstdint>

#include "model/host/vfio_user/framing.hpp"
#include "model/host/vfio_user/session.hpp"

namespace npu::model::vfio_user {

// Counters since the server was made.
struct Statistics {
  std::uint64_t messages = 0;  // received completely, replies of the client included
  std::uint64_t errors = 0;    // error replies, and messages dropped or cut off
  std::uint64_t clients = 0;   // that have negotiated
  std::uint64_t refused = 0;   // connections closed at once: the socket's function has a client
};

class Connection {
 public:
  Connection(UniqueFd socket, ServedDevice& device, Statistics& statistics);

  // The server ends: what the client has sent is answered as far as it takes the answers, and it
  // can send no more.
  void wind_up();

  // Handles some messages that are there, so that a busy client leaves others their turn; sends
  // what it can of a reply. True if anything was done.
  bool turn();

  int socket() const { return socket_.get(); }
  bool negotiated() const { return session_.negotiated(); }
  bool over() const { return over_; }
  bool failed() const { return session_.failed(); }
  bool wants_to_send() const { return outbox_.pending(); }
  // The peer has closed its end. What it had sent before is still handled.
  bool peer_gone() const;

 private:
  bool flush();  // true if anything has left
  void answer(Message& message);
  void refuse(const Header& header, int error);

  UniqueFd socket_;
  Statistics& statistics_;
  MessageReader reader_;
  Outbox outbox_;
  Session session_;
  bool over_ = false;
};

}  // namespace npu::model::vfio_user
