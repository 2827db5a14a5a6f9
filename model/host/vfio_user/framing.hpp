// SPDX-License-Identifier: Apache-2.0
// Messages out of and into a stream socket that never blocks.
#pragma once

#include <cstddef>
#include <vector>

#include "model/host/vfio_user/protocol.hpp"
#include "npu/base/file_descriptor.hpp"

namespace npu::model::vfio_user {

struct Message {
  Header header{};
  std::vector<std::byte> payload;
  // That came with any byte of this message; at most kMaxMessageFds.
  std::vector<FileDescriptor> fds;
  // Descriptors are missing: more than kMaxMessageFds were sent (E2BIG), or this process may not
  // open any more (EMFILE). 0: all are there.
  int fds_error = 0;
};

// Puts a message together from however many pieces it comes in. Reads never past the end of the
// message, so that descriptors are kept with the message whose bytes they came with.
class MessageReader {
 public:
  enum class Result {
    kMessage,    // message() is complete, and stays until the next call
    kAgain,      // nothing more there at the moment
    kClosed,     // the peer has gone; what there is of a message is void
    kBadHeader,  // message().header has a size that no message has: the stream makes no sense
  };

  Result read(int socket);
  Message& message() { return message_; }

 private:
  bool has_header() const { return filled_ >= sizeof(Header); }
  Result receive(int socket, std::byte* to, std::size_t size);
  void begin_message();

  Message message_;
  std::size_t filled_ = 0;  // bytes of header and payload that have come
  bool complete_ = true;    // read() gave the message away
};

// One reply on its way out. Nothing else is read from a client until its reply has left, so this
// is all the memory that a client which does not read can hold.
class Outbox {
 public:
  void begin();                         // an empty reply, room for the header
  std::byte* extend(std::size_t size);  // more payload, to be filled
  void append(const void* data, std::size_t size);
  void finish(const Header& request, int error);  // an error drops the payload
  void discard();                                 // no reply

  bool pending() const { return sent_ < bytes_.size(); }
  std::size_t left() const { return bytes_.size() - sent_; }  // to be sent
  // Sends what the socket takes. The reply to a peer that cannot be reached any more is dropped.
  void flush(int socket);

 private:
  std::vector<std::byte> bytes_;
  std::size_t sent_ = 0;
};

}  // namespace npu::model::vfio_user
