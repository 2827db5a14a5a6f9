// SPDX-License-Identifier: Apache-2.0
// DMA with its data checked, and the bytes around it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/demo/pattern.hpp"
#include "apps/demo/steps.hpp"

namespace npu::demo {
namespace {

using driver::DmaCommand;

constexpr Bytes kGuard = 64;  // bytes before and behind the data that must stay as they are
constexpr unsigned kDeviceGuard = 0xD6, kHostGuard = 0x4A;

struct Shape {
  Bytes size;
  Bytes host_shift, device_shift;  // of the addresses, from a multiple of 4 KiB
};

constexpr Shape kShapes[] = {
    {4, 0, 0},      {4, 3, 1},      {1, 7, 4095},       {63, 1, 0},
    {64, 0, 64},    {65, 4090, 5},  {512, 0, 0},        {1000, 13, 27},
    {4_KiB, 0, 0},  {4_KiB, 1, 2},  {4097, 0, 4095},    {64_KiB, 0, 0},
    {65533, 31, 2}, {1_MiB, 0, 0},  {1_MiB + 7, 9, 17}, {2_MiB, 0, 2_MiB - 4_KiB},
    {16_MiB, 0, 0}, {64_MiB, 0, 0},
};

struct Buffers {
  driver::DeviceMemory device;
  std::unique_ptr<platform::DmaMemory> host;
};

Result<Buffers> make_buffers(Session& session, Bytes size) {
  Buffers result;
  auto host = session.device().allocate_host(size);
  if (!host) return forward_error(host);
  result.host = std::move(*host);
  const auto memory = session.device().allocate(size);
  if (!memory) return forward_error(memory);
  result.device = *memory;
  return result;
}

struct Times {
  std::uint64_t to_device = 0, to_host = 0;  // ns
};

// The device memory around the data gets a guard; the data goes there; all of it comes back into
// host memory with another guard around it.
Result<Times> send_and_fetch(Session& session, const Buffers& buffers, const Shape& shape) {
  const Bytes size = shape.size, host_shift = shape.host_shift, device_shift = shape.device_shift;
  const Bytes framed = size + 2 * kGuard;
  const auto bytes = buffers.host->cpu();
  const auto base = buffers.host->bus();
  const auto frame = buffers.device.address + device_shift;
  fill_value(bytes.subspan(0, framed), kDeviceGuard);
  if (auto ok = session.copy(DmaCommand::host_to_device(base, frame, framed)); !ok) {
    return forward_error(ok);
  }
  Times times;
  fill_pattern(bytes.subspan(host_shift, size), size + host_shift);
  const auto in =
      session.timed_copy(DmaCommand::host_to_device(base + host_shift, frame + kGuard, size));
  if (!in) return forward_error(in);
  times.to_device = *in;
  fill_value(bytes.subspan(0, host_shift + framed + 2 * kGuard), kHostGuard);
  const auto out =
      session.timed_copy(DmaCommand::device_to_host(frame, base + host_shift + kGuard, framed));
  if (!out) return forward_error(out);
  times.to_host = *out;
  const auto what = fmt::format("{} bytes, host +{}, device +{}", size, host_shift, device_shift);
  const auto at = [&](Bytes offset, Bytes length) {
    return bytes.subspan(host_shift + offset, length);
  };
  const Status checks[] = {
      check_value(bytes.subspan(0, host_shift + kGuard), kHostGuard, what + ": host, before"),
      check_value(at(kGuard, kGuard), kDeviceGuard, what + ": device, before"),
      check_pattern(at(2 * kGuard, size), size + host_shift, what),
      check_value(at(2 * kGuard + size, kGuard), kDeviceGuard, what + ": device, behind"),
      check_value(at(kGuard + framed, kGuard), kHostGuard, what + ": host, behind"),
  };
  for (const auto& check : checks) {
    if (!check) return forward_error(check);
  }
  return times;
}

std::string figures(const std::map<Bytes, Times>& aligned) {
  std::string text;
  for (const auto& [size, times] : aligned) {
    if (size != 4 && size != 4_KiB && size != aligned.rbegin()->first) continue;
    text +=
        fmt::format("; {} B: {} ns to the card, {} ns back", size, times.to_device, times.to_host);
  }
  return text;
}

}  // namespace

Result<std::string> copy_both_ways(Session& session) {
  const Bytes limit = session.options().max_bytes;
  const auto buffers = make_buffers(session, limit + 4_MiB);
  if (!buffers) return forward_error(buffers);
  std::map<Bytes, Times> aligned;
  unsigned count = 0;
  Bytes checked = 0;
  for (const auto& shape : kShapes) {
    if (shape.size > limit) continue;
    const auto times = send_and_fetch(session, *buffers, shape);
    if (!times) return forward_error(times);
    if (shape.host_shift == 0 && shape.device_shift == 0) aligned[shape.size] = *times;
    ++count;
    checked += shape.size;
  }
  if (auto ok = session.device().free(buffers->device.address); !ok) return forward_error(ok);
  return fmt::format("{} shapes, {} bytes checked{}", count, checked, figures(aligned));
}

Result<std::string> copy_on_device(Session& session) {
  const Bytes limit = std::min<Bytes>(session.options().max_bytes, 16_MiB);
  const auto buffers = make_buffers(session, 2 * (limit + 2_MiB));
  if (!buffers) return forward_error(buffers);
  const auto bytes = buffers->host->cpu();
  const auto bus = buffers->host->bus();
  const auto from = buffers->device.address, to = from + limit + 2_MiB;
  std::map<Bytes, std::uint64_t> took;
  for (const Bytes size : {Bytes{4}, Bytes{1001}, 4_KiB, 1_MiB, 16_MiB}) {
    if (size > limit) continue;
    const Bytes shift = size % 2;  // the odd one goes from and to odd places
    fill_pattern(bytes.subspan(0, size), size);
    if (auto ok = session.copy(DmaCommand::host_to_device(bus, from + shift, size)); !ok) {
      return forward_error(ok);
    }
    const auto time =
        session.timed_copy(DmaCommand::device_to_device(from + shift, to + 3 * shift, size));
    if (!time) return forward_error(time);
    took[size] = *time;
    fill_value(bytes.subspan(0, size), kHostGuard);
    if (auto ok = session.copy(DmaCommand::device_to_host(to + 3 * shift, bus, size)); !ok) {
      return forward_error(ok);
    }
    const auto what = fmt::format("{} bytes", size);
    if (auto ok = check_pattern(bytes.subspan(0, size), size, what); !ok) return forward_error(ok);
  }
  std::string text;
  for (const auto& [size, time] : took) {
    text += fmt::format("{}{} B: {} ns", text.empty() ? "" : ", ", size, time);
  }
  if (auto ok = session.device().free(from); !ok) return forward_error(ok);
  return text;
}

}  // namespace npu::demo
