// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/program_fetch.hpp"

#include <algorithm>

namespace npu::model {

using abi::FaultCode;

ProgramFetch::ProgramFetch(ProgramServices& services, const CallStack& calls, CoreThread& thread,
                           MemoryReads& reads, ProgramCoreStatistics& statistics)
    : services_(services),
      calls_(calls),
      thread_(thread),
      reads_(reads),
      statistics_(statistics),
      cache_(services.config.instruction_cache, services.config.instruction_line) {}

ProgramFetch::Program ProgramFetch::fetch(std::uint64_t image) {
  if (image % abi::kImageAlignment != 0) thread_.raise_fault(FaultCode::kInvalidImage, image);
  ahead_ = {};  // of another program, or of a launch that is over
  abi::ImageHeader header;
  std::uint64_t lines = 0;
  if (cache_.knows(calls_.space(), image)) {
    reads_.read(image, &header, sizeof header);
  } else {
    // How far it goes is not known yet; its page is there.
    lines = read_lines({image, kPage - image % kPage}, 0);
    read_now(image, &header, sizeof header);
  }
  if (!services_.loader.accepts(header)) thread_.raise_fault(FaultCode::kInvalidImage, image);
  auto loaded = services_.loader.find(header);
  if (loaded.entry == nullptr) loaded = load(image, header);
  // Only now is it known to be a program.
  auto& code = cache_.at(calls_.space(), image, header.digest);
  fill(code, 0, lines);
  Program program{reinterpret_cast<platform::AicoreEntry>(loaded.entry),
                  loaded.executed,
                  {},
                  &code,
                  {image, sizeof header + header.size}};
  std::copy(header.name.begin(), header.name.end(), program.name.begin());
  if (lines != 0) ask_ahead(program, lines);
  return program;
}

void ProgramFetch::execute(const void* call, std::uint64_t instructions, PollLoop& polls) {
  if (running_ == nullptr) return;
  Program& program = *running_;
  const auto& config = services_.config;
  const auto block =
      program.code->code.run(program.before, call, instructions, config.instruction_bytes);
  program.before = call;
  const Bytes line = config.instruction_line;
  const Bytes first = program.place.image % line + sizeof(abi::ImageHeader) + block.first;
  for (std::uint64_t i = first / line; i <= (first + block.bytes - 1) / line; ++i) {
    ++statistics_.code_lines;
    if (cache_.holds(*program.code, i)) continue;
    ++statistics_.code_misses;
    polls.enter_effect();
    bring(program, i);
  }
}

void ProgramFetch::fill(InstructionCache::Program& code, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t i = first; i < end; ++i) cache_.fill(code, i);
}

void ProgramFetch::bring(Program& program, std::uint64_t line) {
  if (!ahead_.has(program.place.image, line)) {
    const std::uint64_t end = line + read_lines(program.place, line);
    fill(*program.code, line, end);
    return ask_ahead(program, end);
  }
  const SimTime asked = thread_.local();
  reads_.await_ahead();
  statistics_.memory_wait += thread_.local() - asked;
  thread_.waited(platform::ScalarWait::kMemory, asked);
  const std::uint64_t end = ahead_.end;
  fill(*program.code, ahead_.first, end);
  ask_ahead(program, end);
}

// Of one place at a time, whose lines are taken before others are asked for.
void ProgramFetch::ask_ahead(const Program& program, std::uint64_t first) {
  const auto& config = services_.config;
  const Bytes line = config.instruction_line;
  const auto& place = program.place;
  ahead_ = {};
  const std::uint64_t lines = ceil_div(place.image % line + place.size, line);
  if (config.instruction_ahead_lines == 0 || first >= lines) return;
  if (cache_.holds(*program.code, first)) return;
  const Span span = span_of(place, first, config.instruction_ahead_lines);
  thread_.catch_up();
  for (std::uint64_t at = span.begin; at < span.end;) {
    const Bytes size = std::min(span.end - at, kPage - at % kPage);
    reads_.send_ahead(at, size);
    at += size;
  }
  ahead_ = {place.image, first, first + (span.end - span.begin) / line};
}

// Lines are aligned in memory; of an image that begins within one, that is the first. Nothing is
// read ahead of what is behind the image. An object with less of its own than the program executes
// is gone through again.
ProgramFetch::Span ProgramFetch::span_of(const Place& place, std::uint64_t first,
                                         std::uint64_t lines) const {
  const Bytes line = services_.config.instruction_line;
  const std::uint64_t base = place.image / line * line;
  const std::uint64_t all = ceil_div(place.image % line + place.size, line);
  const std::uint64_t begin = base + first % all * line;
  return {begin, std::min(begin + lines * line, base + all * line)};
}

std::uint64_t ProgramFetch::read_lines(const Place& place, std::uint64_t first) {
  const auto& config = services_.config;
  const Span span = span_of(place, first, config.instruction_fetch_lines);
  thread_.catch_up();
  const SimTime asked = thread_.local();
  for (std::uint64_t at = span.begin; at < span.end;) {
    const Bytes size = std::min(span.end - at, kPage - at % kPage);
    reads_.send(at, size);
    at += size;
  }
  reads_.await(0);
  statistics_.memory_wait += thread_.local() - asked;
  thread_.waited(platform::ScalarWait::kMemory, asked);
  return (span.end - span.begin) / config.instruction_line;
}

void ProgramFetch::read_objects(unsigned reads) {
  if (running_ == nullptr) return;
  constexpr Bytes kApart = 512, kRead = 64;
  const Place& place = running_->place;
  const Bytes lines = std::max<Bytes>(place.size / kApart, 1);
  std::array<unsigned char, kRead> unused;
  // From the image's end: what is executed lies at its begin.
  for (unsigned i = 0; i < reads; ++i) {
    reads_.read(place.image + (lines - 1 - i % lines) * kApart, unused.data(), kRead);
  }
}

void ProgramFetch::read_now(std::uint64_t address, void* data, Bytes length) {
  const auto completion = services_.memory.read(calls_.space(), address, data, length);
  if (completion == Completion::kSuccess) return;
  thread_.raise_fault(device_fault(completion), address, false, length);
}

LoadedProgram ProgramFetch::load(std::uint64_t image, const abi::ImageHeader& header) {
  std::vector<unsigned char> object(header.size);
  read_now(image + sizeof header, object.data(), header.size);
  const auto program = services_.loader.load(header, object.data());
  if (program.entry == nullptr) thread_.raise_fault(FaultCode::kInvalidImage, image);
  return program;
}

}  // namespace npu::model
