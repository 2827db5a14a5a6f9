// SPDX-License-Identifier: Apache-2.0
#include "model/host/vfio_user/connection.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace npu::model::vfio_user {
namespace {

constexpr int kMessagesPerTimeSlice = 32;

}  // namespace

Connection::Connection(UniqueFd socket, ServedDevice& device, Statistics& statistics)
    : socket_(std::move(socket)), statistics_(statistics), session_(device) {}

bool Connection::peer_gone() const {
  pollfd state{socket_.get(), 0, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

// A socket that is closed with messages unread shows its peer a reset, not an end, and a command
// without an answer is waited for: QEMU's client (10.1 to 11.1) ends or stands still over that.
void Connection::wind_up() {
  static_cast<void>(::shutdown(socket_.get(), SHUT_RD));
  while (!over_ && turn()) {
  }
}

void Connection::refuse(const Header& header, int error) {
  ++statistics_.errors;
  if ((header.flags & kNoReply) != 0) return;
  outbox_.begin();
  outbox_.finish(header, error);
}

void Connection::answer(Message& message) {
  ++statistics_.messages;
  const Header& header = message.header;
  const std::uint32_t type = header.flags & kTypeMask;
  if (type == kTypeReply) {  // this server sends no commands: an answer to nothing
    ++statistics_.errors;
    return;
  }
  if (type != kTypeCommand) return refuse(header, EINVAL);
  const bool had_negotiated = session_.negotiated();
  outbox_.begin();
  const int error = session_.handle(message, outbox_);
  if (!had_negotiated && session_.negotiated()) ++statistics_.clients;
  if (error != 0) ++statistics_.errors;
  if ((header.flags & kNoReply) != 0) {
    outbox_.discard();
  } else {
    outbox_.finish(header, error);
  }
}

// A peer that takes no replies any more may have sent commands before it went: those are still
// handled.
bool Connection::flush() {
  const std::size_t before = outbox_.left();
  outbox_.flush(socket_.get());
  return outbox_.left() != before;
}

bool Connection::turn() {
  bool did_something = flush();
  for (int i = 0; i < kMessagesPerTimeSlice && !over_; ++i) {
    if (outbox_.pending()) break;
    switch (reader_.read(socket_.get())) {
      case MessageReader::Result::kAgain:
        return did_something;
      case MessageReader::Result::kClosed:
        over_ = true;
        break;
      case MessageReader::Result::kBadHeader:
        refuse(reader_.message().header, EINVAL);
        over_ = true;
        break;
      case MessageReader::Result::kMessage:
        answer(reader_.message());
        over_ = session_.failed();
        break;
    }
    did_something = true;
    flush();
  }
  return did_something;
}

}  // namespace npu::model::vfio_user
