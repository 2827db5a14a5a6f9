// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/staging.hpp"

#include <algorithm>
#include <vector>

namespace npu::network {
namespace {

constexpr Bytes kPartBytes = 256_KiB;
constexpr Bytes kLine = 64;  // of the host's cache: copies do not share one
constexpr Picoseconds kTimeout = 60'000'000_us;

}  // namespace

Result<std::unique_ptr<Staging>> Staging::open(platform::Platform& platform,
                                               driver::ProcessContext& process,
                                               operators::Spans& waits) {
  auto memory = process.allocate_host(kParts * kPartBytes);
  if (!memory) return forward_error(memory);
  return std::unique_ptr<Staging>(new Staging(platform, waits, std::move(*memory)));
}

Status Staging::wait(const driver::StreamMark& mark) {
  const auto begin = platform_.clock().now();
  auto ended = mark.wait(begin + kTimeout);
  waits_.add({begin, platform_.clock().now()});
  return ended;
}

Status Staging::next_part() {
  present_ = (present_ + 1) % kParts;
  auto& part = parts_[present_];
  part.used = 0;
  return wait(part.last);
}

Status Staging::submit(driver::ExecutionStream& stream, const abi::QueueEntry& entry) {
  const auto mark = stream.submit(&entry, 1);
  if (!mark) return forward_error(mark);
  parts_[present_].last = *mark;
  return {};
}

Status Staging::write(driver::ExecutionStream& stream, driver::DeviceAddress to,
                      ConstByteSpan from) {
  for (Bytes done = 0; done < from.size;) {
    const Bytes piece = std::min(kPartBytes, from.size - done);
    if (parts_[present_].used + piece > kPartBytes) {
      if (auto ok = next_part(); !ok) return ok;
    }
    auto& used = parts_[present_].used;
    const Bytes at = present_ * kPartBytes + used;
    used += (piece + kLine - 1) / kLine * kLine;
    platform_.copy({memory_->cpu().data + at, piece}, {from.data + done, piece});
    const auto entry = driver::entries::copy_to_device(memory_->bus() + at, to + done, piece);
    if (auto ok = submit(stream, entry); !ok) return ok;
    done += piece;
  }
  return {};
}

Status Staging::read(driver::ExecutionStream& stream, driver::DeviceAddress from, ByteSpan to) {
  constexpr Bytes kGroup = kParts * kPartBytes;
  for (Bytes done = 0; done < to.size; done += kGroup) {
    const Bytes size = std::min(kGroup, to.size - done);
    if (auto ok = read_group(stream, from + done, {to.data + done, size}); !ok) return ok;
  }
  return {};
}

// At most as much as there is room for.
Status Staging::read_group(driver::ExecutionStream& stream, driver::DeviceAddress from,
                           ByteSpan to) {
  std::vector<Piece> pieces;
  for (Bytes done = 0; done < to.size; done += kPartBytes) {
    if (auto ok = next_part(); !ok) return ok;
    const Bytes size = std::min(kPartBytes, to.size - done);
    parts_[present_].used = kPartBytes;
    const auto entry =
        driver::entries::copy_to_host(from + done, memory_->bus() + present_ * kPartBytes, size);
    if (auto ok = submit(stream, entry); !ok) return ok;
    pieces.push_back({present_, done, size});
  }
  for (const auto& piece : pieces) {
    if (auto ok = wait(parts_[piece.part].last); !ok) return ok;
    const auto* const found = memory_->cpu().data + piece.part * kPartBytes;
    platform_.copy({to.data + piece.begin, piece.size}, {found, piece.size});
  }
  return {};
}

}  // namespace npu::network
