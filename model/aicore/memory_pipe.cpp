// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/memory_pipe.hpp"

#include <algorithm>

#include "npu/abi/page_table.hpp"

namespace npu::model {

namespace {

constexpr Bytes kTranslated = abi::entry_span(0);  // no request crosses one
constexpr std::uint32_t kSlotMask = 0xFF;
constexpr std::uint64_t kGenerationMask = 0xF'FFFF;

}  // namespace

MemoryPipe::MemoryPipe(Simulation& sim, const ProgramCoreConfig& config, const CoreClock& clock,
                       const InstructionTimes& times, platform::Pipe pipe, Owner& owner)
    : sim_(sim), config_(config), clock_(clock), times_(times), pipe_(pipe), owner_(owner) {}

MemoryPipe::Range MemoryPipe::range_of(const Instruction& copy) const {
  Range range;
  if (const auto* in = std::get_if<platform::CopyIn>(&copy)) {
    const bool ub = in->to.buffer == platform::LocalBuffer::kUb;
    range = {false,
             false,
             in->from,
             in->from_pitch,
             in->rows,
             in->row_bytes,
             ub ? &config_.gm_to_ub : &config_.gm_to_l1,
             in->element};
  } else if (const auto* out = std::get_if<platform::CopyOut>(&copy)) {
    const bool global = out->target == platform::CopyOutTarget::kGlobal;
    range = {global,
             false,
             out->to,
             out->to_pitch,
             out->rows,
             out->row_bytes,
             global ? &config_.ub_to_gm : nullptr,
             0};
  } else {
    const auto& fixpipe = std::get<platform::Fixpipe>(copy);
    const Bytes row = fixpipe.n * bytes_of(fixpipe.to_type);
    const bool global = fixpipe.target == platform::FixpipeTarget::kGlobal;
    range = {global,
             false,
             fixpipe.to,
             fixpipe.to_pitch,
             fixpipe.m,
             row,
             global ? &config_.l0c_to_gm : nullptr,
             0};
  }
  range.strided = range.rows > 1 && range.pitch != range.row_bytes;
  if (!range.strided) {
    range.row_bytes *= range.rows;
    range.rows = 1;
  }
  return range;
}

void MemoryPipe::begin(const PipeEntry& copy, const Began& began) {
  Item& next = item(last_++);
  next.flag = next.sent = next.finishing = next.held = false;
  next.answers = next.translations = 0;
  next.begun = sim_now();
  next.entry = copy;
  next.path = {};
  if (followed()) chain_.begin(began);
  cursor_ = {range_of(copy.instruction), slot_of(last_ - 1), 0, 0};
  if (cursor_.range.path == nullptr) {
    port_free_ = std::max(port_free_, sim_now()) + local_time(copy.instruction);
    next.last = port_free_;
    next.sent = true;
    if (followed()) next.path = chain_.moved(port_free_);
    return retire();
  }
  const Range& range = cursor_.range;
  next.percent =
      range.element != 0 ? 100 : InstructionTimes::row_percent(*range.path, range.row_bytes);
  sending_ = true;
  port_free_ = std::max(port_free_, sim_now() + clock_.clocks(cursor_.range.path->issue_clocks));
  send();
}

SimTime MemoryPipe::local_time(const Instruction& copy) const {
  if (const auto* out = std::get_if<platform::CopyOut>(&copy)) {
    return times_.of(config_.ub_to_l1, Bytes{out->rows} * out->row_bytes);
  }
  const auto& fixpipe = std::get<platform::Fixpipe>(copy);
  const bool ub = fixpipe.target == platform::FixpipeTarget::kUb;
  const Bytes bytes = Bytes{fixpipe.m} * fixpipe.n * bytes_of(fixpipe.to_type);
  return times_.of(ub ? config_.l0c_to_ub : config_.l0c_to_l1, bytes);
}

void MemoryPipe::append_flag(const PipeEntry& flag) {
  Item& next = item(last_++);
  next.flag = true;
  next.entry = flag;
}

std::uint32_t MemoryPipe::slot_of(std::uint64_t number) const {
  return static_cast<std::uint32_t>((generation_ & kGenerationMask) << 8) |
         static_cast<std::uint32_t>(number % kInFlight);
}

// As many whole rows as fit into a request and a page, or part of one.
MemoryRequest MemoryPipe::next_request(const Cursor& at) const {
  const auto& range = at.range;
  const std::uint64_t address = range.address + at.row * range.pitch + at.offset;
  const Bytes to_page = kTranslated - address % kTranslated;
  MemoryRequest request{range.write, address, 1, range.row_bytes - at.offset, range.pitch, at.slot};
  const Bytes most = std::min(to_page, config_.segment - address % config_.segment);
  if (!range.strided) {
    request.row_bytes = std::min(request.row_bytes, most);
    return request;
  }
  if (at.offset > 0 || range.row_bytes > config_.segment || range.row_bytes > to_page) {
    request.row_bytes = std::min({request.row_bytes, config_.segment, to_page});
    return request;
  }
  Bytes rows = std::min(range.rows - at.row, config_.segment / range.row_bytes);
  if (range.pitch > 0) rows = std::min(rows, (to_page - range.row_bytes) / range.pitch + 1);
  if (range.pitch > UINT32_MAX) rows = 1;
  request.rows = static_cast<std::uint16_t>(std::min<Bytes>(rows, UINT16_MAX));
  return request;
}

void MemoryPipe::take(Cursor& at, const MemoryRequest& request) {
  at.offset += request.row_bytes;
  if (at.offset < at.range.row_bytes) return;
  at.offset = 0;
  at.row += request.rows;
}

void MemoryPipe::send() {
  const auto& range = cursor_.range;
  while (sending_) {
    if (port_free_ > sim_now()) {
      if (!resuming_) sim_.agenda.at<&MemoryPipe::resume>(port_free_, *this, generation_);
      resuming_ = true;
      return;
    }
    const MemoryRequest request = next_request(cursor_);
    const Bytes bytes = request.rows * request.row_bytes;
    // An answer makes room.
    Item& copy = item(last_ - 1);
    const Bytes room = room_of(copy, bytes);
    if (outstanding_ > 0 && outstanding_ + room > config_.outstanding) return chain_.stall();
    outstanding_ += room;
    const bool begins = range.strided && cursor_.offset == 0;
    const RowsPart part{range.strided ? request.address | request.pitch : range.address, bytes,
                        range.row_bytes, begins ? request.rows : 0U, range.element};
    take(cursor_, request);
    ++copy.answers;
    ++copy.translations;
    port_free_ = sim_now() + times_.of(*range.path, part);
    sending_ = cursor_.row < range.rows;
    copy.sent = !sending_;
    copy.last = port_free_;
    if (followed()) chain_.sent();
    owner_.send(pipe_, request);
  }
  owner_.copy_advanced(pipe_);
}

void MemoryPipe::resume(std::uint64_t generation) {
  if (stale(generation)) return;
  resuming_ = false;
  send();
}

void MemoryPipe::answered(std::uint32_t slot, Bytes bytes, const RequestTimes& times) {
  if (slot >> 8 != (generation_ & kGenerationMask)) return;
  Item& copy = items_[slot & kSlotMask];
  --copy.answers;
  if (followed()) copy.path = chain_.answered(times);
  copy.last = std::max(copy.last, sim_now());
  outstanding_ -= room_of(copy, bytes);
  if (sending_ && !resuming_) send();
  if (copy.sent && copy.answers == 0) retire();
}

void MemoryPipe::translated(std::uint32_t slot) {
  if (slot >> 8 != (generation_ & kGenerationMask)) return;
  Item& copy = items_[slot & kSlotMask];
  if (--copy.translations > 0 || !copy.sent || owner_.pages_may_leave()) return;
  copy.hold = owner_.hold();
  copy.held = true;
}

// Its bytes move now. Pages may have left since they were translated.
bool MemoryPipe::is_there(const Range& range) {
  if (range.path == nullptr || !owner_.pages_may_leave()) return true;
  for (Bytes row = 0; row < range.rows; ++row) {
    const std::uint64_t address = range.address + row * range.pitch;
    if (!owner_.reaches(address, range.row_bytes, range.write)) return false;
  }
  return true;
}

// All at once: what comes behind it waits for it anyway.
void MemoryPipe::send_again(Item& copy, const Range& range) {
  copy.finishing = false;
  for (Cursor at{range, slot_of(first_), 0, 0}; at.row < range.rows;) {
    const MemoryRequest request = next_request(at);
    take(at, request);
    outstanding_ += room_of(copy, request.rows * request.row_bytes);
    ++copy.answers;
    ++copy.translations;
    if (followed()) chain_.sent_again(copy.path);
    owner_.send(pipe_, request);
  }
}

void MemoryPipe::release(Item& item) {
  if (item.held) owner_.release(item.hold);
  item.held = false;
}

void MemoryPipe::finish(std::uint64_t generation) {
  if (!stale(generation)) retire();
}

// Whether the first copy has ended, or is known to.
bool MemoryPipe::retire_copy(Item& copy) {
  if (!copy.sent || copy.answers > 0) return false;
  const Range range = range_of(copy.entry.instruction);
  const unsigned latency = range.path == nullptr ? 0 : range.path->latency_clocks;
  const SimTime end = std::max(last_end_, copy.last + clock_.clocks(latency));
  // What is read may be used from a known time on. What is written must not be there before.
  if (range.write && end > sim_now()) {
    if (!copy.finishing) sim_.agenda.at<&MemoryPipe::finish>(end, *this, generation_);
    copy.finishing = true;
    return false;
  }
  if (!is_there(range)) {
    send_again(copy, range);
    return false;
  }
  const SimTime begin = std::max(copy.begun, last_end_);
  last_end_ = end;
  if (followed()) tell_path(copy, end);
  owner_.copy_ended(pipe_, copy.entry, begin, end, range.rows * range.row_bytes);
  release(copy);
  return true;
}

void MemoryPipe::tell_path(const Item& copy, SimTime end) {
  auto path = copy.path;
  if (path.end == 0) path.begin = path.end = copy.begun;  // nobody listened
  // One that waited for the copy before it followed from that.
  if (chain_.last_ended().end > path.end && end == chain_.last_ended().end) {
    path = chain_.last_ended();
  }
  chain_.ended(path, end);
  owner_.copy_followed(pipe_, copy.entry, chain_.last_ended());
}

void MemoryPipe::retire() {
  const std::uint64_t generation = generation_;
  while (first_ != last_) {
    Item& next = item(first_);
    if (next.flag) {
      const SimTime when = std::max(next.entry.issued, last_end_);
      ++first_;
      owner_.raise_behind(pipe_, next.entry, when);
    } else {
      if (!retire_copy(next)) break;
      ++first_;
    }
    if (stale(generation)) return;
  }
  owner_.copy_advanced(pipe_);
}

void MemoryPipe::cut() {
  ++generation_;
  for (; first_ != last_; ++first_) {
    release(item(first_));
  }
  first_ = last_ = 0;
  port_free_ = last_end_ = 0;
  outstanding_ = 0;
  sending_ = resuming_ = false;
  chain_.clear();
}

}  // namespace npu::model
