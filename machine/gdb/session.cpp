// SPDX-License-Identifier: Apache-2.0
#include "machine/gdb/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "machine/gdb/monitor.hpp"

namespace npu::gdb {
namespace {

constexpr char kRefused[] = "E01";
constexpr char kBadAddress[] = "E14";
constexpr std::size_t kMostBytes = PacketReader::kLongest / 2 - 8;

// A piece of what qXfer reads: "OFFSET,LENGTH".
std::string piece(const std::string& whole, std::string_view range) {
  const auto offset = take_number(range);
  if (!offset || !take(range, ",")) return kRefused;
  const auto length = take_number(range);
  if (!length) return kRefused;
  if (*offset >= whole.size()) return "l";
  const auto part = whole.substr(*offset, std::min<std::uint64_t>(*length, kMostBytes));
  return (*offset + part.size() < whole.size() ? "m" : "l") + part;
}

}  // namespace

Session::Session(Connection connection, Target& target, bool (*given_up)())
    : connection_(std::move(connection)), target_(target), given_up_(given_up) {}

void Session::say(const std::string& text) {
  send("O" + hex(text));
}

Action Session::serve(const Stop& stop) {
  stop_ = stop;
  selected_ = stop.thread;
  if (!stop.first) send(stop_reply());
  for (;;) {
    auto item = reader_.take();
    if (!item) {
      const std::string bytes = connection_.read(given_up_);
      if (bytes.empty()) return {Action::Kind::kDetach, 0};
      reader_.feed(bytes);
      continue;
    }
    if (item->kind == PacketReader::Kind::kInterrupt) continue;
    const bool good = item->kind == PacketReader::Kind::kPacket;
    if (acknowledges_) connection_.write(good ? "+" : "-");
    Action action;
    if (good && answer(item->text, action)) return action;
  }
}

std::string Session::stop_reply() const {
  const bool hidden = stop_.why == "swbreak:;" && !knows_breaks_;
  return fmt::format("T{:02x}thread:{:x};{}", stop_.signal, stop_.thread, hidden ? "" : stop_.why);
}

// True: all goes on.
bool Session::answer(std::string_view packet, Action& action) {
  const char kind = packet.empty() ? 0 : packet[0];
  const std::string_view rest = packet.empty() ? packet : packet.substr(1);
  switch (kind) {
    case '?':
      return send(stop_reply()), false;
    case 'c':
    case 'C':
    case 's':
    case 'S':
    case 'v':
    case 'D':
    case 'k':
      return resume(packet, action);
    case 'g':
      return send(registers()), false;
    case 'G':
      return send(stop_.machine != nullptr && selected_ == stop_.thread &&
                          set_registers(*stop_.machine, rest)
                      ? "OK"
                      : kRefused),
             false;
    case 'P':
      return send(set_register_of(rest)), false;
    case 'H':
      return send(select(rest)), false;
    case 'T': {
      std::string_view text = rest;
      const auto id = take_number(text);
      const auto* const thread = id ? target_.threads.find(*id) : nullptr;
      const bool there = (id && *id == kHost) || (thread != nullptr && thread->active);
      return send(there ? "OK" : kRefused), false;
    }
    case 'm':
      return send(read_memory(rest)), false;
    case 'M':
    case 'X':
      return send(write_memory(rest, kind == 'X')), false;
    case 'Z':
    case 'z':
      return send(point(rest, kind == 'Z')), false;
    case 'q':
    case 'Q':
      return send(query(packet)), false;
    default:
      return send(""), false;
  }
}

bool Session::resume(std::string_view packet, Action& action) {
  action.thread = selected_;
  if (take(packet, "D")) return send("OK"), action.kind = Action::Kind::kDetach, true;
  if (take(packet, "vKill")) return send("OK"), action.kind = Action::Kind::kKill, true;
  if (take(packet, "k")) return action.kind = Action::Kind::kKill, true;
  if (packet == "vCont?") return send("vCont;c;C;s;S"), false;
  const bool many = take(packet, "vCont;");
  if (!many && packet[0] == 'v') return send(""), false;
  const bool step = !packet.empty() && (packet[0] == 's' || packet[0] == 'S');
  const bool all = !packet.empty() && (packet[0] == 'c' || packet[0] == 'C');
  if (!step && !all) return send(kRefused), false;
  if (!step) return true;
  action.kind = Action::Kind::kStep;
  const auto colon = packet.find(':');
  if (!many || colon == std::string_view::npos) return true;
  packet.remove_prefix(colon + 1);
  if (const auto id = take_number(packet)) action.thread = static_cast<unsigned>(*id);
  return true;
}

std::string Session::registers() const {
  if (selected_ == stop_.thread && stop_.machine != nullptr) return all_registers(*stop_.machine);
  auto* const thread = target_.threads.find(selected_);
  Context context;
  if (thread != nullptr && !thread->left.empty()) return all_registers(thread->left);
  context.set(kRip, 0);
  context.set(kRsp, 0);
  return all_registers(context);
}

std::string Session::set_register_of(std::string_view arguments) {
  const auto number = take_number(arguments);
  if (!number || !take(arguments, "=") || stop_.machine == nullptr || selected_ != stop_.thread) {
    return kRefused;
  }
  const auto bytes = unhex(arguments);
  std::uint64_t value = 0;
  if (!bytes || bytes->size() > sizeof value) return kRefused;
  std::copy(bytes->begin(), bytes->end(), reinterpret_cast<char*>(&value));
  return set_register(*stop_.machine, *number, value) ? "OK" : kRefused;
}

// "gID" for what is looked at; of "c" vCont says more.
std::string Session::select(std::string_view arguments) {
  if (!take(arguments, "g")) return "OK";
  const auto id = take_number(arguments);
  if (!id || *id == 0) return "OK";
  if (*id != kHost && target_.threads.find(*id) == nullptr) return kRefused;
  selected_ = static_cast<unsigned>(*id);
  return "OK";
}

std::string Session::read_memory(std::string_view arguments) {
  const auto address = take_number(arguments);
  if (!address || !take(arguments, ",")) return kRefused;
  const auto length = take_number(arguments);
  if (!length) return kRefused;
  std::vector<unsigned char> bytes(std::min<std::uint64_t>(*length, kMostBytes));
  if (!target_.spaces.read(selected(), *address, bytes.data(), bytes.size())) return kBadAddress;
  return hex(bytes.data(), bytes.size());
}

std::string Session::write_memory(std::string_view arguments, bool binary) {
  const auto address = take_number(arguments);
  if (!address || !take(arguments, ",")) return kRefused;
  const auto length = take_number(arguments);
  if (!length || !take(arguments, ":")) return kRefused;
  const auto bytes = binary ? std::string(arguments) : unhex(arguments).value_or("");
  if (bytes.size() != *length) return kRefused;
  if (bytes.empty()) return "OK";
  const auto* const from = reinterpret_cast<const unsigned char*>(bytes.data());
  return target_.spaces.write(selected(), *address, from, bytes.size()) ? "OK" : kBadAddress;
}

// "TYPE,ADDRESS,LENGTH": 0 and 1 are breakpoints, 2 is a watch of writes.
std::string Session::point(std::string_view arguments, bool insert) {
  const auto type = take_number(arguments);
  if (!type || !take(arguments, ",")) return kRefused;
  const auto address = take_number(arguments);
  if (!address || !take(arguments, ",")) return kRefused;
  const auto length = take_number(arguments);
  if (!length || *type > 2) return "";
  if (*type == 2) {
    if (!insert) return target_.spaces.unwatch(*address, *length), "OK";
    Thread* const thread = selected() != nullptr ? selected() : target_.threads.find(stop_.thread);
    return target_.spaces.watch(thread, *address, *length) ? "OK" : kBadAddress;
  }
  if (!insert) return target_.code.remove(*address), "OK";
  return target_.code.insert(*address) ? "OK" : kBadAddress;
}

std::string Session::query(std::string_view packet) {
  if (take(packet, "qSupported")) {
    knows_breaks_ = packet.find("swbreak+") != std::string_view::npos;
    return fmt::format(
        "PacketSize={:x};swbreak+;qXfer:features:read+;qXfer:threads:read+;"
        "qXfer:libraries-svr4:read+;QStartNoAckMode+;vContSupported+",
        PacketReader::kLongest);
  }
  if (packet == "QStartNoAckMode") {
    acknowledges_ = false;
    reader_.trust();
    return "OK";
  }
  if (packet == "qC") return fmt::format("QC{:x}", stop_.thread);
  if (packet == "qAttached") return "1";
  if (take(packet, "qXfer:features:read:target.xml:")) return piece(target_description(), packet);
  if (take(packet, "qXfer:threads:read::")) return piece(target_.threads.list(), packet);
  if (take(packet, "qXfer:libraries-svr4:read:")) {
    const auto colon = packet.find(':');
    if (colon == std::string_view::npos) return kRefused;
    return piece(library_list(), packet.substr(colon + 1));
  }
  if (take(packet, "qRcmd,")) {
    const auto command = unhex(packet);
    return command ? hex(monitor(*command, target_)) : kRefused;
  }
  return "";
}

std::string Session::library_list() const {
  std::string text = "<library-list-svr4 version=\"1.0\">";
  for (const auto& each : target_.libraries) {
    text += fmt::format(
        "<library name=\"{}\" lm=\"{:#x}\" lmid=\"0x0\" l_addr=\"{:#x}\" l_ld=\"{:#x}\"/>",
        each.file, each.link_map, each.base, each.dynamic);
  }
  return text + "</library-list-svr4>";
}

}  // namespace npu::gdb
